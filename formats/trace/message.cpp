// SPDX-License-Identifier: Apache-2.0
//
// The adapter to Cap'n Proto.
#include "formats/trace/message.hpp"

#include "formats/trace/wire.hpp"
#include "trace.capnp.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::formats {

namespace {

using base::errorf;

template <typename Fill>
Bytes encode(Fill fill) {
    return encode_message<wire::Message>(fill);
}

template <typename T, typename Read>
Result<T> decode(ByteView untrusted, const char* what, Read read) {
    return decode_message<wire::Message, T>(untrusted, what, read);
}

Error wrong_kind(const char* what) {
    return errorf(ErrorCode::corrupt, "the message in the block is not a %s", what);
}

void put_clocks(const HostClocks& clocks, wire::Clocks::Builder out) {
    out.setMonoNs(clocks.mono_ns);
    out.setBootNs(clocks.boot_ns);
    out.setWallNs(clocks.wall_ns);
}

HostClocks get_clocks(wire::Clocks::Reader in) {
    return {in.getMonoNs(), in.getBootNs(), in.getWallNs()};
}

void put_modules(const std::vector<ModuleInfo>& modules, wire::Header::Builder out) {
    auto list = out.initModules(static_cast<unsigned>(modules.size()));
    for (unsigned i = 0; i < modules.size(); i++) {
        list[i].setName(wire_text(modules[i].name));
        list[i].setBaseAddress(modules[i].base_address);
        list[i].setSizeBytes(modules[i].size_bytes);
        list[i].setBuildId(wire_data(modules[i].build_id));
    }
}

ModuleInfo get_module(wire::Module::Reader in) {
    ModuleInfo module;
    module.name = wire_text(in.getName());
    module.base_address = in.getBaseAddress();
    module.size_bytes = in.getSizeBytes();
    auto build_id = in.getBuildId();
    auto bytes = std::as_bytes(std::span(build_id.begin(), build_id.size()));
    module.build_id.assign(bytes.begin(), bytes.end());
    return module;
}

void put_units(const BootUnits& boot, wire::BootUnits::Builder out) {
    auto count = static_cast<unsigned>(boot.units.size());
    out.setDefaultTarget(wire_text(boot.default_target));
    auto names = out.initNames(count);
    auto began = out.initBeganNs(count), ready = out.initReadyNs(count);
    auto after_counts = out.initAfterCounts(count);
    unsigned total = 0, at = 0;
    for (const BootUnit& unit : boot.units)
        total += static_cast<unsigned>(unit.after.size());
    auto after = out.initAfter(total);
    for (unsigned i = 0; i < count; i++) {
        const BootUnit& unit = boot.units[i];
        names.set(i, wire_text(unit.name));
        began.set(i, unit.began_mono_ns);
        ready.set(i, unit.ready_mono_ns);
        after_counts.set(i, static_cast<uint32_t>(unit.after.size()));
        for (uint16_t other : unit.after)
            after.set(at++, other);
    }
}

Result<BootUnits> get_units(wire::BootUnits::Reader in) {
    auto names = in.getNames();
    auto began = in.getBeganNs(), ready = in.getReadyNs();
    auto after_counts = in.getAfterCounts();
    auto after = in.getAfter();
    unsigned count = names.size(), at = 0;
    if (count > kBootUnitsMax || began.size() != count || ready.size() != count ||
        after_counts.size() != count || after.size() > kBootUnitOrdersMax)
        return errorf(ErrorCode::corrupt, "%u units and %u orders cannot be", count, after.size());
    BootUnits boot;
    boot.default_target = wire_text(in.getDefaultTarget());
    if (!boot.default_target.empty() && !is_unit_name(boot.default_target))
        return errorf(ErrorCode::corrupt, "the default target has no unit's name");
    for (unsigned i = 0; i < count; i++) {
        BootUnit unit{wire_text(names[i]), began[i], ready[i], {}};
        if (!is_unit_name(unit.name) || after_counts[i] > after.size() - at)
            return errorf(ErrorCode::corrupt, "unit %u of %u has no name or too many orders", i,
                          count);
        for (uint32_t n = 0; n < after_counts[i]; n++, at++) {
            if (after[at] >= count)
                return errorf(ErrorCode::corrupt, "unit %u is after unit %u of %u", i, after[at],
                              count);
            unit.after.push_back(after[at]);
        }
        boot.units.push_back(std::move(unit));
    }
    return boot;
}

template <typename List>
void put_counts(const DropCounts& counts, List list) {
    for (unsigned i = 0; i < counts.size(); i++)
        list.set(i, counts[i]);
}

template <typename List>
DropCounts get_counts(List list) {
    DropCounts counts{};
    for (unsigned i = 0; i < std::min<size_t>(counts.size(), list.size()); i++)
        counts[i] = list[i];
    return counts;
}

void put_cpu(const CpuSummary& cpu, wire::Cpu::Builder out) {
    const Completeness& sum = cpu.completeness;
    out.setRingId(cpu.ring_id);
    out.setCpu(cpu.cpu);
    out.setCommitted(sum.committed);
    out.setPresent(sum.present);
    out.setOverwritten(sum.overwritten);
    out.setLost(sum.lost);
    out.setNotCopied(sum.not_copied);
    out.setLostKnown(sum.lost_known);
    out.setSegmentsPresent(sum.segments_present);
    out.setSegmentsMissing(sum.segments_missing);
    out.setSegmentsDamaged(sum.segments_damaged);
    out.setErrors(sum.errors);
    out.setRotated(sum.rotated);
    put_counts(sum.drops, out.initDrops(DBK_DROP_SLOTS));
    put_counts(sum.drops_unseen, out.initDropsUnseen(DBK_DROP_SLOTS));
}

CpuSummary get_cpu(wire::Cpu::Reader in) {
    CpuSummary cpu;
    cpu.ring_id = in.getRingId();
    cpu.cpu = in.getCpu();
    Completeness& sum = cpu.completeness;
    sum.committed = in.getCommitted();
    sum.present = in.getPresent();
    sum.overwritten = in.getOverwritten();
    sum.lost = in.getLost();
    sum.not_copied = in.getNotCopied();
    sum.lost_known = in.getLostKnown();
    sum.segments_present = in.getSegmentsPresent();
    sum.segments_missing = in.getSegmentsMissing();
    sum.segments_damaged = in.getSegmentsDamaged();
    sum.errors = in.getErrors();
    sum.rotated = in.getRotated();
    sum.drops = get_counts(in.getDrops());
    sum.drops_unseen = get_counts(in.getDropsUnseen());
    return cpu;
}

Result<void> add_symbols(wire::Symbols::Reader in, SymbolTable& table) {
    auto deltas = in.getAddressDeltas();
    auto modules = in.getModules();
    auto indices = in.getModuleIndices();
    auto types = in.getTypes();
    auto names = in.getNames();
    if (indices.size() != deltas.size() || types.size() != deltas.size())
        return errorf(ErrorCode::corrupt, "%u addresses, %u modules and %zu types do not fit",
                      deltas.size(), indices.size(), types.size());
    if (deltas.size() > kSymbolsMax - table.symbols().size())
        return errorf(ErrorCode::limit, "more than %zu symbols", kSymbolsMax);
    std::vector<std::string> module_names;
    for (auto module : modules)
        module_names.push_back(wire_text(module));
    const char* at = reinterpret_cast<const char*>(names.begin());
    const char* end = at + names.size();
    uint64_t address = 0;
    for (unsigned i = 0; i < deltas.size(); i++) {
        const char* newline =
            at == end
                ? nullptr
                : static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
        if (!newline || indices[i] >= module_names.size())
            return errorf(ErrorCode::corrupt, "symbol %u of %u has no name or no module", i,
                          deltas.size());
        address += deltas[i];
        table.add(address, static_cast<char>(types[i]),
                  std::string_view(at, static_cast<size_t>(newline - at)),
                  module_names[indices[i]]);
        at = newline + 1;
    }
    return {};
}

/// Of a piece that was not counted.
constexpr uint64_t kNotCounted = UINT64_MAX;

void put_pieces(const std::vector<IndexBlock>& blocks, wire::Index::Builder out) {
    size_t count = 0, epid_count = 0;
    for (const IndexBlock& block : blocks) {
        count += block.pieces.size();
        epid_count += block.epids.size();
    }
    auto size = static_cast<unsigned>(count);
    auto list = out.initBlocks(static_cast<unsigned>(blocks.size()));
    auto offsets = out.initOffsets(size);
    auto heads = out.initHeads(size * DBK_SEGMENT_DATA_OFFSET);
    auto records = out.initRecords(size), first = out.initFirstTicks(size);
    auto min = out.initMinTicks(size), last = out.initLastTicks(size);
    auto epids = out.initEpids(static_cast<unsigned>(epid_count));
    unsigned at = 0, epid_at = 0;
    for (unsigned i = 0; i < blocks.size(); i++) {
        list[i].setFileOffset(blocks[i].file_offset);
        list[i].setBlockNumber(blocks[i].block_number);
        list[i].setPieces(static_cast<uint32_t>(blocks[i].pieces.size()));
        list[i].setEpids(static_cast<uint32_t>(blocks[i].epids.size()));
        for (uint32_t epid : blocks[i].epids)
            epids.set(epid_at++, epid);
        for (const PieceHead& piece : blocks[i].pieces) {
            SegmentCount counted = piece.count.value_or(SegmentCount{kNotCounted, 0, 0, 0});
            offsets.set(at, piece.offset_bytes);
            std::memcpy(heads.begin() + size_t{at} * DBK_SEGMENT_DATA_OFFSET, piece.head.data(),
                        DBK_SEGMENT_DATA_OFFSET);
            records.set(at, counted.records);
            first.set(at, counted.first_ticks);
            min.set(at, counted.min_ticks);
            last.set(at++, counted.last_ticks);
        }
    }
}

/// Whether a block can have these: few, from 1 on, each once.
bool are_epids(const std::vector<uint32_t>& epids) {
    return epids.empty() ||
           (epids.size() <= PieceCounter::kEpidsMax && epids.front() != 0 &&
            epids.back() <= kEpidMax &&
            std::ranges::adjacent_find(epids, std::greater_equal<>()) == epids.end());
}

/// Reads what put_pieces() wrote; an index of an older version has `entries` alone, which are not
/// read.
Result<void> get_pieces(wire::Index::Reader in, ByteView message, size_t blocks_max,
                        std::vector<IndexBlock>& blocks) {
    auto offsets = in.getOffsets();
    auto heads = in.getHeads();
    auto records = in.getRecords(), first = in.getFirstTicks();
    auto min = in.getMinTicks(), last = in.getLastTicks();
    size_t size = offsets.size();
    DBK_TRY_VOID(check_list(in.getBlocks().size(), 16, message, "blocks"));
    if (heads.size() != size * DBK_SEGMENT_DATA_OFFSET || records.size() != size ||
        first.size() != size || min.size() != size || last.size() != size)
        return errorf(ErrorCode::corrupt, "%zu pieces and %zu bytes of heads do not fit", size,
                      heads.size());
    auto epids = in.getEpids();
    unsigned at = 0, epid_at = 0;
    if (in.getBlocks().size() > blocks_max)
        return errorf(ErrorCode::corrupt, "%u blocks, %zu are the most", in.getBlocks().size(),
                      blocks_max);
    blocks.reserve(in.getBlocks().size());
    for (auto one : in.getBlocks()) {
        if (one.getPieces() > size - at)
            return errorf(ErrorCode::corrupt, "block %u has %u pieces, %zu are left",
                          one.getBlockNumber(), one.getPieces(), size - at);
        if (one.getEpids() > epids.size() - epid_at)
            return errorf(ErrorCode::corrupt, "block %u has %u EPIDs, %u are left",
                          one.getBlockNumber(), one.getEpids(), epids.size() - epid_at);
        IndexBlock block{one.getFileOffset(), one.getBlockNumber(), {}};
        for (uint32_t i = 0; i < one.getEpids(); i++)
            block.epids.push_back(epids[epid_at++]);
        if (!are_epids(block.epids))
            return errorf(ErrorCode::corrupt, "the EPIDs of block %u cannot be",
                          one.getBlockNumber());
        for (uint32_t i = 0; i < one.getPieces(); i++, at++) {
            PieceHead piece;
            piece.offset_bytes = offsets[at];
            std::memcpy(piece.head.data(), heads.begin() + size_t{at} * DBK_SEGMENT_DATA_OFFSET,
                        DBK_SEGMENT_DATA_OFFSET);
            if (records[at] != kNotCounted)
                piece.count = SegmentCount{records[at], first[at], min[at], last[at]};
            block.pieces.push_back(std::move(piece));
        }
        blocks.push_back(std::move(block));
    }
    if (epid_at != epids.size())
        return errorf(ErrorCode::corrupt, "%u EPIDs are of no block", epids.size() - epid_at);
    return {};
}

void put_left_out(const LeftOut& one, wire::LeftOut::Builder out) {
    out.setRingId(one.ring_id);
    out.setCpu(one.cpu);
    out.setFirstSequence(one.first_sequence);
    out.setLastSequence(one.last_sequence);
    out.setRecordsBefore(one.records_before);
    out.setRecords(one.records);
    out.setFromMonoNs(one.from_mono_ns);
    out.setToMonoNs(one.to_mono_ns);
    auto drops = out.initDrops(static_cast<unsigned>(one.drops.size()));
    for (unsigned i = 0; i < drops.size(); i++)
        drops.set(i, one.drops[i]);
    auto size = static_cast<unsigned>(one.pairs.size());
    auto ticks = out.initOpenedTicks(size), mono_ns = out.initOpenedMonoNs(size);
    for (unsigned i = 0; i < size; i++) {
        ticks.set(i, one.pairs[i].ticks);
        mono_ns.set(i, one.pairs[i].mono_ns);
    }
}

Result<LeftOut> get_left_out(wire::LeftOut::Reader in) {
    LeftOut one;
    one.ring_id = in.getRingId();
    one.cpu = in.getCpu();
    one.first_sequence = in.getFirstSequence();
    one.last_sequence = in.getLastSequence();
    if (one.first_sequence == 0 || one.first_sequence > one.last_sequence ||
        one.last_sequence == UINT64_MAX)
        return errorf(ErrorCode::corrupt, "segments %" PRIu64 "..%" PRIu64 " cannot be left out",
                      one.first_sequence, one.last_sequence);
    one.records_before = in.getRecordsBefore();
    one.records = in.getRecords();
    one.from_mono_ns = in.getFromMonoNs();
    one.to_mono_ns = in.getToMonoNs();
    if (in.getDrops().size() != 0) {
        DropCounts drops = get_counts(in.getDrops());
        one.drops.assign(drops.begin(), drops.end());
    }
    auto ticks = in.getOpenedTicks(), mono_ns = in.getOpenedMonoNs();
    bool fit = ticks.size() == mono_ns.size() &&
               (ticks.size() == 0 || ticks.size() - 1 == one.last_sequence - one.first_sequence);
    if (!fit)
        return errorf(ErrorCode::corrupt,
                      "%u and %u times do not fit the segments %" PRIu64 "..%" PRIu64,
                      ticks.size(), mono_ns.size(), one.first_sequence, one.last_sequence);
    one.pairs.reserve(ticks.size());
    for (unsigned i = 0; i < ticks.size(); i++)
        one.pairs.push_back({ticks[i], mono_ns[i]});
    return one;
}

/// Returns whether `next` may come after `one`.
bool ascends(const LeftOut& one, const LeftOut& next) {
    auto cpu = [](const LeftOut& of) { return std::pair(of.ring_id, of.cpu); };
    return cpu(one) != cpu(next) ? cpu(one) < cpu(next)
                                 : one.last_sequence < next.first_sequence;
}

void put_run(const TraceContents::Run& one, wire::Contents::Run::Builder out) {
    const SegmentRun& run = one.run;
    out.setRingId(one.ring_id);
    out.setCpu(one.cpu);
    out.setFirst(run.from);
    out.setCount(run.count);
    out.setSaysTsc(run.says_tsc);
    out.setFirstSequence(run.first_sequence);
    out.setRecordsBefore(run.records_before);
    out.setRecords(run.record_count);
    out.setFirstTicks(run.opened.ticks);
    out.setFirstMonoNs(run.opened.mono_ns);
    out.setLastMonoNs(run.last_mono_ns);
    out.setMinTicks(run.min_ticks);
    out.setMaxTicks(run.max_ticks);
    out.setLastTicks(run.last_ticks);
}

Result<TraceContents::Run> get_run(wire::Contents::Run::Reader in) {
    TraceContents::Run one;
    one.ring_id = in.getRingId();
    one.cpu = in.getCpu();
    SegmentRun& run = one.run;
    run.from = in.getFirst();
    run.count = in.getCount();
    run.says_tsc = in.getSaysTsc();
    run.first_sequence = in.getFirstSequence();
    run.records_before = in.getRecordsBefore();
    run.record_count = in.getRecords();
    run.opened = {in.getFirstTicks(), in.getFirstMonoNs()};
    run.last_mono_ns = in.getLastMonoNs();
    run.min_ticks = in.getMinTicks();
    run.max_ticks = in.getMaxTicks();
    run.last_ticks = in.getLastTicks();
    if (run.count == 0 || run.first_sequence > UINT64_MAX - run.count ||
        run.records_before > UINT64_MAX - run.record_count)
        return errorf(ErrorCode::corrupt, "a run of %u segments from %" PRIu64 " on", run.count,
                      run.first_sequence);
    return one;
}

} // namespace

