// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/early-init/syscalls.h"
#include "tests/unit/kmod/access.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string kept(std::string command_line) {
    command_line.push_back('\0');
    test_parameters_keep(command_line.data());
    return command_line.c_str();
}

// A kernel that boots early-init, and what it saw of it.
struct Boot {
    std::map<std::string, std::string> files; // by path; /daybreak/proc/cmdline is there while /proc is mounted
    std::string release = "6.1.0-test";
    long load_result = 0; // of the module, negative when it fails
    long pid = 1;
    size_t read_max = 4096; // bytes of one read
    std::vector<std::string> runnable = {"/init"};
    std::vector<std::string> argv = {"early-init", "splash"}, envp = {"HOME=/"};

    std::string parameters = "never loaded", console, became, became_argv;
    std::vector<std::string> tried;
    bool has_folder = false, is_mounted = false, has_exited = false;
    std::map<long, std::pair<std::string, size_t>> open; // descriptor -> path and position

    long call(long number, const char* path, long b, long c);
    void run();
};

Boot* booting;

long Boot::call(long number, const char* path, long b, long c) {
    const long fd = reinterpret_cast<long>(path); // what the first argument is of read, write and close
    switch (number) {
    case SYSCALL_OPEN:
        if (!files.count(path) || (std::strstr(path, "cmdline") && !is_mounted))
            return -ENOENT;
        for (long free = 3;; free++)
            if (open.emplace(free, std::pair{path, size_t{0}}).second)
                return free;
    case SYSCALL_READ: {
        auto& [name, at] = open.at(fd);
        const size_t bytes = std::min({static_cast<size_t>(c), read_max, files[name].size() - at});
        std::memcpy(reinterpret_cast<char*>(b), files[name].data() + at, bytes);
        at += bytes;
        return static_cast<long>(bytes);
    }
    case SYSCALL_WRITE:
        if (fd > 2)
            CHECK(open.at(fd).first == "/dev/console");
        console.append(reinterpret_cast<const char*>(b), static_cast<size_t>(c));
        return c;
    case SYSCALL_CLOSE: return open.erase(fd) == 1 ? 0 : -EBADF;
    case SYSCALL_UNAME: {
        char* fields = reinterpret_cast<char*>(const_cast<char*>(path)); // six strings of 65 bytes
        std::memset(fields, 0, size_t{6} * 65);
        std::strcpy(fields, "Linux");
        std::strcpy(fields + size_t{2} * 65, release.c_str());
        return 0;
    }
    case SYSCALL_MKDIR: return std::exchange(has_folder, true) ? -EEXIST : 0;
    case SYSCALL_RMDIR: return std::exchange(has_folder, is_mounted) && !is_mounted ? 0 : -EBUSY;
    case SYSCALL_MOUNT: return has_folder ? (is_mounted = true, 0) : -ENOENT;
    case SYSCALL_UMOUNT2: return std::exchange(is_mounted, false) ? 0 : -EINVAL;
    case SYSCALL_FINIT_MODULE:
        CHECK(open.at(fd).first == "/daybreak/daybreak.ko");
        parameters = reinterpret_cast<const char*>(b);
        return load_result;
    case SYSCALL_GETPID: return pid;
    case SYSCALL_EXECVE:
        tried.emplace_back(path);
        if (std::find(runnable.begin(), runnable.end(), path) == runnable.end())
            return -ENOENT;
        became = path;
        for (char** word = reinterpret_cast<char**>(b); *word; word++)
            became_argv += *word + std::string(" ");
        CHECK(*reinterpret_cast<char**>(c) == envp[0]);
        return 0;
    default: has_exited = number == SYSCALL_EXIT; return -ENOSYS;
    }
}

