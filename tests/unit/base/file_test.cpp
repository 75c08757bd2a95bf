// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <unistd.h>

using namespace daybreak::base;
namespace fs = std::filesystem;

namespace {

struct TemporaryFolder {
    fs::path path = fs::temp_directory_path() / ("dbk-file-test." + std::to_string(::getpid()));
    TemporaryFolder() { fs::create_directory(path); }
    ~TemporaryFolder() { fs::remove_all(path); }
    size_t entries() const {
        return static_cast<size_t>(
            std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

} // namespace

TEST_CASE("an output file appears only when committed", "[base][file]") {
    TemporaryFolder folder;
    std::string name = folder.path / "out";
    {
        auto out = OutputFile::create(name);
        REQUIRE(out.ok());
        REQUIRE(out->write(as_bytes("half")).ok());
        CHECK_FALSE(fs::exists(name));
    }
    CHECK(folder.entries() == 0);

    auto out = OutputFile::create(name);
    REQUIRE(out->write(as_bytes("whole")).ok());
    REQUIRE(out->commit().ok());
    CHECK(read_file(name)->size() == 5);
    CHECK(folder.entries() == 1);
}

TEST_CASE("a directory as output is refused by name", "[base][file]") {
    TemporaryFolder folder;
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
