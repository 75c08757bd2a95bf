// SPDX-License-Identifier: Apache-2.0
//
// The append-only writer of trace files.
#include "formats/trace/writer.hpp"

#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace daybreak::formats {

namespace {

/// After so many pieces an index block is written: less than 1 MiB of it is unpacked at a time.
constexpr size_t kIndexPieces = 4096;

} // namespace

struct TraceWriter::State {
    TraceSink sink;
    TraceWriterOptions options;
    uint32_t next_number = 0;
    uint64_t bytes_written = 0;
    Bytes raw;                           ///< of the data block being gathered
    std::vector<IndexEntry> raw_entries; ///< of that block; offset and number not yet known
    std::vector<PieceHead> raw_pieces;   ///< of that block
    bool raw_has_others = false;         ///< pieces that the index does not have
    TraceIndex index;                    ///< what the next index block will have
    size_t index_pieces = 0;
    PieceCounter counter;

    Result<void> put(enum dbk_trace_type type, ByteView raw_payload) {
        if (raw_payload.size() > DBK_TRACE_RAW_BYTES_MAX)
            return base::errorf(ErrorCode::limit, "a block of %zu bytes, %u are the most",
                                raw_payload.size(), DBK_TRACE_RAW_BYTES_MAX);
        Bytes block = make_block(type, next_number, raw_payload, options.zstd_level);
        DBK_TRY_VOID(sink(block));
        next_number++;
        bytes_written += block.size();
        return {};
    }

    Result<void> flush() {
        if (!raw.empty()) {
            uint64_t offset = bytes_written;
            uint32_t number = next_number;
            DBK_TRY_VOID(put(DBK_TRACE_DATA, raw));
            raw.clear();
            for (IndexEntry& entry : raw_entries) {
                entry.file_offset = offset;
                entry.block_number = number;
                index.entries.push_back(entry);
            }
            raw_entries.clear();
            index_pieces += raw_pieces.size();
            if (raw_has_others)
                raw_pieces.clear();
            index.blocks.push_back({offset, number, std::exchange(raw_pieces, {})});
            raw_has_others = false;
        }
        return index_pieces < kIndexPieces ? Result<void>() : put_index();
    }

    Result<void> put_index() {
        DBK_TRY_VOID(put(DBK_TRACE_INDEX, encode_index(index)));
        index = {};
        index_pieces = 0;
        return {};
    }

    void note(const Piece& piece, ByteView packed) {
        std::optional<SegmentCount> count = counter.take(packed);
        if (piece.kind != PieceKind::segment) {
            raw_has_others = true;
            return;
        }
        PieceHead head;
        head.offset_bytes = static_cast<uint32_t>(raw.size());
        std::copy_n(packed.begin(), head.head.size(), head.head.begin());
        head.count = count;
        raw_pieces.push_back(std::move(head));
        note(piece.segment);
    }

    void note(const dbk_segment_header& header) {
        auto same = [&](const IndexEntry& entry) {
            return entry.ring_id == header.ring_id && entry.cpu == header.cpu;
        };
        auto found = std::find_if(raw_entries.begin(), raw_entries.end(), same);
        if (found == raw_entries.end()) {
            raw_entries.push_back({0, 0, header.ring_id, header.cpu, header.sequence,
                                   header.sequence, header.base_mono_ns, header.base_mono_ns});
            return;
        }
        found->first_sequence = std::min(found->first_sequence, header.sequence);
        found->last_sequence = std::max(found->last_sequence, header.sequence);
        found->first_mono_ns = std::min(found->first_mono_ns, header.base_mono_ns);
        found->last_mono_ns = std::max(found->last_mono_ns, header.base_mono_ns);
    }
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(TraceSink sink, const TraceHeader& header,
                                        TraceWriterOptions options) {
    auto state = std::make_unique<State>();
    state->sink = std::move(sink);
    state->options = options;
    DBK_TRY_VOID(state->put(DBK_TRACE_SCHEMA, base::as_bytes(kTraceSchemaText)));
    DBK_TRY_VOID(state->put(DBK_TRACE_HEADER, encode_header(header)));
    return TraceWriter(std::move(state));
}

Result<void> TraceWriter::add_piece(ByteView untrusted_piece) {
    DBK_TRY(Bytes packed, packed_piece(untrusted_piece));
    DBK_TRY(Piece piece, parse_piece(packed));
    if (!state_->raw.empty() &&
        state_->raw.size() + packed.size() > state_->options.block_raw_bytes)
        DBK_TRY_VOID(state_->flush());
    state_->note(piece, packed);
    state_->raw.insert(state_->raw.end(), packed.begin(), packed.end());
    return {};
}

Result<void> TraceWriter::add_symbols(const SymbolTable& symbols) {
    std::span<const Symbol> rest(symbols.symbols());
    while (!rest.empty()) {
        size_t count = std::min(rest.size(), kSymbolsPerBlock);
        DBK_TRY_VOID(state_->put(DBK_TRACE_SYMBOLS, encode_symbols(symbols, rest.first(count))));
        rest = rest.subspan(count);
    }
    return {};
}

Result<void> TraceWriter::add_skipped(std::span<const SkippedSegments> skipped) {
    return state_->put(DBK_TRACE_SKIPPED, encode_skipped(skipped));
}

Result<void> TraceWriter::flush() {
    return state_->flush();
}

ByteView TraceWriter::unwritten() const {
    return state_->raw;
}

Result<void> TraceWriter::finish(const TraceSummary& summary) {
    DBK_TRY_VOID(state_->flush());
    DBK_TRY_VOID(state_->put_index());
    DBK_TRY_VOID(state_->put(DBK_TRACE_SUMMARY, encode_summary(summary)));
    return state_->put(DBK_TRACE_END, encode_end({state_->next_number, state_->bytes_written}));
}

uint64_t TraceWriter::bytes_written() const {
    return state_->bytes_written;
}

Result<base::OutputFile> create_trace_file(const std::string& path, bool replace) {
    struct stat status = {};
    if (!replace && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size != 0)
        return base::errorf(ErrorCode::invalid,
                            "%s is there already: name another file, or add --replace",
                            path.c_str());
    return base::OutputFile::create(path, base::OutputFile::kSecretMode);
}

Result<TraceSummary> write_trace(base::OutputFile& file, const TraceHeader& header,
                                 std::span<const TraceRegion> regions,
                                 std::span<const Bytes> snapshots, const SymbolTable& symbols) {
    RecordingBuilder builder;
    std::vector<ByteView> pieces;
    for (const TraceRegion& region : regions)
        builder.add_bytes(region.bytes, {region.name, Packing::pages, std::nullopt}, &pieces);
    for (const Bytes& snapshot : snapshots)
        builder.add_bytes(snapshot, {"aggregation snapshot", Packing::packed, std::nullopt},
                          &pieces);
    TraceSummary summary = summary_of(builder.build());
    summary.clocks = header.clocks;

    metadata_first(pieces);

    DBK_TRY(TraceWriter writer,
            TraceWriter::create([&](ByteView bytes) { return file.write(bytes); }, header));
    DBK_TRY_VOID(writer.add_symbols(symbols)); // first: a file that is cut has them
    for (ByteView piece : pieces)
        DBK_TRY_VOID(writer.add_piece(piece));
    DBK_TRY_VOID(writer.finish(summary));
    DBK_TRY_VOID(file.commit());
    return summary;
}

} // namespace daybreak::formats