void Boot::run() {
    std::vector<long> stack = {static_cast<long>(argv.size())};
    for (std::vector<std::string>* words : {&argv, &envp}) {
        for (std::string& word : *words)
            stack.push_back(reinterpret_cast<long>(word.data()));
        stack.push_back(0);
    }
    files.try_emplace("/dev/console");
    booting = this;
    test_early_init(stack.data());
    CHECK_FALSE(is_mounted);
    CHECK_FALSE(has_folder);
    CHECK(open.empty());
}

// A boot with a module that is there; its file says for which kernel it is.
Boot boot_with_module() {
    Boot boot;
    boot.files["/daybreak/daybreak.ko"] =
        std::string(70000, 'v') + "vermagic=6.12.9-other SMP preempt" + '\0' + "depends=" + '\0';
    boot.files["/daybreak/proc/cmdline"] = "quiet daybreak.bank=4M@0x10000000 daybreak.salvage\n";
    return boot;
}

} // namespace

extern "C" long test_early_syscall(long number, long a, long b, long c, bool* is_end_ret) {
    const long result = booting->call(number, reinterpret_cast<const char*>(a), b, c);
    *is_end_ret = !booting->became.empty() || booting->has_exited;
    return result;
}

TEST_CASE("early-init keeps the module's parameters of a command line", "[kmod][early-init]") {
    CHECK(kept("").empty());
    CHECK(kept("quiet root=/dev/sda1\n").empty());
    CHECK(kept("daybreak.bank=4M@0x10000000") == "bank=4M@0x10000000 ");
    CHECK(kept("ro daybreak.bank=a quiet daybreak.salvage\n") == "bank=a salvage ");
    CHECK(kept("  daybreak.a=1   daybreak.b=2\n") == "a=1 b=2 ");
    // A prefix within a word, or without its dot, is another's.
    CHECK(kept("xdaybreak.a=1 daybreak=2 daybreak_init=/x").empty());
    // Quotes hold words together.
    CHECK(kept("daybreak.a=\"one two\" x daybreak.b=3") == "a=\"one two\" b=3 ");
    CHECK(kept("other=\"x daybreak.a=1\" daybreak.b=2") == "b=2 ");
    CHECK(kept("daybreak.a=\"never closed daybreak.b=2") == "a=\"never closed daybreak.b=2 ");
    // After "--" words are init's.
    CHECK(kept("daybreak.a=1 -- daybreak.b=2") == "a=1 ");
    CHECK(kept("--x daybreak.a=1") == "a=1 ");
    CHECK(kept("daybreak.a=1 --\n") == "a=1 ");
}

TEST_CASE("early-init takes daybreak_init= with a path only", "[kmod][early-init]") {
    auto found = [](std::vector<std::string> words) {
        std::vector<char*> pointers;
        for (std::string& word : words)
            pointers.push_back(word.data());
        pointers.push_back(nullptr);
        const char* path = test_option_find(pointers.data());
        return std::string(path ? path : "none");
    };
    CHECK(found({}) == "none");
    CHECK(found({"HOME=/", "daybreak_init=/sbin/my"}) == "/sbin/my");
    CHECK(found({"daybreak_init=sbin", "daybreak_init=", "daybreak_init=/b"}) == "/b");
    CHECK(found({"xdaybreak_init=/a"}) == "none");
}

TEST_CASE("early-init loads the module with its parameters, then is the real init", "[kmod][early-init]") {
    Boot boot = boot_with_module();
    boot.read_max = GENERATE(size_t{7}, size_t{4096});
    boot.load_result = GENERATE(0L, long{-EEXIST});
    boot.runnable = {"/sbin/init", "/init"};
    boot.run();
    CHECK(boot.parameters == "programs=/daybreak bank=4M@0x10000000 salvage ");
    CHECK(boot.console.empty());
    CHECK(boot.tried == std::vector<std::string>{"/init"});
    CHECK(boot.became_argv == "/init splash ");
}

TEST_CASE("early-init ends where a script of the initramfs runs it", "[kmod][early-init]") {
    Boot boot = boot_with_module();
    boot.pid = 77;
    boot.run();
    CHECK(boot.parameters == "programs=/daybreak bank=4M@0x10000000 salvage ");
    CHECK(boot.has_exited);
    CHECK(boot.tried.empty());
}

