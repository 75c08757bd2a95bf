// SPDX-License-Identifier: Apache-2.0
#include "cmd/filter.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "cmd/held_signals.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace daybreak::cmd {

namespace {

/// A file without a name holds any length without a second process that writes.
base::Result<base::ScopedFd> file_of(base::ByteView input, const std::string& reader) {
    std::string path = base::temporary_path("daybreak");
    base::ScopedFd fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!fd.valid())
        return base::errno_errorf("cannot make a temporary file %s for %s ($TMPDIR says where)",
                                  path.c_str(), reader.c_str());
    ::unlink(path.c_str());
    DBK_TRY_VOID(base::write_all(fd.get(), input, path));
    if (::lseek(fd.get(), 0, SEEK_SET) != 0)
        return base::errno_errorf("cannot rewind the temporary file %s", path.c_str());
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

/// What a child of its own group needs of us while it lives.
class ForGroup {
public:
    explicit ForGroup(bool is_group) : is_group_(is_group) {
        if (!is_group_)
            return;
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);      // what it started is then ours to wait for
        before_ = std::signal(SIGTTOU, SIG_IGN); // inherited: it may print under `stty tostop`
    }
    ~ForGroup() {
        if (!is_group_)
            return;
        std::signal(SIGTTOU, before_);
        ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    }
    ForGroup(const ForGroup&) = delete;
    ForGroup& operator=(const ForGroup&) = delete;

    /// Ends what is left of the group and waits for it.
    void end(pid_t leader) const {
        if (!is_group_)
            return;
        ::kill(-leader, SIGKILL);
        while (::waitpid(-leader, nullptr, 0) > 0 || errno == EINTR) {
        }
    }

private:
    bool is_group_;
    void (*before_)(int) = SIG_DFL;
};

/// Starts a program between two files.  Returns its process; errors: not_found.
base::Result<pid_t> start(const std::string& what, std::vector<std::string>& words, int input,
                          int output, FilterOptions options) {
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (options.takes_errors)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    if (options.is_group) {
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    }
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, words[0].c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return base::errorf(base::ErrorCode::not_found, "%s needs the program %s: %s", what.c_str(),
                            words[0].c_str(), std::strerror(error));
    return child;
}

} // namespace

base::Result<Filtered> run_filter(const std::string& what, std::vector<std::string> words,
                                  base::ByteView input, FilterOptions options) {
    const std::string name = words.front();
    DBK_TRY(base::ScopedFd file, file_of(input, name));
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return base::errno_errorf("cannot make a pipe for %s", name.c_str());
    base::ScopedFd from_it(ends[0]), to_us(ends[1]);
    if (HeldSignals::came() != 0)
        return base::errorf(base::ErrorCode::interrupted, "%s: interrupted", name.c_str());
    const ForGroup group(options.is_group);
    DBK_TRY(pid_t child, start(what, words, file.get(), to_us.get(), options));
    HeldSignals::pass_to(options.is_group ? -child : child);
    to_us.reset();
    auto output = read_all(from_it.get(), name);
    auto is_well = ended_well(child, name);
    HeldSignals::pass_to(0);
    if (HeldSignals::came() != 0) {
        group.end(child);
        return base::errorf(base::ErrorCode::interrupted, "%s: interrupted", name.c_str());
    }
    if (!output.ok())
        return std::move(output).error();
    if (!is_well.ok())
        return std::move(is_well).error();
    return Filtered{std::move(*output), *is_well};
}

} // namespace daybreak::cmd
