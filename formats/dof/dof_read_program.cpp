// SPDX-License-Identifier: Apache-2.0
//
// Reading DOF: probes, predicates, actions, DIF objects, options, relocations
#include "formats/dof/dof_parser.hpp"

#include <algorithm>

namespace daybreak::formats {

using base::ByteReader;
using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::Result;

Result<void> DofParser::read_section(uint32_t index) {
    switch (header(index).type) {
    case DOF_SECT_ECBDESC:
        return read_ecb(index);
    case DOF_SECT_OPTDESC:
    case DBK_DOF_SECT_OPTIONS:
        return read_options(index);
    default:
        return {};
    }
}

Result<void> DofParser::read_ecb(uint32_t index) {
    ByteReader reader(content(index), "DOF ECB description");
    auto description = reader.read<dof_ecbdesc>();
    if (!description.ok())
        return std::move(description).error().with_context(label(index));
    DofEcb ecb;
    ecb.section = index;
    ecb.uarg = description->uarg;
    DBK_TRY_VOID(expect(index, "its probe", description->probes, DOF_SECT_PROBEDESC));
    DBK_TRY(ecb.probe, probe_name(description->probes));
    if (description->predicate != DOF_SECIDX_NONE) {
        DBK_TRY_VOID(expect(index, "its predicate", description->predicate, DOF_SECT_DIFOHDR));
        DBK_TRY(ecb.predicate, difo(description->predicate));
    }
    if (description->actions != DOF_SECIDX_NONE) {
        DBK_TRY_VOID(expect(index, "its actions", description->actions, DOF_SECT_ACTDESC));
        DBK_TRY(ecb.actions, action_list(description->actions));
    }
    image_.program.ecbs.push_back(std::move(ecb));
    return {};
}

Result<DofProbeName> DofParser::probe_name(uint32_t index) {
    ByteReader reader(content(index), "DOF probe description");
    auto description = reader.read<dof_probedesc>();
    if (!description.ok())
        return std::move(description).error().with_context(label(index));
    DBK_TRY_VOID(expect(index, "its names", description->strtab, DOF_SECT_STRTAB));
    DofProbeName probe;
    probe.id = description->id;
    DBK_TRY(probe.provider, string(index, description->strtab, description->provider));
    DBK_TRY(probe.module, string(index, description->strtab, description->module));
    DBK_TRY(probe.function, string(index, description->strtab, description->function));
    DBK_TRY(probe.name, string(index, description->strtab, description->name));
    return probe;
}

Result<size_t> DofParser::action_list(uint32_t index) {
    if (auto known = actions_by_section_.find(index); known != actions_by_section_.end())
        return known->second;
    DBK_TRY(auto descriptions, table<dof_actdesc>(index));
    if (descriptions.size() > kEcbActionsMax)
        return errorf(ErrorCode::limit, "%s: %zu actions, at most %zu", label(index).c_str(),
                      descriptions.size(), kEcbActionsMax);
    DofActionList list;
    list.section = index;
    for (const dof_actdesc& description : descriptions) {
        DBK_TRY(DofAction read, action(index, description));
        list.actions.push_back(std::move(read));
    }
    image_.program.action_lists.push_back(std::move(list));
    return actions_by_section_[index] = image_.program.action_lists.size() - 1;
}

Result<DofAction> DofParser::action(uint32_t list_section, const dof_actdesc& description) {
    DofAction action;
    action.kind = description.kind;
    action.tuple_count = description.tuple_count;
    action.arg = description.arg;
    action.uarg = description.uarg;
    if (description.difo != DOF_SECIDX_NONE) {
        DBK_TRY_VOID(expect(list_section, "an action", description.difo, DOF_SECT_DIFOHDR));
        DBK_TRY(action.difo, difo(description.difo));
    }
    if (description.strtab != DOF_SECIDX_NONE) {
        DBK_TRY_VOID(expect(list_section, "an action", description.strtab, DOF_SECT_STRTAB));
        DBK_TRY(action.text, string(list_section, description.strtab, description.arg));
        action.arg = 0;
    }
    return action;
}

Result<size_t> DofParser::difo(uint32_t index) {
    if (auto known = difo_by_section_.find(index); known != difo_by_section_.end())
        return known->second;
    ByteReader reader(content(index), "DIF object header");
    auto header = reader.read<dof_difohdr>();
    if (!header.ok())
        return std::move(header).error().with_context(label(index));
    Difo difo;
    difo.section = index;
    difo.type = header->type;
    std::vector<uint32_t> links;
    while (reader.remaining() >= sizeof(uint32_t)) {
        DBK_TRY(uint32_t link, reader.read<uint32_t>());
        links.push_back(link);
    }
    // The variables' names lie in the string table, so they are read when everything else is.
    uint64_t total_bytes = 0;
    for (uint32_t link : links) {
        if (link >= section_count())
            return errorf(ErrorCode::corrupt, "%s: links to section %u of %u", label(index).c_str(),
                          link, section_count());
        total_bytes += this->header(link).bytes;
        if (total_bytes > kDifoBytesMax)
            return errorf(ErrorCode::limit, "%s: more than %" PRIu64 " bytes", label(index).c_str(),
                          kDifoBytesMax);
        DBK_TRY_VOID(difo_link(index, link, difo));
    }
    for (uint32_t link : links)
        if (this->header(link).type == DOF_SECT_VARTAB)
            DBK_TRY_VOID(difo_variables(link, difo));
        else if (this->header(link).type == DOF_SECT_KRELHDR)
            DBK_TRY_VOID(difo_symbols(link, links, difo));
    if (difo.text.empty())
        return errorf(ErrorCode::corrupt, "%s: has no instructions", label(index).c_str());
    image_.program.difos.push_back(std::move(difo));
    return difo_by_section_[index] = image_.program.difos.size() - 1;
}

Result<void> DofParser::difo_link(uint32_t index, uint32_t link, Difo& difo) {
    switch (header(link).type) {
    case DOF_SECT_DIF: {
        if (!difo.text.empty())
            return errorf(ErrorCode::corrupt, "%s: links two DIF sections", label(index).c_str());
        DBK_TRY(difo.text, table<uint32_t>(link));
        return {};
    }
    case DOF_SECT_INTTAB: {
        if (!difo.integers.empty())
            return errorf(ErrorCode::corrupt, "%s: links two integer tables", label(index).c_str());
        DBK_TRY(difo.integers, table<uint64_t>(link));
        return {};
    }
    case DOF_SECT_STRTAB: {
        if (!difo.strings.empty())
            return errorf(ErrorCode::corrupt, "%s: links two string tables", label(index).c_str());
        ByteView text = content(link);
        DBK_TRY_VOID(charge(link, text.size()));
        difo.strings.assign(reinterpret_cast<const char*>(text.data()), text.size());
        if (!difo.strings.empty() && difo.strings.back() != '\0')
            return errorf(ErrorCode::corrupt, "%s: does not end in a NUL", label(link).c_str());
        return {};
    }
    default:
        return {};
    }
}

Result<void> DofParser::difo_variables(uint32_t index, Difo& difo) {
    if (!difo.variables.empty())
        return errorf(ErrorCode::corrupt, "%s: a second variable table", label(index).c_str());
    DBK_TRY(auto entries, table<dif_var_entry>(index));
    for (const dif_var_entry& entry : entries) {
        if (entry.name >= difo.strings.size())
            return errorf(ErrorCode::corrupt, "%s: name at %u of a string table of %zu bytes",
                          label(index).c_str(), entry.name, difo.strings.size());
        std::string name = difo.string_at(entry.name);
        DBK_TRY_VOID(charge(index, name.size()));
        difo.variables.push_back(
            {std::move(name), entry.id, entry.kind, entry.scope, entry.flags, entry.type});
    }
    return {};
}

/// Reads which integers of an object are the addresses of kernel symbols.
Result<void> DofParser::difo_symbols(uint32_t index, const std::vector<uint32_t>& links,
                                     Difo& difo) {
    ByteReader reader(content(index), "DOF relocation header");
    auto relocation = reader.read<dof_relohdr>();
    if (!relocation.ok())
        return std::move(relocation).error().with_context(label(index));
    DBK_TRY_VOID(expect(index, "its strings", relocation->strtab, DOF_SECT_STRTAB));
    DBK_TRY_VOID(expect(index, "its relocations", relocation->relsec, DOF_SECT_RELTAB));
    if (std::find(links.begin(), links.end(), relocation->tgtsec) == links.end())
        return {}; // of something else: read_relocations()
    DBK_TRY(auto entries, table<dof_relodesc>(relocation->relsec));
    if (entries.size() > difo.integers.size())
        return errorf(ErrorCode::corrupt, "%s: %zu symbols for %zu integers", label(index).c_str(),
                      entries.size(), difo.integers.size());
    for (const dof_relodesc& entry : entries) {
        uint64_t at = entry.offset / sizeof(uint64_t);
        if (entry.type != DOF_RELO_SETX || entry.offset % sizeof(uint64_t) != 0 ||
            at >= difo.integers.size())
            return errorf(ErrorCode::corrupt, "%s: type %u for byte %" PRIu64 " of %zu integers",
                          label(index).c_str(), entry.type, entry.offset, difo.integers.size());
        DBK_TRY(std::string name, string(index, relocation->strtab, entry.name));
        DBK_TRY_VOID(charge(index, name.size()));
        difo.symbols.push_back({std::move(name), static_cast<uint32_t>(at), entry.data});
    }
    symbols_read_.insert(index);
    return {};
}

Result<void> DofParser::read_options(uint32_t index) {
    DBK_TRY(auto entries, table<dof_optdesc>(index));
    for (const dof_optdesc& entry : entries) {
        DofOption option{entry.option, entry.value, std::nullopt};
        if (entry.strtab != DOF_SECIDX_NONE) {
            DBK_TRY_VOID(expect(index, "an option", entry.strtab, DOF_SECT_STRTAB));
            DBK_TRY(option.text, string(index, entry.strtab, entry.value));
        }
        image_.program.options.push_back(std::move(option));
    }
    return {};
}

Result<void> DofParser::read_relocations(uint32_t index) {
    bool user = header(index).type == DOF_SECT_URELHDR;
    if (!user && header(index).type != DOF_SECT_KRELHDR)
        return {};
    ByteReader reader(content(index), "DOF relocation header");
    auto header = reader.read<dof_relohdr>();
    if (!header.ok())
        return std::move(header).error().with_context(label(index));
    DBK_TRY_VOID(expect(index, "its strings", header->strtab, DOF_SECT_STRTAB));
    DBK_TRY_VOID(expect(index, "its relocations", header->relsec, DOF_SECT_RELTAB));
    if (header->tgtsec >= section_count())
        return errorf(ErrorCode::corrupt, "%s: relocates section %u of %u", label(index).c_str(),
                      header->tgtsec, section_count());
    DBK_TRY(auto entries, table<dof_relodesc>(header->relsec));
    for (const dof_relodesc& entry : entries) {
        DBK_TRY(std::string name, string(index, header->strtab, entry.name));
        image_.program.relocations.push_back(
            {std::move(name), entry.type, entry.offset, entry.data, header->tgtsec, user});
        if (image_.program.relocations.size() > kDofSectionsMax)
            return errorf(ErrorCode::limit, "%s: more than %zu relocations", label(index).c_str(),
                          kDofSectionsMax);
    }
    return {};
}

} // namespace daybreak::formats
