// SPDX-License-Identifier: Apache-2.0
//
// The disassembler: everything it knows of an instruction comes from the list in dif.h.
#include "formats/dof/dof_printer.hpp"

#include <cctype>
#include <cinttypes>

namespace daybreak::formats {

using base::strprintf;

namespace {

struct OpInfo {
    const char* mnemonic;
    dif_form form;
};

const OpInfo* op_info(uint32_t op) {
    static const OpInfo infos[] = {{"", DIF_FORM_NONE},
#define DBK_OP_INFO(name, op, mnemonic, form) {mnemonic, form},
                                   DBK_DIF_OPS(DBK_OP_INFO)
#undef DBK_OP_INFO
    };
    return op == 0 || op >= std::size(infos) ? nullptr : &infos[op];
}

const char* subroutine_name(uint32_t subroutine) {
    switch (subroutine) {
#define DBK_SUBR_NAME(name, id, text)                                                              \
    case id:                                                                                       \
        return text;
        DBK_DIF_SUBRS(DBK_SUBR_NAME)
#undef DBK_SUBR_NAME
    default:
        return "unknown subroutine";
    }
}

uint8_t variable_scope(uint32_t op) {
    switch (op) {
    case DIF_OP_LDTA:
    case DIF_OP_LDTS:
    case DIF_OP_STTS:
    case DIF_OP_LDTAA:
    case DIF_OP_STTAA:
        return DIFV_SCOPE_THREAD;
    case DIF_OP_LDLS:
    case DIF_OP_STLS:
        return DIFV_SCOPE_LOCAL;
    default:
        return DIFV_SCOPE_GLOBAL;
    }
}

std::string variable_remark(const Difo& difo, uint32_t op, uint32_t id) {
    uint8_t scope = variable_scope(op);
    std::string name = difo.variable_name(id, scope);
    if (name.empty() && scope == DIFV_SCOPE_GLOBAL)
        name = builtin_name(id);
    if (name.empty())
        return "";
    const char* prefix = scope == DIFV_SCOPE_THREAD  ? "self->"
                         : scope == DIFV_SCOPE_LOCAL ? "this->"
                                                     : "";
    return std::string(prefix) + name;
}

std::string with_remark(std::string text, const std::string& remark) {
    if (remark.empty())
        return text;
    return strprintf("%-32s ! %s", text.c_str(), remark.c_str());
}

std::string print_indexed(const Difo& difo, uint32_t i, const OpInfo& info) {
    uint32_t op = DIF_INSTR_OP(i), index = DIF_INSTR_VAR(i), rd = DIF_INSTR_RD(i);
    switch (info.form) {
    case DIF_FORM_INT_RD: {
        std::string remark = index < difo.integers.size()
                                 ? strprintf("0x%" PRIx64, difo.integers[index])
                                 : "outside the integer table";
        for (const DifSymbol& symbol : difo.symbols)
            if (symbol.integer == index)
                remark = symbol.addend == 0
                             ? "&" + symbol.name
                             : strprintf("&%s + 0x%" PRIx64, symbol.name.c_str(), symbol.addend);
        return with_remark(strprintf("%-7s DT_INTEGER[%u], %%r%u", info.mnemonic, index, rd),
                           remark);
    }
    case DIF_FORM_STR_RD: {
        std::string remark =
            index < difo.strings.size() ? quote(difo.string_at(index)) : "outside the string table";
        return with_remark(strprintf("%-7s DT_STRING[%u], %%r%u", info.mnemonic, index, rd),
                           remark);
    }
    case DIF_FORM_VAR_RD:
        return with_remark(strprintf("%-7s DT_VAR(%u), %%r%u", info.mnemonic, index, rd),
                           variable_remark(difo, op, index));
    case DIF_FORM_VAR_RS:
        return with_remark(strprintf("%-7s %%r%u, DT_VAR(%u)", info.mnemonic, rd, index),
                           variable_remark(difo, op, index));
    case DIF_FORM_VAR_RI_RD: {
        uint32_t array = DIF_INSTR_R1(i);
        return with_remark(
            strprintf("%-7s DT_VAR(%u), %%r%u, %%r%u", info.mnemonic, array, DIF_INSTR_R2(i), rd),
            variable_remark(difo, op, array));
    }
    case DIF_FORM_SUBR_RD:
        return with_remark(strprintf("%-7s DIF_SUBR(%u), %%r%u", info.mnemonic, index, rd),
                           subroutine_name(index));
    case DIF_FORM_XLREF_RD:
        return strprintf("%-7s DT_XLREF[%u], %%r%u", info.mnemonic, index, rd);
    default:
        return info.mnemonic;
    }
}

const char* ckind_name(uint8_t ckind) {
    static const char* const names[] = {"unknown",  "integer",  "float", "pointer", "array",
                                        "function", "struct",   "union", "enum",    "forward",
                                        "typedef",  "volatile", "const", "restrict"};
    return ckind < std::size(names) ? names[ckind] : "unknown";
}

std::string print_variable(const DifVariable& variable) {
    const char* kind = variable.kind == DIFV_KIND_ARRAY    ? "arr"
                       : variable.kind == DIFV_KIND_SCALAR ? "scl"
                                                           : "???";
    const char* scope = variable.scope == DIFV_SCOPE_GLOBAL   ? "glb"
                        : variable.scope == DIFV_SCOPE_THREAD ? "tls"
                        : variable.scope == DIFV_SCOPE_LOCAL  ? "loc"
                                                              : "???";
    std::string flags;
    if (variable.flags & DIFV_F_REF)
        flags += "r";
    if (variable.flags & DIFV_F_MOD)
        flags += flags.empty() ? "w" : "/w";
    return strprintf("%-16s %-4x %-3s %-3s %-4s %s\n", variable.name.c_str(), variable.id, kind,
                     scope, flags.c_str(), print_dif_type(variable.type).c_str());
}

} // namespace

const char* builtin_name(uint32_t id) {
    switch (id) {
#define DBK_VAR_NAME(name, id, text)                                                               \
    case id:                                                                                       \
        return text;
        DBK_DIF_VARS(DBK_VAR_NAME)
#undef DBK_VAR_NAME
    default:
        return "";
    }
}

std::string quote(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
        switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\t':
            out += "\\t";
            break;
        case '\r':
            out += "\\r";
            break;
        default:
            if (std::isprint(static_cast<unsigned char>(c)))
                out += c;
            else
                out += strprintf("\\%03o", static_cast<unsigned char>(c));
        }
    }
    return out + "\"";
}

