// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/boots.hpp"
#include "formats/trace/file_reader.hpp"
#include "tests/support/file_row.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace daybreak;
using namespace daybreak::formats;
using test::TemporaryFolder;

namespace {

/// The first bytes of a trace file: its header says the boot.
void write_header(const std::string& path, uint8_t boot, uint64_t wall_ns) {
    TraceHeader header = test::sample_header();
    header.boot_uuid = {boot};
    header.clocks.wall_ns = wall_ns;
    base::Bytes file;
    auto sink = [&](base::ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return base::Result<void>();
    };
    auto writer = TraceWriter::create(sink, header, {}).value();
    REQUIRE(writer.finish({}).ok());
    test::write_bytes(path, file);
}

struct Folders {
    TemporaryFolder folder;
    std::string a = folder.path + "/a", b = folder.path + "/b";

    Folders() {
        std::filesystem::create_directory(a);
        std::filesystem::create_directory(b);
        write_header(a + "/1.dbrk", 1, 100);
        write_header(a + "/2.dbrk", 2, 300);
        write_header(a + "/3.dbrk", 1, 200);
        write_header(b + "/4.dbrk", 4, 50);
        write_header(b + "/2.dbrk", 2, 60);
    }
    std::vector<uint64_t> boots(const std::vector<std::string>& paths,
                                const std::string& running = "", bool all = false) const {
        ReadOptions options;
        options.running_boot = running;
        auto found = find_boots(paths, options, all);
        REQUIRE(found.ok());
        std::vector<uint64_t> ids;
        for (const WantedBoot& boot : found->boots)
            ids.push_back(boot.boot_id);
        return ids;
    }
};

} // namespace

TEST_CASE("each file counts, and of a folder the newest boot", "[formats][trace]") {
    Folders f;
    CHECK(f.boots({f.a}) == std::vector<uint64_t>{2});
    CHECK(f.boots({f.b}) == std::vector<uint64_t>{2});
    CHECK(f.boots({f.a + "/1.dbrk", f.b}) == std::vector<uint64_t>{1, 2});
    CHECK(f.boots({f.b, f.a + "/1.dbrk", f.a + "/3.dbrk"}) == std::vector<uint64_t>{1, 2});
    CHECK(f.boots({f.a, f.b}, "", true) == std::vector<uint64_t>{1, 2, 4});
    CHECK(f.boots({f.a, f.b}, "0100000000000000") == std::vector<uint64_t>{1, 2});
}

TEST_CASE("a boot is read from all that has files of it", "[formats][trace]") {
    Folders f;
    auto found = find_boots(std::vector{f.a, f.b, f.b + "/4.dbrk"}, {}, false);
    REQUIRE(found.ok());
    CHECK(found->left_out == 1); // 1, of folder a
    REQUIRE(found->boots.size() == 2);
    CHECK(found->boots[0].paths == std::vector{f.a, f.b});
    CHECK(found->boots[1].paths == std::vector{f.b, f.b + "/4.dbrk"});
    CHECK(found->boots[1].name == "04000000-0000-0000");
}

TEST_CASE("a file of symbols is of the boot in its name", "[formats][trace]") {
    Folders f;
    std::string symbols = f.folder.path + "/" + symbols_file_name(boot_name(2));
    write_header(symbols, 2, 0);
    auto found = find_boots(std::vector{symbols, f.a + "/2.dbrk", f.a + "/1.dbrk"}, {}, false);
    REQUIRE(found.ok());
    REQUIRE(found->boots.size() == 2);
    CHECK(found->boots[0].paths == std::vector{f.a + "/1.dbrk"});
    CHECK(found->boots[1].paths == std::vector{symbols, f.a + "/2.dbrk"});
}

TEST_CASE("a file that does not say its boot is read with each", "[formats][trace]") {
    Folders f;
    std::string unknown = f.folder.path + "/unknown.dbrk";
    write_header(unknown, 0, 5);
    auto found = find_boots(std::vector{unknown, f.a, f.b + "/4.dbrk"}, {}, false);
    REQUIRE(found.ok());
    REQUIRE(found->boots.size() == 2);
    CHECK(found->boots[0].paths == std::vector{unknown, f.a});
    CHECK(found->boots[1].paths == std::vector{unknown, f.b + "/4.dbrk"});
    found = find_boots(std::vector{unknown, unknown}, {}, false);
    REQUIRE(found.ok());
    CHECK(found->boots.empty());
}

TEST_CASE("what cannot be read is named", "[formats][trace]") {
    Folders f;
    std::string junk = f.a + "/junk.dbrk";
    test::write_bytes(junk, base::as_bytes("hello"));
    CHECK(f.boots({f.a}) == std::vector<uint64_t>{2}); // others of the folder are
    auto found = find_boots(std::vector{junk, f.b}, {}, false);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().message().find("junk.dbrk") != std::string::npos);
    found = find_boots(std::vector{f.a + "/none", f.b}, {}, false);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().code() == ErrorCode::not_found);
    std::filesystem::create_directory(f.a + "/empty");
    found = find_boots(std::vector{f.a + "/empty", f.b}, {}, false);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().message().find("holds no trace files") != std::string::npos);
}
