// SPDX-License-Identifier: Apache-2.0
//
// -C: the C preprocessor over a D program.
#include "cmd/preprocess.hpp"

#include "base/file.hpp"
#include "cmd/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

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

// cpp reads the program from here: a file without a name holds any length without a second process.
base::Result<base::ScopedFd> input_of(const std::string& name, const std::string& text,
                                      const std::string& standard) {
    char path[] = "/tmp/daybreak-cpp-XXXXXX";
    base::ScopedFd fd(::mkstemp(path));
    if (!fd.valid())
        return base::errno_errorf("cannot make a temporary file for cpp");
    ::unlink(path);
    // The interpreter line is not C; its line stays, so that the others keep their numbers.
    std::string input =
        standard + "# 1 \"" + name + "\"\n" + (text.starts_with("#!") ? "//" : "") + text;
    DBK_TRY_VOID(base::write_all(fd.get(), base::as_bytes(input), "cpp"));
    if (::lseek(fd.get(), 0, SEEK_SET) != 0)
        return base::errno_errorf("cannot rewind a temporary file");
    return fd;
}

base::Result<std::string> read_all(int fd) {
    std::string text;
    char block[16384];
    for (;;) {
        ssize_t got = ::read(fd, block, sizeof(block));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return base::errno_errorf("cannot read what cpp says");
        if (got == 0)
            return text;
        text.append(block, static_cast<size_t>(got));
    }
}

std::string folder_of(const std::string& name) {
    size_t slash = name.find_last_of('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : name.substr(0, slash);
}

base::Result<void> wait_for(pid_t child, const std::string& name) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return base::errno_errorf("cannot wait for cpp");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return base::errorf(base::ErrorCode::invalid,
                            "failed to compile script %s: Preprocessor failed to process input "
                            "program",
                            name.c_str());
    return {};
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
    DBK_TRY(base::ScopedFd input, input_of(person ? name : kStandardInput, text, how.standard));
    int ends[2];
    if (::pipe(ends) != 0)
        return base::errno_errorf("cannot make a pipe for cpp");
    base::ScopedFd from_cpp(ends[0]), to_us(ends[1]);

    // As an assembler's: the C library's headers then leave out functions, which D cannot read.
    std::vector<std::string> words = {
        how.program, "-x",           "c", "-D__SUNW_D=1", "-D__DAYBREAK__=1", "-D__ASSEMBLER__=1",
        "-iquote",   folder_of(name)};
    words.insert(words.end(), std::begin(kNotInD), std::end(kNotInD));
    if (!person)
        words.insert(words.end(), {"-fno-diagnostics-show-caret", "-fno-show-column"});
    words.insert(words.end(), how.words.begin(), how.words.end());
    words.emplace_back("-");
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to_us.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, from_cpp.get());
    pid_t child = 0;
    int error =
        ::posix_spawnp(&child, how.program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return base::errorf(base::ErrorCode::not_found, "-C needs the program %s: %s",
                            how.program.c_str(), std::strerror(error));
    to_us.reset();
    auto output = read_all(from_cpp.get());
    DBK_TRY_VOID(wait_for(child, name));
    if (output.ok() && !person)
        return renamed(*output, name);
    return output;
}

} // namespace daybreak::cmd