bool is_unit_name(std::string_view name) {
    constexpr size_t kBytesMax = 255; // systemd: UNIT_NAME_MAX
    return !name.empty() && name.size() <= kBytesMax &&
           name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  ":-_.\\@") == name.npos;
}

Bytes encode_header(const TraceHeader& header) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initHeader();
        out.setToolVersion(wire_text(header.tool_version));
        out.setOrigin(static_cast<wire::Origin>(header.origin));
        put_clocks(header.clocks, out.initClocks());
        out.setBootUuid(wire_data(std::as_bytes(std::span(header.boot_uuid))));
        out.setHostname(wire_text(header.hostname));
        out.setRelease(wire_text(header.release));
        out.setVersion(wire_text(header.version));
        out.setMachine(wire_text(header.machine));
        out.setCommandLine(wire_text(header.command_line));
        out.setCpusOnline(header.cpus_online);
        out.setMemoryBytes(header.memory_bytes);
        auto files = out.initDFiles(static_cast<unsigned>(header.d_files.size()));
        for (unsigned i = 0; i < header.d_files.size(); i++)
            files.set(i, wire_text(header.d_files[i]));
        put_modules(header.modules, out);
        out.setFileNumber(header.file_number);
        out.setWindowFromNs(header.window_from_ns);
        out.setWindowToNs(header.window_to_ns);
        out.setTrigger(wire_text(header.trigger));
        if (!header.boot_units.units.empty())
            put_units(header.boot_units, out.initUnits());
    });
}

