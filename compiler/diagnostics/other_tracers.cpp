// SPDX-License-Identifier: Apache-2.0
//
// What bpftrace and SystemTap call things, and what D calls them; what other DTraces have.
#include "compiler/diagnostics/other_tracers.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace daybreak::compiler {

namespace {

struct ForeignName {
    std::string_view name, d;
};

constexpr ForeignName kForeignNames[] = {
    {"comm", "execname"},
    {"nsecs", "timestamp"},
    {"elapsed", "timestamp, less the one of BEGIN"},
    {"kstack", "stack()"},
    {"func", "probefunc"},
    {"probe", "probeprov, probemod, probefunc and probename"},
    {"retval", "arg1 in a :return probe"},
    {"curtask", "curthread"},
    {"str", "copyinstr() for memory of a process, stringof() for the kernel's"},
    {"hist", "quantize()"},
    {"lhist", "lquantize(value, low, high, step)"},
    {"stats", "count(), avg() and sum(), each an aggregation of its own"},
    {"delete", "x[key] = 0"},
    {"zero", "clear()"},
    {"ksym", "sym()"},
    {"kaddr", "a backquote: `name"},
    {"ntop", "inet_ntop()"},
    {"buf", "tracemem()"},
    {"time", "printf(\"%Y\", walltimestamp)"},
    {"strftime", "printf(\"%Y\", walltimestamp)"},
    {"reg", "uregs[]"},
    {"len", "strlen()"},
    {"strcontains", "strstr()"},
    {"signal", "raise()"},
    {"println", "printf()"},
    {"log", "printf()"},
    {"gettimeofday_ns", "walltimestamp"},
    {"gettimeofday_us", "walltimestamp / 1000"},
    {"gettimeofday_ms", "walltimestamp / 1000000"},
    {"gettimeofday_s", "walltimestamp / 1000000000"},
    {"backtrace", "stack()"},
    {"print_backtrace", "stack()"},
    {"print_ubacktrace", "ustack()"},
    {"user_string", "copyinstr()"},
    {"kernel_string", "stringof()"},
    {"task_current", "curthread"},
    {"thread_indent", "option -F"},
};

/// A word that begins a probe of bpftrace.  In `d`, $1 and $2 stand for what follows it.
struct ForeignProbe {
    std::string_view word, d;
};

constexpr ForeignProbe kProbes[] = {
    {"kprobe", "fbt::$1:entry"},        {"kretprobe", "fbt::$1:return"},
    {"fentry", "fbt::$1:entry"},        {"fexit", "fbt::$1:return"},
    {"kfunc", "fbt::$1:entry"},         {"kretfunc", "fbt::$1:return"},
    {"tracepoint", "sdt:::$1"},         {"rawtracepoint", "sdt:::$1"},
    {"interval", "tick-$2$1"},          {"profile", "profile-$2$1"},
    {"uprobe", "pid$target::$1:entry"}, {"uretprobe", "pid$target::$1:return"},
    {"usdt", "PROVIDER*:/PATH::NAME"},
};

/// The same for SystemTap, whose points are "words("argument")", then perhaps .return.
constexpr ForeignProbe kPoints[] = {
    {"kernel.function", "fbt::$1:"},
    {"module", "fbt::$1:"},
    {"syscall.", "syscall::$1:"},
    {"kernel.trace", "sdt:::$1"},
    {"timer.s", "tick-$1s"},
    {"timer.ms", "tick-$1ms"},
    {"timer.us", "tick-$1us"},
    {"timer.profile", "profile-97"},
    {"begin", "BEGIN"},
    {"end", "END"},
    {"error", "ERROR"},
    {"process", "pid*:/PATH:FUNCTION:entry, a mark PROVIDER*:/PATH::NAME,"},
};

constexpr MissingProbe kMissing[] = {
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition, pass)
#define DBK_CODED(provider, name, since, kind, where)
#define DBK_ABSENT(provider, name, reason) {#provider, name, reason},
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"
};

