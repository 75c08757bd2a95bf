// SPDX-License-Identifier: Apache-2.0
//
// The adapter to Cap'n Proto.
#include "formats/aggstate/message.hpp"

#include "aggstate.capnp.h"
#include "formats/aggstate/key.hpp"
#include "formats/trace/wire.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::errorf;

// What an element of a list has at least, in the first version.
constexpr size_t kCpuBytes = 48, kRunBytes = 48, kImageBytes = 32, kSymbolBytes = 32,
                 kKeyTypeBytes = 16;

ByteView view_of(capnp::Data::Reader in) {
    return std::as_bytes(std::span(in.begin(), in.size()));
}

Bytes bytes_of(capnp::Data::Reader in) {
    ByteView bytes = view_of(in);
    return Bytes(bytes.begin(), bytes.end());
}

capnp::Data::Reader wire_digest(const Digest& digest) {
    return capnp::Data::Reader(digest.data(), digest.size());
}

Result<Digest> get_digest(capnp::Data::Reader in, const char* what) {
    Digest digest{};
    if (in.size() != digest.size())
        return errorf(ErrorCode::corrupt, "a %s of %zu bytes, expected %zu", what, in.size(),
                      digest.size());
    std::copy(in.begin(), in.end(), digest.begin());
    return digest;
}

void put_cpu(const CoveredCpu& cpu, aggwire::Cpu::Builder out) {
    out.setCpu(cpu.cpu);
    out.setCommitted(cpu.committed);
    out.setFirstKept(cpu.first_kept);
    out.setNewest(cpu.newest);
    out.setFaults(cpu.faults);
    auto drops = out.initDrops(static_cast<unsigned>(cpu.drops.size()));
    for (unsigned i = 0; i < cpu.drops.size(); i++)
        drops.set(i, cpu.drops[i]);
    auto runs = out.initRuns(static_cast<unsigned>(cpu.runs.size()));
    for (unsigned i = 0; i < cpu.runs.size(); i++) {
        runs[i].setFirstSequence(cpu.runs[i].first_sequence);
        runs[i].setLastSequence(cpu.runs[i].last_sequence);
        runs[i].setRecordsBefore(cpu.runs[i].records_before);
        runs[i].setRecords(cpu.runs[i].records);
        runs[i].setFromNs(cpu.runs[i].from_ns);
        runs[i].setToNs(cpu.runs[i].to_ns);
        runs[i].setBeginsInFiring(cpu.runs[i].begins_in_firing);
    }
}

Result<CoveredRun> get_run(aggwire::Run::Reader in, uint64_t previous_sequence) {
    CoveredRun run{in.getFirstSequence(), in.getLastSequence(), in.getRecordsBefore(),
                   in.getRecords(),       in.getFromNs(),       in.getToNs(),
                   in.getBeginsInFiring()};
    uint64_t end = 0;
    if (run.first_sequence <= previous_sequence || run.last_sequence < run.first_sequence ||
        run.last_sequence == UINT64_MAX || run.to_ns < run.from_ns ||
        __builtin_add_overflow(run.records_before, run.records, &end))
        return errorf(ErrorCode::corrupt, "segments %llu to %llu of a part contradict the others",
                      static_cast<unsigned long long>(run.first_sequence),
                      static_cast<unsigned long long>(run.last_sequence));
    return run;
}

Result<CoveredCpu> get_cpu(aggwire::Cpu::Reader in, ByteView message, size_t& runs) {
    CoveredCpu cpu;
    cpu.cpu = in.getCpu();
    cpu.committed = in.getCommitted();
    cpu.first_kept = in.getFirstKept();
    cpu.newest = in.getNewest();
    cpu.faults = in.getFaults();
    auto drops = in.getDrops();
    for (unsigned i = 0; i < std::min<size_t>(cpu.drops.size(), drops.size()); i++)
        cpu.drops[i] = drops[i];
    runs += in.getRuns().size(); // lists may be the same one
    DBK_TRY_VOID(check_list(runs, kRunBytes, message, "runs"));
    uint64_t previous = 0;
    for (auto run : in.getRuns()) {
        DBK_TRY(CoveredRun one, get_run(run, previous));
        previous = one.last_sequence;
        cpu.runs.push_back(one);
    }
    return cpu;
}

