// SPDX-License-Identifier: Apache-2.0
//
// The steps from a bank to a trace file.
#include "recorder/recover.hpp"

#include "base/counted.hpp"
#include "base/file.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/writer.hpp"
#include "recorder/output.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;
using formats::BankHalf;
using formats::FindingKind;

/// A half, and what was found in it.
struct Half {
    RecoveredHalf reported;
    std::vector<ByteView> pieces; ///< of its boot
    formats::Recording recording;
};

bool is_unsealed(const formats::Piece& piece) {
    return piece.kind == formats::PieceKind::segment &&
           (piece.segment.flags & DBK_SEGMENT_F_SEALED) == 0;
}

/// The recording of the half's pieces alone, with what finding them reported.
formats::Recording rebuild(const Half& half, const formats::Recording& all) {
    formats::RecordingBuilder builder;
    for (const formats::Finding& finding : all.findings.list())
        if (finding.kind == FindingKind::bad_checksum || finding.kind == FindingKind::bad_header ||
            finding.kind == FindingKind::truncated || finding.kind == FindingKind::header_copy ||
            finding.kind == FindingKind::unsealed)
            builder.add_finding(finding.kind, finding.where, finding.text);
    for (ByteView piece : half.pieces)
        builder.add_bytes(piece,
                          {strprintf("half %u", half.reported.half), formats::Packing::packed, {}});
    return builder.build({half.reported.facts.boot_id});
}

Half look_through(const BankHalf& facts, const formats::Findings& before, bool sealed_only) {
    Half half;
    half.reported.half = facts.half;
    half.reported.facts = facts;
    formats::RecordingBuilder builder;
    for (const formats::Finding& finding : before.list())
        builder.add_finding(finding.kind, finding.where, finding.text);
    uint64_t unsealed = 0;
    std::vector<ByteView> pieces;
    builder.add_bytes(
        facts.blocks,
        {strprintf("half %u", facts.half), formats::Packing::pages, facts.blocks_phys_addr},
        &pieces);
    for (ByteView bytes : pieces) {
        Result<formats::Piece> piece = formats::parse_piece(bytes);
        if (!piece.ok() || piece.value().boot_id != facts.boot_id)
            continue;
        unsealed += is_unsealed(piece.value());
        if (sealed_only && is_unsealed(piece.value()))
            continue;
        half.reported.segments += piece.value().kind == formats::PieceKind::segment;
        half.pieces.push_back(bytes);
    }
    if (unsealed != 0)
        builder.add_finding(
            FindingKind::unsealed, strprintf("half %u", facts.half),
            base::counted(unsealed, "segment without a checksum", "segments without a checksum") +
                ": open, or just closed, when the machine went" +
                (sealed_only ? "; left out" : ""));
    formats::metadata_first(half.pieces);
    half.recording = builder.build({facts.boot_id});
    if (sealed_only)
        half.recording = rebuild(half, half.recording);
    for (const RecordedRing& ring : recorded_rings(half.recording)) {
        half.reported.records += ring.sum.present;
        half.reported.rings.push_back(ring.name);
    }
    // The recording's own word, or else what the half's header says.
    half.reported.end = half.recording.machine.end_text();
    if (half.reported.end.empty())
        half.reported.end = formats::bank_state_text(facts.state);
    half.reported.log = half.recording.machine.log;
    half.reported.last_wall_ns = std::max(half.recording.last_wall_ns(), facts.start_wall_ns);
    return half;
}

RecoveredHalf refused(uint32_t half, const Error& error) {
    RecoveredHalf reported;
    reported.half = half;
    reported.problem = error.message();
    reported.empty = error.code() == ErrorCode::not_found;
    return reported;
}

formats::TraceHeader header_of(const Half& half, const RecoverOptions& options) {
    formats::TraceHeader header;
    header.tool_version = options.tool_version;
    header.origin = formats::TraceOrigin::bank;
    header.boot_uuid = half.reported.facts.boot_uuid;
    header.release = half.reported.facts.release;
    header.clocks.wall_ns = half.reported.last_wall_ns;
    if (const auto& host = half.recording.host) {
        header.release = host->release;
        header.version = host->version;
        header.machine = host->machine;
        header.cpus_online = host->cpu_count;
    }
    return header;
}

/// The symbols for the half's recording; why there are none becomes a finding, unless the caller
/// named a file.
Result<OldSymbols> symbols_of(const formats::Recording& recording, const RecoverOptions& options,
                              formats::Findings& findings) {
    if (!options.symbols_path.empty())
        return read_old_symbols(options.symbols_path, recording);
    if (!options.running)
        return OldSymbols();
    return symbols_or_finding(read_running_symbols(*options.running, recording), findings);
}