std::string print_dif_type(const dif_type& type) {
    std::string kind = type.kind == DIF_TYPE_CTF      ? "D type"
                       : type.kind == DIF_TYPE_STRING ? "string"
                                                      : strprintf("type %u", type.kind);
    return strprintf("%s (%s%s)%s (size %u)", kind.c_str(),
                     type.ckind & DIF_CK_SIGNED ? "signed " : "",
                     ckind_name(type.ckind & ~DIF_CK_SIGNED),
                     type.flags & DIF_TF_BYREF ? " by ref" : "", type.size);
}

std::string print_instruction(const Difo& difo, uint32_t i) {
    const OpInfo* info = op_info(DIF_INSTR_OP(i));
    if (!info)
        return strprintf("??? (opcode 0x%02x)", DIF_INSTR_OP(i));
    const char* name = info->mnemonic;
    uint32_t r1 = DIF_INSTR_R1(i), r2 = DIF_INSTR_R2(i), rd = DIF_INSTR_RD(i);
    switch (info->form) {
    case DIF_FORM_NONE:
        return name;
    case DIF_FORM_RD:
        return strprintf("%-7s %%r%u", name, rd);
    case DIF_FORM_R1:
        return strprintf("%-7s %%r%u", name, r1);
    case DIF_FORM_R1_RD:
        return strprintf("%-7s %%r%u, %%r%u", name, r1, rd);
    case DIF_FORM_R1_R2:
        return strprintf("%-7s %%r%u, %%r%u", name, r1, r2);
    case DIF_FORM_R1_R2_RD:
    case DIF_FORM_R1_R2_RS:
        return strprintf("%-7s %%r%u, %%r%u, %%r%u", name, r1, r2, rd);
    case DIF_FORM_LABEL:
        return strprintf("%-7s %u", name, DIF_INSTR_LABEL(i));
    case DIF_FORM_LOAD:
        return strprintf("%-7s [%%r%u], %%r%u", name, r1, rd);
    case DIF_FORM_STORE:
        return strprintf("%-7s %%r%u, [%%r%u]", name, r1, rd);
    case DIF_FORM_PUSH:
        return with_remark(strprintf("%-7s DT_TYPE(%u), %%r%u, %%r%u", name, r1, rd, r2),
                           r1 == DIF_TYPE_STRING ? "string"
                           : r1 == DIF_TYPE_CTF  ? "D type"
                                                 : "");
    default:
        return print_indexed(difo, i, *info);
    }
}

std::string print_difo(const Difo& difo) {
    std::string out = strprintf("%-3s %-4s %-8s    %s\n", "INS", "OFF", "OPCODE", "INSTRUCTION");
    for (size_t i = 0; i < difo.text.size(); i++)
        out += strprintf("%03zu %03zu: %08x    %s\n", i, i * sizeof(uint32_t), difo.text[i],
                         print_instruction(difo, difo.text[i]).c_str());
    if (difo.variables.empty())
        return out;
    out +=
        strprintf("\n%-16s %-4s %-3s %-3s %-4s %s\n", "NAME", "ID", "KND", "SCP", "FLAG", "TYPE");
    for (const DifVariable& variable : difo.variables)
        out += print_variable(variable);
    return out;
}

} // namespace daybreak::formats
