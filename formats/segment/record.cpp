// SPDX-License-Identifier: Apache-2.0
//
// ECB checks, field access and the walk over records.
#include "formats/segment/record.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::load;

using base::errorf;
using base::strprintf;

bool same_field(const FieldInfo& a, const FieldInfo& b) {
    return a.offset == b.offset && a.bytes == b.bytes && a.action == b.action &&
           a.shape == b.shape && a.flags == b.flags;
}

bool same_ecb(const EcbInfo& a, const EcbInfo& b) {
    return a.epid == b.epid && a.probe_id == b.probe_id && a.dof_index == b.dof_index &&
           a.ecbdesc == b.ecbdesc && a.flags == b.flags && a.fixed_bytes == b.fixed_bytes &&
           std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                      same_field);
}

/// A field that lies in the record must lie in its fixed part.  Those of an aggregation may lie in
/// the aggregation's key instead, where each access checks them.
Result<void> check_field(const EcbInfo& ecb, const FieldInfo& field) {
    if (field.shape > DBK_FIELD_STACK)
        return errorf(ErrorCode::unsupported, "ECB %u has a field of unknown shape %u", ecb.epid,
                      field.shape);
    if (ecb.no_record() || (field.flags & ~DBK_FIELD_F_MEMORY) != 0)
        return {};
    uint64_t bytes = field.shape == DBK_FIELD_FIXED ? field.bytes : sizeof(dbk_tail_ref);
    uint32_t first = ecb.variable() ? 12 : sizeof(dbk_record_header);
    if (field.offset < first || field.offset + bytes > ecb.fixed_bytes)
        return errorf(ErrorCode::corrupt,
                      "ECB %u has a field at %u of %" PRIu64 " bytes, outside its %u fixed bytes",
                      ecb.epid, field.offset, bytes, ecb.fixed_bytes);
    if (field.shape != DBK_FIELD_FIXED && !ecb.variable())
        return errorf(ErrorCode::corrupt,
                      "ECB %u has a field of varying length, its records do not", ecb.epid);
    return {};
}

} // namespace

std::vector<uint32_t> EcbTable::epids(const std::vector<bool>& chosen) const {
    std::vector<uint32_t> epids;
    for (size_t i = 0; i < chosen.size(); i++)
        if (chosen[i])
            epids.push_back(ecbs_[i].epid);
    std::sort(epids.begin(), epids.end());
    return epids;
}

Result<void> EcbTable::add(EcbInfo ecb) {
    if (ecb.epid == 0 || ecb.epid > kEpidMax)
        return errorf(ErrorCode::corrupt, "EPID %u is not in 1..%u", ecb.epid, kEpidMax);
    uint32_t least = ecb.variable() ? 16 : sizeof(dbk_record_header);
    if (!ecb.no_record() && (ecb.fixed_bytes < least || ecb.fixed_bytes > DBK_RECORD_BYTES_MAX ||
                             ecb.fixed_bytes % DBK_RECORD_ALIGN_BYTES != 0))
        return errorf(ErrorCode::corrupt, "ECB %u has a fixed part of %u bytes", ecb.epid,
                      ecb.fixed_bytes);
    for (const FieldInfo& field : ecb.fields)
        DBK_TRY_VOID(check_field(ecb, field));
    if (const EcbInfo* known = find(ecb.epid)) {
        if (same_ecb(*known, ecb))
            return {};
        return errorf(ErrorCode::corrupt, "EPID %u is described twice, differently", ecb.epid);
    }
    index_.add(ecb.epid, ecbs_.size());
    ecbs_.push_back(std::move(ecb));
    return {};
}

std::optional<uint64_t> field_integer(ByteView bytes, const FieldInfo& field) {
    if (field.shape != DBK_FIELD_FIXED || field.offset > bytes.size() ||
        field.bytes > bytes.size() - field.offset)
        return std::nullopt;
    const std::byte* at = bytes.data() + field.offset;
    switch (field.bytes) {
    case 1:
        return load<uint8_t>(at);
    case 2:
        return load<uint16_t>(at);
    case 4:
        return load<uint32_t>(at);
    case 8:
        return load<uint64_t>(at);
    default:
        return std::nullopt;
    }
}

std::optional<ByteView> field_bytes(ByteView bytes, const FieldInfo& field) {
    size_t offset = field.offset, length = field.bytes;
    if (field.shape != DBK_FIELD_FIXED) {
        if (offset > bytes.size() || sizeof(dbk_tail_ref) > bytes.size() - offset)
            return std::nullopt;
        auto tail = load<dbk_tail_ref>(bytes.data() + offset);
        offset = tail.offset;
        length = tail.bytes;
    }
    if (offset > bytes.size() || length > bytes.size() - offset)
        return std::nullopt;
    return bytes.subspan(offset, length);
}

UserStackParts split_user_stack(ByteView untrusted) {
    constexpr size_t kHead = sizeof(uint64_t), kEnd = sizeof(dbk_user_memory);
    constexpr size_t kRegisters = DBK_USER_REGISTERS * sizeof(uint64_t);
    if (untrusted.size() < kEnd)
        return {untrusted, {}, {}, 0};
    ByteView before = untrusted.first(untrusted.size() - kEnd);
    auto end = load<dbk_user_memory>(before.data() + before.size());
    if (end.registers == 0)
        return {before, {}, {}, 0};
    if (end.registers != DBK_USER_REGISTERS || end.bytes > before.size() ||
        before.size() - end.bytes < kHead + kRegisters)
        return {untrusted, {}, {}, 0};
    size_t frames = before.size() - end.bytes - kRegisters - kHead;
    return {before.first(frames), before.subspan(frames + kHead, kRegisters),
            before.last(end.bytes), end.depth};
}

