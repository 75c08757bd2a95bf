// SPDX-License-Identifier: Apache-2.0
//
// CaptureTable: which D expressions the records of a ring hold, and where.
//
// The compiler of the recorded program named each value that it stored by its canonical D text
// (section CAPTURE of the DOF).  Each text with its type has a slot here, the same for all probes;
// a replayed firing has an array of slots, which its records fill (formats/dof/replay_slots.hpp).
#pragma once

#include "analyze/decode/program.hpp"
#include "formats/dof/replay_slots.hpp"

namespace daybreak::analyze {

enum class CapturedKind : uint8_t {
    integer,
    string,
    stack,
    user_stack, ///< the process's id, then as a stack
};

/// A field of a record, and the slot that it fills.
struct CapturedField {
    uint32_t slot = 0;
    size_t field = 0; ///< index in EcbInfo::fields
    CapturedKind kind = CapturedKind::integer;
};

/// A value that some clause of a probe recorded.
struct CapturedValue {
    uint32_t slot = 0;
    std::string type;
    CapturedKind kind = CapturedKind::integer;
    bool is_always = true; ///< every record of the probe has it
};

/// A probe that a clause was enabled on.
struct CapturedProbe {
    formats::ProbeInfo info;
    uint32_t id = 0;
    /// Each clause that recorded had a predicate, or speculated: not every firing is here.
    bool is_conditional = true;
    /// Unless that: the clauses that recorded each firing.  What lies apart from their records (a
    /// commit() releases records of earlier firings) does not make a firing, and has no values for
    /// it.
    std::set<uint32_t> anchor_epids;
    std::map<std::string, CapturedValue> values; ///< by canonical text

    /// Whether it is BEGIN, END or ERROR.
    bool is_of_engine() const { return info.provider == "dtrace"; }
    /// Returns the slot of "tid" and the like; empty: no clause recorded it.
    std::optional<uint32_t> slot_of(const std::string& text) const {
        auto value = values.find(text);
        return value == values.end() ? std::nullopt : std::optional(value->second.slot);
    }
};

class CaptureTable {
public:
    /// Both must outlive the table.
    CaptureTable(const formats::RingRecording& ring, RingProgram& program);

    /// By id, ascending.
    const std::map<uint32_t, CapturedProbe>& probes() const { return probes_; }
    /// Of each ECB of the ring, by index in its table.
    std::span<const CapturedField> fields_of(size_t ecb) const { return fields_[ecb]; }
    size_t slots() const { return formats::kFirstSlot + words_ + texts_.size(); }
    size_t words() const { return words_; }

private:
    struct Found {
        size_t ecb, field, number;
        CapturedKind kind;
        std::string text, type;
    };
    void find(size_t ecb, const formats::DofProgram& program, const formats::DofEcb& clause,
              std::vector<Found>& found);

    const formats::RingRecording& ring_;
    size_t words_ = 0;
    std::map<std::pair<std::string, std::string>, size_t> texts_; // text and type: its number
    std::map<uint32_t, CapturedProbe> probes_;
    std::vector<std::vector<CapturedField>> fields_;
};

} // namespace daybreak::analyze
