// SPDX-License-Identifier: Apache-2.0
//
// The steps from a dump to a trace file.
#include "recorder/extract.hpp"

#include "base/counted.hpp"
#include "base/file.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/writer.hpp"
#include "recorder/old_symbols.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;
using formats::DumpPiece;
using formats::FindingKind;
using formats::PieceKind;

/// The pieces of one boot, and what they say together.
struct Boot {
    std::vector<const DumpPiece*> pieces;
    formats::Recording recording;
    ExtractedBoot facts;
};

/// Missing pages of one ring: of segments, and of what explains them.
struct Missing {
    uint64_t segments = 0, blocks = 0, bytes = 0;
};

/// Who looks at the memory: for pieces, and for the symbols of the kernel that died.
class Searcher : public formats::PageSink {
public:
    formats::PieceFinder pieces;
    DumpSymbols symbols;

    Result<void> pages(uint64_t phys_addr, base::ByteView bytes) override {
        symbols.pages(phys_addr, bytes);
        return pieces.pages(phys_addr, bytes);
    }
    bool wants(uint64_t phys_addr, base::ByteView first_bytes) override {
        return pieces.wants(phys_addr, first_bytes) || symbols.wants(phys_addr);
    }
    void vmcoreinfo(std::string_view untrusted_text) override {
        symbols.vmcoreinfo(untrusted_text);
    }
};

class Extractor {
public:
    Extractor(formats::DumpInput& input, const ExtractOptions& options)
        : input_(input), options_(options) {}

    Result<ExtractSummary> run() {
        DBK_TRY(summary_.dump, formats::scan_dump(input_, searcher_, options_.scan));
        pieces_ = finder_.finish();
        group();
        if (boots_.empty())
            return nothing_found();
        DBK_TRY(Boot * boot, choose());
        list(*boot);
        if (!options_.output_path.empty())
            DBK_TRY_VOID(write(*boot));
        return std::move(summary_);
    }

private:
    base::Error nothing_found() const {
        std::string text = strprintf("the dump (%s, %" PRIu64 " MiB of memory) holds no recording",
                                     formats::dump_format_text(summary_.dump.format),
                                     summary_.dump.bytes_present >> 20);
        if (finder_.counts().stale_copies != 0)
            text += ": " +
                    base::counted(finder_.counts().stale_copies, "piece does not lie where it says",
                                  "pieces do not lie where they say") +
                    ", is it a part of a physical image? give its address with --at";
        else if (summary_.dump.bytes_damaged != 0 || summary_.dump.cut)
            text += strprintf("; %" PRIu64 " KiB of it could not be read",
                              summary_.dump.bytes_damaged >> 10);
        else
            text += "; was daybreak.ko loaded? a bank that memmap= reserved is in no vmcore";
        return base::Error(base::ErrorCode::not_found, std::move(text));
    }

    void group() {
        for (const DumpPiece& found : pieces_)
            boots_[found.piece.boot_id].pieces.push_back(&found);
        for (auto& [boot_id, boot] : boots_) {
            formats::RecordingBuilder builder;
            for (const DumpPiece* found : boot.pieces)
                if (!found->unusable)
                    builder.add_bytes(found->bytes,
                                      {strprintf("dump at 0x%" PRIx64, found->phys_addr),
                                       formats::Packing::packed, std::nullopt});
            add_findings(boot, builder);
            boot.recording = builder.build({boot_id});
            describe(boot_id, boot);
        }
    }

    void describe(uint64_t boot_id, Boot& boot) {
        ExtractedBoot& facts = boot.facts;
        facts.boot_id = boot_id;
        for (const DumpPiece* found : boot.pieces) {
            facts.segments += found->piece.kind == PieceKind::segment;
            facts.blocks += found->piece.kind == PieceKind::metadata;
        }
        if (boot.recording.host)
            facts.release = boot.recording.host->release;
        for (const RecordedRing& ring : recorded_rings(boot.recording)) {
            facts.records += ring.sum.present;
            facts.rings.push_back(ring.name);
        }
        facts.last_wall_ns = boot.recording.last_wall_ns();
        facts.crash = boot.recording.machine.end_text();
    }

    /// What the recording itself cannot know: what the dump did not have.
    void add_findings(const Boot& boot, formats::RecordingBuilder& builder) const {
        std::map<uint16_t, Missing> rings;
        for (const DumpPiece* found : boot.pieces) {
            if (found->missing_bytes == 0)
                continue;
            bool metadata = found->piece.kind == PieceKind::metadata;
            uint16_t ring = metadata ? found->piece.meta.ring_id : found->piece.segment.ring_id;
            Missing& missing = rings[ring];
            (metadata ? missing.blocks : missing.segments)++;
            missing.bytes += found->missing_bytes;
        }
        for (const auto& [ring, missing] : rings)
            builder.add_finding(
                FindingKind::missing_pages, strprintf("ring %u", ring),
                base::counted(missing.bytes, "byte") + " of " +
                    base::counted(missing.segments, "segment") + " and " +
                    base::counted(missing.blocks, "metadata block") +
                    " lie in pages that the dump does not have");
        const formats::FinderCounts& counts = finder_.counts();
        for (const std::string& text : summary_.dump.damage)
            builder.add_finding(FindingKind::missing_pages, "dump", text);
        for (const formats::Finding& finding : finder_.findings().list())
            builder.add_finding(finding.kind, finding.where, finding.text);
        if (counts.stale_copies != 0)
            builder.add_finding(
                FindingKind::stale_copy, "dump",
                base::counted(counts.stale_copies, "copy", "copies") + " in buffers, left out");
        if (counts.overlapped != 0)
            builder.add_finding(FindingKind::stale_copy, "dump",
                                base::counted(counts.overlapped, "piece") +
                                    " of freed memory, partly overwritten, left out");
    }

