// SPDX-License-Identifier: Apache-2.0
//
// The append-only writer of trace files.
#include "formats/trace/writer.hpp"

#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/column_pack.hpp"
#include "formats/trace/contents.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/symbol_coding.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace daybreak::formats {

namespace {

/// Rows and columns are compared on the last bytes of the first block (metadata is first in a file),
/// and again after so many blocks.
constexpr size_t kCompareBytes = 64u << 10;
constexpr uint32_t kCompareBlocks = 32;
/// They are written once per boot, and are most of a small file.
constexpr int kSymbolsLevel = 9;

} // namespace

struct TraceWriter::State {
    TraceSink sink;
    TraceWriterOptions options;
    uint32_t next_number = 0;
    uint64_t bytes_written = 0;
    Bytes raw;                         ///< of the data block being gathered
    std::vector<PieceHead> raw_pieces; ///< of that block
    bool raw_has_others = false;       ///< pieces that the index does not have
    TraceIndex index;                  ///< what the next index block will have
    size_t index_pieces = 0;
    ContentsMaker contents;
    uint64_t contents_offset = 0; ///< once it is written
    PieceCounter counter;
    BlockMaker maker;
    ColumnPacker packer;
    Bytes columns; ///< payload of the block being written
    uint32_t blocks_till_compare = 0;
    bool rows_are_smaller = false; ///< at the last comparison

    Result<void> write(ByteView block) {
        DBK_TRY_VOID(sink(block));
        next_number++;
        bytes_written += block.size();
        return {};
    }

    Result<void> put(enum dbk_trace_type type, ByteView raw_payload) {
        if (raw_payload.size() > DBK_TRACE_RAW_BYTES_MAX)
            return base::errorf(ErrorCode::limit, "a block of %zu bytes, %u are the most",
                                raw_payload.size(), DBK_TRACE_RAW_BYTES_MAX);
        int level = type == DBK_TRACE_DATA ? options.rows_level : options.zstd_level;
        if (type == DBK_TRACE_SORTED_SYMBOLS || type == DBK_TRACE_SHARED_SYMBOLS)
            level = std::max(level, kSymbolsLevel);
        uint64_t offset = bytes_written;
        DBK_TRY_VOID(write(maker.make(type, next_number, raw_payload, level)));
        if (type != DBK_TRACE_INDEX && !has_pieces(type))
            contents.add_other(offset);
        return {};
    }

    ByteView make_rows(ByteView rows) {
        return maker.make(DBK_TRACE_DATA, next_number, rows, options.rows_level);
    }

    /// The block of what is gathered, in columns; empty when rows are to be written.
    ByteView make_columns() {
        bool compare = blocks_till_compare == 0;
        blocks_till_compare -= compare ? 0 : 1;
        if (!options.columns || (rows_are_smaller && !compare))
            return {};
        std::optional<size_t> steps_offset = packer.pack(raw, columns);
        if (!steps_offset)
            return {};
        double rows_bytes = 0;
        if (compare) {
            ByteView sample = ByteView(raw).last(std::min(raw.size(), kCompareBytes));
            rows_bytes = static_cast<double>(make_rows(sample).size()) /
                         static_cast<double>(sample.size()) * static_cast<double>(raw.size());
        }
        ByteView block =
            maker.make_columns(next_number, columns, *steps_offset,
                               static_cast<uint32_t>(raw.size()), options.zstd_level);
        if (compare) {
            rows_are_smaller = static_cast<double>(block.size()) >= rows_bytes;
            blocks_till_compare = kCompareBlocks;
        }
        return rows_are_smaller ? ByteView() : block;
    }

    Result<void> flush_raw() {
        uint64_t offset = bytes_written;
        uint32_t number = next_number;
        ByteView block = make_columns();
        DBK_TRY_VOID(block.empty() ? put(DBK_TRACE_DATA, raw) : write(block));
        contents.add_raw_bytes(raw.size());
        raw.clear();
        index_pieces += raw_pieces.size();
        std::vector<uint32_t> epids = counter.take_epids();
        if (raw_has_others) { // such a block is read whole
            raw_pieces.clear();
            epids.clear();
        }
        index.blocks.push_back(
            {offset, number, std::exchange(raw_pieces, {}), false, std::move(epids)});
        raw_has_others = false;
        return {};
    }

    Result<void> flush() {
        if (!raw.empty())
            DBK_TRY_VOID(flush_raw());
        return index_pieces < options.index_pieces ? Result<void>() : put_index();
    }

    Result<void> put_index() {
        uint64_t offset = bytes_written;
        DBK_TRY_VOID(put(DBK_TRACE_INDEX, encode_index(index)));
        contents.add_index(offset, index);
        index = {};
        index_pieces = 0;
        return {};
    }

    /// Writes the table of contents, once, if the file needs one.
    Result<void> put_contents() {
        if (contents_offset != 0)
            return {};
        if (!index.blocks.empty())
            DBK_TRY_VOID(put_index());
        std::optional<TraceContents> all = contents.take();
        if (!all)
            return {};
        uint64_t offset = bytes_written;
        DBK_TRY_VOID(put(DBK_TRACE_CONTENTS, encode_contents(*all)));
        contents_offset = offset;
        return {};
    }