Result<StatePart> get_part(aggwire::Part::Reader in, ByteView message) {
    StatePart part;
    PartIdentity& identity = part.identity;
    DBK_TRY(identity.program, get_digest(in.getProgram(), "program's digest"));
    DBK_TRY(identity.digest, get_digest(in.getDigest(), "part's digest"));
    identity.host = wire_text(in.getHost());
    identity.boot_id = in.getBootId();
    identity.ring_id = in.getRingId();
    identity.since_ns = in.getSinceNs();
    identity.until_ns = in.getUntilNs();
    if (identity.since_ns >= identity.until_ns)
        return errorf(ErrorCode::corrupt, "the window of a part ends before it begins");
    part.dof = bytes_of(in.getDof());
    part.source = wire_text(in.getSource());
    part.release = wire_text(in.getRelease());
    part.keeps_thread_state = in.getKeepsThreadState();
    part.keeps_global_state = in.getKeepsGlobalState();
    part.has_ticks = in.getHasTicks();
    part.holds_firings = in.getHoldsFirings();
    part.begin_ns = in.getBeginNs();
    part.end_ns = in.getEndNs();
    part.begin_wall_ns = in.getBeginWallNs();
    part.begin_cpu = in.getBeginCpu();
    part.end_cpu = in.getEndCpu();
    part.records = in.getRecords();
    part.firings = in.getFirings();
    part.drops = in.getDrops();
    DBK_TRY_VOID(check_list(in.getCpus().size(), kCpuBytes, message, "CPUs"));
    size_t runs = 0;
    for (auto cpu : in.getCpus()) {
        DBK_TRY(CoveredCpu one, get_cpu(cpu, message, runs));
        if (!part.cpus.empty() && part.cpus.back().cpu >= one.cpu)
            return errorf(ErrorCode::corrupt, "CPU %u of a part is not in order",
                          unsigned{one.cpu});
        part.cpus.push_back(std::move(one));
    }
    DBK_TRY_VOID(check_list(in.getImages().size(), kImageBytes, message, "images"));
    for (auto image : in.getImages()) {
        part.images.push_back({wire_text(image.getName()), image.getBaseAddress(),
                               image.getSizeBytes(), bytes_of(image.getBuildId()),
                               image.getIsFile()});
        if (part.images.back().name.find('/') != std::string::npos)
            return errorf(ErrorCode::corrupt, "an image has a path, %s",
                          part.images.back().name.c_str());
        if (part.images.back().build_id.size() > kBuildIdBytesMax)
            return errorf(ErrorCode::corrupt, "an image has a build id of %zu bytes",
                          part.images.back().build_id.size());
        if (part.images.back().size_bytes > kImageBytesMax)
            return errorf(ErrorCode::corrupt, "an image has %" PRIu64 " bytes",
                          part.images.back().size_bytes);
    }
    return part;
}

Result<StateSymbols> get_symbols(aggwire::Symbols::Reader in, ByteView message) {
    StateSymbols symbols;
    DBK_TRY_VOID(check_list(in.getSymbols().size(), kSymbolBytes, message, "symbols"));
    for (auto symbol : in.getSymbols()) {
        StateSymbol one;
        if (symbol.getImage() != 0)
            one.frame.image = symbol.getImage() - 1;
        one.frame.offset = symbol.getOffset();
        one.type = static_cast<char>(symbol.getType());
        one.name = wire_text(symbol.getName());
        one.module = wire_text(symbol.getModule());
        one.bytes = symbol.getBytes();
        symbols.symbols.push_back(std::move(one));
    }
    return symbols;
}

Result<StateAggregation> get_aggregation(aggwire::States::Reader in, ByteView message) {
    StateAggregation aggregation;
    aggregation.name = wire_text(in.getAggregation());
    aggregation.function = in.getFunction();
    aggregation.argument = in.getArgument();
    if (!DTRACEACT_IS_AGG(aggregation.function))
        return errorf(ErrorCode::corrupt, "@%s has a function %u", aggregation.name.c_str(),
                      aggregation.function);
    auto types = in.getKeyTypes();
    DBK_TRY_VOID(check_list(types.size(), kKeyTypeBytes, message, "types of keys"));
    if (types.size() > kKeyMembersMax)
        return errorf(ErrorCode::corrupt, "a key has %u members, %zu are the most", types.size(),
                      kKeyMembersMax);
    for (auto type : types) {
        if (type.getTag() == 0 || type.getTag() > kKeyTagMax)
            return errorf(ErrorCode::unsupported,
                          "a key has a member of kind %u, which this version does not know",
                          unsigned{type.getTag()});
        aggregation.key_types.push_back({static_cast<KeyTag>(type.getTag()), type.getBytes(),
                                         type.getAction(), type.getIsSigned()});
    }
    return aggregation;
}

