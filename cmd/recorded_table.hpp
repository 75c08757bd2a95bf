// SPDX-License-Identifier: Apache-2.0
//
// RecordedTable: what a recording has of the machine, as the compiler of a replay asks for it.
#pragma once

#include "analyze/replay/capture_table.hpp"
#include "compiler/sema/recorded_state.hpp"

#include <map>
#include <set>

namespace daybreak::cmd {

class RecordedTable : public compiler::RecordedState {
public:
    /// The table must outlive it.
    explicit RecordedTable(const analyze::CaptureTable& table);

    std::vector<compiler::ProbeDescription>
    matches(const compiler::ProbeDescription& description) const override;
    std::optional<Value> find(const compiler::ProbeDescription& probe,
                              const std::string& expression) const override;
    std::string all(const compiler::ProbeDescription& probe) const override;

    /// Values that were asked for, and that not every firing has.
    const std::set<std::string>& partial() const { return partial_; }

private:
    const analyze::CapturedProbe* captured_at(const compiler::ProbeDescription& probe) const;

    const analyze::CaptureTable& table_;
    std::map<std::string, const analyze::CapturedProbe*> by_name_;
    mutable std::set<std::string> partial_;
};

} // namespace daybreak::cmd
