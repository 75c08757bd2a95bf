// SPDX-License-Identifier: Apache-2.0
//
// Reading trace files: each good block goes where it belongs, each bad one becomes a finding
// (docs/design/0040-small-hostile-files.md).
#include "formats/trace/file_reader.hpp"

#include "formats/trace/block.hpp"
#include "formats/trace/index_reader.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/symbol_blocks.hpp"

#include <cinttypes>
#include <cstdlib>
#include <cstring>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

/// In a recorder's series of files, digits of the number.
constexpr size_t kNumberDigitsMin = 6;

/// Takes the blocks of one file apart.
class FileReader {
public:
    FileReader(const std::shared_ptr<base::ByteSource>& untrusted_file, const std::string& name,
               const std::string& prefix, RecordingBuilder& builder, RawBudget& budget,
               const std::shared_ptr<BlockStore>& store, bool skim)
        : source_(untrusted_file), prefix_(prefix), builder_(builder), budget_(budget),
          store_(store), scanner_(*untrusted_file, found_), index_(*untrusted_file), file_id_(builder.begin_file()) {
        budget_.add_file(untrusted_file->size());
        content_.file.path = name;
        if (skim)
            scanner_.trust([this](const dbk_trace_block& header, uint64_t offset_bytes) {
                return has_pieces(header) &&
                       index_.find(header, offset_bytes, may_unpack());
            });
    }

    Result<FileContent> run() {
        TraceFileFacts& facts = content_.file.facts;
        content_.file.header.file_number = 0;
        BlockView block;
        while (scanner_.next(block)) {
            if (block.header.number != next_number_)
                end_symbols();
            next_number_ = uint64_t{block.header.number} + 1;
            Result<void> taken = take(block);
            after_symbols_ |= has_symbols(block.header);
            if (!taken.ok())
                end_symbols();
            after_symbols_ = has_symbols(block.header);
            if (taken.ok()) {
                facts.blocks_good++;
                continue;
            }
            scanner_.count_lost();
            found_.add(FindingKind::bad_block, name_of(block), taken.error().message());
        }
        end_symbols();
        facts.file_bytes = source_->size();
        if (facts.blocks_good == 0)
            return errorf(ErrorCode::invalid, "%s is not a Daybreak trace file",
                          content_.file.path.c_str());
        facts.blocks_lost = scanner_.blocks_lost();
        facts.bytes_skipped = scanner_.bytes_skipped();
        facts.bytes_cut = scanner_.bytes_cut();
        if (number() != 0)
            builder_.add_file(number());
        if (facts.blocks_lost != 0 || facts.bytes_skipped != 0)
            builder_.distrust_counts();
        finish_findings();
        adopt_findings();
        if (!symbols_.empty()) {
            builder_.share(symbols_.store());
            content_.symbols.load_later(
                [blocks = std::move(symbols_)](SymbolTable& table) { blocks.load(table); });
        }
        return std::move(content_);
    }

private:
    static std::string name_of(const BlockView& block) {
        return strprintf("block %u at 0x%" PRIx64, block.header.number, block.offset_bytes);
    }

    uint32_t number() const { return content_.number(); }

    /// What follows the symbols read so far is not there, or not known.
    void end_symbols() {
        if (after_symbols_)
            symbols_.add_hole();
        after_symbols_ = false;
    }

    /// Puts the prefix before the places.  The end of a file in a row may be missing: sequence
    /// numbers tell whether anything is.
    void finish_findings() {
        bool in_row = number() != 0;
        for (const Finding& finding : found_.list()) {
            bool unfinished = in_row && finding.kind == FindingKind::truncated;
            content_.findings.add(unfinished ? FindingKind::unfinished : finding.kind,
                                  prefix_ + finding.where, finding.text);
        }
        uint64_t unlisted = found_.count() - found_.list().size();
        content_.findings.add_unlisted(unlisted, unlisted != 0 && found_.any_loss());
        if (!content_.file.facts.has_end)
            content_.findings.add(in_row ? FindingKind::unfinished : FindingKind::truncated,
                                  content_.file.path,
                                  in_row ? "its end block is not there: the file is still being "
                                           "written, or was not finished"
                                         : "its end block is not there: the file was cut or not "
                                           "finished");
    }

    /// What a dump did not have cannot be seen in the file: its writer's word counts.
    void adopt_findings() {
        for (const Finding& finding :
             content_.summary ? content_.summary->findings : std::vector<Finding>())
            if (finding.kind == FindingKind::missing_pages)
                content_.findings.add(finding.kind, prefix_ + finding.where, finding.text);
    }

