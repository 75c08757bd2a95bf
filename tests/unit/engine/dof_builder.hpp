// SPDX-License-Identifier: Apache-2.0
//
// A tiny assembler of DOF images for the engine's tests: no types, no parser, no checks, so that
// wrong programs are as easy to write as right ones.
#pragma once

#include "formats/abi/dof.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::engine_test {

// ---- instructions -----------------------------------------------------------------------------

constexpr uint32_t op3(uint32_t op, uint32_t r1, uint32_t r2, uint32_t rd) {
    return DIF_INSTR_FMT(op, r1, r2, rd);
}
constexpr uint32_t ret(uint32_t rd) {
    return DIF_INSTR_FMT(DIF_OP_RET, 0, 0, rd);
}
constexpr uint32_t setx(uint32_t index, uint32_t rd) {
    return DIF_INSTR_INDEX(DIF_OP_SETX, index, rd);
}
constexpr uint32_t sets(uint32_t offset, uint32_t rd) {
    return DIF_INSTR_INDEX(DIF_OP_SETS, offset, rd);
}
constexpr uint32_t ldgs(uint32_t var, uint32_t rd) {
    return DIF_INSTR_INDEX(DIF_OP_LDGS, var, rd);
}
constexpr uint32_t var_op(uint32_t op, uint32_t var, uint32_t r) {
    return DIF_INSTR_INDEX(op, var, r);
}
constexpr uint32_t cmp(uint32_t r1, uint32_t r2) {
    return DIF_INSTR_FMT(DIF_OP_CMP, r1, r2, 0);
}
constexpr uint32_t tst(uint32_t r1) {
    return DIF_INSTR_FMT(DIF_OP_TST, r1, 0, 0);
}
constexpr uint32_t branch(uint32_t op, uint32_t label) {
    return DIF_INSTR_BRANCH(op, label);
}
constexpr uint32_t mov(uint32_t r1, uint32_t rd) {
    return DIF_INSTR_FMT(DIF_OP_MOV, r1, 0, rd);
}
constexpr uint32_t load(uint32_t op, uint32_t r1, uint32_t rd) {
    return DIF_INSTR_FMT(op, r1, 0, rd);
}
constexpr uint32_t call(uint32_t subr, uint32_t rd) {
    return DIF_INSTR_INDEX(DIF_OP_CALL, subr, rd);
}
/// pushtv of an integer, pushtr of a string or (with a size register) of bytes.
constexpr uint32_t push_value(uint32_t rs) {
    return DIF_INSTR_FMT(DIF_OP_PUSHTV, DIF_TYPE_CTF, 0, rs);
}
constexpr uint32_t push_string(uint32_t rs) {
    return DIF_INSTR_FMT(DIF_OP_PUSHTR, DIF_TYPE_STRING, 0, rs);
}
constexpr uint32_t push_bytes(uint32_t size, uint32_t rs) {
    return DIF_INSTR_FMT(DIF_OP_PUSHTR, DIF_TYPE_CTF, size, rs);
}
constexpr uint32_t flushts() {
    return DIF_INSTR_FMT(DIF_OP_FLUSHTS, 0, 0, 0);
}
constexpr uint32_t nop() {
    return DIF_INSTR_FMT(DIF_OP_NOP, 0, 0, 0);
}

// ---- types --------------------------------------------------------------------------------------

constexpr dif_type int_type(uint32_t bytes = 8) {
    return {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, bytes};
}
constexpr dif_type string_type() {
    return {DIF_TYPE_STRING, DIF_CK_UNKNOWN, DIF_TF_BYREF, 0, 256};
}
constexpr dif_type bytes_type(uint32_t bytes) {
    return {DIF_TYPE_CTF, DIF_CK_STRUCT, DIF_TF_BYREF, 0, bytes};
}
/// The type of an expression that is evaluated for what it does.
constexpr dif_type no_type() {
    return {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, 0};
}

constexpr dif_var_entry variable(uint32_t id, uint8_t scope, dif_type type = int_type(),
                                 uint8_t kind = DIFV_KIND_SCALAR) {
    return {0, id, kind, scope, DIFV_F_REF | DIFV_F_MOD, type};
}

/// One DIF object.
struct Difo {
    std::vector<uint32_t> code;
    dif_type type = int_type();
    std::vector<uint64_t> integers{};
    std::string strings{}; ///< as the table has them, NULs included
    std::vector<dif_var_entry> vars{};
    std::vector<dof_relodesc> symbols{}; ///< names in `strings`
    uint32_t symbol_target = 0;          ///< added to the section that they are for
};