Result<TraceHeader> decode_header(ByteView untrusted) {
    return decode<TraceHeader>(
        untrusted, "header", [&](wire::Message::Reader root) -> Result<TraceHeader> {
            if (!root.isHeader())
                return wrong_kind("header");
            auto in = root.getHeader();
            TraceHeader header;
            header.tool_version = wire_text(in.getToolVersion());
            uint16_t origin = static_cast<uint16_t>(in.getOrigin());
            header.origin = static_cast<TraceOrigin>(
                std::min<uint16_t>(origin, static_cast<uint16_t>(TraceOrigin::backfill)));
            header.clocks = get_clocks(in.getClocks());
            auto uuid = in.getBootUuid();
            std::copy_n(uuid.begin(), std::min(uuid.size(), header.boot_uuid.size()),
                        header.boot_uuid.begin());
            header.hostname = wire_text(in.getHostname());
            header.release = wire_text(in.getRelease());
            header.version = wire_text(in.getVersion());
            header.machine = wire_text(in.getMachine());
            header.command_line = wire_text(in.getCommandLine());
            header.cpus_online = in.getCpusOnline();
            header.memory_bytes = in.getMemoryBytes();
            DBK_TRY_VOID(check_list(in.getModules().size(), 32, untrusted, "modules"));
            for (auto file : in.getDFiles())
                header.d_files.push_back(wire_text(file));
            for (auto module : in.getModules())
                header.modules.push_back(get_module(module));
            header.file_number = in.getFileNumber();
            header.window_from_ns = in.getWindowFromNs();
            header.window_to_ns = in.getWindowToNs();
            header.trigger = wire_text(in.getTrigger());
            DBK_TRY(header.boot_units, get_units(in.getUnits()));
            return header;
        });
}

