// SPDX-License-Identifier: Apache-2.0
//
// Reading DOF: the sections that only Daybreak writes
#include "formats/dof/dof_parser.hpp"

#include "formats/abi/places.h"

namespace daybreak::formats {

using base::ByteReader;
using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::Result;

/// Reads what only Daybreak writes.  It is there to explain, so what is cut off is left out.
Result<void> DofParser::read_extras() {
    if (auto source = find(DOF_SECT_SOURCE)) {
        ByteView text = content(*source);
        image_.program.source.emplace(reinterpret_cast<const char*>(text.data()), text.size());
    }
    if (auto names = find(DBK_DOF_SECT_AGGNAMES))
        DBK_TRY_VOID(read_aggregation_names(*names));
    auto strings = find(DBK_DOF_SECT_STRINGS);
    if (!strings)
        return {};
    if (auto lines = find(DBK_DOF_SECT_LINES))
        DBK_TRY_VOID(read_lines(*lines, *strings));
    if (auto captures = find(DBK_DOF_SECT_CAPTURE))
        DBK_TRY_VOID(read_captures(*captures, *strings));
    if (auto target = find(DBK_DOF_SECT_TARGET))
        DBK_TRY_VOID(read_target(*target, *strings));
    if (auto places = find(DBK_DOF_SECT_PLACES))
        DBK_TRY_VOID(read_places(*places, *strings));
    if (auto more = find(DBK_DOF_SECT_MORE_PLACES))
        DBK_TRY_VOID(read_more_places(*more, *strings));
    return {};
}

Result<void> DofParser::read_more_places(uint32_t index, uint32_t strings) {
    DBK_TRY(auto entries, table<dbk_dof_more_place>(index));
    std::vector<DofPlace>& places = image_.program.places;
    const size_t count = places.size();
    for (const dbk_dof_more_place& entry : entries) {
        if (entry.like >= count || entry.kind >= DBK_PLACE_MARK ||
            places[entry.like].kind == DBK_PLACE_MARK)
            return errorf(ErrorCode::corrupt, "%s: a place of kind %u is like place %u of %zu",
                          label(index).c_str(), entry.kind, entry.like, count);
        DofPlace place = places[entry.like];
        DBK_TRY_VOID(charge(index, place.probe.provider.size() + place.probe.module.size() +
                                       place.path.size()));
        DBK_TRY(place.probe.function, string(index, strings, entry.function));
        DBK_TRY(place.probe.name, string(index, strings, entry.name));
        place.kind = entry.kind;
        place.offset = entry.offset;
        place.function_at = entry.function_at;
        places.push_back(std::move(place));
    }
    return {};
}

Result<void> DofParser::read_places(uint32_t index, uint32_t strings) {
    DBK_TRY(auto entries, table<dbk_dof_place>(index));
    for (const dbk_dof_place& entry : entries) {
        DofPlace place;
        const std::pair<std::string*, uint32_t> texts[] = {{&place.probe.provider, entry.provider},
                                                           {&place.probe.module, entry.module},
                                                           {&place.probe.function, entry.function},
                                                           {&place.probe.name, entry.name},
                                                           {&place.path, entry.path},
                                                           {&place.operands, entry.operands}};
        for (const auto& [text, offset] : texts) {
            DBK_TRY(*text, string(index, strings, offset));
        }
        if (entry.kind >= DBK_PLACE_KINDS || entry.build_id_bytes > DBK_PLACE_BUILD_ID_MAX)
            return errorf(ErrorCode::corrupt, "%s: kind %u, build id of %u bytes",
                          label(index).c_str(), entry.kind, entry.build_id_bytes);
        place.kind = entry.kind;
        place.pid = entry.pid;
        place.offset = entry.offset;
        place.function_at = entry.function_at;
        place.semaphore = entry.semaphore;
        place.build_id_at = entry.build_id_at;
        place.build_id.assign(entry.build_id, entry.build_id + entry.build_id_bytes);
        image_.program.places.push_back(std::move(place));
    }
    return {};
}

Result<void> DofParser::read_lines(uint32_t index, uint32_t strings) {
    DBK_TRY(auto entries, table<dbk_dof_line>(index));
    for (const dbk_dof_line& entry : entries) {
        auto difo = difo_by_section_.find(entry.difo);
        if (difo == difo_by_section_.end())
            return errorf(ErrorCode::corrupt, "%s: section %u is not a DIF object in use",
                          label(index).c_str(), entry.difo);
        DBK_TRY(std::string file, string(index, strings, entry.file));
        image_.program.lines.push_back(
            {difo->second, entry.instruction, std::move(file), entry.line, entry.column});
    }
    return {};
}

Result<void> DofParser::read_captures(uint32_t index, uint32_t strings) {
    DBK_TRY(auto entries, table<dbk_dof_capture>(index));
    for (const dbk_dof_capture& entry : entries) {
        auto list = actions_by_section_.find(entry.actdesc);
        if (list == actions_by_section_.end() ||
            entry.action >= image_.program.action_lists[list->second].actions.size())
            return errorf(ErrorCode::corrupt, "%s: no action %u in section %u",
                          label(index).c_str(), entry.action, entry.actdesc);
        DBK_TRY(std::string expression, string(index, strings, entry.expression));
        DBK_TRY(std::string type, string(index, strings, entry.type));
        image_.program.captures.push_back(
            {list->second, entry.action, std::move(expression), std::move(type)});
    }
    return {};
}

Result<void> DofParser::read_target(uint32_t index, uint32_t strings) {
    ByteReader reader(content(index), "DOF target");
    auto entry = reader.read<dbk_dof_target>();
    if (!entry.ok())
        return std::move(entry).error().with_context(label(index));
    DofTarget target;
    target.dialect = entry->dialect;
    target.typed = entry->typed != 0;
    target.target_pid = entry->target_pid;
    std::copy(std::begin(entry->btf_id), std::end(entry->btf_id), target.btf_id.begin());
    DBK_TRY(target.release, string(index, strings, entry->release));
    DBK_TRY(target.compiler, string(index, strings, entry->compiler));
    DBK_TRY(target.main_file, string(index, strings, entry->main_file));
    image_.program.target = std::move(target);
    return {};
}

Result<void> DofParser::read_aggregation_names(uint32_t index) {
    DBK_TRY_VOID(expect(index, "its names", 0, DOF_SECT_STRTAB));
    DBK_TRY(auto offsets, table<uint32_t>(index));
    for (uint32_t offset : offsets) {
        DBK_TRY(std::string name, string(index, 0, offset));
        image_.program.aggregation_names.push_back(std::move(name));
    }
    return {};
}

} // namespace daybreak::formats