std::optional<std::string_view> RecordView::string(size_t field) const {
    if (field >= ecb->fields.size() || ecb->fields[field].shape != DBK_FIELD_STRING)
        return std::nullopt;
    std::optional<ByteView> view = field_bytes(bytes, ecb->fields[field]);
    if (!view)
        return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(view->data()), view->size());
}

std::optional<StackView> RecordView::stack(size_t field) const {
    if (field >= ecb->fields.size() || ecb->fields[field].shape != DBK_FIELD_STACK)
        return std::nullopt;
    std::optional<ByteView> view = field_bytes(bytes, ecb->fields[field]);
    if (!view || view->size() % sizeof(uint64_t) != 0)
        return std::nullopt;
    return StackView(ecb->fields[field].flags & DBK_FIELD_F_MEMORY ? split_user_stack(*view).frames
                                                                   : *view);
}

RecordCursor::Words RecordCursor::words_of(ByteView segment) {
    using enum Firing;
    constexpr size_t kVersion = offsetof(dbk_segment_header, version);
    if (segment.size() < kVersion + sizeof(uint16_t))
        return {};
    switch (load<uint16_t>(segment.data() + kVersion)) {
    case DBK_SEGMENT_VERSION_FIRST:
        return {UINT32_MAX, {unsaid, unsaid, unsaid, unsaid}};
    case DBK_SEGMENT_VERSION_DIVIDED:
        return {UINT32_MAX >> 1, {elsewhere, elsewhere, same, same}};
    default:
        return {DBK_EPID_MAX, {begins, elsewhere, same, same}};
    }
}

RecordCursor::RecordCursor(Result<PinnedBytes> segment, uint64_t base_ticks, const EcbTable& ecbs,
                           TickLine line)
    : ecbs_(&ecbs), base_ticks_(base_ticks), line_(line) {
    if (!segment.ok()) {
        damage_ = RecordDamage{FindingKind::unreadable, 0, segment.error().message()};
        return;
    }
    bytes_ = segment->bytes;
    words_ = words_of(bytes_);
    pin_ = std::move(segment->pin);
}

bool RecordCursor::stop(FindingKind kind, std::string text) {
    damage_ = RecordDamage{kind, offset_, std::move(text)};
    return false;
}

bool RecordCursor::control(size_t left) {
    auto header = load<dbk_control_header>(bytes_.data() + offset_);
    if (header.bytes < sizeof(header) || header.bytes % DBK_RECORD_ALIGN_BYTES != 0 ||
        header.bytes > left)
        return stop(FindingKind::bad_record,
                    strprintf("control record of kind %u has %u bytes, %zu are left", header.kind,
                              header.bytes, left));
    if (header.kind == DBK_CONTROL_TIME_BASE) {
        if (header.bytes < sizeof(dbk_control_time_base))
            return stop(FindingKind::bad_record,
                        strprintf("time base record has %u bytes", header.bytes));
        base_ticks_ = load<dbk_control_time_base>(bytes_.data() + offset_).base_ticks;
    }
    if (header.kind == DBK_CONTROL_COMMIT) {
        if (header.bytes < sizeof(dbk_control_commit))
            return stop(FindingKind::bad_record,
                        strprintf("commit record has %u bytes", header.bytes));
        auto commit = load<dbk_control_commit>(bytes_.data() + offset_);
        // What it says too much of is not there; what is there has its own lengths.
        commit_end_ = offset_ + header.bytes + commit.covered_bytes;
        commit_ticks_ = line_.shifts() ? line_.arrived(commit.commit_ticks) : commit.commit_ticks;
        commit_speculation_ = commit.speculation;
    }
    offset_ += header.bytes;
    return true;
}

/// Of a committed record, or one of a ring whose clock jumped.
void RecordCursor::place_in_time(RecordView& record) {
    bool committed = offset_ < commit_end_;
    if (line_.shifts())
        record.ticks = committed ? line_.made(record.ticks) : line_.arrived(record.ticks);
    if (!committed)
        return;
    record.commit_ticks = commit_ticks_;
    record.speculation = commit_speculation_;
}

bool RecordCursor::stop_short(size_t left) {
    return stop(FindingKind::truncated,
                strprintf("%zu bytes are left, a record has at least 8", left));
}

bool RecordCursor::stop_unknown(uint32_t epid, const EcbInfo* ecb) {
    return stop(
        FindingKind::unknown_epid,
        strprintf("EPID %u %s", epid, ecb ? "stores no records" : "is not in the metadata"));
}

bool RecordCursor::stop_length(const EcbInfo& ecb, uint32_t length, size_t left) {
    return stop(FindingKind::bad_record,
                strprintf("record of EPID %u has %u bytes, fixed part %u, %zu are left", ecb.epid,
                          length, ecb.fixed_bytes, left));
}

} // namespace daybreak::formats