Bytes encode_symbols(const SymbolTable& table, std::span<const Symbol> stretch) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initSymbols();
        unsigned count = static_cast<unsigned>(stretch.size());
        auto modules = out.initModules(static_cast<unsigned>(table.modules().size()));
        for (unsigned i = 0; i < table.modules().size(); i++)
            modules.set(i, wire_text(table.modules()[i]));
        auto deltas = out.initAddressDeltas(count);
        auto indices = out.initModuleIndices(count);
        auto types = out.initTypes(count);
        std::string names;
        uint64_t before = 0;
        for (unsigned i = 0; i < count; i++) {
            deltas.set(i, stretch[i].address - before);
            before = stretch[i].address;
            indices.set(i, stretch[i].module);
            types[i] = static_cast<kj::byte>(stretch[i].type);
            names += stretch[i].name;
            names += '\n';
        }
        out.setNames(wire_data(base::as_bytes(names)));
    });
}

Result<void> decode_symbols(ByteView untrusted, SymbolTable& table) {
    DBK_TRY(bool done,
            decode<bool>(untrusted, "symbols", [&](wire::Message::Reader root) -> Result<bool> {
                if (!root.isSymbols())
                    return wrong_kind("stretch of symbols");
                DBK_TRY_VOID(add_symbols(root.getSymbols(), table));
                return true;
            }));
    (void)done;
    return {};
}

