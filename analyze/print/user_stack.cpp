// SPDX-License-Identifier: Apache-2.0
//
// User stacks: the one of two ways that leads further.
#include "analyze/print/user_stack.hpp"

#include "analyze/symbols/unwind.hpp"
#include "base/result.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace daybreak::analyze {

namespace {

/// Of frame pointers and .eh_frame the one that leads to the outermost function, or further;
/// `is_key`: without what is the first stack's alone.
FoundStack longer_of(const Value& value, const AddressNames& names, bool is_key) {
    formats::StackView recorded(value.data);
    const std::vector<uint64_t> pointers = frames_of(recorded, 1);
    UnwoundStack unwound = names.unwind(recorded.empty() ? 0 : recorded[0],
                                        {value.registers, value.stack, value.depth});
    const StackWay way = longer_way(pointers, unwound, value.depth);
    if (way == StackWay::alike)
        return {pointers, unwound.why_short, {}};
    bool is_unwound = way == StackWay::tables;
    std::string note = is_unwound ? "by .eh_frame" : "by frame pointers";
    if (!is_key)
        note += base::strprintf(is_unwound ? "; frame pointers: %zu" : "; .eh_frame: %zu",
                                is_unwound ? pointers.size() : unwound.frames.size());
    if (!unwound.why_short.empty())
        note += "; " + unwound.why_short;
    if (is_unwound)
        return {unwound.frames, note, unwound.interrupted};
    return {pointers, note, {}};
}

} // namespace

bool FoundStack::is_return(size_t at) const {
    return at > 0 && std::ranges::find(interrupted, frames[at]) == interrupted.end();
}

std::vector<uint64_t> frames_of(formats::StackView recorded, size_t first) {
    std::vector<uint64_t> frames;
    for (size_t i = first; i < recorded.size() && recorded[i] != 0; i++)
        frames.push_back(recorded[i]);
    return frames;
}

uint64_t UnwoundKeys::hash_of(base::ByteView key) {
    std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
    return std::hash<std::string_view>{}(bytes);
}

base::ByteView UnwoundKeys::key_of(const Value& value, const AddressNames& names) {
    FoundStack stack = longer_of(value, names, true);
    words_.assign(1, value.unsigned_integer()); // the process
    words_.insert(words_.end(), stack.frames.begin(), stack.frames.end());
    base::ByteView key = std::as_bytes(std::span(words_));
    uint64_t hash = hash_of(key);
    if (found_.size() >= kFoundMax && !found_.contains(hash))
        return key;
    Found& found = found_[hash];
    if (found.note.empty())
        found = {std::move(stack.note), std::move(stack.interrupted)};
    return key;
}

void UnwoundKeys::add_to(FoundStack& stack, base::ByteView key) const {
    auto found = found_.find(hash_of(key));
    if (found == found_.end())
        return;
    stack.note = found->second.note;
    stack.interrupted = found->second.interrupted;
}

FoundStack user_stack_of(const Value& value, const PrintContext& context) {
    if (!value.registers.empty())
        return longer_of(value, context.names, false);
    FoundStack stack{frames_of(formats::StackView(value.data), 1), "", {}};
    if (value.is_key && context.unwound_keys && context.unwound_keys->is_used())
        context.unwound_keys->add_to(stack, value.data);
    else if (context.options.stack_bytes && !stack.frames.empty())
        stack.note = value.is_key && !context.unwound_keys
                         ? "by frame pointers: option aggregate=record makes keys of whole stacks"
                         : "by frame pointers: without bytes of the stack";
    return stack;
}

} // namespace daybreak::analyze
