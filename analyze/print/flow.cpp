// SPDX-License-Identifier: Apache-2.0
//
// Flow indentation: option flowindent (-F).
#include "analyze/print/flow.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

constexpr int kStep = 2;
constexpr int kIndentMax = 1000; ///< a recording that lost its returns must not fill the disk

/// "entry", or something that ends in "-entry".
bool names(std::string_view name, std::string_view word) {
    if (!name.ends_with(word))
        return false;
    return name.size() == word.size() || name[name.size() - word.size() - 1] == '-';
}

} // namespace

std::string FlowIndent::text(const FlowProbe& probe, uint32_t next_epid, uint32_t next_probe_id) {
    bool is_entry = names(probe.name, "entry"), is_return = names(probe.name, "return");
    auto other_clause = [&](uint32_t epid, uint32_t probe_id) {
        return epid != 0 && epid != probe.epid && probe_id == probe.probe_id;
    };
    if (is_entry && other_clause(last_epid_, last_probe_id_))
        is_entry = false;
    if (is_return && other_clause(next_epid, next_probe_id))
        is_return = false;
    last_epid_ = probe.epid;
    last_probe_id_ = probe.probe_id;

    bool is_syscall = probe.provider == "syscall";
    if (is_return)
        indent_ = std::max(indent_ - kStep, 0);
    std::string result(static_cast<size_t>(indent_), ' ');
    if (is_entry)
        result += is_syscall ? " => " : " -> ";
    else if (is_return)
        result += is_syscall ? " <= " : " <- ";
    else
        result += "| ";
    result += probe.function;
    if (!is_entry && !is_return)
        (result += ':') += probe.name;
    if (is_entry)
        indent_ = std::min(indent_ + kStep, kIndentMax);
    return result;
}

} // namespace daybreak::analyze
