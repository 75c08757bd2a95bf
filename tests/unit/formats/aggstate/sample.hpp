// SPDX-License-Identifier: Apache-2.0
//
// A part, states of it, and a file of them in memory.
#pragma once

#include "base/byte_source.hpp"
#include "formats/aggstate/key.hpp"
#include "formats/aggstate/reader.hpp"
#include "formats/aggstate/writer.hpp"

namespace daybreak::test {

using namespace formats;

inline CoveredRun run(uint64_t first, uint64_t last, uint64_t records_before, uint64_t records) {
    return {first, last, records_before, records, first * 1000, last * 1000 + 999};
}

/// A part of one CPU; its digest is of its runs.
inline StatePart part_of(std::vector<CoveredRun> runs, uint64_t since_ns = 0,
                         uint64_t until_ns = UINT64_MAX) {
    StatePart part;
    part.identity.host = "web-1";
    part.identity.boot_id = 0x1122334455667788;
    part.identity.ring_id = 1;
    part.identity.since_ns = since_ns;
    part.identity.until_ns = until_ns;
    CoveredCpu cpu;
    cpu.cpu = 3;
    for (const CoveredRun& one : runs) {
        cpu.newest = std::max(cpu.newest, one.last_sequence);
        cpu.committed = std::max(cpu.committed, one.records_after());
        part.records += one.records;
    }
    cpu.runs = std::move(runs);
    part.cpus.push_back(std::move(cpu));
    part.identity.digest = digest_of(part.identity.boot_id, 1, part.cpus);
    return part;
}

inline StateAggregation by_string(uint32_t function, uint64_t argument = 0) {
    return {"a", function, argument, {{KeyTag::string, 256, DTRACEACT_DIFEXPR, false}}};
}

inline Bytes string_key(std::string_view text) {
    CanonicalKey key;
    key.append(KeyTag::string, base::as_bytes(text));
    return Bytes(key.bytes().begin(), key.bytes().end());
}

/// A file of parts with a count each.
inline Bytes file_of(const std::vector<StatePart>& parts, uint64_t count = 1) {
    Bytes file;
    StateWriter writer([&file](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    });
    for (const StatePart& part : parts) {
        DBK_ASSERT(writer.begin_part(part).ok());
        DBK_ASSERT(writer.add_symbols({{{{std::nullopt, 0x1000}, 'T', "start", "vmlinux"}}}).ok());
        DBK_ASSERT(
            writer.add(by_string(DTRACEAGG_COUNT), string_key("x"), std::span(&count, 1)).ok());
    }
    DBK_ASSERT(writer.finish().ok());
    return file;
}

/// What a reader hands over, in words: "part symbols 1 states 1 end".
inline Result<std::string> read(ByteView file, bool wanted = true) {
    std::string text;
    StateVisitor visitor;
    visitor.part = [&](const StatePart&) -> Result<bool> {
        text += "part ";
        return wanted;
    };
    visitor.symbols = [&](const StateSymbols& symbols) {
        text += "symbols " + std::to_string(symbols.symbols.size()) + " ";
        return Result<void>();
    };
    visitor.states = [&](const StateBlock& block) {
        text += "states " + std::to_string(block.size()) + " ";
        return Result<void>();
    };
    visitor.part_end = [&](const Digest&) {
        text += "end ";
        return Result<void>();
    };
    DBK_TRY_VOID(read_states(base::view_source(file), "sample", visitor));
    return text;
}

} // namespace daybreak::test
