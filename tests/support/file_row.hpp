// SPDX-License-Identifier: Apache-2.0
//
// A series of trace files of one ring, as a recorder that follows it writes them: each file has what
// is new since the last, the open segments as far as they go.
//
//     FileRow row(folder, ring);
//     ring.record(...);
//     row.write();          // FOLDER/BOOTID8-000001.dbrk
#pragma once

#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"
#include "tests/support/segment_builder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace daybreak::test {

/// A folder that goes away.
struct TemporaryFolder {
    std::string path;
    TemporaryFolder() {
        char name[] = "/tmp/daybreak-files-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

inline void write_bytes(const std::string& path, ByteView bytes) {
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
}

/// Returns a header of the ring's boot.
inline formats::TraceHeader row_header(const RingBuilder& ring, uint32_t file_number) {
    formats::TraceHeader header;
    header.tool_version = "test";
    for (size_t i = 0; i < 8; i++)
        header.boot_uuid[i] = static_cast<uint8_t>(ring.options().boot_id >> (8 * i));
    header.clocks = {1000, 1000, 1'000'000 + file_number};
    header.file_number = file_number;
    return header;
}

/// Returns a trace file of these pieces; without an end when `finished` is false.
inline Bytes file_of(const formats::TraceHeader& header, const std::vector<ByteView>& pieces,
                     const formats::SymbolTable& symbols = {}, bool finished = true) {
    Bytes file;
    auto sink = [&](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return base::Result<void>();
    };
    formats::RecordingBuilder builder;
    auto writer = formats::TraceWriter::create(sink, header, {3, 8192, false}).value();
    for (ByteView piece : pieces)
        DBK_ASSERT(writer.add_piece(piece).ok());
    DBK_ASSERT(writer.add_symbols(symbols).ok());
    if (finished)
        DBK_ASSERT(writer.finish({}).ok());
    return file;
}

class FileRow {
public:
    FileRow(std::string folder, RingBuilder& ring) : folder_(std::move(folder)), ring_(ring) {}

    std::string path(uint32_t number) const {
        return folder_ + "/" +
               base::strprintf("%.8s-%06u.dbrk",
                               formats::boot_name(ring_.options().boot_id).c_str(), number);
    }

    /// Writes the next file of the row: metadata, segments with more bytes than before, and these
    /// aggregation snapshots.
    void write(const std::vector<Bytes>& snapshots = {}, bool finished = true) {
        Bytes metadata = ring_.metadata_memory();
        std::vector<ByteView> found, pieces;
        formats::RecordingBuilder finder;
        finder.add_bytes(metadata, {"metadata"}, &pieces);
        for (uint16_t cpu = 0; cpu < ring_.options().cpu_count; cpu++) {
            found.clear();
            finder.add_bytes(ring_.segment_memory(cpu), {"ring"}, &found);
            for (ByteView piece : found) {
                dbk_segment_header header;
                std::memcpy(&header, piece.data(), sizeof(header));
                uint32_t& have = have_[{cpu, header.sequence}];
                if (header.committed_bytes > have)
                    pieces.push_back(piece);
                have = header.committed_bytes;
            }
        }
        for (const Bytes& snapshot : snapshots)
            pieces.push_back(snapshot);
        number_++;
        write_bytes(path(number_), file_of(row_header(ring_, number_), pieces, {}, finished));
    }

    uint32_t files() const { return number_; }

private:
    std::string folder_;
    RingBuilder& ring_;
    std::map<std::pair<uint16_t, uint64_t>, uint32_t> have_; ///< committed bytes by CPU, sequence
    uint32_t number_ = 0;
};

} // namespace daybreak::test