Bytes encode_shared_symbols(const SharedSymbols& shared) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initSharedSymbols();
        auto modules = out.initModules(static_cast<unsigned>(shared.modules.size()));
        auto hashes = out.initHashes(static_cast<unsigned>(shared.modules.size()));
        for (unsigned i = 0; i < shared.modules.size(); i++) {
            modules.set(i, wire_text(shared.modules[i].name));
            hashes.set(i, shared.modules[i].hash);
        }
        out.setAdditions(wire_data(shared.additions));
    });
}

Result<SharedSymbols> decode_shared_symbols(ByteView untrusted) {
    return decode<SharedSymbols>(
        untrusted, "shared symbols", [&](wire::Message::Reader root) -> Result<SharedSymbols> {
            if (!root.isSharedSymbols())
                return wrong_kind("list of shared symbols");
            auto in = root.getSharedSymbols();
            auto modules = in.getModules();
            auto hashes = in.getHashes();
            if (modules.size() != hashes.size())
                return errorf(ErrorCode::corrupt, "%u modules and %u hashes do not fit",
                              modules.size(), hashes.size());
            DBK_TRY_VOID(check_list(modules.size(), sizeof(uint64_t), untrusted, "modules"));
            SharedSymbols shared;
            for (unsigned i = 0; i < modules.size(); i++)
                shared.modules.push_back({wire_text(modules[i]), hashes[i]});
            auto additions =
                std::as_bytes(std::span(in.getAdditions().begin(), in.getAdditions().size()));
            shared.additions.assign(additions.begin(), additions.end());
            return shared;
        });
}