TEST_CASE("early-init says why a module does not load, and boots on", "[kmod][early-init]") {
    auto [error, reason] = GENERATE(table<long, std::string>({
        {ENOENT, "a symbol that it needs is not in kernel 6.1.0-test"},
        {ENOEXEC, "it is for kernel 6.12.9-other, this is 6.1.0-test"},
        {EKEYREJECTED, "it is not signed with a key that this kernel trusts"},
        {EPERM, "the kernel is locked down and takes signed modules only"},
        {ENOMEM, "not enough memory"},
        {EINVAL, "it is damaged, or the kernel does not accept it"},
        {ENOSYS, "this kernel has no loadable modules"},
        {107, "error 107"},
    }));
    Boot boot = boot_with_module();
    boot.load_result = -error;
    if (GENERATE(false, true))
        boot.files.erase("/dev/console"), boot.files.emplace("/dev/null", "");
    boot.run();
    CHECK(boot.console ==
          "daybreak: cannot load /daybreak/daybreak.ko: " + reason + "; booting on without tracing\n");
    CHECK(boot.became == "/init");
}

TEST_CASE("early-init without a module, or with one that is none, boots on", "[kmod][early-init]") {
    Boot boot;
    SECTION("none") {
        boot.run();
        CHECK(boot.console ==
              "daybreak: cannot load /daybreak/daybreak.ko: no such file; booting on without tracing\n");
        CHECK(boot.parameters == "never loaded");
    }
    SECTION("not a module") {
        boot.files["/daybreak/daybreak.ko"] = "vermagic=" + std::string(GENERATE(0, 5), 'x');
        boot.load_result = -ENOEXEC;
        boot.run();
        CHECK_THAT(boot.console, Catch::Contains("it is for another kernel, or no module, this is 6.1.0-test"));
        CHECK(boot.parameters == "programs=/daybreak ");
    }
    SECTION("a release longer than any") {
        boot.files["/daybreak/daybreak.ko"] = "vermagic=" + std::string(70000, 'x');
        boot.load_result = -ENOEXEC;
        boot.run();
        CHECK_THAT(boot.console, Catch::Contains("for kernel " + std::string(127, 'x') + ", this is"));
    }
    CHECK(boot.became == "/init");
}

TEST_CASE("early-init runs the init that was asked for, else the kernel's list", "[kmod][early-init]") {
    Boot boot = boot_with_module();
    SECTION("asked for after --") {
        boot.argv.emplace_back("daybreak_init=/sbin/mine");
        boot.runnable = {"/init", "/sbin/mine"};
        boot.run();
        CHECK(boot.became_argv == "/sbin/mine splash daybreak_init=/sbin/mine ");
        CHECK(boot.console.empty());
    }
    SECTION("asked for, in the environment") {
        boot.envp.emplace_back("daybreak_init=/sbin/mine");
        boot.runnable = {"/init", "/sbin/mine"};
        boot.run();
        CHECK(boot.tried == std::vector<std::string>{"/sbin/mine"});
    }
    SECTION("asked for, but not there") {
        boot.envp.emplace_back("daybreak_init=/sbin/mine");
        boot.run();
        CHECK(boot.console == "daybreak: cannot run daybreak_init=/sbin/mine: error 2; trying the usual ones\n");
        CHECK(boot.became == "/init");
    }
    SECTION("no /init") {
        boot.runnable = {"/bin/sh", "/bin/init"};
        boot.run();
        CHECK(boot.tried == std::vector<std::string>{"/init", "/sbin/init", "/etc/init", "/bin/init"});
    }
    SECTION("none at all") {
        boot.runnable.clear();
        boot.run();
        CHECK(boot.console == "daybreak: found no init to run\n");
        CHECK(boot.has_exited);
    }
}