Result<void> write(const Half& half, const RecoverOptions& options, RecoverSummary& summary) {
    formats::TraceHeader header = header_of(half, options);
    formats::Findings findings = half.recording.findings;
    DBK_TRY(OldSymbols old, symbols_of(half.recording, options, findings));
    header.modules = std::move(old.modules);
    DBK_TRY(base::OutputFile file,
            formats::create_trace_file(options.output_path, options.replace));
    DBK_TRY(formats::TraceWriter writer,
            formats::TraceWriter::create([&](ByteView bytes) { return file.write(bytes); }, header,
                                         options.writer));
    DBK_TRY_VOID(writer.add_symbols(old.symbols)); // first: a file that is cut has them
    for (ByteView piece : half.pieces)
        DBK_TRY_VOID(writer.add_piece(piece));
    formats::TraceSummary end = formats::summary_of(half.recording);
    end.findings = findings.list();
    end.clocks = header.clocks;
    DBK_TRY_VOID(writer.finish(end));
    DBK_TRY_VOID(file.commit());
    summary.written = half.reported.half;
    summary.file_bytes = writer.bytes_written();
    summary.rings = recorded_rings(half.recording);
    summary.findings = findings.list();
    summary.has_losses = half.recording.has_losses();
    return {};
}

/// The half that is wanted, or why there is none.
Result<const Half*> choose(const std::vector<Half>& halves,
                           const std::vector<RecoveredHalf>& others,
                           const RecoverOptions& options) {
    for (const Half& half : halves)
        if (!options.half || half.reported.half == *options.half)
            return &half;
    for (const RecoveredHalf& other : others)
        if ((!options.half || other.half == *options.half) && !other.empty)
            return errorf(ErrorCode::corrupt, "half %u of the bank cannot be read: %s", other.half,
                          other.problem.c_str());
    if (options.half && !halves.empty())
        return errorf(ErrorCode::not_found, "there is nothing in half %u, only in half %u",
                      *options.half, halves.front().reported.half);
    return errorf(ErrorCode::not_found, "nothing is there: no earlier boot recorded into the bank");
}

Result<RecoverSummary> finish(std::vector<Half> halves, std::vector<RecoveredHalf> others,
                              const RecoverOptions& options) {
    RecoverSummary summary;
    std::stable_sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
        return a.reported.facts.generation > b.reported.facts.generation;
    });
    if (!options.output_path.empty()) {
        DBK_TRY(const Half* chosen, choose(halves, others, options));
        DBK_TRY_VOID(write(*chosen, options, summary));
    }
    for (Half& half : halves)
        summary.halves.push_back(std::move(half.reported));
    std::move(others.begin(), others.end(), std::back_inserter(summary.halves));
    return summary;
}

} // namespace

Result<RecoverSummary> recover_device(DeviceApi& device, const RecoverOptions& options) {
    DBK_TRY(dbk_ioc_bank bank, device.bank());
    bank.reason[sizeof(bank.reason) - 1] = 0;
    if (bank.use == DBK_BANK_USE_REFUSED)
        return errorf(ErrorCode::invalid, "the module refused the bank: %s", bank.reason);
    std::vector<Mapping> mappings; // the halves' blocks lie in them
    std::vector<Half> halves;
    std::vector<RecoveredHalf> others;
    for (uint32_t index = 0;; index++) {
        DBK_TRY(std::optional<dbk_ioc_region> region, device.region(index));
        if (!region)
            break;
        if (region->kind != DBK_REGION_BANK)
            continue;
        DBK_TRY(Mapping mapping, device.map(*region));
        mappings.push_back(std::move(mapping));
        Result<BankHalf> half = formats::parse_bank_half(mappings.back().live());
        if (half.ok()) {
            formats::Findings findings;
            formats::note_half(half.value(), findings);
            halves.push_back(look_through(half.value(), findings, options.sealed_only));
        } else {
            others.push_back(refused(region->cpu, half.error()));
        }
    }
    if (halves.empty() && others.empty())
        return errorf(ErrorCode::not_found, "there is no bank: boot with memmap=SIZE$ADDRESS and "
                                            "daybreak.bank=SIZE@ADDRESS (daybreak(1))");
    DBK_TRY(RecoverSummary summary, finish(std::move(halves), std::move(others), options));
    summary.bank = bank;
    return summary;
}

Result<RecoverSummary> recover_image(ByteView untrusted_image, const std::string& name,
                                     const RecoverOptions& options) {
    Result<formats::Bank> bank = formats::parse_bank(untrusted_image);
    if (!bank.ok())
        return std::move(bank).error().with_context(name);
    std::vector<Half> halves;
    std::vector<RecoveredHalf> others;
    for (const BankHalf& half : bank.value().halves)
        halves.push_back(look_through(half, bank.value().findings, options.sealed_only));
    for (const formats::BankHalfRefusal& other : bank.value().others)
        others.push_back(refused(other.half, other.error));
    Result<RecoverSummary> summary = finish(std::move(halves), std::move(others), options);
    if (!summary.ok())
        return std::move(summary).error().with_context(name);
    return summary;
}

} // namespace daybreak::recorder
