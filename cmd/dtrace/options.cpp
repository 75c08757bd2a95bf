// SPDX-License-Identifier: Apache-2.0
//
// dtrace(1)'s own command line.
#include "cmd/dtrace/options.hpp"

#include "base/result.hpp"

#include <cctype>
#include <cstring>
#include <iterator>

namespace daybreak::cmd {

namespace {

using base::strprintf;

/// Letters that take an argument have a colon after them.
constexpr const char* kLetters = "3:6:aAb:Bc:CD:ef:FGhHi:I:lL:m:n:o:p:P:qs:SU:vVwx:X:Z";

constexpr const char* kLongOptions[] = {"--help", "--kernel", "--simulate"};

class Parser {
public:
    Parser(const std::string& name, const std::vector<std::string>& words) : words_(words) {
        result_.arguments.name = name;
    }

    DtraceParse parse() {
        for (; at_ < words_.size() && !stopped(); at_++) {
            const std::string& word = words_[at_];
            if (only_operands_ || word.size() < 2 || word[0] != '-')
                result_.arguments.arguments.push_back(word);
            else if (word == "--")
                only_operands_ = true;
            else if (word.starts_with("--"))
                long_option(word.substr(2));
            else
                letters(word);
        }
        return std::move(result_);
    }

private:
    bool stopped() const { return result_.usage || !result_.message.empty(); }

    void usage(std::string message) {
        result_.usage = true;
        result_.message = std::move(message);
    }

    void long_option(const std::string& option) {
        size_t equals = option.find('=');
        std::string name = option.substr(0, equals);
        if (name == "help") {
            result_.arguments.help = true;
        } else if (name == "simulate") {
            result_.arguments.simulate = true;
            result_.arguments.virtual_time = option == "simulate=virtual";
            if (option != name && !result_.arguments.virtual_time)
                usage("option '--simulate' takes no argument but 'virtual'");
        } else if (name == "kernel") {
            if (equals != std::string::npos)
                result_.arguments.kernel = option.substr(equals + 1);
            else if (at_ + 1 < words_.size())
                result_.arguments.kernel = words_[++at_];
            else
                usage("option '--kernel' requires an argument");
        } else {
            usage("unrecognized option '--" + name + "'");
        }
    }

    void letters(const std::string& word) {
        for (size_t i = 1; i < word.size() && !stopped(); i++) {
            char letter = word[i];
            const char* known = letter == ':' ? nullptr : std::strchr(kLetters, letter);
            if (known == nullptr)
                return usage(strprintf("invalid option -- '%c'", letter));
            if (known[1] != ':') {
                flag(letter);
                continue;
            }
            if (i + 1 < word.size())
                return with_argument(letter, word.substr(i + 1));
            if (at_ + 1 >= words_.size())
                return usage(strprintf("option requires an argument -- '%c'", letter));
            return with_argument(letter, words_[++at_]);
        }
    }

    void set(const char* option, std::optional<std::string> value, std::string text) {
        result_.arguments.settings.push_back({option, std::move(value), std::move(text)});
    }

    void mode(DtraceMode mode) {
        if (result_.arguments.mode != DtraceMode::trace && result_.arguments.mode != mode)
            return usage("only one of the [-AGhlV] options can be specified at a time");
        result_.arguments.mode = mode;
    }

    void flag(char letter);
    void with_argument(char letter, const std::string& argument);

    void program(compiler::ProbeSpec spec, const std::string& text) {
        result_.arguments.programs.push_back({false, text, spec});
    }

