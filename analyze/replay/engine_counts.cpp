// SPDX-License-Identifier: Apache-2.0
//
// EngineCounts: programs whose aggregations the engine of a replay may keep itself.
#include "analyze/replay/engine_counts.hpp"

#include "analyze/aggregate/function.hpp"
#include "engine/sim/bare_host.hpp"
#include "formats/abi/dif.h"
#include "formats/abi/meta.h"

#include <algorithm>
#include <bit>
#include <map>

namespace daybreak::analyze {

namespace {

/// Of the aggregation buffers of all CPUs; each has two, and an index.
constexpr uint64_t kBufferBytes = 32u << 20, kBufferBytesMax = DBK_AGGSIZE_MAX;
constexpr uint64_t kFiringsMin = 256, kFiringsMax = 1u << 16;
/// Of an entry beside its key and cells, and of a key's member beside its text.
constexpr uint64_t kEntryBytes = 64, kMemberBytes = 16;
constexpr uint64_t kStringBytes = 256; // strsize's default

/// Whether an expression stores nothing that may be refused, and computes nothing that may fault.
bool always_succeeds(const formats::Difo& difo) {
    return std::ranges::all_of(difo.text, [&](uint32_t instruction) {
        uint32_t op = DIF_INSTR_OP(instruction);
        bool is_zero = std::ranges::all_of(difo.integers, [](uint64_t one) { return one == 0; });
        return op == DIF_OP_SETX || op == DIF_OP_RET || (op == DIF_OP_STTS && is_zero);
    });
}

/// Whether a clause that does not come to its end has counted nothing.
bool counts_last(const formats::DofProgram& program, const formats::DofActionList& list) {
    bool has_counted = false;
    for (const formats::DofAction& action : list.actions) {
        if (has_counted && (DTRACEACT_IS_AGG(action.kind) || action.tuple_count != 0 ||
                            (action.kind != DTRACEACT_DIFEXPR && action.kind != DTRACEACT_EXIT) ||
                            !action.difo || !always_succeeds(program.difos[*action.difo])))
            return false;
        has_counted = has_counted || DTRACEACT_IS_AGG(action.kind);
    }
    return true;
}

/// Whether a key is what lay at an address of a process: another program, after an exec.
bool has_moments(const formats::DofActionList& list) {
    return std::ranges::any_of(list.actions, [](const formats::DofAction& action) {
        return action.kind == DTRACEACT_USYM || action.kind == DTRACEACT_UMOD;
    });
}

bool reads_aggregations(const formats::DofActionList& list) {
    return std::ranges::any_of(list.actions, [](const formats::DofAction& action) {
        return action.kind == DTRACEACT_PRINTA || action.kind == DTRACEACT_LIBACT;
    });
}

/// Whether a key may be what bytes of a stack lead to, which the engine cannot unwind.
bool unwinds_keys(const formats::DofActionList& list, uint64_t stack_bytes) {
    return stack_bytes != 0 && std::ranges::any_of(list.actions, [](const auto& action) {
               return action.kind == DTRACEACT_USTACK || action.kind == DTRACEACT_JSTACK;
           });
}

uint64_t option_of(const formats::DofProgram& program, uint32_t option, uint64_t otherwise) {
    for (const formats::DofOption& one : program.options)
        if (one.option == option)
            otherwise = one.value;
    return otherwise;
}

/// What the entries of one run of a clause take at most.
uint64_t entry_bytes(const formats::DofProgram& program, const formats::DofActionList& list) {
    uint64_t string_bytes = option_of(program, DTRACEOPT_STRSIZE, kStringBytes), sum = 0;
    for (const formats::DofAction& action : list.actions)
        if (DTRACEACT_IS_AGG(action.kind)) {
            uint64_t cells =
                AggregationFunction{action.kind, action.arg}.cell_count().value_or(kCellsMax);
            sum += kEntryBytes + 8 * cells;
        } else if (action.difo) {
            sum += kMemberBytes +
                   std::max<uint64_t>(program.difos[*action.difo].type.size, string_bytes);
        }
    return sum;
}

} // namespace

std::optional<EngineCounts> EngineCounts::of(const formats::DofProgram& program, uint32_t cpus) {
    std::map<std::string, uint64_t> bytes; // of a firing, by probe
    uint64_t most = 1;
    bool has_aggregation = false;
    for (const formats::DofEcb& clause : program.ecbs) {
        if (!clause.actions)
            continue;
        const formats::DofActionList& list = program.action_lists[*clause.actions];
        bool is_end = clause.probe.provider == "dtrace" && clause.probe.name == "END";
        if (!counts_last(program, list) || has_moments(list) ||
            unwinds_keys(list, option_of(program, DBK_OPT_USTACKBYTES, 0)) ||
            (!is_end && reads_aggregations(list)))
            return std::nullopt;
        has_aggregation = has_aggregation || std::ranges::any_of(list.actions, [](const auto& one) {
                              return DTRACEACT_IS_AGG(one.kind);
                          });
        most = std::max(most, bytes[clause.probe.text()] += entry_bytes(program, list));
    }
    EngineCounts counts;
    counts.buffer_bytes = static_cast<uint32_t>(
        std::bit_floor(std::min(kBufferBytes / std::max(cpus, 1u), kBufferBytesMax)));
    counts.firings_max = std::min(counts.buffer_bytes / 2 / most, kFiringsMax);
    if (!has_aggregation || counts.firings_max < kFiringsMin)
        return std::nullopt;
    return counts;
}

void EngineCounts::apply(formats::DofProgram& program) const {
    std::erase_if(program.options, [](const formats::DofOption& option) {
        return option.option == DTRACEOPT_AGGSIZE || option.option == DBK_OPT_AGGREGATE;
    });
    program.options.push_back({DTRACEOPT_AGGSIZE, buffer_bytes, std::nullopt});
    program.options.push_back({DBK_OPT_AGGREGATE, DBK_AGGREGATE_ENGINE, std::nullopt});
}

} // namespace daybreak::analyze
