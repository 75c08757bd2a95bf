// SPDX-License-Identifier: Apache-2.0
//
// Sections are laid down in this order: the program-wide string table as number 0 (its bytes come
// last of what is loaded), then for each ECB what it refers to and itself, then the options, then
// Daybreak's own sections, which are not loadable.
#include "formats/dof/dof_writer.hpp"

#include "formats/abi/places.h"

#include <cinttypes>
#include <cstring>
#include <map>

namespace daybreak::formats {

using base::Bytes;
using base::Error;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

/// Offset 0 of every string table is the empty string.
class StringTable {
public:
    uint32_t add(const std::string& text) {
        if (text.empty())
            return 0;
        auto [known, inserted] = offsets_.emplace(text, static_cast<uint32_t>(bytes_.size()));
        if (inserted) {
            bytes_ += text;
            bytes_ += '\0';
        }
        return known->second;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_ = std::string(1, '\0');
    std::map<std::string, uint32_t> offsets_;
};

/// Returns where `text` lies in an object's own string table, after which it is put when new.
uint32_t string_offset(std::string& table, const std::string& text) {
    if (text.empty())
        return 0;
    std::string wanted = '\0' + text + '\0';
    size_t at = table.find(wanted);
    if (at == std::string::npos) {
        at = table.size() - 1;
        table += wanted.substr(1);
    }
    return static_cast<uint32_t>(at + 1);
}

/// What Oracle's, whose numbers these are, knows at most.
constexpr uint32_t kCommonOptionMax = 29;

class DofImageWriter {
public:
    explicit DofImageWriter(DofProgram& program) : program_(program) {}

    Result<Bytes> run();

private:
    struct Pending {
        dof_section header{};
        std::string content;
    };