    const std::vector<std::string>& words_;
    size_t at_ = 0;
    bool only_operands_ = false;
    DtraceParse result_;
};

void Parser::flag(char letter) {
    DtraceArguments& arguments = result_.arguments;
    switch (letter) {
    case 'a':
        arguments.claim_anonymous = true;
        return set("grabanon", std::nullopt, "-a");
    case 'A':
        return mode(DtraceMode::anonymous);
    case 'B':
        return; // what it once chose is the only way now
    case 'C':
        arguments.preprocess = true;
        return;
    case 'e':
        arguments.compile_only = true;
        return;
    case 'F':
        return set("flowindent", std::nullopt, "-F");
    case 'G':
        return mode(DtraceMode::link);
    case 'h':
        return mode(DtraceMode::header);
    case 'H':
        return set("cpphdrs", std::nullopt, "-H");
    case 'l':
        return mode(DtraceMode::list);
    case 'q':
        arguments.quiet = true;
        return set("quiet", std::nullopt, "-q");
    case 'S':
        return set("verbose", std::nullopt, "-S");
    case 'v':
        arguments.verbose = true;
        return;
    case 'V':
        return mode(DtraceMode::version);
    case 'w':
        return set("destructive", std::nullopt, "-w");
    default: // 'Z'
        arguments.zero_probes_allowed = true;
        return;
    }
}

void Parser::with_argument(char letter, const std::string& argument) {
    using compiler::ProbeSpec;
    DtraceArguments& arguments = result_.arguments;
    switch (letter) {
    case '3':
    case '6':
        if (argument != (letter == '3' ? "2" : "4"))
            return usage(strprintf("illegal option -- %c%s", letter, argument.c_str()));
        if (letter == '3')
            result_.message = "-32 is not supported: programs have the 64-bit data model";
        return;
    case 'b':
        return set("bufsize", argument, "-b " + argument);
    case 'c':
        arguments.commands.push_back(argument);
        return;
    case 'D':
        arguments.definitions.push_back(argument);
        return;
    case 'f':
        return program(ProbeSpec::function, argument);
    case 'I':
        arguments.include_folders.push_back(argument);
        return;
    case 'L':
        arguments.library_folders.push_back(argument);
        return;
    case 'm':
        return program(ProbeSpec::module, argument);
    case 'i':
    case 'n':
        return program(ProbeSpec::name, argument);
    case 'o':
        arguments.output_path = argument;
        return;
    case 'p':
        arguments.pids.push_back(argument);
        return;
    case 'P':
        return program(ProbeSpec::provider, argument);
    case 's':
        arguments.programs.push_back({true, argument, ProbeSpec::name});
        return;
    case 'U':
        arguments.undefinitions.push_back(argument);
        return;
    case 'X':
        if (argument != "a" && argument != "c" && argument != "s" && argument != "t")
            result_.message =
                "failed to set -X " + argument + ": Invalid value for specified option";
        return set("stdc", argument, "-X " + argument);
    default: { // 'x'
        size_t equals = argument.find('=');
        std::optional<std::string> value;
        if (equals != std::string::npos)
            value = argument.substr(equals + 1);
        std::string name = argument.substr(0, equals);
        return set(name.c_str(), value, "-x " + name);
    }
    }
}

} // namespace

DtraceParse parse_dtrace_arguments(const std::string& name, const std::vector<std::string>& words) {
    DtraceParse parse = Parser(name, words).parse();
    if (words.empty())
        parse.usage = true;
    return parse;
}

std::vector<std::string> dtrace_option_words() {
    std::vector<std::string> words = {"-32", "-64"};
    for (const char* letter = kLetters; *letter != '\0'; letter++)
        if (std::isalpha(static_cast<unsigned char>(*letter)))
            words.push_back({'-', *letter});
    words.insert(words.end(), std::begin(kLongOptions), std::end(kLongOptions));
    return words;
}

std::string dtrace_usage(const std::string& name) {
    return "Usage: " + name +
           " [-32|-64] [-aACeFGhHlqSvVwZ] [-b bufsz] [-c cmd] [-D name[=def]]\n"
           "\t[-I path] [-L path] [-o output] [-p pid] [-s script] [-U name]\n"
           "\t[-x opt[=val]] [-X a|c|s|t] [--kernel release|image] [--simulate[=virtual]]\n\n"
           "\t[-P provider [[ predicate ] action ]]\n"
           "\t[-m [ provider: ] module [[ predicate ] action ]]\n"
           "\t[-f [[ provider: ] module: ] func [[ predicate ] action ]]\n"
           "\t[-n [[[ provider: ] module: ] func: ] name [[ predicate ] action ]]\n"
           "\t[-i probe-id [[ predicate ] action ]] [ args ... ]\n\n"
           "\tpredicate -> '/' D-expression '/'\n"
           "\t   action -> '{' D-statements '}'\n";
}

} // namespace daybreak::cmd
