// SPDX-License-Identifier: Apache-2.0
//
// What `daybreak watch` compiles, as text.
#include "cmd/watch/watch_program.hpp"

#include "cmd/image_probes.hpp"

#include <algorithm>
#include <cctype>
#include <cinttypes>

namespace daybreak::cmd {

namespace {

/// What a profile asks in its predicates.
constexpr const char* kFilterName = "watched";

/// What stands in front of every program.  Messages of -t name it "filter".
std::string preamble(const std::string& filter) {
    return std::string("#pragma D option quiet\n# 1 \"filter\"\ninline int ") + kFilterName +
           " = " + filter + ";\n";
}

/// Whether the text names the filter outside of comments and strings.
bool takes_filter(const std::string& text) {
    std::string code;
    for (size_t i = 0; i < text.size(); i++) {
        if (text.compare(i, 2, "/*") == 0) {
            i = std::min(text.find("*/", i + 2), text.size() - 1);
        } else if (text[i] == '"') {
            for (i++; i < text.size() && text[i] != '"'; i++)
                i += text[i] == '\\';
        } else {
            code += text[i];
        }
    }
    auto is_letter = [&code](size_t at) {
        return at < code.size() &&
               (std::isalnum(static_cast<unsigned char>(code[at])) || code[at] == '_');
    };
    const std::string_view name = kFilterName;
    for (size_t at = code.find(name); at != code.npos; at = code.find(name, at + 1))
        if (!is_letter(at + name.size()) && (at == 0 || !is_letter(at - 1)))
            return true;
    return false;
}

bool is_system_call(const std::string& word) {
    return std::ranges::any_of(system_calls(), [&](const SystemCall& call) { return word == call.name; });
}

std::string details_text(const WatchDetails& details) {
    if (!details.code.empty())
        return "\t" + details.code + ";\n";
    std::string text =
        "\tprintf(\"%Y %d.%d %s[%d]: %s:%s\", walltimestamp, uid, gid, execname, pid, "
        "probefunc, probename);\n";
    for (const std::string& argument : details.arguments)
        text += "\tprintf(\" \"); trace(" + argument + ");\n";
    return text + "\tprintf(\"\\n\");\n";
}

} // namespace

std::string description_of(const std::string& word) {
    if (word.find(':') != word.npos)
        return word;
    if (is_system_call(word))
        return "syscall::" + word + ":entry";
    return word.find('-') != word.npos ? ":::" + word : "fbt::" + word + ":entry";
}

std::string call_beside(const std::string& word) {
    return is_system_call(word) && is_system_call(word + "at") ? word + "at" : "";
}

base::Result<std::string> profile_program(const Profile& profile, const std::string& filter) {
    if (filter != "1" && !takes_filter(profile.text))
        return base::errorf(base::ErrorCode::unsupported,
                            "the profile %s counts for the whole machine and takes no filter: its "
                            "program has no predicate that asks `%s`",
                            profile.name.c_str(), kFilterName);
    // A message about the profile names the profile's own line.
    std::string name = profile.path.empty() ? profile.name + ".d" : profile.path;
    std::ranges::replace_if(
        name, [](char c) { return c == '"' || c == '\\' || c == '\n'; }, '?');
    return preamble(filter) + "# 1 \"" + name + "\"\n" + profile.text;
}

std::string probe_program(const std::vector<std::string>& words, const std::string& filter,
                          const WatchDetails& details) {
    std::string descriptions;
    for (const std::string& word : words)
        descriptions += (descriptions.empty() ? "" : ",\n") + description_of(word);
    return preamble(filter) + "# 1 \"watch.d\"\n" + descriptions + "\n/" + kFilterName + "/\n{\n" +
           details_text(details) + "}\n";
}

std::string end_clause(uint64_t ns) {
    return base::strprintf("\ntick-%" PRIu64 "ns\n{\n\texit(0);\n}\n", ns);
}

} // namespace daybreak::cmd