/// Copies a list of numbers.
template <typename T, typename List>
Result<void> get_numbers(List in, ByteView message, const char* what, std::vector<T>& out) {
    DBK_TRY_VOID(check_list(in.size(), sizeof(T), message, what));
    out.reserve(in.size());
    for (T number : in)
        out.push_back(number);
    return {};
}

/// Whether the key's members are of these types, and can be taken apart.
Result<void> check_key(ByteView key, const std::vector<StateKeyType>& types) {
    DBK_TRY(std::vector<KeyMember> members, split_key(key));
    bool fits = members.size() == types.size();
    for (size_t i = 0; fits && i < members.size(); i++) {
        fits = members[i].tag == types[i].tag;
        if (fits && has_frames(members[i].tag))
            DBK_TRY_VOID(frames_of(members[i]));
    }
    if (!fits)
        return errorf(ErrorCode::corrupt, "a key is not of its aggregation's types");
    return {};
}

Result<void> check_block(const StateBlock& block) {
    size_t states = block.size(), keys = 0, cells = 0;
    if (block.cell_counts.size() != states || block.values.size() != block.indexes.size() ||
        block.extremes.size() != (block.aggregation.has_extremes() ? states : 0))
        return errorf(ErrorCode::corrupt, "the lists of %zu states of @%s do not fit", states,
                      block.aggregation.name.c_str());
    for (size_t i = 0; i < states; i++) {
        keys += block.key_bytes[i];
        cells += block.cell_counts[i];
        if (keys > block.keys.size() || cells > block.indexes.size())
            return errorf(ErrorCode::corrupt, "state %zu of @%s lies outside its message", i,
                          block.aggregation.name.c_str());
        DBK_TRY_VOID(
            check_key(ByteView(block.keys).subspan(keys - block.key_bytes[i], block.key_bytes[i]),
                      block.aggregation.key_types));
        for (size_t cell = cells - block.cell_counts[i]; cell < cells; cell++)
            if (block.indexes[cell] >= kStateCellsMax ||
                (cell > cells - block.cell_counts[i] &&
                 block.indexes[cell] <= block.indexes[cell - 1]))
                return errorf(ErrorCode::corrupt, "cells of state %zu of @%s are not in order", i,
                              block.aggregation.name.c_str());
    }
    if (keys != block.keys.size() || cells != block.indexes.size())
        return errorf(ErrorCode::corrupt,
                      "states of @%s have %zu bytes of keys and %zu cells, "
                      "%zu and %zu are there",
                      block.aggregation.name.c_str(), keys, cells, block.keys.size(),
                      block.indexes.size());
    return {};
}

Result<StateBlock> get_states(aggwire::States::Reader in, ByteView message) {
    StateBlock block;
    DBK_TRY(block.aggregation, get_aggregation(in, message));
    DBK_TRY_VOID(check_list(in.getKeys().size(), 1, message, "bytes of keys"));
    block.keys = bytes_of(in.getKeys());
    DBK_TRY_VOID(get_numbers(in.getKeyBytes(), message, "keys", block.key_bytes));
    DBK_TRY_VOID(get_numbers(in.getCellCounts(), message, "counts of cells", block.cell_counts));
    DBK_TRY_VOID(get_numbers(in.getIndexes(), message, "indexes", block.indexes));
    DBK_TRY_VOID(get_numbers(in.getValues(), message, "values", block.values));
    DBK_TRY_VOID(get_numbers(in.getExtremes(), message, "extremes", block.extremes));
    DBK_TRY_VOID(check_block(block));
    return block;
}

template <typename T, typename List>
void put_numbers(const std::vector<T>& numbers, List out) {
    for (unsigned i = 0; i < numbers.size(); i++)
        out.set(i, numbers[i]);
}

} // namespace