    Result<Boot*> named(const std::string& wanted) {
        Boot* found = nullptr;
        for (auto& [boot_id, boot] : boots_) {
            if (!formats::boot_begins_with(boot_id, wanted))
                continue;
            if (found)
                return errorf(base::ErrorCode::invalid, "more than one boot begins with %s",
                              options_.boot.c_str());
            found = &boot;
        }
        if (!found)
            return errorf(base::ErrorCode::not_found,
                          "the dump holds nothing of boot %s; extract --list names those it has",
                          options_.boot.c_str());
        return found;
    }

    Result<Boot*> choose() {
        if (!options_.boot.empty())
            return named(options_.boot);
        auto older = [](const auto& a, const auto& b) {
            const ExtractedBoot &x = a.second.facts, &y = b.second.facts;
            return x.last_wall_ns != y.last_wall_ns ? x.last_wall_ns < y.last_wall_ns
                                                    : x.segments < y.segments;
        };
        return &std::max_element(boots_.begin(), boots_.end(), older)->second;
    }

    void list(const Boot& chosen) {
        summary_.boots.push_back(chosen.facts);
        for (const auto& [boot_id, boot] : boots_)
            if (&boot != &chosen)
                summary_.boots.push_back(boot.facts);
    }

    formats::TraceHeader header_of(const Boot& boot) const {
        formats::TraceHeader header;
        header.tool_version = options_.tool_version;
        header.origin = formats::TraceOrigin::dump;
        header.hostname = summary_.dump.hostname;
        header.release = summary_.dump.release;
        header.clocks.wall_ns = boot.facts.last_wall_ns;
        if (const auto& host = boot.recording.host) {
            header.boot_uuid = host->boot_uuid;
            header.release = host->release;
            header.version = host->version;
            header.machine = host->machine;
        }
        return header;
    }

    Result<OldSymbols> dump_symbols(const formats::Recording& recording) const {
        DBK_TRY(DumpKernel kernel, searcher_.symbols.kernel());
        return place_dump_symbols(std::move(kernel), recording);
    }

    Result<OldSymbols> symbols_of(const formats::Recording& recording,
                                  formats::Findings& findings) const {
        if (!options_.symbols_path.empty())
            return read_old_symbols(options_.symbols_path, recording);
        return symbols_or_finding(dump_symbols(recording), findings);
    }

    Result<void> write(Boot& boot) {
        formats::TraceHeader header = header_of(boot);
        formats::Findings findings = boot.recording.findings;
        DBK_TRY(OldSymbols old, symbols_of(boot.recording, findings));
        header.modules = std::move(old.modules);
        DBK_TRY(base::OutputFile file,
                formats::create_trace_file(options_.output_path, options_.replace));
        DBK_TRY(formats::TraceWriter writer,
                formats::TraceWriter::create(
                    [&](base::ByteView bytes) { return file.write(bytes); }, header,
                    options_.writer));
        DBK_TRY_VOID(writer.add_symbols(old.symbols)); // first: a file that is cut has them
        std::vector<base::ByteView> pieces;
        for (const DumpPiece* found : boot.pieces)
            if (!found->unusable)
                pieces.push_back(found->bytes);
        formats::metadata_first(pieces);
        for (base::ByteView piece : pieces) {
            Result<void> added = writer.add_piece(piece);
            if (!added.ok() && added.error().code() != base::ErrorCode::corrupt &&
                added.error().code() != base::ErrorCode::truncated)
                return added;
        }
        formats::TraceSummary end = formats::summary_of(boot.recording);
        end.clocks = header.clocks;
        end.findings = findings.list();
        DBK_TRY_VOID(writer.finish(end));
        DBK_TRY_VOID(file.commit());
        summary_.file_bytes = writer.bytes_written();
        summary_.rings = recorded_rings(boot.recording);
        summary_.findings = findings.list();
        summary_.has_losses = boot.recording.has_losses();
        return {};
    }

    formats::DumpInput& input_;
    const ExtractOptions& options_;
    Searcher searcher_;
    formats::PieceFinder& finder_ = searcher_.pieces;
    std::vector<DumpPiece> pieces_;
    std::map<uint64_t, Boot> boots_; // views into pieces_
    ExtractSummary summary_;
};

} // namespace

Result<ExtractSummary> extract(formats::DumpInput& input, const ExtractOptions& options) {
    return Extractor(input, options).run();
}

} // namespace daybreak::recorder
