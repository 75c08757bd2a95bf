// SPDX-License-Identifier: Apache-2.0
//
// CaptureTable: which D expressions the records of a ring hold, and where.
#include "analyze/replay/capture_table.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::analyze {

namespace {

/// What a value of that type and shape is in a replay; empty: it is not one that is replayed.
std::optional<CapturedKind> kind_of(const formats::FieldInfo& field, const std::string& type,
                                    const std::string& expression) {
    bool is_stack = field.shape == DBK_FIELD_STACK;
    if (type == "stack")
        return !is_stack                         ? std::nullopt
               : expression.starts_with("stack") ? std::optional(CapturedKind::stack)
                                                 : std::optional(CapturedKind::user_stack);
    if (type == "string")
        return is_stack ? std::nullopt : std::optional(CapturedKind::string);
    bool is_integer = field.shape == DBK_FIELD_FIXED && (field.bytes == 1 || field.bytes == 2 ||
                                                         field.bytes == 4 || field.bytes == 8);
    if (field.shape == DBK_FIELD_FIXED && field.bytes == 2 * sizeof(uint64_t) && type == "uint64_t")
        return CapturedKind::user_address; // of usym() and its kin
    return is_integer ? std::optional(CapturedKind::integer) : std::nullopt;
}

} // namespace

CaptureSlots::CaptureSlots() {
    for (const char* own : {"vmname", "bootid", "timestamp", "walltimestamp", "$target"})
        number_of(own, "of the replay");
}

size_t CaptureSlots::number_of(const std::string& text, const std::string& type) {
    return texts_.try_emplace({text, type}, texts_.size()).first->second;
}

CaptureTable::CaptureTable(const formats::RingRecording& ring, RingProgram& program,
                           CaptureSlots& slots)
    : ring_(ring), slots_(slots), fields_(ring.ecbs.all().size()) {
    for (size_t i = 0; i < fields_.size(); i++) {
        const formats::EcbInfo& ecb = ring.ecbs.all()[i];
        auto info = ring.probes.find(ecb.probe_id);
        if (info == ring.probes.end() || ecb.no_record())
            continue;
        const formats::DofProgram* image = program.program_of(ecb);
        const formats::DofEcb* clause = program.clause_of(ecb);
        if (!image || !clause || info->second.name == "ERROR")
            continue; // the replay has faults of its own
        CapturedProbe& probe = probes_[ecb.probe_id];
        probe.info = info->second;
        probe.id = ecb.probe_id;
        if (!clause->predicate && (ecb.flags & DBK_ECB_F_SPECULATES) == 0) {
            probe.is_conditional = false;
            probe.anchor_epids.insert(ecb.epid);
        }
        find(i, *image, *clause);
    }
}

void CaptureTable::finish() {
    const formats::RingRecording& ring = ring_;
    struct Holders {
        size_t all = 0, anchors = 0;
    };
    std::map<std::pair<uint32_t, std::string>, Holders> holders; // ECBs of a probe with that text
    auto is_anchor = [&](const formats::EcbInfo& ecb) {
        return probes_.at(ecb.probe_id).anchor_epids.contains(ecb.epid);
    };
    auto counts = [&](const formats::EcbInfo& ecb) {
        bool is_apart = (ecb.flags & DBK_ECB_F_SPECULATES) != 0 &&
                        !probes_.at(ecb.probe_id).anchor_epids.empty();
        return !ecb.no_record() && !is_apart;
    };
    for (const Found& one : std::exchange(found_, {})) {
        if (!counts(ring.ecbs.all()[one.ecb]))
            continue;
        uint32_t slot = slots_.slot_of(one.number);
        uint32_t probe = ring.ecbs.all()[one.ecb].probe_id;
        std::vector<CapturedField>& fields = fields_[one.ecb];
        bool is_new = std::ranges::none_of(
            fields, [&](const CapturedField& field) { return field.slot == slot; });
        const CapturedValue& value =
            probes_[probe]
                .values.try_emplace(one.text, CapturedValue{slot, one.type, one.kind, true})
                .first->second;
        if (!is_new || value.slot != slot)
            continue; // the same text with another type: the first counts
        fields.push_back({slot, one.field, one.kind});
        Holders& held = holders[{probe, one.text}];
        held.all++;
        held.anchors += is_anchor(ring.ecbs.all()[one.ecb]);
    }
    std::map<uint32_t, size_t> ecbs; // of a probe
    for (const formats::EcbInfo& ecb : ring.ecbs.all()) {
        auto probe = probes_.find(ecb.probe_id);
        if (probe == probes_.end())
            continue;
        ecbs[ecb.probe_id] += counts(ecb);
        probe->second.has_silent |= ecb.no_record();
    }
    for (auto& [probe, captured] : probes_)
        for (auto& [text, value] : captured.values) {
            // Without a record of an anchor there is no firing.
            const size_t anchors = captured.anchor_epids.size();
            const Holders held = holders[{probe, text}];
            value.is_always = anchors != 0 ? held.anchors == anchors : held.all == ecbs[probe];
            value.is_conditional = anchors != 0 ? held.anchors == 0 : !value.is_always;
            if (captured.is_of_engine()) // the replay may not find the record
                value.is_always = value.is_conditional = false;
        }
}

/// Finds the fields of an ECB whose actions the image names.
void CaptureTable::find(size_t ecb, const formats::DofProgram& program,
                        const formats::DofEcb& clause) {
    const std::vector<formats::FieldInfo>& fields = ring_.ecbs.all()[ecb].fields;
    bool counts_in_engine = ring_.info.facts.aggregate == DBK_AGGREGATE_ENGINE;
    for (const formats::DofCapture& capture : program.captures) {
        if (capture.action_list != clause.actions)
            continue;
        for (size_t i = 0; i < fields.size(); i++) {
            bool is_aggregated = (fields[i].flags & (DBK_FIELD_F_KEY | DBK_FIELD_F_VALUE)) != 0;
            if (fields[i].action != capture.action || (fields[i].flags & DBK_FIELD_F_INCREMENT) ||
                (is_aggregated && counts_in_engine))
                continue;
            std::optional<CapturedKind> kind = kind_of(fields[i], capture.type, capture.expression);
            if (!kind)
                continue;
            for (const formats::DofOption& option : program.options)
                if (option.option == DBK_OPT_USTACKBYTES && (fields[i].flags & DBK_FIELD_F_MEMORY))
                    stack_bytes_ = std::max(stack_bytes_, option.value);
            size_t number = slots_.number_of(capture.expression, capture.type);
            found_.push_back({ecb, i, number, *kind, capture.expression, capture.type});
        }
    }
}

} // namespace daybreak::analyze
