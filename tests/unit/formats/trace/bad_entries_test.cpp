// SPDX-License-Identifier: Apache-2.0
//
// Folders in which not all is as it should be, and disks that fail.
#include "tests/support/file_row.hpp"
#include "tests/unit/formats/trace/sample.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::formats;
using test::FileRow;
using test::RingBuilder;
using test::TemporaryFolder;

namespace {

/// Four files of 60 records of one CPU each.
struct Row {
    TemporaryFolder folder;
    RingBuilder ring{{.activity = DBK_ACTIVITY_ACTIVE, .boot_id = 0x1122334455667788}};
    uint32_t epid;
    FileRow row{folder.path, ring};
    uint64_t ticks = 1000;

    Row()
        : epid(ring.add_ecb(ring.add_probe("p", "m", "f", "n"), {RingBuilder::integer_field(8, 8)},
                            16)) {
        for (int file = 0; file < 4; file++)
            write(300);
    }
    void write(int records) {
        for (int i = 0; i < records; i++, ticks += 10)
            ring.record(0, epid, ticks, RingBuilder::words({ticks}));
        row.write();
    }
    std::string in(const std::string& name) const { return folder.path + "/" + name; }
    Result<Trace> try_read(const ReadOptions& options = {}) const {
        return read_traces(std::span(&folder.path, 1), options);
    }
    Trace read(const ReadOptions& options = {}) const { return try_read(options).value(); }
};

uint64_t present(const Trace& trace) {
    return trace.recording.rings.at(0).completeness().present;
}

std::vector<FindingKind> kinds(const Trace& trace) {
    std::vector<FindingKind> kinds;
    for (const Finding& finding : trace.recording.findings.list())
        kinds.push_back(finding.kind);
    return kinds;
}

/// A file of which reads fail from some offset on.
class FailingSource : public base::ByteSource {
public:
    FailingSource(std::shared_ptr<base::ByteSource> whole, std::string path, uint64_t good_bytes)
        : ByteSource(whole->size()), whole_(std::move(whole)), path_(std::move(path)),
          good_bytes_(good_bytes) {}

private:
    Result<size_t> read_some(uint64_t offset, std::span<std::byte> out) override {
        if (offset >= good_bytes_)
            return base::errorf(ErrorCode::io, "cannot read %s", path_.c_str());
        return whole_->read(offset, out.first(std::min(out.size(), good_bytes_ - offset)));
    }

    std::shared_ptr<base::ByteSource> whole_;
    std::string path_;
    uint64_t good_bytes_;
};

/// Opens files such that of row number 2 reads fail after so many percent.
Result<std::shared_ptr<base::ByteSource>> failing_after(const std::string& path, uint64_t percent) {
    DBK_TRY(std::shared_ptr<base::ByteSource> whole, base::open_source(path));
    if (path.find("-000002") == std::string::npos)
        return whole;
    uint64_t good_bytes = whole->size() * percent / 100;
    return std::shared_ptr<base::ByteSource>(
        std::make_shared<FailingSource>(std::move(whole), path, good_bytes));
}

Result<std::shared_ptr<base::ByteSource>> fail_in_the_middle(const std::string& path) {
    return failing_after(path, 75);
}

Result<std::shared_ptr<base::ByteSource>> fail_at_once(const std::string& path) {
    return failing_after(path, 0);
}

} // namespace

TEST_CASE("entries that are not regular files are findings, the others are read",
          "[trace][files]") {
    Row r;
    ::mkdir(r.in("folder.dbrk").c_str(), 0700);
    ::symlink("loop.dbrk", r.in("loop.dbrk").c_str());
    ::symlink("/nowhere", r.in("nowhere.dbrk").c_str());
    ::mkfifo(r.in("fifo.dbrk").c_str(), 0600);
    ::symlink("/dev/zero", r.in("zero.dbrk").c_str());
    ::symlink("/proc/self/mem", r.in("mem.dbrk").c_str()); // its first byte is EIO
    Trace trace = r.read();
    CHECK(present(trace) == 1200);
    CHECK(kinds(trace) == std::vector<FindingKind>(6, FindingKind::foreign_file));
    CHECK_FALSE(trace.has_losses());
    CHECK(trace.recording.findings.list()[0].text == r.in("fifo.dbrk") + " is not a regular file");
}

TEST_CASE("a sparse file larger than memory is a finding, the others are read", "[trace][files]") {
    Row r;
    test::write_bytes(r.in("big.dbrk"), Bytes(1));
    std::filesystem::resize_file(r.in("big.dbrk"), uint64_t{1} << 43);
    Trace trace = r.read();
    CHECK(present(trace) == 1200);
    CHECK(kinds(trace) == std::vector<FindingKind>{FindingKind::foreign_file});
}

TEST_CASE("such an entry under a name of the row is a loss", "[trace][files]") {
    Row r;
    ::mkfifo(r.in("88776655-000005.dbrk").c_str(), 0600);
    Trace trace = r.read();
    CHECK(present(trace) == 1200);
    CHECK(kinds(trace) == std::vector<FindingKind>{FindingKind::unreadable});
    CHECK(trace.has_losses());
}