    template <typename T>
    static void append(std::string& content, const T& value) {
        content.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    uint32_t add(uint32_t type, uint32_t align, uint32_t entry_bytes, std::string content,
                 bool load = true) {
        Pending section;
        section.header.type = type;
        section.header.align = align;
        section.header.flags = load ? DOF_SECF_LOAD : 0;
        section.header.entry_bytes = entry_bytes;
        section.content = std::move(content);
        sections_.push_back(std::move(section));
        return static_cast<uint32_t>(sections_.size() - 1);
    }

    Result<void> add_ecb(DofEcb& ecb);
    uint32_t add_probe(const DofProbeName& probe);
    Result<uint32_t> add_difo(size_t index);
    Result<uint32_t> add_actions(size_t index);
    void add_options();
    void add_extras();
    void add_lines(StringTable& strings);
    void add_captures(StringTable& strings);
    void add_target(const DofTarget& target, StringTable& strings);
    void add_places(StringTable& strings);
    Result<Bytes> lay_out();

    DofProgram& program_;
    std::vector<Pending> sections_;
    StringTable strings_;
    std::map<size_t, uint32_t> difo_section_, actions_section_;
};

Result<Bytes> DofImageWriter::run() {
    if (!program_.relocations.empty())
        return Error(ErrorCode::invalid, "DOF: a program with relocations cannot be written");
    add(DOF_SECT_STRTAB, 1, 0, "");
    for (DofEcb& ecb : program_.ecbs)
        DBK_TRY_VOID(add_ecb(ecb));
    add_options();
    add_extras();
    sections_[0].content = strings_.bytes();
    return lay_out();
}

Result<void> DofImageWriter::add_ecb(DofEcb& ecb) {
    dof_ecbdesc description{};
    description.probes = add_probe(ecb.probe);
    description.predicate = DOF_SECIDX_NONE;
    description.actions = DOF_SECIDX_NONE;
    description.uarg = ecb.uarg;
    if (ecb.predicate) {
        DBK_TRY(description.predicate, add_difo(*ecb.predicate));
    }
    if (ecb.actions) {
        DBK_TRY(description.actions, add_actions(*ecb.actions));
    }
    std::string content;
    append(content, description);
    ecb.section = add(DOF_SECT_ECBDESC, 8, 0, std::move(content));
    return {};
}

uint32_t DofImageWriter::add_probe(const DofProbeName& probe) {
    dof_probedesc description{};
    description.strtab = 0;
    description.provider = strings_.add(probe.provider);
    description.module = strings_.add(probe.module);
    description.function = strings_.add(probe.function);
    description.name = strings_.add(probe.name);
    description.id = probe.id;
    std::string content;
    append(content, description);
    return add(DOF_SECT_PROBEDESC, 4, sizeof(description), std::move(content));
}

Result<uint32_t> DofImageWriter::add_difo(size_t index) {
    if (auto known = difo_section_.find(index); known != difo_section_.end())
        return known->second;
    if (index >= program_.difos.size())
        return errorf(ErrorCode::invalid, "DOF: no DIF object %zu", index);
    Difo& difo = program_.difos[index];
    std::string strings = difo.strings, text, integers, variables, header;
    for (uint32_t instruction : difo.text)
        append(text, instruction);
    for (uint64_t integer : difo.integers)
        append(integers, integer);
    for (const DifVariable& variable : difo.variables) {
        if (strings.empty())
            strings.assign(1, '\0');
        dif_var_entry entry{};
        entry.name = string_offset(strings, variable.name);
        entry.id = variable.id;
        entry.kind = variable.kind;
        entry.scope = variable.scope;
        entry.flags = variable.flags;
        entry.type = variable.type;
        append(variables, entry);
    }
    std::string symbols;
    for (const DifSymbol& symbol : difo.symbols) {
        if (strings.empty())
            strings.assign(1, '\0');
        dof_relodesc entry{};
        entry.name = string_offset(strings, symbol.name);
        entry.type = DOF_RELO_SETX;
        entry.offset = uint64_t{symbol.integer} * sizeof(uint64_t);
        entry.data = symbol.addend;
        append(symbols, entry);
    }
    size_t bytes =
        symbols.size() + text.size() + integers.size() + strings.size() + variables.size();
    if (bytes > kDifoBytesMax)
        return errorf(ErrorCode::limit, "DOF: DIF object of %zu bytes, at most %" PRIu64, bytes,
                      kDifoBytesMax);
    append(header, difo.type);
    append(header, add(DOF_SECT_DIF, 4, 4, std::move(text)));
    dof_relohdr relocation{};
    if (!integers.empty())
        append(header, relocation.tgtsec = add(DOF_SECT_INTTAB, 8, 8, std::move(integers)));
    if (!strings.empty())
        append(header, relocation.strtab = add(DOF_SECT_STRTAB, 1, 0, std::move(strings)));
    if (!variables.empty())
        append(header, add(DOF_SECT_VARTAB, 4, sizeof(dif_var_entry), std::move(variables)));
    if (!symbols.empty()) {
        relocation.relsec = add(DOF_SECT_RELTAB, 8, sizeof(dof_relodesc), std::move(symbols));
        std::string content;
        append(content, relocation);
        append(header, add(DOF_SECT_KRELHDR, 4, 0, std::move(content)));
    }
    difo.section = add(DOF_SECT_DIFOHDR, 4, 0, std::move(header));
    return difo_section_[index] = difo.section;
}

Result<uint32_t> DofImageWriter::add_actions(size_t index) {
    if (auto known = actions_section_.find(index); known != actions_section_.end())
        return known->second;
    if (index >= program_.action_lists.size())
        return errorf(ErrorCode::invalid, "DOF: no action list %zu", index);
    DofActionList& list = program_.action_lists[index];
    if (list.actions.size() > kEcbActionsMax)
        return errorf(ErrorCode::limit, "DOF: %zu actions in a clause, at most %zu",
                      list.actions.size(), kEcbActionsMax);
    std::string content;
    for (const DofAction& action : list.actions) {
        dof_actdesc description{};
        description.difo = DOF_SECIDX_NONE;
        if (action.difo) {
            DBK_TRY(description.difo, add_difo(*action.difo));
        }
        description.strtab = action.text ? 0 : DOF_SECIDX_NONE;
        description.kind = action.kind;
        description.tuple_count = action.tuple_count;
        description.arg = action.text ? strings_.add(*action.text) : action.arg;
        description.uarg = action.uarg;
        append(content, description);
    }
    list.section = add(DOF_SECT_ACTDESC, 8, sizeof(dof_actdesc), std::move(content));
    return actions_section_[index] = list.section;
}

void DofImageWriter::add_options() {
    std::string common, own;
    for (const DofOption& option : program_.options) {
        // Other engines refuse an image with an option that they do not know, or without a number.
        bool is_common =
            option.option <= kCommonOptionMax && !option.text && option.value != DTRACEOPT_UNSET;
        dof_optdesc description{};
        description.option = option.option;
        description.strtab = option.text ? 0 : DOF_SECIDX_NONE;
        description.value = option.text ? strings_.add(*option.text) : option.value;
        append(is_common ? common : own, description);
    }
    if (!common.empty())
        add(DOF_SECT_OPTDESC, 8, sizeof(dof_optdesc), std::move(common));
    if (!own.empty())
        add(DBK_DOF_SECT_OPTIONS, 8, sizeof(dof_optdesc), std::move(own), false);
}

void DofImageWriter::add_extras() {
    StringTable strings;
    add_lines(strings);
    add_captures(strings);
    if (program_.target)
        add_target(*program_.target, strings);
    add_places(strings);
    if (!program_.aggregation_names.empty()) {
        std::string content;
        for (const std::string& name : program_.aggregation_names)
            append(content, strings_.add(name));
        add(DBK_DOF_SECT_AGGNAMES, 4, 4, std::move(content), false);
    }
    if (program_.target || strings.bytes().size() > 1)
        add(DBK_DOF_SECT_STRINGS, 1, 0, strings.bytes(), false);
    if (program_.source)
        add(DOF_SECT_SOURCE, 1, 0, *program_.source, false);
}

void DofImageWriter::add_lines(StringTable& strings) {
    std::string content;
    for (const DofLine& line : program_.lines) {
        auto difo = difo_section_.find(line.difo);
        if (difo == difo_section_.end())
            continue; // of an object that no ECB uses
        dbk_dof_line entry{};
        entry.difo = difo->second;
        entry.instruction = line.instruction;
        entry.file = strings.add(line.file);
        entry.line = line.line;
        entry.column = line.column;
        append(content, entry);
    }
    if (!content.empty())
        add(DBK_DOF_SECT_LINES, 4, sizeof(dbk_dof_line), std::move(content), false);
}

void DofImageWriter::add_captures(StringTable& strings) {
    std::string content;
    for (const DofCapture& capture : program_.captures) {
        auto list = actions_section_.find(capture.action_list);
        if (list == actions_section_.end())
            continue;
        dbk_dof_capture entry{};
        entry.actdesc = list->second;
        entry.action = capture.action;
        entry.expression = strings.add(capture.expression);
        entry.type = strings.add(capture.type);
        append(content, entry);
    }
    if (!content.empty())
        add(DBK_DOF_SECT_CAPTURE, 4, sizeof(dbk_dof_capture), std::move(content), false);
}

void DofImageWriter::add_target(const DofTarget& target, StringTable& strings) {
    dbk_dof_target entry{};
    entry.release = strings.add(target.release);
    entry.compiler = strings.add(target.compiler);
    entry.dialect = target.dialect;
    entry.typed = target.typed;
    std::copy(target.btf_id.begin(), target.btf_id.end(), std::begin(entry.btf_id));
    entry.main_file = strings.add(target.main_file);
    entry.target_pid = target.target_pid;
    std::string content;
    append(content, entry);
    add(DBK_DOF_SECT_TARGET, 4, 0, std::move(content), false);
}

/// Functions of a file follow one that is there in whole: nothing but name and offset is their own.
void DofImageWriter::add_places(StringTable& strings) {
    std::string content, more;
    std::map<std::string, uint32_t> known; // what they have in common, and where
    uint32_t count = 0;
    for (const DofPlace& place : program_.places) {
        dbk_dof_place entry{};
        entry.provider = strings.add(place.probe.provider);
        entry.module = strings.add(place.probe.module);
        entry.path = strings.add(place.path);
        entry.operands = strings.add(place.operands);
        entry.pid = place.pid;
        entry.semaphore = place.semaphore;
        entry.build_id_at = place.build_id_at;
        entry.build_id_bytes = static_cast<uint32_t>(place.build_id.size());
        std::copy(place.build_id.begin(), place.build_id.end(), std::begin(entry.build_id));
        const uint32_t function = strings.add(place.probe.function),
                       name = strings.add(place.probe.name);
        std::string common;
        append(common, entry);
        auto [like, is_first] = place.kind == DBK_PLACE_MARK ? std::pair(known.end(), true)
                                                             : known.emplace(common, count);
        if (!is_first) {
            append(more, dbk_dof_more_place{like->second, function, name, place.kind, place.offset,
                                            place.function_at});
            continue;
        }
        entry.function = function;
        entry.name = name;
        entry.kind = place.kind;
        entry.offset = place.offset;
        entry.function_at = place.function_at;
        append(content, entry);
        count++;
    }
    if (!content.empty())
        add(DBK_DOF_SECT_PLACES, 8, sizeof(dbk_dof_place), std::move(content), false);
    if (!more.empty())
        add(DBK_DOF_SECT_MORE_PLACES, 8, sizeof(dbk_dof_more_place), std::move(more), false);
}

Result<Bytes> DofImageWriter::lay_out() {
    if (sections_.size() > kDofSectionsMax)
        return errorf(ErrorCode::limit, "DOF: %zu sections, at most %zu", sections_.size(),
                      kDofSectionsMax);
    std::vector<size_t> order;
    for (size_t i = 1; i < sections_.size(); i++)
        if (sections_[i].header.flags & DOF_SECF_LOAD)
            order.push_back(i);
    order.push_back(0);
    for (size_t i = 1; i < sections_.size(); i++)
        if (!(sections_[i].header.flags & DOF_SECF_LOAD))
            order.push_back(i);

    dof_header header{};
    uint64_t offset = sizeof(header) + sections_.size() * sizeof(dof_section);
    for (size_t i : order) {
        dof_section& section = sections_[i].header;
        section.offset = (offset + section.align - 1) / section.align * section.align;
        section.bytes = sections_[i].content.size();
        offset = section.offset + section.bytes;
        if (section.flags & DOF_SECF_LOAD)
            header.load_bytes = offset;
    }
    if (offset > kDofBytesMax)
        return errorf(ErrorCode::limit, "DOF: image of %" PRIu64 " bytes, at most %" PRIu64 "%s",
                      offset, kDofBytesMax,
                      program_.places.empty()
                          ? ""
                          : base::strprintf("; its %zu probes of functions are too many for one "
                                            "program: name fewer, as by a narrower glob",
                                            program_.places.size())
                                .c_str());
    std::memcpy(header.ident, DOF_MAGIC_BYTES, 4);
    header.ident[DOF_ID_MODEL] = DOF_MODEL_LP64;
    header.ident[DOF_ID_ENCODING] = DOF_ENCODE_LSB;
    header.ident[DOF_ID_VERSION] = program_.dof_version;
    header.ident[DOF_ID_DIFVERS] = program_.dif_version;
    header.ident[DOF_ID_DIFIREG] = program_.integer_registers;
    header.ident[DOF_ID_DIFTREG] = program_.tuple_registers;
    header.header_bytes = sizeof(dof_header);
    header.section_bytes = sizeof(dof_section);
    header.section_count = static_cast<uint32_t>(sections_.size());
    header.section_offset = sizeof(dof_header);
    header.file_bytes = offset;

    Bytes image(offset);
    std::memcpy(image.data(), &header, sizeof(header));
    for (size_t i = 0; i < sections_.size(); i++) {
        const Pending& section = sections_[i];
        std::memcpy(&image[sizeof(header) + i * sizeof(dof_section)], &section.header,
                    sizeof(dof_section));
        if (!section.content.empty())
            std::memcpy(&image[section.header.offset], section.content.data(),
                        section.content.size());
    }
    return image;
}

} // namespace

Result<Bytes> write_dof(DofProgram& program) {
    return DofImageWriter(program).run();
}

} // namespace daybreak::formats