    Result<void> take(const BlockView& block) {
        if (block.header.version != block_version(block.header.type))
            return errorf(ErrorCode::unsupported, "version is %u, this program reads %u",
                          block.header.version, block_version(block.header.type));
        if (block.header.type == 0 || block.header.type > DBK_TRACE_TYPE_MAX) {
            found_.add(
                FindingKind::unknown_kind, name_of(block),
                strprintf("type %u is not known to this version, left out", block.header.type));
            return {};
        }
        uint64_t bytes = unpacked_bytes(block.header);
        if (!budget_.take(bytes))
            return errorf(ErrorCode::limit,
                          "%" PRIu64 " bytes unpacked are too much for so small a file (%" PRIu64
                          " MiB and %" PRIu64 " times its size)",
                          bytes, RawBudget::kBytesAlways >> 20, RawBudget::kPerFileByte);
        if (has_pieces(block.header) && take_heads(block))
            return {};
        if (has_symbols(block.header)) {
            symbols_.add(source_, prefix_, block.header, block.offset_bytes);
            return {};
        }
        DBK_TRY(Bytes raw, unpack_block(block));
        switch (static_cast<enum dbk_trace_type>(block.header.type)) {
        case DBK_TRACE_SCHEMA:
            content_.schema.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
            return {};
        case DBK_TRACE_HEADER: {
            DBK_TRY(content_.file.header, decode_header(raw));
            content_.file.has_header = true;
            return {};
        }
        case DBK_TRACE_SYMBOLS:
        case DBK_TRACE_SORTED_SYMBOLS:
            return {}; // above
        case DBK_TRACE_DATA:
        case DBK_TRACE_COLUMNS:
            return take_data(block, std::move(raw));
        case DBK_TRACE_INDEX: {
            DBK_TRY(TraceIndex index, decode_index(raw));
            content_.index.insert(content_.index.end(), index.entries.begin(), index.entries.end());
            return {};
        }
        case DBK_TRACE_SUMMARY: {
            DBK_TRY(content_.summary, decode_summary(raw));
            return {};
        }
        case DBK_TRACE_SHARED_SYMBOLS: {
            DBK_TRY(content_.shared_symbols, decode_shared_symbols(raw));
            return {};
        }
        case DBK_TRACE_WINDOW:
            return take_window(block, raw);
        case DBK_TRACE_SKIPPED:
            return take_skipped(raw);
        case DBK_TRACE_END:
            return take_end(block, raw);
        }
        return {};
    }

    /// Returns whether the index has what is needed of the block: then it stays packed.
    bool take_heads(const BlockView& block) {
        const IndexBlock* indexed = index_.find(block.header, block.offset_bytes, may_unpack());
        if (!indexed)
            return false;
        uint32_t place = store_->add(source_, prefix_, block.header, block.offset_bytes);
        if (!builder_.add_heads(store_, place, indexed->pieces, piece_options(block)).ok())
            return false;
        content_.file.facts.raw_data_bytes += rows_bytes(block.header);
        return true;
    }

    IndexReader::MayUnpack may_unpack() {
        return [this](uint64_t raw_bytes) { return budget_.take(raw_bytes); };
    }

    AddOptions piece_options(const BlockView& block) {
        if (content_.file.header.has_window() && window_id_ == 0)
            window_id_ = builder_.add_window();
        return {prefix_ + name_of(block), Packing::packed, std::nullopt, number(), window_id_,
                file_id_};
    }

    Result<void> take_data(const BlockView& block, Bytes raw) {
        content_.file.facts.raw_data_bytes += raw.size();
        uint32_t place = store_->add(source_, prefix_, block.header, block.offset_bytes);
        builder_.add_block(store_, place, raw, piece_options(block), counter_);
        store_->keep(place, std::move(raw));
        return {};
    }

    Result<void> take_window(const BlockView& block, ByteView raw) {
        if (content_.file.window)
            return errorf(ErrorCode::corrupt, "it is the second window of the file");
        DBK_TRY(TraceWindow window, decode_window(raw));
        content_.file.window = window.window;
        builder_.add_left_out(window.boot_id, std::move(window.left_out), piece_options(block));
        return {};
    }

    Result<void> take_skipped(ByteView raw) {
        DBK_TRY(std::vector<SkippedSegments> list, decode_skipped(raw));
        for (const SkippedSegments& one : list)
            found_.add(FindingKind::skipped, strprintf("ring %u cpu %u", one.ring_id, one.cpu),
                       strprintf("segments %" PRIu64 "..%" PRIu64 " were not written: %s",
                                 one.first_sequence, one.last_sequence, skip_text(one.cause)));
        return {};
    }