    Result<void> gather(ByteView rows) {
        if (!raw.empty() && raw.size() + rows.size() > options.block_raw_bytes)
            DBK_TRY_VOID(flush());
        raw.insert(raw.end(), rows.begin(), rows.end());
        return {};
    }

    /// A piece that was gathered; `bytes` begin with it, and lie at `offset` of the block.
    void note(const Piece& piece, ByteView bytes, size_t offset) {
        std::optional<SegmentCount> count = counter.take(bytes);
        if (options.columns && piece.kind != PieceKind::segment)
            packer.learn(bytes);
        if (piece.kind != PieceKind::segment) {
            raw_has_others = true;
            return;
        }
        PieceHead head;
        head.offset_bytes = static_cast<uint32_t>(offset);
        std::copy_n(bytes.begin(), std::min(bytes.size(), head.head.size()), head.head.begin());
        head.count = count;
        raw_pieces.push_back(std::move(head));
    }
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(TraceSink sink, const TraceHeader& header,
                                        TraceWriterOptions options) {
    TraceWriter writer = empty(std::move(sink), options);
    DBK_TRY_VOID(writer.add_block(DBK_TRACE_SCHEMA, base::as_bytes(kTraceSchemaText)));
    DBK_TRY_VOID(writer.add_block(DBK_TRACE_HEADER, encode_header(header)));
    return writer;
}

TraceWriter TraceWriter::empty(TraceSink sink, TraceWriterOptions options) {
    auto state = std::make_unique<State>();
    state->sink = std::move(sink);
    state->options = options;
    return TraceWriter(std::move(state));
}

Result<void> TraceWriter::add_piece(ByteView untrusted_piece) {
    DBK_TRY(Bytes packed, packed_piece(untrusted_piece));
    DBK_TRY(Piece piece, parse_piece(packed));
    DBK_TRY_VOID(state_->gather(packed));
    state_->note(piece, packed, state_->raw.size() - packed.size());
    return {};
}

Result<void> TraceWriter::add_rows(ByteView untrusted_rows) {
    DBK_TRY_VOID(state_->gather(untrusted_rows));
    for (ByteView rest = untrusted_rows; !rest.empty();) {
        Result<Piece> piece = parse_piece(rest);
        if (!piece.ok() || piece->committed_bytes > rest.size())
            break; // a reader finds it, and says so
        state_->note(*piece, rest, state_->raw.size() - rest.size());
        rest = rest.subspan(std::min(padded_to_8(piece->committed_bytes), rest.size()));
    }
    return {};
}

Result<void> TraceWriter::add_block(enum dbk_trace_type type, ByteView raw_payload) {
    DBK_TRY_VOID(state_->flush());
    if (type == DBK_TRACE_INDEX)
        return state_->put_index();
    if (type == DBK_TRACE_CONTENTS)
        return {}; // before the end
    if (type == DBK_TRACE_END) {
        DBK_TRY_VOID(state_->put_contents());
        return state_->put(type, encode_end({state_->next_number, state_->bytes_written,
                                             state_->contents_offset}));
    }
    return state_->put(type, raw_payload);
}

Result<void> TraceWriter::add_symbols(const SymbolTable& symbols) {
    std::span<const Symbol> rest(symbols.symbols());
    while (!rest.empty()) {
        size_t count = std::min(rest.size(), kSymbolsPerBlock);
        std::optional<Bytes> sorted = encode_sorted_symbols(symbols, rest.first(count));
        DBK_TRY_VOID(
            sorted ? state_->put(DBK_TRACE_SORTED_SYMBOLS, *sorted)
                   : state_->put(DBK_TRACE_SYMBOLS, encode_symbols(symbols, rest.first(count))));
        rest = rest.subspan(count);
    }
    return {};
}

Result<void> TraceWriter::add_shared_symbols(const SharedSymbols& shared) {
    return state_->put(DBK_TRACE_SHARED_SYMBOLS, encode_shared_symbols(shared));
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
    DBK_TRY_VOID(add_block(DBK_TRACE_INDEX, {}));
    DBK_TRY_VOID(add_block(DBK_TRACE_SUMMARY, encode_summary(summary)));
    return add_block(DBK_TRACE_END, {});
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
                                 std::span<const Bytes> snapshots, const SymbolTable& symbols,
                                 TraceWriterOptions options) {
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

    DBK_TRY(
        TraceWriter writer,
        TraceWriter::create([&](ByteView bytes) { return file.write(bytes); }, header, options));
    DBK_TRY_VOID(writer.add_symbols(symbols)); // first: a file that is cut has them
    for (ByteView piece : pieces)
        DBK_TRY_VOID(writer.add_piece(piece));
    DBK_TRY_VOID(writer.finish(summary));
    DBK_TRY_VOID(file.commit());
    return summary;
}

} // namespace daybreak::formats
