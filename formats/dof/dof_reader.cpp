// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/dof_reader.hpp"

#include <cinttypes>
#include <map>

namespace daybreak::formats {

using base::ByteReader;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::errorf;
using base::Result;
using base::strprintf;

namespace {

/// Sections may overlap or be named often, so a small image can describe a huge program: reading
/// stops when what was copied out of it passes this.
constexpr uint64_t kDofCopiedBytesMax = 8 * kDofBytesMax;

/// One pass over an image; every method checks what it touches and names section and offset.
class DofParser {
public:
    explicit DofParser(ByteView bytes) : bytes_(bytes) {}

    Result<DofImage> run() {
        DBK_TRY_VOID(read_header());
        DBK_TRY_VOID(read_sections());
        for (uint32_t i = 0; i < section_count(); i++)
            DBK_TRY_VOID(read_section(i));
        DBK_TRY_VOID(read_extras());
        return std::move(image_);
    }

private:
    Result<void> read_header();
    Result<void> read_sections();
    Result<void> read_section(uint32_t index);
    Result<void> read_ecb(uint32_t index);
    Result<void> read_options(uint32_t index);
    Result<void> read_relocations(uint32_t index, bool user);
    Result<void> read_extras();
    Result<void> read_lines(uint32_t index, uint32_t strings);
    Result<void> read_captures(uint32_t index, uint32_t strings);
    Result<void> read_target(uint32_t index, uint32_t strings);
    Result<void> read_aggregation_names(uint32_t index);

    Result<DofProbeName> probe_name(uint32_t index);
    Result<size_t> action_list(uint32_t index);
    Result<DofAction> action(uint32_t list_section, const dof_actdesc& description);
    Result<size_t> difo(uint32_t index);
    Result<void> difo_link(uint32_t index, uint32_t link, Difo& difo);
    Result<void> difo_variables(uint32_t index, Difo& difo);

    uint32_t section_count() const { return static_cast<uint32_t>(image_.sections.size()); }
    const dof_section& header(uint32_t index) const { return image_.sections[index].header; }
    ByteView content(uint32_t index) const {
        return bytes_.subspan(header(index).offset, header(index).bytes);
    }
    std::string label(uint32_t index) const {
        return strprintf("DOF section %u (%s)", index, image_.sections[index].type_name().c_str());
    }
    Result<void> expect(uint32_t from, const char* what, uint32_t index, uint32_t type) const;
    Result<void> charge(uint32_t index, uint64_t bytes);
    Result<std::string> string(uint32_t from, uint32_t table, uint64_t offset);
    template <typename T>
    Result<std::vector<T>> table(uint32_t index);
    std::optional<uint32_t> find(uint32_t type) const;

