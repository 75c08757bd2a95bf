// SPDX-License-Identifier: Apache-2.0
//
// CaptureTable: which D expressions the records of a ring hold, and where.
//
// The compiler of the recorded program named each value that it stored by its canonical D text
// (section CAPTURE of the DOF).  Each text with its type has a slot here, the same for all probes
// and all recordings of a replay; a replayed firing has an array of slots, which its records fill
// (formats/dof/replay_slots.hpp).
#pragma once

#include "analyze/decode/program.hpp"
#include "formats/dof/replay_slots.hpp"

namespace daybreak::analyze {

enum class CapturedKind : uint8_t {
    integer,
    string,
    stack,
    user_stack,   ///< the process's id, then as a stack
    user_address, ///< the process's id, then the address: an integer
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
    bool is_always = true; ///< every firing that is replayed has it
    /// Only clauses with a predicate, or that speculate, have it; other firings are replayed too.
    bool is_conditional = false;
};

/// A probe that a clause was enabled on.
struct CapturedProbe {
    formats::ProbeInfo info;
    uint32_t id = 0;
    /// Each clause that recorded had a predicate, or speculated: not every firing is here.
    bool is_conditional = true;
    /// A clause of it has no records: where it ran is known from those of the others only.
    bool has_silent = false;
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

/// Which slot each text with its type has, of all recordings of a replay:
///
///     words of bits | a value for each text ... | bits only: the machines of -E
class CaptureSlots {
public:
    /// How many sets of machines a program may ask for in its probe descriptions.
    static constexpr uint32_t kMachineSetsMax = 64; // one word of bits

    CaptureSlots();

    /// Returns the number of a text with its type; a new one while tables are made.
    size_t number_of(const std::string& text, const std::string& type);

    // Once all tables are made:
    /// Slots in all, and words of bits before the first.
    size_t count() const { return formats::kFirstSlot + words() + texts_.size(); }
    size_t words() const {
        size_t numbers = texts_.size() + kMachineSetsMax;
        return (numbers + numbers / 32 + 64) / 64; // the words have no bits for themselves
    }
    uint32_t slot_of(size_t number) const {
        return static_cast<uint32_t>(formats::kFirstSlot + words() + number);
    }
    /// What the replay knows of each firing: the machine's name, its boot, its times, the process
    /// that it recorded with -c or -p.
    uint32_t vmname() const { return slot_of(0); }
    uint32_t bootid() const { return slot_of(1); }
    uint32_t timestamp() const { return slot_of(2); }
    uint32_t walltimestamp() const { return slot_of(3); }
    uint32_t target() const { return slot_of(4); }
    /// The word of bits, and the slot without a value, of a machine's name in the program.
    uint32_t machine_word() const {
        return static_cast<uint32_t>(formats::kFirstSlot + words() - 1);
    }
    uint32_t machine_slot(uint32_t name) const {
        return static_cast<uint32_t>(formats::kFirstSlot + (words() - 1) * 64) + name;
    }

private:
    std::map<std::pair<std::string, std::string>, size_t> texts_; // text and type: its number
};

class CaptureTable {
public:
    /// All must outlive the table.  It is complete once all tables of the replay are finish()ed.
    CaptureTable(const formats::RingRecording& ring, RingProgram& program, CaptureSlots& slots);
    /// Finds the slots, when the last table was made.
    void finish();

    /// By id, ascending.
    const std::map<uint32_t, CapturedProbe>& probes() const { return probes_; }
    /// Of each ECB of the ring, by index in its table.
    std::span<const CapturedField> fields_of(size_t ecb) const { return fields_[ecb]; }
    /// How many bytes of the stack were asked for with a user stack; 0: none.
    uint64_t stack_bytes() const { return stack_bytes_; }
    const CaptureSlots& slots() const { return slots_; }

private:
    struct Found {
        size_t ecb, field, number;
        CapturedKind kind;
        std::string text, type;
    };
    void find(size_t ecb, const formats::DofProgram& program, const formats::DofEcb& clause);

    const formats::RingRecording& ring_;
    CaptureSlots& slots_;
    std::vector<Found> found_; // until finish()
    std::map<uint32_t, CapturedProbe> probes_;
    std::vector<std::vector<CapturedField>> fields_;
    uint64_t stack_bytes_ = 0;
};

} // namespace daybreak::analyze