    Result<void> take_end(const BlockView& block, ByteView raw) {
        DBK_TRY(TraceEnd end, decode_end(raw));
        content_.file.facts.has_end = true;
        if (end.bytes != block.offset_bytes)
            found_.add(FindingKind::bad_block, name_of(block),
                       strprintf("%" PRIu64 " bytes were written before it, %" PRIu64 " are there",
                                 end.bytes, block.offset_bytes));
        return {};
    }

    const std::shared_ptr<base::ByteSource>& source_;
    const std::string& prefix_;
    RecordingBuilder& builder_;
    RawBudget& budget_;
    const std::shared_ptr<BlockStore>& store_;
    PieceCounter counter_;
    FileContent content_;
    Findings found_;
    BlockScanner scanner_;
    IndexReader index_;
    SymbolBlocks symbols_;
    const uint32_t file_id_;
    uint32_t window_id_ = 0; ///< when it holds a window
    uint64_t next_number_ = 0;
    bool after_symbols_ = false; ///< the block before had symbols
};

} // namespace

bool Trace::has_losses() const {
    return recording.has_losses();
}

uint32_t FileContent::number() const {
    return file.has_header ? file.header.file_number : file_number_in(file.path);
}

Result<FileContent> read_blocks(const std::shared_ptr<base::ByteSource>& untrusted_file,
                                const std::string& name, const std::string& prefix,
                                RecordingBuilder& builder, RawBudget& budget,
                                const std::shared_ptr<BlockStore>& store, bool skim) {
    return FileReader(untrusted_file, name, prefix, builder, budget, store, skim).run();
}

std::optional<TraceHeader> find_header(base::ByteSource& untrusted_file) {
    Findings ignored;
    std::shared_ptr<base::ByteSource> beginning =
        base::memory_source(base::read_beginning(untrusted_file, kBeginningBytes));
    BlockScanner scanner(*beginning, ignored);
    BlockView block;
    while (scanner.next(block) && !has_pieces(block.header)) {
        if (block.header.type != DBK_TRACE_HEADER || block.header.version != DBK_TRACE_VERSION)
            continue;
        Result<Bytes> raw = unpack_block(block);
        if (!raw.ok())
            continue;
        Result<TraceHeader> header = decode_header(*raw);
        if (header.ok())
            return std::move(*header);
    }
    return std::nullopt;
}

uint32_t file_number_in(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
    size_t dash = name.find('-');
    if (dash == std::string::npos)
        return 0;
    size_t end = name.find_first_not_of("0123456789", dash + 1);
    bool ends = end != std::string::npos && (name[end] == '+' || name[end] == '.');
    if (!ends || end - dash - 1 < kNumberDigitsMin || end - dash - 1 > 9)
        return 0;
    return static_cast<uint32_t>(std::strtoul(name.c_str() + dash + 1, nullptr, 10));
}

bool looks_like_trace(ByteView untrusted) {
    uint32_t magic = 0;
    if (untrusted.size() < sizeof(magic))
        return false;
    std::memcpy(&magic, untrusted.data(), sizeof(magic));
    return magic == DBK_TRACE_MAGIC;
}

Result<Trace> parse_trace(const std::shared_ptr<base::ByteSource>& untrusted_file,
                          const std::string& name, const ReadOptions& options) {
    RecordingBuilder builder;
    RawBudget budget;
    DBK_TRY(FileContent content, read_blocks(untrusted_file, name, "", builder, budget,
                                             std::make_shared<BlockStore>(options.jobs), options.skim));
    Trace trace;
    trace.path = name;
    trace.file = content.file.facts;
    trace.header = content.file.header;
    trace.has_header = content.file.has_header;
    trace.symbols = std::move(content.symbols);
    trace.shared_symbols = std::move(content.shared_symbols);
    trace.summary = std::move(content.summary);
    trace.index = std::move(content.index);
    trace.schema = std::move(content.schema);
    trace.files.push_back(std::move(content.file));
    trace.recording = builder.build();
    trace.recording.cut_window = trace.files[0].window;
    trace.recording.window_from_ns = trace.header.window_from_ns;
    trace.recording.window_to_ns = trace.header.window_to_ns;
    trace.recording.findings.append(content.findings);
    return trace;
}

Result<Trace> parse_trace(ByteView untrusted_file, const std::string& name) {
    return parse_trace(base::memory_source(Bytes(untrusted_file.begin(), untrusted_file.end())),
                       name);
}

Result<Trace> read_trace(const std::string& path) {
    return read_traces(std::span(&path, 1));
}

} // namespace daybreak::formats
