// SPDX-License-Identifier: Apache-2.0
#include "analyze/symbols/unwind.hpp"

#include "base/visible.hpp"
#include "formats/abi/limits.h"

#include <algorithm>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

using Step = ObjectFrames::Step;

constexpr size_t kBp = 6;

/// The frame pointer leads to the caller's, and the return address lies above it: if it is one.
/// The code may have no frame pointer, and the word be anything.
Step step_by_frame_pointer(FrameState& state, const PlaceOf& place_of) {
    auto bp = state.registers[kBp];
    auto sp = state.registers[FrameState::kSp];
    if (!bp || !sp || *bp < *sp)
        return Step::no_rule;
    auto next = state.load(*bp), ip = state.load(*bp + 8);
    if (!next || !ip)
        return Step::no_memory;
    if (*ip == 0)
        return Step::outermost;
    if (UnwindPlace caller = place_of(*ip - 1); caller.object.empty() && !caller.is_named)
        return Step::no_rule;
    state.registers = {};
    state.registers[kBp] = *next;
    state.registers[FrameState::kSp] = *bp + 16;
    state.registers[FrameState::kIp] = *ip;
    return Step::caller;
}

std::string why(Step step, const UnwindPlace& place, const RecordedThread& thread) {
    const std::string object = base::visible_name(place.object);
    std::string at = object.empty()
                         ? "code of no file"
                         : base::strprintf("%s`0x%" PRIx64, object.c_str(), place.address);
    if (step == Step::no_memory)
        return base::strprintf("the %zu bytes of stack end", thread.stack.size());
    if (!object.empty() && !place.frames)
        return "no file of that build for " + object;
    if (step == Step::implausible)
        return "a table of frames that is not plausible in " + object;
    return step == Step::no_rule ? "no .eh_frame for " + at : "an unknown rule for " + at;
}

} // namespace

UnwoundStack unwind(const RecordedThread& thread, const PlaceOf& place_of) {
    FrameState state;
    if (thread.registers.size() != FrameState::kCount * sizeof(uint64_t))
        return {};
    for (size_t i = 0; i < FrameState::kCount; i++)
        state.registers[i] = base::load<uint64_t>(thread.registers.data() + i * sizeof(uint64_t));
    state.stack = thread.stack;
    state.stack_begin = *state.registers[FrameState::kSp];

    UnwoundStack result;
    result.frames.push_back(*state.registers[FrameState::kIp]);
    bool is_return = false;
    while (result.frames.size() < std::min<size_t>(thread.depth, DBK_STACKFRAMES_MAX)) {
        const uint64_t sp = *state.registers[FrameState::kSp];
        // What follows a call may be of another function.
        UnwindPlace place = place_of(result.frames.back() - is_return);
        Step step = place.frames ? place.frames->step(place.address, state) : Step::no_rule;
        // What runtimes make, and bring along made in a file, has no tables.
        if (step == Step::no_rule && (place.frames || place.object.empty()))
            step = step_by_frame_pointer(state, place_of);
        if (step == Step::outermost)
            return result;
        auto next = state.registers[FrameState::kSp];
        if ((step == Step::caller || step == Step::signal) && (!next || *next <= sp))
            step = Step::unknown_rule; // stacks grow down: this would not end
        if (step != Step::caller && step != Step::signal) {
            result.why_short = why(step, place, thread);
            return result;
        }
        is_return = step == Step::caller;
        result.frames.push_back(*state.registers[FrameState::kIp]);
        if (!is_return)
            result.interrupted.push_back(result.frames.back());
    }
    return result;
}

StackWay longer_way(std::span<const uint64_t> pointers, UnwoundStack& unwound, size_t depth) {
    std::vector<uint64_t>& frames = unwound.frames;
    if (frames.empty())
        return StackWay::alike;
    // A function that has returned has no frame any more.
    if (pointers.size() > 1 && pointers[0] != frames[0] && pointers[1] == frames[0])
        frames.insert(frames.begin(), pointers[0]);
    frames.resize(std::min(frames.size(), depth));
    if (std::ranges::equal(frames, pointers))
        return StackWay::alike;
    bool is_further = unwound.why_short.empty() || frames.size() >= pointers.size();
    return is_further ? StackWay::tables : StackWay::pointers;
}

} // namespace daybreak::analyze