Bytes encode_index(const TraceIndex& index) {
    return encode([&](wire::Message::Builder root) {
        put_pieces(index.blocks, root.initIndex());
    });
}

Result<TraceIndex> decode_index(ByteView untrusted, size_t blocks_max) {
    return decode<TraceIndex>(
        untrusted, "index", [&](wire::Message::Reader root) -> Result<TraceIndex> {
            if (!root.isIndex())
                return wrong_kind("list of data blocks");
            TraceIndex index;
            DBK_TRY_VOID(get_pieces(root.getIndex(), untrusted, blocks_max, index.blocks));
            return index;
        });
}

Bytes encode_summary(const TraceSummary& summary) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initSummary();
        put_clocks(summary.clocks, out.initClocks());
        out.setInterrupted(summary.interrupted);
        auto cpus = out.initCpus(static_cast<unsigned>(summary.cpus.size()));
        for (unsigned i = 0; i < summary.cpus.size(); i++)
            put_cpu(summary.cpus[i], cpus[i]);
        auto findings = out.initFindings(static_cast<unsigned>(summary.findings.size()));
        for (unsigned i = 0; i < summary.findings.size(); i++) {
            findings[i].setKind(finding_name(summary.findings[i].kind));
            findings[i].setWhere(wire_text(summary.findings[i].where));
            findings[i].setText(wire_text(summary.findings[i].text));
        }
    });
}

Result<TraceSummary> decode_summary(ByteView untrusted) {
    return decode<TraceSummary>(
        untrusted, "summary", [&](wire::Message::Reader root) -> Result<TraceSummary> {
            if (!root.isSummary())
                return wrong_kind("summary");
            auto in = root.getSummary();
            DBK_TRY_VOID(check_list(in.getCpus().size(), 96, untrusted, "CPUs"));
            DBK_TRY_VOID(check_list(in.getFindings().size(), 24, untrusted, "findings"));
            TraceSummary summary;
            summary.clocks = get_clocks(in.getClocks());
            summary.interrupted = in.getInterrupted();
            for (auto cpu : in.getCpus())
                summary.cpus.push_back(get_cpu(cpu));
            for (auto finding : in.getFindings()) {
                // A kind of a later version is reported under the name that claims least.
                std::optional<FindingKind> kind = finding_kind(wire_text(finding.getKind()));
                summary.findings.push_back({kind.value_or(FindingKind::unknown_kind),
                                            wire_text(finding.getWhere()),
                                            wire_text(finding.getText())});
            }
            return summary;
        });
}

