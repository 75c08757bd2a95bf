// SPDX-License-Identifier: Apache-2.0
//
// -C: the C preprocessor over a D program.
#include "cmd/preprocess.hpp"

#include "cmd/filter.hpp"
#include "cmd/terminal.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

/// What cpp calls the program: the file on a person's terminal, where cpp shows the line as well;
/// otherwise its standard input, as dtrace(1) always has it.
constexpr const char* kStandardInput = "/dev/stdin";

// As of a system's header, which may define what is built in.
constexpr const char* kNoStandard = "# 1 \"<stdc>\" 3\n#undef __STDC__\n";
constexpr const char* kStandardIsZero = "# 1 \"<stdc>\" 3\n#undef __STDC__\n#define __STDC__ 0\n";

/// Words of the system's headers that say nothing of how memory is laid out.  __attribute__ may
/// (packed, aligned, mode), so it is not among them: the parser looks at what it says.
constexpr const char* kNotInD[] = {
    "-D__extension__=", "-D__restrict=", "-D__restrict_arr=", "-D__THROW=", "-D__THROWNL=",
    "-D__BEGIN_DECLS=", "-D__END_DECLS=", "-D__const=const", "-D__signed__=signed",
    "-D__volatile__=volatile",
    // of functions, in <sys/cdefs.h>
    "-D__wur=", "-D__nonnull(x)=", "-D__attr_access(x)=", "-D__attr_dealloc(x,y)=",
    "-D__attr_dealloc_free=", "-D__attribute_alloc_size__(x)=", "-D__attribute_alloc_align__(x)=",
    "-D__attribute_const__=", "-D__attribute_deprecated__=", "-D__attribute_malloc__=",
    "-D__attribute_noinline__=", "-D__attribute_pure__=", "-D__attribute_returns_twice__=",
    "-D__attribute_warn_unused_result__=", "-D__fortified_attr_access(x,y,z)=",
    "-D__attribute_format_arg__(x)=", "-D__attribute_deprecated_msg__(x)=", "-D__returns_nonnull=",
    // the guards of <bits/byteswap.h> and <bits/uintn-identity.h>: functions with bodies, no types
    "-D_BITS_BYTESWAP_H", "-D_BITS_UINTN_IDENTITY_H"};

bool is_for_a_person() {
    return ::isatty(STDERR_FILENO) != 0 && !is_testing();
}

// The interpreter line is not C; its line stays, so that the others keep their numbers.
std::string input_of(const std::string& name, const std::string& text,
                     const std::string& standard) {
    return standard + "# 1 \"" + name + "\"\n" + (text.starts_with("#!") ? "//" : "") + text;
}

std::string folder_of(const std::string& name) {
    size_t slash = name.find_last_of('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : name.substr(0, slash);
}

/// Puts the program's name where cpp's line markers name its standard input.
std::string renamed(const std::string& text, const std::string& name) {
    const std::string marker = std::string("\"") + kStandardInput + "\"";
    std::string result;
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        std::string line = text.substr(begin, end - begin);
        size_t at = line[0] == '#' ? line.find(marker) : std::string::npos;
        if (at != std::string::npos)
            line.replace(at, marker.size(), "\"" + name + "\"");
        result += line;
        begin = end;
    }
    return result;
}

} // namespace

void Preprocessing::add(const std::vector<std::string>& definitions,
                        const std::vector<std::string>& undefinitions,
                        const std::vector<std::string>& include_folders) {
    for (const std::string& definition : definitions)
        words.push_back("-D" + definition);
    for (const std::string& name : undefinitions)
        words.push_back("-U" + name);
    for (const std::string& folder : include_folders)
        words.push_back("-I" + folder);
}

void Preprocessing::add_option(std::string_view name, const std::optional<std::string>& value) {
    std::string text = value.value_or("");
    if (name == "cpp")
        wanted = true;
    else if (name == "cpphdrs")
        words.emplace_back("-H");
    else if (text.empty())
        return; // is refused as an option
    else if (name == "cppargs")
        for (std::istringstream all(text); all >> text;)
            words.push_back(text);
    else if (name == "cpppath")
        program = text;
    else if (name == "define")
        words.push_back("-D" + text);
    else if (name == "undef")
        words.push_back("-U" + text);
    else if (name == "incdir")
        words.push_back("-I" + text);
    else if (name == "stdc") // c: what cpp says itself, 1
        standard = text == "c" ? "" : text == "s" ? kNoStandard : kStandardIsZero;
}

base::Result<std::string> preprocess(const std::string& name, const std::string& text,
                                     const Preprocessing& how) {
    bool person = is_for_a_person();
    // As an assembler's: the C library's headers then leave out functions, which D cannot read.
    std::vector<std::string> words = {
        how.program, "-x",           "c", "-D__SUNW_D=1", "-D__DAYBREAK__=1", "-D__ASSEMBLER__=1",
        "-iquote",   folder_of(name)};
    words.insert(words.end(), std::begin(kNotInD), std::end(kNotInD));
    if (!person)
        words.insert(words.end(), {"-fno-diagnostics-show-caret", "-fno-show-column"});
    words.insert(words.end(), how.words.begin(), how.words.end());
    words.emplace_back("-");
    std::string input = input_of(person ? name : kStandardInput, text, how.standard);
    DBK_TRY(Filtered done, run_filter("-C", words, base::as_bytes(input)));
    if (!done.ended_well)
        return base::errorf(base::ErrorCode::invalid,
                            "failed to compile script %s: Preprocessor failed to process input "
                            "program",
                            name.c_str());
    return person ? std::move(done.output) : renamed(done.output, name);
}

} // namespace daybreak::cmd
