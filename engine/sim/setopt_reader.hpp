// SPDX-License-Identifier: Apache-2.0
//
// SetoptReader: what the records say of setopt(), for the consumer in the simulation.
//
// Only the rates are looked at, which decide what the simulation itself does; what concerns
// printing is left to the reader of the recording.
#pragma once

#include "formats/dof/dof_program.hpp"
#include "formats/dof/reading_rates.hpp"
#include "formats/segment/recording.hpp"

#include <map>

namespace daybreak::sim {

class SetoptReader {
public:
    explicit SetoptReader(const formats::DofProgram& program);

    /// Whether the program calls setopt() at all.
    bool is_called() const { return !called_.empty(); }
    /// Reads the records that were not read before, CPU by CPU as dtrace(1) does.  Returns whether
    /// any rate was set, in `rates` as well.
    bool read(const formats::Recording& recording, formats::ReadingRates& rates);

private:
    /// Indexes of the actions that hold name and value.
    struct Call {
        uint32_t name, value;
    };
    struct Place {
        uint64_t sequence = 0, records = 0; // of that segment
    };
    bool carry_out(const formats::RecordView& record, formats::ReadingRates& rates) const;

    std::map<uint32_t, std::vector<Call>> called_; // by section of the ECBDESC
    std::map<uint16_t, Place> read_;               // by CPU
};

} // namespace daybreak::sim
