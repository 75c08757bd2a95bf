// SPDX-License-Identifier: Apache-2.0
//
// SetoptReader: what the records say of setopt(), for the consumer in the simulation.
#include "engine/sim/setopt_reader.hpp"

#include "formats/dof/options.hpp"

namespace daybreak::sim {

namespace {

bool is_setopt(const formats::DofAction& action) {
    return action.kind == DTRACEACT_LIBACT && action.arg == DT_ACT_BASE + DT_ACT_SETOPT;
}

/// The text that an action stored; empty when it stored none.
std::optional<std::string> text_of(const formats::RecordView& record, uint32_t action) {
    for (size_t field = 0; field < record.ecb->fields.size(); field++)
        if (record.ecb->fields[field].action == action)
            if (auto text = record.string(field))
                return std::string(text->substr(0, text->find('\0')));
    return std::nullopt;
}

} // namespace

SetoptReader::SetoptReader(const formats::DofProgram& program) {
    for (const formats::DofEcb& ecb : program.ecbs) {
        if (!ecb.actions)
            continue;
        const std::vector<formats::DofAction>& actions = program.action_lists[*ecb.actions].actions;
        // Two of them are a call: its name and its value.
        for (uint32_t i = 0; i + 1 < actions.size(); i++)
            if (is_setopt(actions[i]) && is_setopt(actions[i + 1])) {
                called_[ecb.section].push_back({i, i + 1});
                i++;
            }
    }
}

bool SetoptReader::carry_out(const formats::RecordView& record,
                             formats::ReadingRates& rates) const {
    auto found = called_.find(record.ecb->ecbdesc);
    if (found == called_.end())
        return false;
    formats::ReadingRates before = rates;
    for (const Call& call : found->second) {
        auto name = text_of(record, call.name);
        if (!name)
            continue;
        formats::OptionSetting setting =
            formats::parse_option(*name, text_of(record, call.value).value_or("1"));
        if (setting.error.empty() && setting.target == formats::OptionTarget::program &&
            formats::is_dynamic_option(setting.id))
            rates.set(setting.id, setting.value);
    }
    return !(rates == before);
}

bool SetoptReader::read(const formats::Recording& recording, formats::ReadingRates& rates) {
    bool changed = false;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus) {
            Place& place = read_[cpu.cpu];
            for (const formats::SegmentInfo& segment : cpu.segments) {
                if (segment.sequence < place.sequence)
                    continue;
                if (segment.sequence > place.sequence)
                    place = {segment.sequence, 0};
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                for (uint64_t index = 0; cursor.next(record); index++) {
                    if (index < place.records)
                        continue;
                    place.records++;
                    changed |= carry_out(record, rates);
                }
            }
        }
    return changed;
}

} // namespace daybreak::sim