Bytes encode_skipped(std::span<const SkippedSegments> skipped) {
    return encode([&](wire::Message::Builder root) {
        auto list = root.initSkipped(static_cast<unsigned>(skipped.size()));
        for (unsigned i = 0; i < skipped.size(); i++) {
            list[i].setRingId(skipped[i].ring_id);
            list[i].setCpu(skipped[i].cpu);
            list[i].setFirstSequence(skipped[i].first_sequence);
            list[i].setLastSequence(skipped[i].last_sequence);
            list[i].setCause(skip_name(skipped[i].cause));
            list[i].setMonoNs(skipped[i].mono_ns);
        }
    });
}

Result<std::vector<SkippedSegments>> decode_skipped(ByteView untrusted) {
    using List = std::vector<SkippedSegments>;
    return decode<List>(untrusted, "skipped", [&](wire::Message::Reader root) -> Result<List> {
        if (!root.isSkipped())
            return wrong_kind("list of skipped segments");
        DBK_TRY_VOID(check_list(root.getSkipped().size(), 40, untrusted, "stretches"));
        List list;
        for (auto in : root.getSkipped()) {
            std::string name = wire_text(in.getCause());
            SkippedSegments one{in.getRingId(),       in.getCpu(),        in.getFirstSequence(),
                                in.getLastSequence(), SkipCause::unknown, in.getMonoNs()};
            for (uint8_t cause = 0; cause < static_cast<uint8_t>(SkipCause::unknown); cause++)
                if (name == skip_name(static_cast<SkipCause>(cause)))
                    one.cause = static_cast<SkipCause>(cause);
            list.push_back(one);
        }
        return list;
    });
}

Bytes encode_jit_text(const JitText& text) {
    const uint32_t head[] = {text.pid, 0};
    Bytes raw(sizeof(head) + text.text.size());
    std::memcpy(raw.data(), head, sizeof(head));
    std::memcpy(raw.data() + sizeof(head), text.text.data(), text.text.size());
    return raw;
}

Result<JitText> decode_jit_text(ByteView untrusted) {
    uint32_t head[2] = {};
    if (untrusted.size() < sizeof(head) || untrusted.size() - sizeof(head) > kJitTextBytesMax)
        return errorf(ErrorCode::corrupt, "names of a runtime have %zu bytes", untrusted.size());
    std::memcpy(head, untrusted.data(), sizeof(head));
    ByteView text = untrusted.subspan(sizeof(head));
    return JitText{head[0], {reinterpret_cast<const char*>(text.data()), text.size()}};
}

Bytes encode_window(const TraceWindow& window) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initWindow();
        out.setBootId(window.boot_id);
        out.setSinceMonoNs(window.window.since_mono_ns);
        out.setUntilMonoNs(window.window.until_mono_ns);
        auto list = out.initLeftOut(static_cast<unsigned>(window.left_out.size()));
        for (unsigned i = 0; i < window.left_out.size(); i++)
            put_left_out(window.left_out[i], list[i]);
    });
}

Result<TraceWindow> decode_window(ByteView untrusted) {
    return decode<TraceWindow>(
        untrusted, "window", [&](wire::Message::Reader root) -> Result<TraceWindow> {
            if (!root.isWindow())
                return wrong_kind("window");
            auto in = root.getWindow();
            TraceWindow window{in.getBootId(), {in.getSinceMonoNs(), in.getUntilMonoNs()}, {}};
            if (window.window.since_mono_ns > window.window.until_mono_ns)
                return errorf(ErrorCode::corrupt, "the window ends before it begins");
            DBK_TRY_VOID(check_list(in.getLeftOut().size(), 80, untrusted, "stretches"));
            if (in.getLeftOut().size() > kLeftOutMax)
                return errorf(ErrorCode::corrupt, "%u stretches are left out, %zu are the most",
                              in.getLeftOut().size(), kLeftOutMax);
            for (auto stretch : in.getLeftOut()) {
                DBK_TRY(LeftOut one, get_left_out(stretch));
                if (!window.left_out.empty() && !ascends(window.left_out.back(), one))
                    return errorf(ErrorCode::corrupt,
                                  "ring %u cpu %u segment %" PRIu64 " is left out twice",
                                  one.ring_id, one.cpu, one.first_sequence);
                window.left_out.push_back(std::move(one));
            }
            return window;
        });
}

