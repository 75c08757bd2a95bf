// SPDX-License-Identifier: Apache-2.0
#include "bootloader-hooks/install/plan.hpp"

#include "tests/support/machine_folder.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <thread>
#include <utility>

using namespace daybreak;
using namespace daybreak::install;

namespace {

int folder_errno = 0;       ///< what fsync of a folder fails with
fsblkcnt_t free_blocks = 0; ///< what a file system has, where it is not 0
std::string gone_meanwhile; ///< a file that is another one just before a lock is taken

} // namespace

// In place of the C library's.
extern "C" int fsync(int fd) {
    struct stat status = {};
    if (folder_errno != 0 && ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = folder_errno;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

extern "C" int statvfs(const char* path, struct statvfs* facts) {
    if (free_blocks == 0)
        return ::fstatvfs(base::ScopedFd(::open(path, O_PATH | O_CLOEXEC)).get(), facts);
    *facts = {};
    facts->f_frsize = 4096;
    facts->f_blocks = 1000;
    facts->f_bfree = free_blocks;
    return 0;
}

extern "C" int flock(int fd, int how) {
    if (!gone_meanwhile.empty()) {
        std::string path = std::exchange(gone_meanwhile, "");
        std::filesystem::remove(path);
        std::ofstream another(path);
    }
    return static_cast<int>(::syscall(SYS_flock, fd, how));
}

TEST_CASE("a file is replaced with its mode, and nothing is left beside it", "[install][host]") {
    test::MachineFolder machine;
    Host& host = machine.host;
    machine.write("/etc/a", "old");
    ::chmod(host.at("/etc/a").c_str(), 0640);
    machine.write("/etc/a.daybreak-new", "left over");
    machine.write("/etc/a.new", "another's");
    CHECK(host.has_left_over("/etc/a"));
    REQUIRE(host.replace("/etc/a", "new", 0644).ok());
    CHECK(machine.read("/etc/a") == "new");
    CHECK(!host.has_left_over("/etc/a"));
    struct stat status = {};
    REQUIRE(::stat(host.at("/etc/a").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0640);
    REQUIRE(host.replace("/var/lib/x/b", "b", 0644).ok());
    REQUIRE(::stat(host.at("/var/lib/x/b").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0644);
    machine.write("/var/lib/x/b.daybreak-new", "left over");
    machine.write("/etc/b.new", "another's");
    REQUIRE(host.replace("/etc/b", "b", 0644).ok());
    REQUIRE(host.remove("/etc/b").ok());
    CHECK(machine.read("/etc/a.new") + machine.read("/etc/b.new") == "another'sanother's");
    REQUIRE(host.remove("/var/lib/x/b").ok());
    CHECK(!machine.has("/var/lib/x/b.daybreak-new"));
    REQUIRE(host.remove("/var/lib/x/b").ok());
    host.remove_empty_folder("/var/lib/x");
    CHECK(!machine.has("/var/lib/x"));
    host.remove_empty_folder("/etc");
    CHECK(machine.has("/etc/a"));
}

TEST_CASE("what cannot be written is said, and is as it was", "[install][host]") {
    test::MachineFolder machine;
    machine.write("/etc/file", "");
    auto inside = machine.host.replace("/etc/file/a", "x", 0644);
    REQUIRE(!inside.ok());
    CHECK(inside.error().message().find("/etc/file/a") != std::string::npos);
    std::filesystem::create_directories(machine.host.at("/etc/folder/sub"));
    auto folder = machine.host.replace("/etc/folder", "x", 0644);
    REQUIRE(!folder.ok());
    CHECK(folder.error().message().find("cannot put /etc/folder in place") == 0);
    CHECK(!machine.has("/etc/folder.daybreak-new"));
    CHECK(!machine.host.remove("/etc/folder").ok());

    for (auto [error, is_said] :
         {std::pair(EINVAL, false), std::pair(ENOTSUP, false), std::pair(EIO, true)}) {
        folder_errno = error;
        auto replaced = machine.host.replace("/etc/b", "b", 0644);
        auto removed = machine.host.remove("/etc/b");
        folder_errno = 0;
        CHECK(replaced.ok() == !is_said);
        CHECK(removed.ok() == !is_said);
        if (is_said)
            CHECK(replaced.error().message().find("cannot write the folder of /etc/b") == 0);
    }
}

TEST_CASE("what has no room is said before anything is written", "[install][host]") {
    test::MachineFolder machine;
    std::string three(2 * 4096 + 1, 'x'), five(5 * 4096, 'x');
    Plan plan;
    plan.steps = {
        {.path = "/a/new/folder/x", .after = three},
        {.command = {"true"}, .what = "nothing"},
        {.path = "/a/x", .before = five, .after = three}, // the old one is there till then
        {.path = "/a/y", .before = three},
        {.path = "/a/z", .after = five}};
    auto refusal = [&](fsblkcnt_t blocks) {
        free_blocks = blocks;
        auto checked = check_room(machine.host, plan);
        free_blocks = 0;
        return checked.ok() ? "" : checked.error().message();
    };
    CHECK(refusal(6).empty());
    CHECK(refusal(5) == "no room for /a/x: 0.0 MiB are needed there, and 0.0 MiB are free; nothing "
                        "was changed");
    CHECK(check_room(machine.host, plan).ok());
}

TEST_CASE("a link is not replaced, and no folder is read", "[install][host]") {
    test::MachineFolder machine;
    machine.write("/etc/real", "x");
    std::filesystem::create_symlink("real", machine.host.at("/etc/link"));
    CHECK(machine.host.read("/etc/link").error().message().find("is a link") != std::string::npos);
    CHECK(machine.host.read_through("/etc/link")->value() == "x");
    CHECK(machine.host.read("/etc").error().message().find("not a regular file") !=
          std::string::npos);
    CHECK(!*machine.host.read("/etc/none"));
    CHECK(!*machine.host.read_through("/etc/none"));
    CHECK(machine.host.list("/none").empty());
    CHECK(machine.host.list("/etc") == std::vector<std::string>{"link", "real"});
}

TEST_CASE("a program's output comes back, or why it failed", "[install][host]") {
    CHECK(*run_program({"printf", "a b"}) == "a b");
    CHECK(run_program({"no-such-program-here"}).error().code() == base::ErrorCode::not_found);
    auto failed = run_program({"sh", "-c", "echo first; echo last >&2; exit 3"});
    REQUIRE(!failed.ok());
    CHECK(failed.error().message() == "sh failed: last");
}

TEST_CASE("one process at a time changes an installation", "[install][host]") {
    test::MachineFolder machine;
    using std::chrono::milliseconds;
    {
        auto held = machine.host.lock();
        REQUIRE(held.ok());
        auto second = machine.host.lock(milliseconds(60));
        REQUIRE(!second.ok());
        CHECK(second.error().code() == base::ErrorCode::busy);
    }
    CHECK(machine.host.list("/run").empty());
    // Those who wait take it one after another, though each takes the file away.
    std::atomic<int> at_work = 0, together = 0;
    std::vector<std::thread> others;
    for (int i = 0; i < 8; i++)
        others.emplace_back([&] {
            auto lock = machine.host.lock();
            together += !lock.ok() || ++at_work != 1;
            std::this_thread::sleep_for(milliseconds(2));
            at_work--;
        });
    for (std::thread& other : others)
        other.join();
    CHECK(together == 0);
    // The one who had the lock took the file away after this one opened it, and a third made
    // another.
    gone_meanwhile = machine.host.at("/run/daybreak-install.lock");
    {
        auto lock = machine.host.lock();
        CHECK(lock.ok());
        CHECK(!machine.host.lock(milliseconds(0)).ok());
    }
    // A process that was killed left the file, and holds no lock.
    machine.write("/run/daybreak-install.lock", "");
    CHECK(machine.host.lock(milliseconds(0)).ok());
}
