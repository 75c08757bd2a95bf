// SPDX-License-Identifier: Apache-2.0
//
// The printer of images: header, sections, ECBs with their actions.
#include "formats/dof/dof_printer.hpp"

#include <cinttypes>
#include <cstring>

namespace daybreak::formats {

using base::strprintf;

namespace {

const char* named_kind(uint32_t kind) {
    switch (kind) {
#define DBK_ACTION_NAME(name, kind)                                                                \
    case kind:                                                                                     \
        return #name;
        DBK_DTRACE_ACTIONS(DBK_ACTION_NAME)
#undef DBK_ACTION_NAME
    case DBK_ACT_SNAPSHOT:
        return "DBK_ACT_SNAPSHOT";
    case DBK_ACT_CAPTURE:
        return "DBK_ACT_CAPTURE";
    case DBK_ACT_CAPTURE_STACK:
        return "DBK_ACT_CAPTURE_STACK";
    case DBK_ACT_CAPTURE_USTACK:
        return "DBK_ACT_CAPTURE_USTACK";
    default:
        return nullptr;
    }
}

const char* aggregation_function(uint32_t kind) {
    switch (kind) {
#define DBK_AGG_NAME(name, kind, text, cells)                                                      \
    case kind:                                                                                     \
        return text;
        DBK_DTRACE_AGGS(DBK_AGG_NAME)
#undef DBK_AGG_NAME
    default:
        return nullptr;
    }
}

const char* library_action(uint64_t arg) {
    switch (arg - DT_ACT_BASE) {
#define DBK_LIBRARY_NAME(name, n, text)                                                            \
    case n:                                                                                        \
        return text;
        DBK_LIBRARY_ACTIONS(DBK_LIBRARY_NAME)
#undef DBK_LIBRARY_NAME
    default:
        return nullptr;
    }
}

std::string option_name(uint32_t option) {
    switch (option) {
#define DBK_OPTION_NAME(name, id, text)                                                            \
    case id:                                                                                       \
        return text;
        DBK_DTRACE_OPTIONS(DBK_OPTION_NAME)
#undef DBK_OPTION_NAME
    case DBK_OPT_AGGREGATE:
        return "aggregate";
    case DBK_OPT_SNAPSHOTRATE:
        return "snapshotrate";
    case DBK_OPT_SEGMENTSIZE:
        return "segmentsize";
    case DBK_OPT_TEMPORAL:
        return "temporal";
    case DBK_OPT_RINGTIME:
        return "ringtime";
    case DBK_OPT_RINGMAX:
        return "ringmax";
    case DBK_OPT_USTACKBYTES:
        return "ustackbytes";
    default:
        return strprintf("option 0x%x", option);
    }
}

std::string print_header(const DofImage& image) {
    const dof_header& header = image.header;
    const uint8_t* ident = header.ident;
    return strprintf("DOF version %u, DIF version %u, %u integer and %u tuple registers\n"
                     "%" PRIu64 " bytes, %" PRIu64 " of them loadable, %zu sections\n",
                     ident[DOF_ID_VERSION], ident[DOF_ID_DIFVERS], ident[DOF_ID_DIFIREG],
                     ident[DOF_ID_DIFTREG], header.file_bytes, header.load_bytes,
                     image.sections.size());
}

std::string print_sections(const DofImage& image) {
    std::string out = strprintf("\n%5s %-10s %5s %5s %5s %10s %10s\n", "SECT", "TYPE", "ALIGN",
                                "FLAGS", "ENTRY", "OFFSET", "BYTES");
    for (size_t i = 0; i < image.sections.size(); i++) {
        const dof_section& section = image.sections[i].header;
        out += strprintf("%5zu %-10s %5u %5s %5u %10" PRIu64 " %10" PRIu64 "\n", i,
                         image.sections[i].type_name().c_str(), section.align,
                         section.flags & DOF_SECF_LOAD ? "load" : "-", section.entry_bytes,
                         section.offset, section.bytes);
    }
    return out;
}

std::string print_target(const DofTarget& target) {
    std::string btf;
    for (uint8_t byte : target.btf_id)
        btf += strprintf("%02x", byte);
    std::string pid = target.target_pid != 0 ? strprintf("\n$target %u", target.target_pid) : "";
    return strprintf("\ncompiled from %s by %s\nfor %s%s, dialect %s\nBTF %s%s\n",
                     target.main_file.empty() ? "(unnamed)" : target.main_file.c_str(),
                     target.compiler.empty() ? "an unknown compiler" : target.compiler.c_str(),
                     target.release.empty() ? "any kernel" : target.release.c_str(),
                     target.typed ? " only (uses its types)" : "",
                     target.dialect == DBK_DOF_DIALECT_ORACLE
                         ? "oracle"
                         : strprintf("%u", target.dialect).c_str(),
                     btf.c_str(), pid.c_str());
}

std::string print_options(const DofProgram& program) {
    if (program.options.empty())
        return "";
    std::string out = "\nOPTIONS\n";
    for (const DofOption& option : program.options) {
        std::string value = option.text                       ? quote(*option.text)
                            : option.value == DTRACEOPT_UNSET ? "unset"
                                                              : strprintf("%" PRIu64, option.value);
        out += strprintf("  %s=%s\n", option_name(option.option).c_str(), value.c_str());
    }
    return out;
}

/// Returns " arg 0x..." with what it means, or nothing when there is no argument.
std::string print_argument(const DofAction& action) {
    if (action.text)
        return ", string " + quote(*action.text);
    if (action.kind == DTRACEAGG_LQUANTIZE)
        return strprintf(", base %d, levels %u, step %u", DTRACE_LQUANTIZE_BASE(action.arg),
                         DTRACE_LQUANTIZE_LEVELS(action.arg), DTRACE_LQUANTIZE_STEP(action.arg));
    if (action.kind == DTRACEAGG_LLQUANTIZE)
        return strprintf(", factor %u, magnitudes %u to %u, steps %u",
                         static_cast<unsigned>(action.arg & 0xffff),
                         static_cast<unsigned>((action.arg >> 16) & 0xffff),
                         static_cast<unsigned>((action.arg >> 32) & 0xffff),
                         static_cast<unsigned>(action.arg >> 48));
    return action.arg == 0 || action.kind == DTRACEACT_LIBACT
               ? ""
               : strprintf(", arg 0x%" PRIx64, action.arg);
}

const DofCapture* capture_of(const DofProgram& program, size_t list, size_t action) {
    for (const DofCapture& capture : program.captures)
        if (capture.action_list == list && capture.action == action)
            return &capture;
    return nullptr;
}

std::string print_action(const DofProgram& program, size_t list, size_t index) {
    const DofAction& action = program.action_lists[list].actions[index];
    std::string out = strprintf("  action %zu: %s, statement %" PRIu64, index,
                                print_action_kind(action).c_str(), action.uarg);
    if (DTRACEACT_IS_AGG(action.kind))
        out += strprintf(", tuple of %u", action.tuple_count);
    out += print_argument(action);
    if (const DofCapture* capture = capture_of(program, list, index))
        out += strprintf(": %s (%s)", capture->expression.c_str(), capture->type.c_str());
    out += "\n";
    if (action.difo) {
        const Difo& difo = program.difos[*action.difo];
        out +=
            strprintf("DIFO 0x%zx returns %s\n", *action.difo, print_dif_type(difo.type).c_str());
        out += print_difo(difo);
    }
    return out;
}

} // namespace

std::string print_action_kind(const DofAction& action) {
    if (const char* name = aggregation_function(action.kind))
        return name;
    if (action.kind == DTRACEACT_LIBACT)
        if (const char* name = library_action(action.arg))
            return name;
    const char* published = named_kind(action.kind);
    if (!published)
        return strprintf("action 0x%x", action.kind);
    std::string name(std::strchr(published, '_') + 1);
    if (name.starts_with("ACT_"))
        name.erase(0, 4);
    for (char& c : name)
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return name;
}

std::string print_ecbs(const DofProgram& program) {
    std::string out;
    for (const DofEcb& ecb : program.ecbs) {
        out += strprintf("\nDisassembly of %s\n", ecb.probe.text().c_str());
        if (ecb.predicate) {
            const Difo& difo = program.difos[*ecb.predicate];
            out += strprintf("  predicate\nDIFO 0x%zx returns %s\n", *ecb.predicate,
                             print_dif_type(difo.type).c_str());
            out += print_difo(difo);
        }
        if (!ecb.actions)
            continue;
        const DofActionList& list = program.action_lists[*ecb.actions];
        for (size_t i = 0; i < list.actions.size(); i++)
            out += print_action(program, *ecb.actions, i);
    }
    return out;
}

std::string print_dof(const DofImage& image) {
    std::string out = print_header(image) + print_sections(image);
    if (image.program.target)
        out += print_target(*image.program.target);
    out += print_options(image.program);
    if (!image.program.aggregation_names.empty()) {
        out += "\nAGGREGATIONS\n";
        for (size_t i = 0; i < image.program.aggregation_names.size(); i++)
            out += strprintf("  %zu @%s\n", i + 1, image.program.aggregation_names[i].c_str());
    }
    return out + print_ecbs(image.program);
}

} // namespace daybreak::formats
