// SPDX-License-Identifier: Apache-2.0
//
// dtrace(1)'s own command line.
//
// Its conventions are those of getopt(3): single letters that may be joined (-qn), an argument
// after the letter or in the next word, and operands anywhere between, which become $1, $2, ...
// Each of -P, -m, -f, -n, -i takes a whole clause, "BEGIN { exit(0); }", as its one argument.
// After "--" all words are operands.
#pragma once

#include "compiler/syntax/parser.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::cmd {

/// One program of the command line.
struct DtraceProgram {
    bool is_script = false; ///< -s: `text` is the path; else the text itself
    std::string text;
    compiler::ProbeSpec spec = compiler::ProbeSpec::name;
    std::string name; ///< not "": `text` is a script's, called so in messages; not a file
};

/// What is to be done with the programs.
enum class DtraceMode : uint8_t {
    trace,     ///< run them
    anonymous, ///< -A: save them for the next boot
    link,      ///< -G
    header,    ///< -h
    list,      ///< -l
    version,   ///< -V
};

struct DtraceArguments {
    std::string name = "dtrace"; ///< what messages begin with
    DtraceMode mode = DtraceMode::trace;
    std::vector<DtraceProgram> programs; ///< -P -m -f -n -i -s, in order
    /// All options but those below, in order: -x name[=value] and the letters that mean one (-q is
    /// quiet).  What messages call the option is the third.
    struct Setting {
        std::string name;
        std::optional<std::string> value;
        std::string text; ///< "-x name", "-b 4m"
    };
    std::vector<Setting> settings;
    std::vector<std::string> arguments; ///< $1, $2, ...; of -G object files, which stay as they are
    std::vector<std::string> commands;  ///< -c
    std::vector<std::string> pids;      ///< -p
    std::string output_path;            ///< -o
    std::vector<std::string> definitions, undefinitions, include_folders, library_folders;
    bool claim_anonymous = false;     ///< -a
    bool preprocess = false;          ///< -C
    bool compile_only = false;        ///< -e
    bool verbose = false;             ///< -v
    bool quiet = false;               ///< -q, for what is said before options are known
    bool zero_probes_allowed = false; ///< -Z
    std::string kernel;               ///< --kernel: as elsewhere, a release or an image
    bool simulate = false;            ///< --simulate
    bool virtual_time = false;        ///< --simulate=virtual
    bool help = false;                ///< --help
    std::string hint_for_any_probe;   ///< instead of the compiler's; "": the compiler's
    bool json = false;                ///< a line of JSON for each record and aggregation, not text

    bool makes_own_probes() const { return mode == DtraceMode::header || mode == DtraceMode::link; }
};

struct DtraceParse {
    DtraceArguments arguments;
    std::string message; ///< what is wrong, without the name; "" when nothing is or usage says it
    bool usage = false;  ///< print how it is used, exit with status 2
};

/// Parses the words after the program's name.
DtraceParse parse_dtrace_arguments(const std::string& name, const std::vector<std::string>& words);

/// Returns its options: "-a", "--kernel".
std::vector<std::string> dtrace_option_words();

/// Returns the usage text, as dtrace(1) prints it for a wrong command line.
std::string dtrace_usage(const std::string& name);

} // namespace daybreak::cmd