    ByteView bytes_;
    DofImage image_;
    uint64_t copied_bytes_ = 0;
    std::map<uint32_t, size_t> difo_by_section_;
    std::map<uint32_t, size_t> actions_by_section_;
};

Result<void> DofParser::read_header() {
    ByteReader reader(bytes_, "DOF header");
    if (!looks_like_dof(bytes_))
        return Error(ErrorCode::invalid, "not DOF: the first bytes are not 7f 44 4f 46");
    DBK_TRY(dof_header header, reader.read<dof_header>());
    const uint8_t* ident = header.ident;
    if (ident[DOF_ID_MODEL] != DOF_MODEL_LP64)
        return errorf(ErrorCode::unsupported, "DOF header: data model %u, expected 2 (LP64)",
                      ident[DOF_ID_MODEL]);
    if (ident[DOF_ID_ENCODING] != DOF_ENCODE_LSB)
        return errorf(ErrorCode::unsupported, "DOF header: encoding %u, expected 1 (little-endian)",
                      ident[DOF_ID_ENCODING]);
    if (ident[DOF_ID_VERSION] != DOF_VERSION_1 && ident[DOF_ID_VERSION] != DOF_VERSION_2)
        return errorf(ErrorCode::unsupported, "DOF header: version %u, expected 1 or 2",
                      ident[DOF_ID_VERSION]);
    if (ident[DOF_ID_DIFVERS] < 1 || ident[DOF_ID_DIFVERS] > DIF_VERSION)
        return errorf(ErrorCode::unsupported, "DOF header: DIF version %u, expected 1 or 2",
                      ident[DOF_ID_DIFVERS]);
    for (size_t i = DOF_ID_DIFTREG + 1; i < DOF_ID_SIZE; i++)
        if (ident[i] != 0)
            return errorf(ErrorCode::corrupt, "DOF header: byte %zu is 0x%02x, expected 0", i,
                          ident[i]);
    if (header.flags != 0)
        return errorf(ErrorCode::unsupported, "DOF header: flags 0x%x, expected 0", header.flags);
    if (header.header_bytes < sizeof(dof_header))
        return errorf(ErrorCode::corrupt, "DOF header: says it has %u bytes, needs %zu",
                      header.header_bytes, sizeof(dof_header));
    if (header.section_bytes != sizeof(dof_section))
        return errorf(ErrorCode::corrupt, "DOF header: section headers of %u bytes, expected %zu",
                      header.section_bytes, sizeof(dof_section));
    uint64_t size_bytes = std::max(header.load_bytes, header.file_bytes);
    if (size_bytes > kDofBytesMax)
        return errorf(ErrorCode::limit, "DOF header: image of %" PRIu64 " bytes, at most %" PRIu64,
                      size_bytes, kDofBytesMax);
    // A stripped image keeps the file size it had; only the loadable part need be there.
    if (header.load_bytes > bytes_.size())
        return errorf(ErrorCode::truncated,
                      "DOF header: image of %" PRIu64 " bytes, only %zu are there",
                      header.load_bytes, bytes_.size());
    bytes_ = bytes_.first(std::min<uint64_t>(bytes_.size(), size_bytes));
    image_.header = header;
    image_.program.dof_version = ident[DOF_ID_VERSION];
    image_.program.dif_version = ident[DOF_ID_DIFVERS];
    image_.program.integer_registers = ident[DOF_ID_DIFIREG];
    image_.program.tuple_registers = ident[DOF_ID_DIFTREG];
    return {};
}

Result<void> DofParser::read_sections() {
    const dof_header& header = image_.header;
    if (header.section_count > kDofSectionsMax)
        return errorf(ErrorCode::limit, "DOF header: %u sections, at most %zu",
                      header.section_count, kDofSectionsMax);
    if (header.section_offset % alignof(uint64_t) != 0)
        return errorf(ErrorCode::corrupt, "DOF header: section table at %" PRIu64 " is misaligned",
                      header.section_offset);
    ByteReader reader(bytes_, "DOF section table");
    DBK_TRY_VOID(reader.seek(header.section_offset));
    for (uint32_t i = 0; i < header.section_count; i++) {
        DofSection section;
        DBK_TRY(section.header, reader.read<dof_section>());
        const dof_section& h = section.header;
        image_.sections.push_back(section);
        if (h.align == 0 || (h.align & (h.align - 1)) != 0)
            return errorf(ErrorCode::corrupt, "%s: alignment %u is not a power of two",
                          label(i).c_str(), h.align);
        if (h.offset % h.align != 0)
            return errorf(ErrorCode::corrupt, "%s: offset %" PRIu64 " is not a multiple of %u",
                          label(i).c_str(), h.offset, h.align);
        uint64_t end = (h.flags & DOF_SECF_LOAD) ? header.load_bytes : bytes_.size();
        if (h.offset > end || h.bytes > end - h.offset) {
            // Cut off by stripping: still listed, but with nothing in it.
            if (!(h.flags & DOF_SECF_LOAD) && header.file_bytes > bytes_.size()) {
                image_.sections.back().header.offset = 0;
                image_.sections.back().header.bytes = 0;
                continue;
            }
            return errorf(ErrorCode::truncated,
                          "%s: %" PRIu64 " bytes at %" PRIu64 " do not fit in %" PRIu64,
                          label(i).c_str(), h.bytes, h.offset, end);
        }
        if (h.entry_bytes != 0 && h.bytes % h.entry_bytes != 0)
            return errorf(ErrorCode::corrupt,
                          "%s: %" PRIu64 " bytes are not a multiple of entries of %u",
                          label(i).c_str(), h.bytes, h.entry_bytes);
    }
    return {};
}

Result<void> DofParser::expect(uint32_t from, const char* what, uint32_t index,
                               uint32_t type) const {
    if (index >= section_count())
        return errorf(ErrorCode::corrupt, "%s: %s names section %u of %u", label(from).c_str(),
                      what, index, section_count());
    if (header(index).type != type) {
        DofSection wanted;
        wanted.header.type = type;
        return errorf(ErrorCode::corrupt, "%s: %s names %s, expected type %s", label(from).c_str(),
                      what, label(index).c_str(), wanted.type_name().c_str());
    }
    return {};
}

Result<void> DofParser::charge(uint32_t index, uint64_t bytes) {
    copied_bytes_ += bytes;
    if (copied_bytes_ > kDofCopiedBytesMax)
        return errorf(ErrorCode::limit, "%s: the image describes more than %" PRIu64 " bytes",
                      label(index).c_str(), kDofCopiedBytesMax);
    return {};
}

Result<std::string> DofParser::string(uint32_t from, uint32_t table, uint64_t offset) {
    ByteReader reader(content(table), "string table");
    auto text = reader.string_at(offset);
    if (!text.ok())
        return errorf(ErrorCode::corrupt, "%s: string at %" PRIu64 " of %s does not end in it",
                      label(from).c_str(), offset, label(table).c_str());
    DBK_TRY_VOID(charge(from, text->size()));
    return std::string(text.value());
}

template <typename T>
Result<std::vector<T>> DofParser::table(uint32_t index) {
    uint32_t stride = header(index).entry_bytes == 0 ? sizeof(T) : header(index).entry_bytes;
    if (stride < sizeof(T) || header(index).bytes % stride != 0)
        return errorf(ErrorCode::corrupt,
                      "%s: %" PRIu64 " bytes in entries of %u, expected entries of %zu",
                      label(index).c_str(), header(index).bytes, stride, sizeof(T));
    DBK_TRY_VOID(charge(index, header(index).bytes));
    ByteReader reader(content(index), "DOF table");
    std::vector<T> entries;
    for (uint64_t at = 0; at < reader.size(); at += stride) {
        DBK_TRY(T entry, reader.read_at<T>(at));
        entries.push_back(entry);
    }
    return entries;
}

std::optional<uint32_t> DofParser::find(uint32_t type) const {
    for (uint32_t i = 0; i < section_count(); i++)
        if (header(i).type == type && header(i).bytes != 0)
            return i;
    return std::nullopt;
}

Result<void> DofParser::read_section(uint32_t index) {
    switch (header(index).type) {
    case DOF_SECT_ECBDESC:
        return read_ecb(index);
    case DOF_SECT_OPTDESC:
        return read_options(index);
    case DOF_SECT_URELHDR:
        return read_relocations(index, true);
    case DOF_SECT_KRELHDR:
        return read_relocations(index, false);
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

Result<void> DofParser::read_relocations(uint32_t index, bool user) {
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
    return {};
}

Result<void> DofParser::read_lines(uint32_t index, uint32_t strings) {
    DBK_TRY(auto entries, table<dbk_dof_line>(index));
    for (const dbk_dof_line& entry : entries) {
        auto difo = difo_by_section_.find(entry.difo);
        if (difo == difo_by_section_.end())
            return errorf(ErrorCode::corrupt, "%s: section %u is no DIF object in use",
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

} // namespace

std::string DofSection::type_name() const {
    switch (header.type) {
#define DBK_SECTION_NAME(name, type, text)                                                         \
    case type:                                                                                     \
        return text;
        DBK_DOF_SECTIONS(DBK_SECTION_NAME)
#undef DBK_SECTION_NAME
    case DBK_DOF_SECT_LINES:
        return "LINES";
    case DBK_DOF_SECT_CAPTURE:
        return "CAPTURE";
    case DBK_DOF_SECT_TARGET:
        return "TARGET";
    case DBK_DOF_SECT_AGGNAMES:
        return "AGGNAMES";
    case DBK_DOF_SECT_STRINGS:
        return "STRINGS";
    default:
        return strprintf("type 0x%x", header.type);
    }
}

const DofEcb* DofImage::ecb_at(uint32_t section) const {
    for (const DofEcb& ecb : program.ecbs)
        if (ecb.section == section)
            return &ecb;
    return nullptr;
}

bool looks_like_dof(ByteView untrusted) {
    return untrusted.size() >= 4 && std::memcmp(untrusted.data(), DOF_MAGIC_BYTES, 4) == 0;
}

Result<DofImage> parse_dof(ByteView untrusted) {
    return DofParser(untrusted).run();
}

} // namespace daybreak::formats
