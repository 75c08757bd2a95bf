// SPDX-License-Identifier: Apache-2.0
//
// The walk over the entries of an aggregation snapshot.
#include "formats/segment/aggregation.hpp"

namespace daybreak::formats {

AggregationCursor::AggregationCursor(Result<PinnedBytes> snapshot, const EcbTable& ecbs)
    : ecbs_(&ecbs) {
    if (!snapshot.ok()) {
        damage_ = RecordDamage{FindingKind::unreadable, 0, snapshot.error().message()};
        return;
    }
    bytes_ = snapshot->bytes;
    pin_ = std::move(snapshot->pin);
}

bool AggregationCursor::next(AggEntryView& entry) {
    if (damage_ || offset_ >= bytes_.size())
        return false;
    size_t left = bytes_.size() - offset_;
    dbk_agg_entry header = {};
    bool fits = left >= sizeof(header);
    if (fits)
        std::memcpy(&header, bytes_.data() + offset_, sizeof(header));
    uint64_t content = sizeof(header) + uint64_t{header.key_bytes} +
                       uint64_t{header.cell_count} * sizeof(uint64_t);
    fits = fits && header.entry_bytes <= left && header.entry_bytes % 8 == 0 &&
           header.key_bytes % 8 == 0 && content <= header.entry_bytes;
    if (!fits) {
        damage_ = RecordDamage{
            FindingKind::bad_aggregation, offset_,
            base::strprintf("entry of %u bytes with %u bytes of key and %u cells, "
                            "%zu bytes are left",
                            header.entry_bytes, header.key_bytes, header.cell_count, left)};
        return false;
    }
    entry.epid = header.epid;
    entry.ecb = ecbs_->find(header.epid);
    entry.action = header.action;
    entry.key = bytes_.subspan(offset_ + sizeof(header), header.key_bytes);
    entry.cells = bytes_.subspan(offset_ + sizeof(header) + header.key_bytes,
                                 header.cell_count * sizeof(uint64_t));
    offset_ += header.entry_bytes;
    return true;
}

} // namespace daybreak::formats