/// The first variable of a program's own.
constexpr uint32_t kVar = DIF_VAR_OTHER_UBASE;

inline Difo arg(uint32_t index, uint32_t bytes = 8) {
    return {{ldgs(DIF_VAR_ARG0 + index, 1), ret(1)}, int_type(bytes)};
}
inline Difo constant(uint64_t value, uint32_t bytes = 8) {
    return {{setx(0, 1), ret(1)}, int_type(bytes), {value}};
}
/// A built-in variable that is a text, such as execname.
inline Difo text_variable(uint32_t id) {
    return {{ldgs(id, 1), ret(1)}, string_type()};
}

struct Action {
    uint32_t kind = DTRACEACT_DIFEXPR;
    uint32_t difo = DOF_SECIDX_NONE; ///< section
    uint64_t arg = 0;
    uint32_t tuple = 0;
    uint64_t uarg = 1;
    bool arg_is_string = false; ///< of the program's strings
};

/// Builds an image section by section; every function returns the section's index.
class Dof {
public:
    Dof() {
        // Section 0, the program's strings, is rewritten by build().
        sections_.push_back({});
    }

    uint32_t section(uint32_t type, const void* data, size_t bytes, uint32_t align, uint32_t entry,
                     uint32_t flags = DOF_SECF_LOAD) {
        Section s{{type, align, flags, entry, 0, bytes}, {}};
        s.bytes.assign(static_cast<const uint8_t*>(data),
                       static_cast<const uint8_t*>(data) + bytes);
        sections_.push_back(std::move(s));
        return static_cast<uint32_t>(sections_.size() - 1);
    }

    uint32_t string(std::string_view text) {
        auto offset = static_cast<uint32_t>(strings_.size());
        strings_.append(text);
        strings_.push_back('\0');
        return offset;
    }

    uint32_t difo(const Difo& d) {
        std::vector<uint32_t> links;
        links.push_back(section(DOF_SECT_DIF, d.code.data(), d.code.size() * 4, 4, 4));
        if (!d.integers.empty())
            links.push_back(
                section(DOF_SECT_INTTAB, d.integers.data(), d.integers.size() * 8, 8, 8));
        if (!d.strings.empty())
            links.push_back(section(DOF_SECT_STRTAB, d.strings.data(), d.strings.size(), 1, 0));
        if (!d.vars.empty())
            links.push_back(section(DOF_SECT_VARTAB, d.vars.data(),
                                    d.vars.size() * sizeof(dif_var_entry), 4,
                                    sizeof(dif_var_entry)));
        if (!d.symbols.empty()) {
            dof_relohdr relocation{};
            for (uint32_t link : links) {
                if (sections_[link].header.type == DOF_SECT_STRTAB)
                    relocation.strtab = link;
                if (sections_[link].header.type == DOF_SECT_INTTAB)
                    relocation.tgtsec = link + d.symbol_target;
            }
            relocation.relsec =
                section(DOF_SECT_RELTAB, d.symbols.data(), d.symbols.size() * sizeof(dof_relodesc),
                        8, sizeof(dof_relodesc));
            links.push_back(section(DOF_SECT_KRELHDR, &relocation, sizeof(relocation), 4, 0));
        }
        std::vector<uint8_t> header(sizeof(dif_type) + links.size() * 4);
        std::memcpy(header.data(), &d.type, sizeof(dif_type));
        std::memcpy(header.data() + sizeof(dif_type), links.data(), links.size() * 4);
        return section(DOF_SECT_DIFOHDR, header.data(), header.size(), 4, 0);
    }

    /// "provider:module:function:name"; or ":::" and the probe's id
    uint32_t probe(std::string_view description, uint32_t id = 0) {
        dof_probedesc desc{};
        desc.id = id;
        uint32_t* parts[] = {&desc.provider, &desc.module, &desc.function, &desc.name};
        for (auto* part : parts) {
            size_t end = std::min(description.find(':'), description.size());
            *part = string(description.substr(0, end));
            description.remove_prefix(std::min(end + 1, description.size()));
        }
        return section(DOF_SECT_PROBEDESC, &desc, sizeof(desc), 4, sizeof(desc));
    }

