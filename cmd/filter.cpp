// SPDX-License-Identifier: Apache-2.0
#include "cmd/filter.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace daybreak::cmd {

namespace {

/// A file without a name holds any length without a second process that writes.
base::Result<base::ScopedFd> file_of(base::ByteView input, const std::string& reader) {
    char path[] = "/tmp/daybreak-XXXXXX";
    base::ScopedFd fd(::mkstemp(path));
    if (!fd.valid())
        return base::errno_errorf("cannot make a temporary file for %s", reader.c_str());
    ::unlink(path);
    DBK_TRY_VOID(base::write_all(fd.get(), input, reader));
    if (::lseek(fd.get(), 0, SEEK_SET) != 0)
        return base::errno_errorf("cannot rewind a temporary file");
    return fd;
}

base::Result<std::string> read_all(int fd, const std::string& writer) {
    std::string text;
    char block[16384];
    for (;;) {
        ssize_t got = ::read(fd, block, sizeof(block));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return base::errno_errorf("cannot read what %s says", writer.c_str());
        if (got == 0)
            return text;
        text.append(block, static_cast<size_t>(got));
    }
}

base::Result<bool> ended_well(pid_t child, const std::string& name) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return base::errno_errorf("cannot wait for %s", name.c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

base::Result<Filtered> run_filter(const std::string& what, std::vector<std::string> words,
                                  base::ByteView input) {
    const std::string name = words.front();
    DBK_TRY(base::ScopedFd file, file_of(input, name));
    int ends[2];
    if (::pipe(ends) != 0)
        return base::errno_errorf("cannot make a pipe for %s", name.c_str());
    base::ScopedFd from_it(ends[0]), to_us(ends[1]);
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to_us.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, from_it.get());
    pid_t child = 0;
    int error = ::posix_spawnp(&child, name.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return base::errorf(base::ErrorCode::not_found, "%s needs the program %s: %s", what.c_str(),
                            name.c_str(), std::strerror(error));
    to_us.reset();
    auto output = read_all(from_it.get(), name);
    DBK_TRY(bool is_well, ended_well(child, name));
    if (!output.ok())
        return std::move(output).error();
    return Filtered{std::move(*output), is_well};
}

} // namespace daybreak::cmd