constexpr const char* kIdentifier =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
/// Of a provider that is there.
constexpr const char* kPidHint =
    "pid$target is the process of -c or -p, pid123 one by its number, if the module is loaded: "
    "functions have probes entry and return";

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts(1);
    for (char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

std::string filled(std::string_view form, const std::string& first, const std::string& second) {
    std::string text;
    for (size_t i = 0; i < form.size(); i++)
        if (form[i] == '$' && (form[i + 1] == '1' || form[i + 1] == '2')) // $target stays
            text += form[++i] == '1' ? first : second;
        else
            text += form[i];
    return text;
}

std::string words(std::string_view tracer, std::string_view word, const std::string& d) {
    return std::string(tracer) + "'s " + std::string(word) + " is " + d + " in D";
}

/// tracepoint:syscalls:sys_enter_openat: the provider of D for these has names of its own.
std::string system_call(const std::string& event) {
    for (const auto& [prefix, name] :
         {ForeignName{"sys_enter_", ":entry"}, {"sys_exit_", ":return"}})
        if (event.starts_with(prefix))
            return "syscall::" + event.substr(prefix.size()) + std::string(name);
    return "";
}

std::string bpftrace_probe(std::string_view text) {
    std::vector<std::string> parts = split(text, ':');
    const std::string& word = parts[0];
    const auto* known = std::find_if(std::begin(kProbes), std::end(kProbes),
                                     [&word](const ForeignProbe& one) { return one.word == word; });
    if (known == std::end(kProbes) || parts.size() < 2)
        return "";
    if (word == "usdt") // usdt:/lib/x.so:provider:name
        return parts.size() == 4
                   ? words("bpftrace", text, parts[2] + "*:" + parts[1] + "::" + parts[3])
                   : words("bpftrace", word, std::string(known->d));
    if (parts[1].empty() || parts.size() > 3) // "profile:::tick-1s" is D
        return "";
    std::string d;
    if (word == "tracepoint" && parts.size() > 2)
        d = system_call(parts[2]);
    bool is_timer = word == "interval" || word == "profile";
    // Of "module:function" and "subsystem:event" the last part says what it is.
    if (is_timer && parts.size() == 2 && std::isdigit(static_cast<unsigned char>(parts[1][0])))
        return "did you mean " + filled(known->d, "", parts[1]) + "?"; // it could be anyone's
    if (d.empty())
        d = is_timer && parts.size() > 2
                ? filled(known->d, parts[1] == "hz" ? "hz" : parts[1], parts[2])
                : filled(known->d, parts.back(), "1");
    return words("bpftrace", text, d);
}

/// What stands between the quotes or parentheses that the text goes on with, and what follows.
std::string argument_of(std::string_view text) {
    size_t begin = text.find_first_not_of("(\"");
    size_t end = text.find_first_of(")\".@", std::min(begin, text.size()));
    return begin >= text.size() ? "" : std::string(text.substr(begin, end - begin));
}

std::string systemtap_point(std::string_view text) {
    for (const ForeignProbe& point : kPoints) {
        if (!text.starts_with(point.word))
            continue;
        std::string_view rest = text.substr(point.word.size());
        // "process_one_work" is a function, and no point.
        if (point.word.find('.') == std::string_view::npos && !rest.empty() && rest[0] != '(')
            continue;
        if (point.word == "module") // module("ext4").function("x")
            rest.remove_prefix(std::min(rest.size(), rest.find("function(") + 8));
        std::string d = filled(point.d, argument_of(rest), "");
        if (!d.empty() && d.back() == ':')
            d += rest.find(".return") == std::string_view::npos ? "entry" : "return";
        return words("SystemTap", text, d);
    }
    return "";
}

/// A timer with its unit in capitals, or whose number is not one that a timer can have.
std::string hint_for_timer(std::string_view provider, std::string_view name) {
    bool is_timer = name.starts_with("tick-") || name.starts_with("profile-");
    if ((!provider.empty() && provider != "profile") || !is_timer)
        return "";
    std::string lower(name);
    for (char& c : lower)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower != name)
        return "did you mean " + lower + "?";
    return "N of tick-N and profile-N is 1 to 5000 a second (97, 97hz), or a time of 200us to 366d "
           "(1ms, 5s, 2m)";
}

} // namespace

std::string hint_for_foreign_name(std::string_view name) {
    for (const ForeignName& foreign : kForeignNames)
        if (foreign.name == name)
            return "for " + std::string(name) + " D has " + std::string(foreign.d);
    return "";
}

std::span<const MissingProbe> missing_probes() {
    return kMissing;
}

std::string hint_for_missing_probe(std::string_view provider, std::string_view module,
                                   std::string_view function, std::string_view name) {
    std::string_view is = provider.substr(0, provider.find_last_not_of("0123456789") + 1);
    if (is == "pid")
        return kPidHint;
    const std::pair<std::string_view, const char*> parts[] = {
        {name, ":::"}, {function, "::"}, {module, ":"}};
    for (const MissingProbe& probe : kMissing) {
        if (probe.provider != is)
            continue;
        const std::string reason = ": " + std::string(probe.reason);
        if (probe.name.empty())
            return "Daybreak has no " + std::string(is) + " provider" + reason;
        for (const auto& [part, colons] : parts)
            if (part == probe.name)
                return "Daybreak has no " + std::string(is) + colons + std::string(part) + reason;
    }
    return hint_for_timer(provider, name);
}

std::string hint_for_cpp_function(std::string_view text) {
    const size_t module = text.find(':'),
                 function = text.find(':', std::min(module, text.size() - 1) + 1);
    if (!text.starts_with("pid") || function == std::string_view::npos)
        return "";
    std::string_view rest = text.substr(function + 1), name = "entry"; // "f(int):entry" ends at '('
    if (size_t last = rest.rfind(':');
        last != std::string_view::npos && rest[last - (last > 0)] != ':') {
        name = rest.substr(last + 1);
        rest = rest.substr(0, last);
    }
    if (rest.find("::") == std::string_view::npos)
        return "";
    std::string mangled;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find("::"), rest.size());
        const std::string part(rest.substr(0, end));
        if (part.empty() || part.find_first_not_of(kIdentifier) != std::string::npos)
            return "";
        mangled += part == "std" ? "St" : std::to_string(part.size()) + part;
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return "a function of C++ has its mangled name, or a glob of that: " +
           std::string(text.substr(0, function)) + ":_Z*" + mangled + "*:" + std::string(name);
}

std::string hint_for_foreign_probe(std::string_view text) {
    std::string hint = bpftrace_probe(text);
    return hint.empty() ? systemtap_point(text) : hint;
}

} // namespace daybreak::compiler
