// SPDX-License-Identifier: Apache-2.0
//
// Records: ECBs as the metadata has them, and the walk over a segment's records.
//
// A record's layout is never recomputed: META_ECBS gives the fields.  An ECB enters an EcbTable
// only after its own numbers were checked (each fixed field lies inside fixed_bytes), and a cursor
// yields a record only after its length was checked against the ECB and the segment.  What remains
// to be checked per access is the tail references of strings and stacks.
#pragma once

#include "formats/abi/meta.h"
#include "formats/abi/segment.h"
#include "formats/segment/clock.hpp"
#include "formats/segment/epid_index.hpp"
#include "formats/segment/finding.hpp"
#include "formats/segment/piece_bytes.hpp"

#include <cstring>
#include <optional>
#include <string_view>

namespace daybreak::formats {

/// The largest EPID accepted; the engine counts from 1 per ring.
constexpr uint32_t kEpidMax = 1u << 20;
/// The most fields an ECB may have.
constexpr uint32_t kEcbFieldsMax = 4096;

/// One value that a record holds, as meta.h publishes it (offset, bytes, action, shape, flags).
using FieldInfo = dbk_meta_field;

struct EcbInfo {
    uint32_t epid = 0;
    uint32_t probe_id = 0;
    uint16_t dof_index = 0;     ///< which of the ring's DOF images
    uint32_t ecbdesc = 0;       ///< section index of the ECBDESC in it
    uint32_t flags = 0;         ///< DBK_ECB_F_
    uint32_t fixed_bytes = 0;   ///< header and fixed part; at least 8, multiple of 8
    uint32_t classic_bytes = 0; ///< of a record in DTrace's layout; 0 when not known
    std::vector<FieldInfo> fields;

    bool variable() const { return (flags & DBK_ECB_F_VARIABLE) != 0; }
    bool no_record() const { return (flags & DBK_ECB_F_NO_RECORD) != 0; }
};

/// The ECBs of one ring, found by EPID.
class EcbTable {
public:
    /// Takes a checked ECB.  Error: corrupt, with the contradiction; the table is unchanged.
    /// The same EPID again is ignored when equal, refused when different.
    Result<void> add(EcbInfo ecb);
    /// Returns the ECB, or nullptr.  It lives as long as the table is not added to.
    const EcbInfo* find(uint32_t epid) const {
        std::optional<size_t> at = index_.find(epid);
        return at ? &ecbs_[*at] : nullptr;
    }
    const std::vector<EcbInfo>& all() const { return ecbs_; }
    bool empty() const { return ecbs_.empty(); }
    /// Returns the EPIDs of those that are chosen, by index in all(); ascending.
    std::vector<uint32_t> epids(const std::vector<bool>& chosen) const;

private:
    std::vector<EcbInfo> ecbs_;
    EpidIndex index_; // in ecbs_
};

/// A stack's program counters, innermost first.  The bytes need not be aligned.
class StackView {
public:
    StackView() = default;
    explicit StackView(ByteView bytes) : bytes_(bytes) {}
    size_t size() const { return bytes_.size() / sizeof(uint64_t); }
    bool empty() const { return size() == 0; }
    uint64_t operator[](size_t index) const {
        uint64_t pc;
        std::memcpy(&pc, bytes_.data() + index * sizeof(pc), sizeof(pc));
        return pc;
    }

private:
    ByteView bytes_;
};

/// Returns the fixed integer of `field` in bytes that start where its offsets count from, zero
/// extended; empty unless it is FIXED, of 1, 2, 4 or 8 bytes, and inside.
std::optional<uint64_t> field_integer(ByteView bytes, const FieldInfo& field);
/// Returns the bytes of a FIXED field, or those a STRING or STACK refers to; empty optional when
/// they do not lie inside.
std::optional<ByteView> field_bytes(ByteView bytes, const FieldInfo& field);

/// A user stack that was recorded with flag MEMORY: frames, and what an unwinder needs.
struct UserStackParts {
    ByteView frames;           ///< the process id, then program counters
    ByteView registers, stack; ///< both empty: there was nothing to take
    uint16_t depth = 0;        ///< program counters that were asked for
};
/// Takes the untrusted tail of such a field apart; one that contradicts itself is frames alone.
UserStackParts split_user_stack(ByteView untrusted);

/// What a record says about its firing; the first three as the two bits of its EPID's word.
enum class Firing : uint8_t {
    begins,    ///< none of the records before it is known to be of it
    elsewhere, ///< the ring has one before what was held; version 2: another place may
    same,      ///< as that of the record before it of the CPU in the ring, or in its speculation
    unsaid,    ///< a segment of version 1: records of one probe at one time are of one firing
};

/// One record.  Views point into the segment, whose bytes the cursor pins.
struct RecordView {
    uint32_t epid = 0;
    Firing firing = Firing::begins;
    const EcbInfo* ecb = nullptr; ///< never null when yielded by a cursor
    uint64_t ticks = 0;           ///< when it was made
    ByteView bytes;               ///< the whole record, header included
    /// When commit() put it into the ring; 0: it was recorded there at once.
    uint64_t commit_ticks = 0;
    uint32_t speculation = 0; ///< that held it till then