Bytes encode_contents(const TraceContents& contents) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initContents();
        out.setBootId(contents.boot_id);
        out.setRawDataBytes(contents.raw_data_bytes);
        auto groups = out.initGroups(static_cast<unsigned>(contents.groups.size()));
        for (unsigned i = 0; i < contents.groups.size(); i++) {
            groups[i].setFileOffset(contents.groups[i].file_offset);
            groups[i].setBlocks(contents.groups[i].blocks);
            groups[i].setRuns(contents.groups[i].runs);
        }
        auto runs = out.initRuns(static_cast<unsigned>(contents.runs.size()));
        for (unsigned i = 0; i < contents.runs.size(); i++)
            put_run(contents.runs[i], runs[i]);
        auto others = out.initOtherOffsets(static_cast<unsigned>(contents.other_offsets.size()));
        for (unsigned i = 0; i < contents.other_offsets.size(); i++)
            others.set(i, contents.other_offsets[i]);
        auto rings = out.initPairs(static_cast<unsigned>(contents.pairs.size()));
        for (unsigned i = 0; i < contents.pairs.size(); i++) {
            const std::vector<ClockPair>& pairs = contents.pairs[i].pairs;
            rings[i].setRingId(contents.pairs[i].ring_id);
            auto ticks = rings[i].initTicks(static_cast<unsigned>(pairs.size()));
            auto mono = rings[i].initMonoNs(static_cast<unsigned>(pairs.size()));
            for (unsigned j = 0; j < pairs.size(); j++) {
                ticks.set(j, pairs[j].ticks);
                mono.set(j, pairs[j].mono_ns);
            }
        }
    });
}

Result<TraceContents> decode_contents(ByteView untrusted) {
    return decode<TraceContents>(
        untrusted, "contents", [&](wire::Message::Reader root) -> Result<TraceContents> {
            if (!root.isContents())
                return wrong_kind("table of contents");
            auto in = root.getContents();
            DBK_TRY_VOID(check_list(in.getGroups().size(), 16, untrusted, "groups"));
            DBK_TRY_VOID(check_list(in.getRuns().size(), 88, untrusted, "runs"));
            DBK_TRY_VOID(check_list(in.getOtherOffsets().size(), 8, untrusted, "offsets"));
            DBK_TRY_VOID(check_list(in.getPairs().size(), 24, untrusted, "rings"));
            TraceContents contents;
            contents.boot_id = in.getBootId();
            contents.raw_data_bytes = in.getRawDataBytes();
            for (auto group : in.getGroups())
                contents.groups.push_back(
                    {group.getFileOffset(), group.getBlocks(), group.getRuns()});
            for (auto run : in.getRuns()) {
                DBK_TRY(TraceContents::Run one, get_run(run));
                contents.runs.push_back(one);
            }
            for (uint64_t offset : in.getOtherOffsets())
                contents.other_offsets.push_back(offset);
            size_t pairs = 0;
            for (auto ring : in.getPairs()) {
                auto ticks = ring.getTicks();
                auto mono = ring.getMonoNs();
                pairs += ticks.size();
                DBK_TRY_VOID(check_list(pairs, 8, untrusted, "pairs")); // lists may be the same one
                if (mono.size() != ticks.size())
                    return errorf(ErrorCode::corrupt, "%u ticks and %u times do not fit",
                                  ticks.size(), mono.size());
                contents.pairs.push_back({ring.getRingId(), {}});
                for (unsigned i = 0; i < ticks.size(); i++)
                    contents.pairs.back().pairs.push_back({ticks[i], mono[i]});
            }
            return contents;
        });
}

Bytes encode_end(const TraceEnd& end) {
    return encode([&](wire::Message::Builder root) {
        auto out = root.initEnd();
        out.setBlocks(end.blocks);
        out.setBytes(end.bytes);
        out.setContentsOffset(end.contents_offset);
    });
}

Result<TraceEnd> decode_end(ByteView untrusted) {
    return decode<TraceEnd>(untrusted, "end", [](wire::Message::Reader root) -> Result<TraceEnd> {
        if (!root.isEnd())
            return wrong_kind("end");
        auto in = root.getEnd();
        return TraceEnd{in.getBlocks(), in.getBytes(), in.getContentsOffset()};
    });
}

} // namespace daybreak::formats