    uint32_t actions(const std::vector<Action>& list) {
        std::vector<dof_actdesc> descs;
        for (const auto& a : list)
            descs.push_back({a.difo, a.arg_is_string ? 0 : DOF_SECIDX_NONE, a.kind, a.tuple, a.arg,
                             a.uarg});
        return section(DOF_SECT_ACTDESC, descs.data(), descs.size() * sizeof(dof_actdesc), 8,
                       sizeof(dof_actdesc));
    }

    uint32_t ecb(std::string_view description, const std::vector<Action>& list,
                 uint32_t predicate = DOF_SECIDX_NONE, uint32_t id = 0) {
        dof_ecbdesc desc{};
        desc.probes = probe(description, id);
        desc.predicate = predicate;
        desc.actions = list.empty() ? DOF_SECIDX_NONE : actions(list);
        return section(DOF_SECT_ECBDESC, &desc, sizeof(desc), 8, 0);
    }

    void option(uint32_t id, uint64_t value) { options_.push_back({id, DOF_SECIDX_NONE, value}); }

    /// trace(expression) of this DIFO.
    Action trace(const Difo& d) { return {DTRACEACT_DIFEXPR, difo(d), 0, 0, 1}; }

    /// snapshot("name").
    Action snapshot(std::string_view name) {
        uint32_t value = difo({{setx(0, 1), ret(1)}, int_type(), {0}});
        return {DBK_ACT_SNAPSHOT, value, string(name), 0, 1, true};
    }

    /// The actions of `@id[keys] = kind(value)`; an empty value code means none.
    std::vector<Action> aggregate(uint32_t id, uint32_t kind, const std::vector<Difo>& keys,
                                  const Difo& value = {}, uint64_t arg = 0,
                                  const Difo* increment = nullptr) {
        std::vector<Action> list;
        list.push_back(trace({{setx(0, 1), ret(1)}, int_type(), {id}}));
        for (const auto& key : keys)
            list.push_back(trace(key));
        if (increment != nullptr)
            list.push_back(trace(*increment));
        Action last{kind, DOF_SECIDX_NONE, arg, static_cast<uint32_t>(list.size()), 1};
        if (!value.code.empty())
            last.difo = difo(value);
        list.push_back(last);
        return list;
    }

    std::vector<uint8_t> build() {
        Dof copy = *this;
        if (!options_.empty())
            copy.section(DOF_SECT_OPTDESC, options_.data(), options_.size() * sizeof(dof_optdesc),
                         8, sizeof(dof_optdesc));
        copy.sections_[0] = {{DOF_SECT_STRTAB, 1, DOF_SECF_LOAD, 0, 0, strings_.size()},
                             {strings_.begin(), strings_.end()}};
        return copy.image();
    }

private:
    struct Section {
        dof_section header{};
        std::vector<uint8_t> bytes;
    };

    std::vector<uint8_t> image() {
        dof_header header{};
        std::memcpy(header.ident, DOF_MAGIC_BYTES, 4);
        header.ident[DOF_ID_MODEL] = DOF_MODEL_LP64;
        header.ident[DOF_ID_ENCODING] = DOF_ENCODE_LSB;
        header.ident[DOF_ID_VERSION] = DOF_VERSION_2;
        header.ident[DOF_ID_DIFVERS] = DIF_VERSION;
        header.ident[DOF_ID_DIFIREG] = DIF_DIR_NREGS;
        header.ident[DOF_ID_DIFTREG] = DIF_DTR_NREGS;
        header.header_bytes = sizeof(dof_header);
        header.section_bytes = sizeof(dof_section);
        header.section_count = static_cast<uint32_t>(sections_.size());
        header.section_offset = sizeof(dof_header);
        uint64_t at = sizeof(dof_header) + sections_.size() * sizeof(dof_section);
        for (auto& s : sections_) {
            at = (at + 7) & ~uint64_t{7};
            s.header.offset = at;
            at += s.bytes.size();
        }
        header.load_bytes = header.file_bytes = at;
        std::vector<uint8_t> out(at);
        std::memcpy(out.data(), &header, sizeof(header));
        for (size_t i = 0; i < sections_.size(); i++) {
            std::memcpy(out.data() + sizeof(header) + i * sizeof(dof_section), &sections_[i].header,
                        sizeof(dof_section));
            if (!sections_[i].bytes.empty())
                std::memcpy(out.data() + sections_[i].header.offset, sections_[i].bytes.data(),
                            sections_[i].bytes.size());
        }
        return out;
    }

    std::vector<Section> sections_;
    std::vector<dof_optdesc> options_;
    std::string strings_{'\0'};
};

} // namespace daybreak::engine_test