    bool is_committed() const { return commit_ticks != 0; }
    /// When it came into the ring: what a CPU's records are in the order of.
    uint64_t arrival_ticks() const { return is_committed() ? commit_ticks : ticks; }

    /// By index into ecb->fields.  Empty when the field is of another shape, has an odd width, or
    /// its tail reference leads outside the record.
    std::optional<uint64_t> integer(size_t field) const {
        return field < ecb->fields.size() ? field_integer(bytes, ecb->fields[field]) : std::nullopt;
    }
    /// The bytes of any field: fixed, string or stack.
    std::optional<ByteView> data(size_t field) const {
        return field < ecb->fields.size() ? field_bytes(bytes, ecb->fields[field]) : std::nullopt;
    }
    std::optional<std::string_view> string(size_t field) const;
    std::optional<StackView> stack(size_t field) const;
};

/// Where and why a walk had to stop before the end.
struct RecordDamage {
    FindingKind kind;
    size_t offset_bytes; ///< from the segment's start
    std::string text;
};

/// Walks one segment's records in order.  Time-base records move the base, unknown control kinds
/// are skipped, the first record that does not fit ends the walk and is reported by damage().
class RecordCursor {
public:
    /// `segment` is the committed bytes, header included; both must outlive the cursor.
    /// `base_ticks` are as recorded; `line` makes the ticks of the records shifted ones.
    RecordCursor(ByteView segment, uint64_t base_ticks, const EcbTable& ecbs, TickLine line = {})
        : bytes_(segment), ecbs_(&ecbs), base_ticks_(base_ticks), line_(line),
          words_(words_of(segment)) {}
    /// The same over a segment that was loaded; one that could not be is damage of kind unreadable.
    RecordCursor(Result<PinnedBytes> segment, uint64_t base_ticks, const EcbTable& ecbs,
                 TickLine line = {});

    /// Yields the next record; false at the end and at damage.
    bool next(RecordView& record) {
        while (offset_ < bytes_.size() && !damage_) {
            size_t left = bytes_.size() - offset_;
            const std::byte* at = bytes_.data() + offset_;
            dbk_record_header header;
            if (left < sizeof(header)) [[unlikely]]
                return stop_short(left);
            std::memcpy(&header, at, sizeof(header));
            if (header.epid == 0) [[unlikely]] {
                if (!control(left))
                    return false;
                continue;
            }
            uint32_t firing = header.epid >> kFiringShift;
            header.epid &= words_.epid_max;
            const EcbInfo* ecb = ecbs_->find(header.epid);
            if (!ecb || ecb->no_record()) [[unlikely]]
                return stop_unknown(header.epid, ecb);
            uint32_t length = ecb->fixed_bytes;
            if (ecb->variable() && left >= length)
                std::memcpy(&length, at + sizeof(header), sizeof(length));
            if (length > left || length < ecb->fixed_bytes ||
                length % DBK_RECORD_ALIGN_BYTES != 0 || length > DBK_RECORD_BYTES_MAX) [[unlikely]]
                return stop_length(*ecb, length, left);
            record.epid = header.epid;
            record.firing = words_.firings[firing];
            record.ecb = ecb;
            record.ticks = base_ticks_ + header.delta_ticks;
            record.bytes = {at, length};
            record.commit_ticks = 0;
            record.speculation = 0;
            if (offset_ < commit_end_ || line_.shifts()) [[unlikely]]
                place_in_time(record);
            offset_ += length;
            return true;
        }
        return false;
    }
    const std::optional<RecordDamage>& damage() const { return damage_; }
    /// Offset of what next() will look at.
    size_t offset_bytes() const { return offset_; }
    /// What records stay in place by after the cursor is gone; null: they are in memory anyway.
    const std::shared_ptr<const Bytes>& pin() const { return pin_; }

private:
    static constexpr unsigned kFiringShift = 30;
    /// What the word that has the EPID says in a version of segments.
    struct Words {
        uint32_t epid_max = DBK_EPID_MAX;
        std::array<Firing, 4> firings{}; ///< by the two highest bits
    };
    static Words words_of(ByteView segment);
    bool control(size_t left);
    void place_in_time(RecordView& record);
    bool stop(FindingKind kind, std::string text);
    bool stop_short(size_t left);
    bool stop_unknown(uint32_t epid, const EcbInfo* ecb);
    bool stop_length(const EcbInfo& ecb, uint32_t length, size_t left);

    ByteView bytes_;
    const EcbTable* ecbs_;
    uint64_t base_ticks_;
    TickLine line_;
    Words words_;
    size_t offset_ = DBK_SEGMENT_DATA_OFFSET;
    size_t commit_end_ = 0; // records before this offset are of the commit read last
    uint64_t commit_ticks_ = 0;
    uint32_t commit_speculation_ = 0;
    std::optional<RecordDamage> damage_;
    std::shared_ptr<const Bytes> pin_;
};

} // namespace daybreak::formats
