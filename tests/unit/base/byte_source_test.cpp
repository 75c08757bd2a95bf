// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.hpp"

#include "base/file.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace daybreak::base;
using daybreak::test::TempFolder;
namespace fs = std::filesystem;

TEST_CASE("ranges of a file are read, as long as it was when it was opened", "[base][source]") {
    TempFolder folder;
    std::string name = folder.path / "file";
    REQUIRE(replace_text(name, "0123456789", 0600).ok());
    auto source = open_source(name).value();
    CHECK(source->size() == 10);
    Bytes four(4);
    CHECK(source->read(3, four) == 4);
    CHECK(four[0] == std::byte{'3'});
    CHECK(source->read(8, four) == 2);
    CHECK(source->read(10, four) == 0);
    CHECK(source->read(UINT64_MAX, four) == 0);
    CHECK(source->size() == 10);
    fs::resize_file(name, 20);
    CHECK(source->read(8, four) == 2);
    fs::resize_file(name, 5);
    CHECK(source->try_read(1, four));
    CHECK_FALSE(source->try_read(2, four));
    CHECK_FALSE(source->try_read(UINT64_MAX, four));
    CHECK(source->size() == 10); // a try changes nothing
    CHECK(source->read(3, four) == 2);
    CHECK(source->size() == 5);
    CHECK_FALSE(source->failure());
    CHECK(read_beginning(*source, 3).size() == 3);
    CHECK(read_beginning(*source, 30).size() == 5);
}

TEST_CASE("what is not a regular file is not opened", "[base][source]") {
    TempFolder folder;
    std::string fifo = folder.path / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    for (const std::string& path : {fifo, folder.path.string(), std::string("/dev/zero")})
        CHECK(open_source(path).error().message() == path + " is not a regular file");
    CHECK(open_source(fifo + "x").error().code() == ErrorCode::not_found);
}

TEST_CASE("a source that fails ends where it failed and says why", "[base][source]") {
    class Failing : public ByteSource {
    public:
        Failing() : ByteSource(100) {}

    private:
        Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
            if (offset >= 50)
                return errorf(ErrorCode::io, "bad sector");
            return std::min<size_t>(out.size(), 7);
        }
    } source;
    Bytes bytes(80);
    CHECK(source.read(0, bytes) >= 50);
    CHECK(source.size() < 60);
    REQUIRE(source.failure());
    CHECK(source.failure()->message() == "bad sector");
    CHECK(memory_source(Bytes(9))->size() == 9);
    CHECK(view_source(bytes)->read(70, bytes) == 10);
}

TEST_CASE("a watched source reads the same, and says how much", "[base][source]") {
    TempFolder folder;
    std::string name = folder.path / "file";
    REQUIRE(replace_text(name, "0123456789", 0600).ok());
    size_t read = 0;
    auto source = watched_source(open_source(name).value(), [&](size_t bytes) { read += bytes; });
    CHECK(source->size() == 10);
    Bytes four(4);
    CHECK(source->read(8, four) == 2);
    CHECK(four[1] == std::byte{'9'});
    CHECK(read == 2);
    CHECK(source->try_read(0, four));
    CHECK(read == 6);
    CHECK_FALSE(source->try_read(8, four));
    CHECK(read == 6);
    fs::resize_file(name, 5);
    CHECK_FALSE(source->try_read(3, four)); // of this call only
    CHECK(source->try_read(1, four));
    CHECK(source->size() == 10);
    CHECK(source->read(3, four) == 2);
    CHECK(source->size() == 5);
}
