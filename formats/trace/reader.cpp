// SPDX-License-Identifier: Apache-2.0
//
// Reading trace files: each good block goes where it belongs, each bad one becomes a finding
// (docs/design/0040-small-hostile-files.md).
#include "formats/trace/file_reader.hpp"

#include "formats/trace/block.hpp"
#include "formats/trace/contents.hpp"
#include "formats/trace/index_segments.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/symbol_blocks.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

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
          store_(store), scanner_(*untrusted_file, found_), index_(*untrusted_file),
          file_id_(builder.begin_file()), skim_(skim) {
        budget_.add_file(untrusted_file->size());
        content_.file.path = name;
        if (skim)
            scanner_.trust([this](const dbk_trace_block& header, uint64_t offset_bytes) {
                return has_pieces(header) && index_.find(header, offset_bytes, may_unpack());
            });
    }

    Result<FileContent> run() {
        TraceFileFacts& facts = content_.file.facts;
        content_.file.header.file_number = 0;
        std::optional<FoundContents> found;
        if (skim_)
            found = find_contents(*source_, may_unpack());
        std::optional<std::deque<BlockPlace>> places;
        if (found)
            places = places_of(found->contents);
        if (places) {
            run_contents(*found, *places);
        } else {
            found.reset();
            index_.find_all();
            for (BlockView block; scanner_.next(block);)
                take_scanned(block);
        }
        end_group(false);
        end_symbols();
        if (segments_)
            segments_->count_by(std::move(counter_));
        facts.file_bytes = source_->size();
        if (facts.blocks_good == 0 && other_version_)
            return errorf(ErrorCode::unsupported,
                          "%s was written by another version of Daybreak: a block of type %u has "
                          "version %u, this program reads %s",
                          content_.file.path.c_str(), unsigned{other_version_->first},
                          unsigned{other_version_->second},
                          versions_text(other_version_->first).c_str());
        if (facts.blocks_good == 0)
            return errorf(ErrorCode::invalid, "%s is not a Daybreak trace file",
                          content_.file.path.c_str());
        if (has_states_)
            return errorf(ErrorCode::invalid, "%s has partial states: daybreak merge reads it",
                          content_.file.path.c_str());
        facts.blocks_lost = scanner_.blocks_lost();
        facts.bytes_skipped = scanner_.bytes_skipped();
        facts.bytes_cut = scanner_.bytes_cut();
        if (found) { // what was not looked at is taken for good
            facts.raw_data_bytes = found->contents.raw_data_bytes;
            facts.blocks_good =
                uint64_t{found->blocks} + 1 - std::min<uint64_t>(found->blocks, facts.blocks_lost);
        }
        if (number() != 0)
            builder_.add_file(number());
        if (facts.blocks_lost != 0 || facts.bytes_skipped != 0)
            builder_.note_lost_blocks();
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

    /// Takes the next good block of the file.
    void take_scanned(const BlockView& block) {
        if (block.header.number != next_number_)
            end_symbols();
        next_number_ = uint64_t{block.header.number} + 1;
        Result<void> taken = take(block);
        after_symbols_ |= has_symbols(block.header);
        if (!taken.ok())
            end_symbols();
        after_symbols_ = has_symbols(block.header);
        if (taken.ok()) {
            content_.file.facts.blocks_good++;
            return;
        }
        scanner_.count_lost();
        found_.add(FindingKind::bad_block, name_of(block), taken.error().message());
    }

    /// Takes the blocks that the contents name, and runs of segments for all others.
    void run_contents(const FoundContents& found, const std::deque<BlockPlace>& places) {
        const TraceContents& contents = found.contents;
        builder_.share(store_);
        index_.use(places);
        size_t run = 0, group = 0;
        auto add_groups = [&](uint64_t before) {
            for (; group < contents.groups.size() && contents.groups[group].file_offset < before;
                 group++) {
                std::span<const TraceContents::Run> runs(contents.runs);
                runs = runs.subspan(run, contents.groups[group].runs);
                run += runs.size();
                add_group(places[group], contents.groups[group].blocks, contents.boot_id, runs);
            }
        };
        for (uint64_t offset : contents.other_offsets) {
            add_groups(offset);
            scanner_.jump(offset);
            BlockView block;
            if (!scanner_.next(block) || block.offset_bytes != offset)
                end_symbols(); // it is lost; what follows comes in its turn
            else {
                next_number_ = block.header.number;
                take_scanned(block);
            }
        }
        add_groups(UINT64_MAX);
        for (const TraceContents::Pairs& ring : contents.pairs)
            builder_.add_pairs(contents.boot_id, ring.ring_id, ring.pairs, file_options());
        scanner_.jump(found.offset_bytes);
        for (BlockView block; scanner_.next(block);)
            take_scanned(block);
    }

    /// Returns where the index blocks are; empty when one is not there, or does not have room for
    /// what the contents say of it: then the file is read as if they were not there.
    std::optional<std::deque<BlockPlace>> places_of(const TraceContents& contents) {
        std::deque<BlockPlace> places;
        std::span<const TraceContents::Run> runs(contents.runs);
        for (const TraceContents::Group& group : contents.groups) {
            BlockPlace place{group.file_offset, {}};
            if (!read_header(*source_, group.file_offset, place.header) ||
                place.header.type != DBK_TRACE_INDEX ||
                place.header.raw_bytes > IndexSegments::kIndexBytesMax ||
                !budget_.take(place.header.raw_bytes))
                return std::nullopt;
            uint64_t room = place.header.raw_bytes / DBK_SEGMENT_DATA_OFFSET;
            for (const TraceContents::Run& one : runs.first(group.runs))
                if (uint64_t{one.run.from} + one.run.count > room)
                    return std::nullopt;
            runs = runs.subspan(group.runs);
            places.push_back(place);
        }
        return places;
    }

    void add_group(const BlockPlace& place, uint32_t blocks, uint64_t boot_id,
                   std::span<const TraceContents::Run> runs) {
        if (runs.empty())
            return; // its blocks are among the others
        if (!segments_)
            segments_ = std::make_shared<IndexSegments>(source_, prefix_, store_);
        uint32_t group = segments_->add_unseen(place, blocks);
        for (TraceContents::Run one : runs) {
            StreamKey key{boot_id, one.ring_id, one.cpu};
            one.run.group = group;
            one.run.stream = segments_->stream(key);
            builder_.add_run(segments_, key, one.run, file_options());
        }
    }

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

    /// What a dump did not have, and which names of runtimes were refused, cannot be seen in the
    /// file: its writer's word counts.
    void adopt_findings() {
        for (const Finding& finding :
             content_.summary ? content_.summary->findings : std::vector<Finding>())
            if (finding.kind == FindingKind::missing_pages ||
                finding.kind == FindingKind::no_made_names)
                content_.findings.add(finding.kind, prefix_ + finding.where, finding.text);
    }

    Result<void> take(const BlockView& block) {
        if (!has_known_version(block.header)) {
            other_version_.emplace(block.header.type, block.header.version);
            return errorf(ErrorCode::unsupported, "version is %u, this program reads %s",
                          block.header.version, versions_text(block.header.type).c_str());
        }
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
        if (block.header.type == DBK_TRACE_SCHEMA)
            return {}; // for readers of another make
        if (has_symbols(block.header)) {
            symbols_.add(source_, prefix_, block.header, block.offset_bytes);
            return {};
        }
        if (block.header.type == DBK_TRACE_INDEX && index_.has_read(block.offset_bytes)) {
            end_group(true);
            return {};
        }
        DBK_TRY(Bytes raw, unpack_block(block));
        switch (static_cast<enum dbk_trace_type>(block.header.type)) {
        case DBK_TRACE_SCHEMA:
            return {}; // above
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
            DBK_TRY(TraceIndex index,
                    decode_index(raw, block.offset_bytes / sizeof(dbk_trace_block)));
            (void)index; // IndexReader has what there is of it
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
        case DBK_TRACE_CONTENTS: {
            DBK_TRY(TraceContents contents, decode_contents(raw));
            (void)contents; // for who reads a part of the file
            return {};
        }
        case DBK_TRACE_SKIPPED:
            return take_skipped(raw);
        case DBK_TRACE_JIT_NAMES: {
            DBK_TRY(JitText text, decode_jit_text(raw));
            if (!content_.jit_names.add(std::move(text)))
                found_.add(FindingKind::no_symbols, name_of(block),
                           "more names of made code than are taken, left out");
            return {};
        }
        case DBK_TRACE_PART:
        case DBK_TRACE_STATES:
            has_states_ = true;
            return {};
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
        if (std::exchange(group_offset_, index_.place().offset_bytes) !=
            index_.place().offset_bytes) // the file changes: its index block did not come
            end_group(false);
        uint32_t place = store_->add(source_, prefix_, block.header, block.offset_bytes);
        if (!builder_.add_heads(store_, place, indexed->pieces, piece_options(block)).ok())
            return false;
        store_->tell_epids(place, indexed->epids);
        content_.file.facts.raw_data_bytes += rows_bytes(block.header);
        group_.resize(index_.blocks(), IndexSegments::kNotTaken);
        group_[index_.number_of(*indexed)] = place;
        return true;
    }

    /// All blocks of the index block that was read last have been taken.
    void end_group(bool may_fold) {
        std::vector<uint32_t> blocks = std::exchange(group_, {});
        if (blocks.empty())
            return;
        if (!may_fold || index_.place().header.raw_bytes > IndexSegments::kIndexBytesMax) {
            builder_.fold(nullptr, 0, nullptr);
            return;
        }
        if (!segments_)
            segments_ = std::make_shared<IndexSegments>(source_, prefix_, store_);
        uint32_t group = segments_->add(index_.place(), std::move(blocks));
        builder_.fold(segments_, group,
                      [this](const StreamKey& key) { return segments_->stream(key); });
    }

    IndexReader::MayUnpack may_unpack() {
        return [this](uint64_t raw_bytes) { return budget_.take(raw_bytes); };
    }

    AddOptions piece_options(const BlockView& block) {
        AddOptions options = file_options();
        options.origin = prefix_ + name_of(block);
        return options;
    }
    AddOptions file_options() {
        if (content_.file.header.has_window() && window_id_ == 0)
            window_id_ = builder_.add_window();
        return {"", Packing::packed, std::nullopt, number(), window_id_, file_id_};
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
    std::vector<uint32_t> group_; ///< of the data blocks of the index block read last, in the store
    uint64_t group_offset_ = 0;   ///< of that index block
    std::shared_ptr<IndexSegments> segments_;
    SymbolBlocks symbols_;
    const uint32_t file_id_;
    const bool skim_;
    std::optional<std::pair<uint16_t, uint16_t>> other_version_; // a block's type, and its own
    bool has_states_ = false;
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
    RecordingBuilder builder(options.segments_in_memory);
    RawBudget budget;
    DBK_TRY(FileContent content,
            read_blocks(untrusted_file, name, "", builder, budget,
                        std::make_shared<BlockStore>(options.jobs), options.skim));
    Trace trace;
    trace.path = name;
    trace.file = content.file.facts;
    trace.header = content.file.header;
    trace.has_header = content.file.has_header;
    trace.symbols = std::move(content.symbols);
    trace.shared_symbols = std::move(content.shared_symbols);
    trace.summary = std::move(content.summary);
    trace.jit_names = std::move(content.jit_names);
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
