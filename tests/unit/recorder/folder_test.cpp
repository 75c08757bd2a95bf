// SPDX-License-Identifier: Apache-2.0
#include "recorder/follow/folder.hpp"

#include "tests/support/secret_file.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace daybreak;
using namespace daybreak::recorder;

namespace {

Bytes block(size_t bytes, int value) {
    return Bytes(bytes, static_cast<std::byte>(value));
}

} // namespace

TEST_CASE("of a block that was written in part nothing stays", "[follow][folder]") {
    test::TempFolder at;
    auto folder = open_folder(at.path);
    REQUIRE(folder.ok());
    auto file = (*folder)->create("a");
    REQUIRE(file.ok());
    REQUIRE((*file)->append(block(3000, 1)).ok());
    // A write that passes the limit writes up to it, and the next is an error.
    rlimit before = {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit small = {4096, before.rlim_max};
    auto handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    Result<void> refused = (*file)->append(block(2000, 2));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code() == ErrorCode::full);
    CHECK((*file)->is_usable());
    CHECK(std::filesystem::file_size(at.path / "a") == 3000);
    REQUIRE((*file)->append(block(10, 3)).ok());
    REQUIRE((*file)->sync().ok());
    Bytes wanted = block(3000, 1);
    wanted.insert(wanted.end(), 10, std::byte{3});
    CHECK((*folder)->read("a").value() == wanted);
}

TEST_CASE("a folder is for one recorder, whatever is deleted in it", "[follow][folder]") {
    test::TempFolder at;
    {
        auto first = open_folder(at.path);
        REQUIRE(first.ok());
        for (const auto& entry : std::filesystem::directory_iterator(at.path))
            std::filesystem::remove_all(entry);
        auto second = open_folder(at.path);
        REQUIRE_FALSE(second.ok());
        CHECK(second.error().code() == ErrorCode::busy);
        std::string busy = "another daybreak records to " + at.path.string();
        std::filesystem::permissions(at.path, std::filesystem::perms(0755));
        CHECK(open_folder(at.path).error().message() ==
              busy + ", or a user who may read it holds its lock (chmod 700 prevents that)");
        std::filesystem::permissions(at.path, std::filesystem::perms(0700));
        CHECK(open_folder(at.path).error().message() == busy);
    }
    CHECK(open_folder(at.path).ok());
    CHECK(std::filesystem::is_empty(at.path));
}

TEST_CASE("what is made is for its owner alone", "[follow][folder]") {
    test::TempFolder at;
    mode_t mask = ::umask(0);
    auto folder = open_folder(at.path / "made");
    REQUIRE(folder.ok());
    REQUIRE((*folder)->create("a").ok());
    ::umask(mask);
    CHECK(test::is_secret(at.path / "made/a"));
    CHECK(std::filesystem::status(at.path / "made").permissions() ==
          std::filesystem::perms::owner_all);
}

TEST_CASE("names that are taken, cuts and what is not there", "[follow][folder]") {
    test::TempFolder at;
    auto folder = open_folder(at.path);
    REQUIRE(folder.ok());
    std::filesystem::create_symlink("elsewhere", at.path / "link");
    std::ofstream(at.path / "file") << "0123456789";
    for (const char* name : {"file", "link"}) {
        auto made = (*folder)->create(name);
        REQUIRE_FALSE(made.ok());
        CHECK(made.error().code() == ErrorCode::busy);
    }
    CHECK_FALSE(std::filesystem::exists(at.path / "elsewhere"));
    CHECK((*folder)->sync_file("file").ok());
    REQUIRE((*folder)->cut("file", 4).ok());
    CHECK((*folder)->read("file")->size() == 4);
    CHECK((*folder)->cut("none", 0).error().code() == ErrorCode::not_found);
    CHECK((*folder)->rename("none", "some").error().code() == ErrorCode::not_found);
}
