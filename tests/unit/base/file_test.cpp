// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace daybreak::base;
using daybreak::test::TempFolder;
namespace fs = std::filesystem;

TEST_CASE("an output file appears only when committed", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "out";
    {
        auto out = OutputFile::create(name);
        REQUIRE(out.ok());
        REQUIRE(out->write(as_bytes("half")).ok());
        CHECK_FALSE(fs::exists(name));
    }
    CHECK(folder.files() == 0);

    auto out = OutputFile::create(name);
    REQUIRE(out->write(as_bytes("whole")).ok());
    REQUIRE(out->commit().ok());
    CHECK(read_file(name)->size() == 5);
    CHECK(folder.files() == 1);
}

TEST_CASE("a free path is the next that names nothing, not even a link to nowhere", "[base][file]") {
    TempFolder folder;
    std::string stem = folder.path / "a";
    CHECK(free_path(stem, ".x") == stem + ".x");
    CHECK(OutputFile::create(stem + ".x")->commit().ok());
    CHECK(free_path(stem, ".x") == stem + "-2.x");
    fs::create_symlink("nowhere", stem + "-2.x");
    CHECK(free_path(stem, ".x") == stem + "-3.x");
}

TEST_CASE("a directory as output is refused by name", "[base][file]") {
    TempFolder folder;
    auto out = OutputFile::create(folder.path);
    REQUIRE_FALSE(out.ok());
    CHECK(out.error().message().find("is a directory") != std::string::npos);
    CHECK_FALSE(OutputFile::create(folder.path / "no/such/folder/x").ok());
    CHECK_FALSE(read_file(folder.path).ok());
}

TEST_CASE("a full disk is an error and leaves the old file", "[base][file]") {
    auto out = OutputFile::create("/dev/full");
    REQUIRE(out.ok());
    auto written = out->write(as_bytes("x"));
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().message() == "cannot write /dev/full: No space left on device");
}

TEST_CASE("an output file has the mode that was asked for, or its own one's", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "out";
    auto mode_after = [&](mode_t wanted) {
        auto out = OutputFile::create(name, wanted);
        REQUIRE(out.ok());
        REQUIRE(out->commit().ok());
        struct stat status = {};
        REQUIRE(::stat(name.c_str(), &status) == 0);
        return status.st_mode & 07777;
    };
    mode_t mask = ::umask(022);
    CHECK(mode_after(OutputFile::kSecretMode) == 0600);
    REQUIRE(::chmod(name.c_str(), 0640) == 0);
    CHECK(mode_after(OutputFile::kSecretMode) == 0640);
    if (::geteuid() == 0) { // put there by another user, to read what comes
        REQUIRE(::chown(name.c_str(), 65534, 65534) == 0);
        REQUIRE(::chmod(name.c_str(), 0666) == 0);
        CHECK(mode_after(OutputFile::kSecretMode) == 0600);
    }
    REQUIRE(::unlink(name.c_str()) == 0);
    CHECK(mode_after(0666) == 0644);
    ::umask(mask);
}

TEST_CASE("a link in the place of an output file lends it no mode", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "out", readable = folder.path / "readable";
    REQUIRE(replace_text(readable, "x", 0644).ok());
    SECTION("symbolic") {
        fs::create_symlink(readable, name);
    }
    SECTION("hard") {
        fs::create_hard_link(readable, name);
    }
    auto out = OutputFile::create(name, OutputFile::kSecretMode);
    REQUIRE(out.ok());
    REQUIRE(out->write(as_bytes("secret")).ok());
    REQUIRE(out->commit().ok());
    struct stat status = {};
    REQUIRE(::lstat(name.c_str(), &status) == 0);
    CHECK(status.st_mode == (S_IFREG | 0600));
    CHECK(read_file(readable)->size() == 1);
}

TEST_CASE("what a link of the system leads to is written, not the link", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "out";
    int fd = ::open(name.c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    auto out = OutputFile::create("/proc/self/fd/" + std::to_string(fd));
    REQUIRE(out.ok());
    REQUIRE(out->write(as_bytes("whole")).ok());
    REQUIRE(out->commit().ok());
    ::close(fd);
    CHECK(read_file(name).value() == Bytes(as_bytes("whole").begin(), as_bytes("whole").end()));
    CHECK(folder.files() == 1);
}

TEST_CASE("a FIFO of another user is not written to, a shell's pipe is", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "fifo";
    REQUIRE(::mkfifo(name.c_str(), 0666) == 0);
    ScopedFd reader(::open(name.c_str(), O_RDONLY | O_NONBLOCK));
    CHECK(OutputFile::create(name).ok());
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ScopedFd first(ends[0]), second(ends[1]);
    std::string shells = "/dev/fd/" + std::to_string(ends[1]);
    CHECK(OutputFile::create(shells).ok());
    if (::geteuid() != 0)
        return;
    REQUIRE(::chown(name.c_str(), 65534, 65534) == 0);
    REQUIRE(::fchown(ends[1], 65534, 65534) == 0);
    CHECK(OutputFile::create(name).error().message() == name + " is another user's FIFO");
    CHECK(OutputFile::create(shells).ok());
}

TEST_CASE("another user's link leads an output nowhere", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "out";
    fs::create_symlink("/dev/null", name);
    CHECK(OutputFile::create(name).ok());
    if (::geteuid() != 0)
        return;
    REQUIRE(::lchown(name.c_str(), 65534, 65534) == 0);
    auto out = OutputFile::create(name);
    REQUIRE_FALSE(out.ok());
    CHECK(out.error().message() == name + " is another user's link");
}

TEST_CASE("a shell's pipe is distinguished from a FIFO, and read up to a bound", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "fifo";
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    CHECK_FALSE(is_nameless_pipe(name));
    CHECK_FALSE(is_nameless_pipe("/dev/null"));
    for (size_t bytes_max : {4, 3}) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        ScopedFd first(ends[0]), second(ends[1]);
        std::string shells = "/dev/fd/" + std::to_string(ends[0]);
        CHECK(is_nameless_pipe(shells));
        REQUIRE(write_all(second.get(), as_bytes("four"), shells).ok());
        second.reset();
        auto read = read_file(shells, bytes_max);
        CHECK(read.ok() == (bytes_max == 4));
        if (!read.ok())
            CHECK(read.error().message() == shells + " has more than 3 bytes");
    }
}

TEST_CASE("replacing a text follows no link and truncates nothing", "[base][file]") {
    TempFolder folder;
    std::string name = folder.path / "status", precious = folder.path / "precious";
    REQUIRE(replace_text(precious, "precious", 0600).ok());
    fs::create_symlink(precious, name);
    fs::create_symlink(precious, name + ".new");
    REQUIRE(replace_text(name, "text", 0644).ok());
    CHECK(read_file(precious)->size() == 8);
    CHECK(read_file(name)->size() == 4);
    CHECK_FALSE(fs::is_symlink(name));
    CHECK(folder.files() == 2);
    fs::create_directory(name + ".new"); // what cannot be removed is not written to
    CHECK_FALSE(replace_text(name, "other", 0644).ok());
    CHECK(read_file(name)->size() == 4);
}