TEST_CASE("what is not a regular file is refused when it is named", "[trace][files]") {
    Row r;
    std::string fifo = r.in("fifo.dbrk"), zero = "/dev/zero";
    ::mkfifo(fifo.c_str(), 0600);
    for (const std::string& path : {fifo, zero}) {
        Result<Trace> read = read_traces(std::span(&path, 1));
        REQUIRE_FALSE(read.ok());
        CHECK(read.error().message() == path + " is not a regular file");
    }
    TemporaryFolder only;
    ::mkfifo((only.path + "/x.dbrk").c_str(), 0600);
    Result<Trace> read = read_traces(std::span(&only.path, 1));
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message() ==
          "no trace file could be read: " + only.path + "/x.dbrk is not a regular file");
}

TEST_CASE("a shell's pipe that is named is read, alone and with files", "[trace][files]") {
    Row r;
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    base::ScopedFd first(ends[0]), second(ends[1]);
    // A part of one file, which fits into the pipe, and from which a row's file is whole.
    Bytes bytes = base::read_file(r.row.path(4)).value();
    REQUIRE(bytes.size() < 65536);
    REQUIRE(base::write_all(second.get(), bytes, "pipe").ok());
    second.reset();
    std::filesystem::remove(r.row.path(4));
    std::vector<std::string> paths{"/dev/fd/" + std::to_string(first.get())};
    uint64_t expected = 0;
    SECTION("alone") {
        test::write_bytes(r.in("same"), bytes);
        std::string same = r.in("same");
        expected = present(read_traces(std::span(&same, 1)).value());
    }
    SECTION("with the folder") {
        paths.push_back(r.folder.path);
        expected = 1200;
    }
    Trace trace = read_traces(paths).value();
    CHECK(present(trace) == expected);
    CHECK_FALSE(trace.has_losses());
}

TEST_CASE("of a file that fails in the middle all before is kept", "[trace][files]") {
    Row r;
    Trace trace = r.read({.boot = "", .open_file = fail_in_the_middle});
    // What file 1 has of its last segment is known to be the beginning.
    CHECK(kinds(trace)[0] == FindingKind::missing_segment);
    CHECK(trace.recording.findings.list()[0].text ==
          "segment 2 is cut short: 196 of its records are not there");
    CHECK(kinds(trace)[1] == FindingKind::unreadable);
    CHECK(trace.has_losses());
    CHECK(present(trace) >= 900);
    std::string path = r.row.path(2);
    ReadOptions options{.boot = "", .open_file = fail_in_the_middle};
    Result<Trace> single = read_traces(std::span(&path, 1), options);
    REQUIRE(single.ok());
    CHECK(single->file.blocks_good > 0);
    CHECK(single->has_losses());
    options.open_file = fail_at_once;
    CHECK(read_traces(std::span(&path, 1), options).error().message() == "cannot read " + path);
    Trace others = r.read(options);
    CHECK(present(others) >= 900);
    CHECK(kinds(others)[0] == FindingKind::unreadable);
    CHECK(others.has_losses());
}

TEST_CASE("a damaged block of which all stands in a later file is not a loss", "[trace][files]") {
    Row r;
    // As a recorder whose disk failed: the second file was not synced and is ruined, the third has
    // its segments again.
    std::filesystem::copy_file(r.row.path(2), r.row.path(5));
    Bytes bytes = base::read_file(r.row.path(2)).value();
    uint64_t left = 1200; // the block in the middle is not one of records
    SECTION("one block of it") {
        bytes[bytes.size() / 2] ^= std::byte{1};
    }
    SECTION("all of it") {
        bytes.assign(bytes.size(), std::byte{0x55});
        left = 1004;
    }
    test::write_bytes(r.row.path(2), bytes);
    Trace whole = r.read();
    CHECK(present(whole) == 1200);
    CHECK(kinds(whole) == std::vector<FindingKind>{FindingKind::spare_block});
    CHECK_FALSE(whole.has_losses());
    std::filesystem::remove(r.row.path(5));
    Trace lost = r.read();
    CHECK(present(lost) == left);
    CHECK(lost.has_losses() == (left < 1200));
}

TEST_CASE("ruined files before the first segment that is left are a loss", "[trace][files]") {
    Row r;
    uint32_t count = GENERATE(1U, 3U); // then the ring is in the newest file only
    for (uint32_t number = 1; number <= count; number++)
        test::write_bytes(r.row.path(number), Bytes(5000, std::byte{0x55}));
    Trace trace = r.read();
    CHECK(present(trace) < 1200);
    std::vector<FindingKind> found = kinds(trace);
    CHECK(std::count(found.begin(), found.end(), FindingKind::bad_block) == count);
    CHECK(trace.has_losses());
}

TEST_CASE("damage to the newest file of a row is a loss", "[trace][files]") {
    Row r;
    Bytes bytes = base::read_file(r.row.path(4)).value();
    bytes[bytes.size() / 2] ^= std::byte{1};
    test::write_bytes(r.row.path(4), bytes);
    CHECK(r.read().has_losses());
}