Bytes encode_part(const StatePart& part) {
    return encode_message<aggwire::Message>([&](aggwire::Message::Builder root) {
        auto out = root.initPart();
        out.setProgram(wire_digest(part.identity.program));
        out.setHost(wire_text(part.identity.host));
        out.setBootId(part.identity.boot_id);
        out.setRingId(part.identity.ring_id);
        out.setSinceNs(part.identity.since_ns);
        out.setUntilNs(part.identity.until_ns);
        out.setDigest(wire_digest(part.identity.digest));
        out.setDof(wire_data(part.dof));
        out.setSource(wire_text(part.source));
        out.setRelease(wire_text(part.release));
        out.setKeepsThreadState(part.keeps_thread_state);
        out.setKeepsGlobalState(part.keeps_global_state);
        out.setHasTicks(part.has_ticks);
        out.setHoldsFirings(part.holds_firings);
        out.setBeginNs(part.begin_ns);
        out.setEndNs(part.end_ns);
        out.setBeginWallNs(part.begin_wall_ns);
        out.setBeginCpu(part.begin_cpu);
        out.setEndCpu(part.end_cpu);
        out.setRecords(part.records);
        out.setFirings(part.firings);
        out.setDrops(part.drops);
        auto cpus = out.initCpus(static_cast<unsigned>(part.cpus.size()));
        for (unsigned i = 0; i < part.cpus.size(); i++)
            put_cpu(part.cpus[i], cpus[i]);
        auto images = out.initImages(static_cast<unsigned>(part.images.size()));
        for (unsigned i = 0; i < part.images.size(); i++) {
            images[i].setName(wire_text(part.images[i].name));
            images[i].setBaseAddress(part.images[i].base_address);
            images[i].setSizeBytes(part.images[i].size_bytes);
            images[i].setBuildId(wire_data(part.images[i].build_id));
            images[i].setIsFile(part.images[i].is_file);
        }
    });
}

Bytes encode_symbols(const StateSymbols& symbols) {
    return encode_message<aggwire::Message>([&](aggwire::Message::Builder root) {
        auto list = root.initSymbols().initSymbols(static_cast<unsigned>(symbols.symbols.size()));
        for (unsigned i = 0; i < symbols.symbols.size(); i++) {
            const StateSymbol& symbol = symbols.symbols[i];
            list[i].setImage(symbol.frame.image ? *symbol.frame.image + 1 : 0);
            list[i].setOffset(symbol.frame.offset);
            list[i].setType(static_cast<uint8_t>(symbol.type));
            list[i].setName(wire_text(symbol.name));
            list[i].setModule(wire_text(symbol.module));
            list[i].setBytes(symbol.bytes);
        }
    });
}

Bytes encode_states(const StateBlock& block) {
    return encode_message<aggwire::Message>([&](aggwire::Message::Builder root) {
        auto out = root.initStates();
        auto size = [](const auto& list) { return static_cast<unsigned>(list.size()); };
        const StateAggregation& aggregation = block.aggregation;
        out.setAggregation(wire_text(aggregation.name));
        out.setFunction(aggregation.function);
        out.setArgument(aggregation.argument);
        auto types = out.initKeyTypes(size(aggregation.key_types));
        for (unsigned i = 0; i < types.size(); i++) {
            types[i].setTag(static_cast<uint8_t>(aggregation.key_types[i].tag));
            types[i].setBytes(aggregation.key_types[i].bytes);
            types[i].setAction(aggregation.key_types[i].action);
            types[i].setIsSigned(aggregation.key_types[i].is_signed);
        }
        out.setKeys(wire_data(block.keys));
        put_numbers(block.key_bytes, out.initKeyBytes(size(block.key_bytes)));
        put_numbers(block.cell_counts, out.initCellCounts(size(block.cell_counts)));
        put_numbers(block.indexes, out.initIndexes(size(block.indexes)));
        put_numbers(block.values, out.initValues(size(block.values)));
        put_numbers(block.extremes, out.initExtremes(size(block.extremes)));
    });
}

Result<StateMessage> decode_state_message(ByteView untrusted) {
    return decode_message<aggwire::Message, StateMessage>(
        untrusted, "states", [&](aggwire::Message::Reader root) -> Result<StateMessage> {
            switch (root.which()) {
            case aggwire::Message::PART: {
                DBK_TRY(StatePart part, get_part(root.getPart(), untrusted));
                return StateMessage(std::move(part));
            }
            case aggwire::Message::SYMBOLS: {
                DBK_TRY(StateSymbols symbols, get_symbols(root.getSymbols(), untrusted));
                return StateMessage(std::move(symbols));
            }
            case aggwire::Message::STATES: {
                DBK_TRY(StateBlock block, get_states(root.getStates(), untrusted));
                return StateMessage(std::move(block));
            }
            }
            return errorf(ErrorCode::unsupported,
                          "a message of partial states that this version does not know");
        });
}

} // namespace daybreak::formats
