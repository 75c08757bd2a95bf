// SPDX-License-Identifier: Apache-2.0
#include "compiler/sema/builtins.hpp"

#include "formats/abi/dof.h"

namespace daybreak::compiler {

const std::vector<BuiltinVariable>& builtin_variables() {
    static const std::vector<BuiltinVariable> variables = {
        {"$target", kReplayVariable, "pid_t", false},
        {"args", DIF_VAR_ARGS, "", true},
        {"uregs", DIF_VAR_UREGS, "uint64_t", true},
        {"arg0", DIF_VAR_ARG0, "int64_t", false},
        {"arg1", DIF_VAR_ARG1, "int64_t", false},
        {"arg2", DIF_VAR_ARG2, "int64_t", false},
        {"arg3", DIF_VAR_ARG3, "int64_t", false},
        {"arg4", DIF_VAR_ARG4, "int64_t", false},
        {"arg5", DIF_VAR_ARG5, "int64_t", false},
        {"arg6", DIF_VAR_ARG6, "int64_t", false},
        {"arg7", DIF_VAR_ARG7, "int64_t", false},
        {"arg8", DIF_VAR_ARG8, "int64_t", false},
        {"arg9", DIF_VAR_ARG9, "int64_t", false},
        {"bootid", kReplayVariable, "string", false},
        {"caller", DIF_VAR_CALLER, "uintptr_t", false},
        {"cpu", DIF_VAR_CPU, "int", false},
        {"curcpu", DIF_VAR_CURCPU, "cpuinfo", false},
        {"curthread", DIF_VAR_CURTHREAD, "task", false},
        {"epid", DIF_VAR_EPID, "uint_t", false},
        {"errno", DIF_VAR_ERRNO, "int", false},
        {"execname", DIF_VAR_EXECNAME, "string", false},
        {"gid", DIF_VAR_GID, "uint_t", false},
        {"id", DIF_VAR_ID, "uint_t", false},
        {"ipl", DIF_VAR_IPL, "uint_t", false},
        {"pid", DIF_VAR_PID, "pid_t", false},
        {"ppid", DIF_VAR_PPID, "pid_t", false},
        {"probefunc", DIF_VAR_PROBEFUNC, "string", false},
        {"probemod", DIF_VAR_PROBEMOD, "string", false},
        {"probename", DIF_VAR_PROBENAME, "string", false},
        {"probeprov", DIF_VAR_PROBEPROV, "string", false},
        {"stackdepth", DIF_VAR_STACKDEPTH, "uint32_t", false},
        {"tid", DIF_VAR_TID, "id_t", false},
        {"timestamp", DIF_VAR_TIMESTAMP, "uint64_t", false},
        {"ucaller", DIF_VAR_UCALLER, "uint64_t", false},
        {"uid", DIF_VAR_UID, "uint_t", false},
        {"ustackdepth", DIF_VAR_USTACKDEPTH, "uint32_t", false},
        {"vmname", kReplayVariable, "string", false},
        {"vtimestamp", DIF_VAR_VTIMESTAMP, "uint64_t", false},
        {"walltimestamp", DIF_VAR_WALLTIMESTAMP, "int64_t", false},
    };
    return variables;
}

namespace {

constexpr SubroutineParameter integer(std::string_view type, bool optional = false) {
    return {ParameterKind::integer, type, optional};
}
constexpr SubroutineParameter kAddress{ParameterKind::address, "uintptr_t"};
constexpr SubroutineParameter kPointer{ParameterKind::pointer, "void *"};
constexpr SubroutineParameter kString{ParameterKind::string, "string"};

const std::vector<Subroutine>& subroutines() {
    static const std::vector<Subroutine> list = {
        {"alloca", DIF_SUBR_ALLOCA, "void *", {integer("size_t")}},
        {"basename", DIF_SUBR_BASENAME, "string", {kString}},
        {"bcopy", DIF_SUBR_BCOPY, "void", {kPointer, kPointer, integer("size_t")}},
        {"cleanpath", DIF_SUBR_CLEANPATH, "string", {kString}},
        {"copyin", DIF_SUBR_COPYIN, "void *", {kAddress, integer("size_t")}},
        {"copyinargs",
         DIF_SUBR_COPYINARGS,
         "string",
         {kAddress, integer("size_t"), kString}},
        {"copyinstr", DIF_SUBR_COPYINSTR, "string", {kAddress, integer("size_t", true)}},
        {"copyinto", DIF_SUBR_COPYINTO, "void", {kAddress, integer("size_t"), kPointer}},
        {"copyout", DIF_SUBR_COPYOUT, "void", {kPointer, kAddress, integer("size_t")}},
        {"copyoutstr", DIF_SUBR_COPYOUTSTR, "void", {kString, kAddress, integer("size_t")}},
        {"d_path", DIF_SUBR_D_PATH, "string", {kPointer}},
        {"dirname", DIF_SUBR_DIRNAME, "string", {kString}},
        {"getmajor", DIF_SUBR_GETMAJOR, "uint_t", {integer("uint64_t")}},
        {"getminor", DIF_SUBR_GETMINOR, "uint_t", {integer("uint64_t")}},
        {"htonl", DIF_SUBR_HTONL, "uint32_t", {integer("uint32_t")}},
        {"htonll", DIF_SUBR_HTONLL, "uint64_t", {integer("uint64_t")}},
        {"htons", DIF_SUBR_HTONS, "uint16_t", {integer("uint16_t")}},
        {"index", DIF_SUBR_INDEX, "int", {kString, kString, integer("int", true)}},
        {"inet_ntoa", DIF_SUBR_INET_NTOA, "string", {kPointer}},
        {"inet_ntoa6", DIF_SUBR_INET_NTOA6, "string", {kPointer}},
        {"inet_ntop", DIF_SUBR_INET_NTOP, "string", {integer("int"), kPointer}},
        {"link_ntop", DIF_SUBR_LINK_NTOP, "string", {integer("int"), kPointer}},
        {"lltostr", DIF_SUBR_LLTOSTR, "string", {integer("int64_t"), integer("int", true)}},
        {"mutex_owned", DIF_SUBR_MUTEX_OWNED, "int", {kPointer}},
        {"mutex_owner", DIF_SUBR_MUTEX_OWNER, "task", {kPointer}},
        {"mutex_type_adaptive", DIF_SUBR_MUTEX_TYPE_ADAPTIVE, "int", {kPointer}},
        {"mutex_type_spin", DIF_SUBR_MUTEX_TYPE_SPIN, "int", {kPointer}},
        {"ntohl", DIF_SUBR_NTOHL, "uint32_t", {integer("uint32_t")}},
        {"ntohll", DIF_SUBR_NTOHLL, "uint64_t", {integer("uint64_t")}},
        {"ntohs", DIF_SUBR_NTOHS, "uint16_t", {integer("uint16_t")}},
        {"progenyof", DIF_SUBR_PROGENYOF, "int", {integer("pid_t")}},
        {"rand", DIF_SUBR_RAND, "int", {}},
        {"rindex", DIF_SUBR_RINDEX, "int", {kString, kString, integer("int", true)}},
        {"rw_iswriter", DIF_SUBR_RW_ISWRITER, "int", {kPointer}},
        {"rw_read_held", DIF_SUBR_RW_READ_HELD, "int", {kPointer}},
        {"rw_write_held", DIF_SUBR_RW_WRITE_HELD, "int", {kPointer}},
        {"speculation", DIF_SUBR_SPECULATION, "int", {}},
        {"strchr", DIF_SUBR_STRCHR, "string", {kString, integer("char")}},
        {"strjoin", DIF_SUBR_STRJOIN, "string", {kString, kString}},
        {"strlen", DIF_SUBR_STRLEN, "size_t", {kString}},
        {"strrchr", DIF_SUBR_STRRCHR, "string", {kString, integer("char")}},
        {"strstr", DIF_SUBR_STRSTR, "string", {kString, kString}},
        {"strtok", DIF_SUBR_STRTOK, "string", {kString, kString}},
        {"strtoll", DIF_SUBR_STRTOLL, "int64_t", {kString, integer("int", true)}},
        {"substr", DIF_SUBR_SUBSTR, "string", {kString, integer("int"), integer("int", true)}},
        {"tolower", DIF_SUBR_TOLOWER, "string", {kString}},
        {"toupper", DIF_SUBR_TOUPPER, "string", {kString}},
    };
    return list;
}

struct NamedAction {
    std::string_view name;
    ActionName action;
};

constexpr NamedAction kActions[] = {
    {"breakpoint", ActionName::breakpoint},
    {"capture", ActionName::capture},
    {"chill", ActionName::chill},
    {"clear", ActionName::clear},
    {"commit", ActionName::commit},
    {"denormalize", ActionName::denormalize},
    {"discard", ActionName::discard},
    {"exit", ActionName::exit},
    {"freopen", ActionName::freopen},
    {"ftruncate", ActionName::ftruncate},
    {"func", ActionName::sym},
    {"immstack", ActionName::stack}, // a recording has the names of its kernel's symbols
    {"jstack", ActionName::jstack},
    {"mod", ActionName::mod},
    {"normalize", ActionName::normalize},
    {"panic", ActionName::panic},
    {"pcap", ActionName::pcap},
    {"print", ActionName::print},
    {"printa", ActionName::printa},
    {"printf", ActionName::printf},
    {"raise", ActionName::raise},
    {"setopt", ActionName::setopt},
    {"snapshot", ActionName::snapshot},
    {"speculate", ActionName::speculate},
    {"stack", ActionName::stack},
    {"stop", ActionName::stop},
    {"sym", ActionName::sym},
    {"system", ActionName::system},
    {"trace", ActionName::trace},
    {"tracemem", ActionName::tracemem},
    {"trunc", ActionName::trunc},
    {"uaddr", ActionName::uaddr},
    {"ufunc", ActionName::usym},
    {"umod", ActionName::umod},
    {"ustack", ActionName::ustack},
    {"usym", ActionName::usym},
};

} // namespace

const Subroutine* find_subroutine(std::string_view name) {
    for (const Subroutine& subroutine : subroutines())
        if (subroutine.name == name)
            return &subroutine;
    return nullptr;
}

bool find_action(std::string_view name, ActionName& action) {
    for (const NamedAction& known : kActions)
        if (known.name == name) {
            action = known.action;
            return true;
        }
    return false;
}

ActionArity action_arity(ActionName action) {
    constexpr size_t kAny = 64;
    switch (action) {
    case ActionName::breakpoint:
    case ActionName::ftruncate:
    case ActionName::panic:
    case ActionName::stop:
        return {0, 0};
    case ActionName::capture:
        return {0, kAny};
    case ActionName::stack:
        return {0, 1};
    case ActionName::ustack:
    case ActionName::jstack:
        return {0, 2};
    case ActionName::normalize:
        return {2, 2};
    case ActionName::trunc:
    case ActionName::setopt:
        return {1, 2};
    case ActionName::pcap:
        return {2, 2};
    case ActionName::tracemem:
        return {2, 3};
    case ActionName::freopen:
    case ActionName::printa:
    case ActionName::printf:
    case ActionName::system:
        return {1, kAny};
    default:
        return {1, 1};
    }
}

uint32_t find_aggregating(std::string_view name) {
#define DBK_AGG(published, kind, text, cells)                                                      \
    if (name == text)                                                                              \
        return kind;
    DBK_DTRACE_AGGS(DBK_AGG)
#undef DBK_AGG
    return 0;
}

std::string_view aggregating_name(uint32_t kind) {
    switch (kind) {
#define DBK_AGG(published, kind, text, cells)                                                      \
    case kind:                                                                                     \
        return text;
        DBK_DTRACE_AGGS(DBK_AGG)
#undef DBK_AGG
    default:
        return "?";
    }
}

std::string_view introduced_in(std::string_view name) {
    static constexpr struct {
        std::string_view name, version;
    } kLater[] = {
        {"index", "1.1"},     {"rindex", "1.1"},  {"strchr", "1.1"},       {"strrchr", "1.1"},
        {"strstr", "1.1"},    {"strtok", "1.1"},  {"substr", "1.1"},       {"ustackdepth", "1.2"},
        {"htons", "1.3"},     {"htonl", "1.3"},   {"htonll", "1.3"},       {"ntohs", "1.3"},
        {"ntohl", "1.3"},     {"ntohll", "1.3"},  {"inet_ntoa", "1.5"},    {"inet_ntoa6", "1.5"},
        {"inet_ntop", "1.5"}, {"stddev", "1.6"},  {"llquantize", "1.6.4"}, {"pcap", "1.6.4"},
        {"strtoll", "1.6.4"}, {"print", "1.6.4"},
    };
    for (const auto& later : kLater)
        if (later.name == name)
            return later.version;
    return "1.0";
}

std::vector<std::string> builtin_names() {
    std::vector<std::string> names;
    for (const BuiltinVariable& variable : builtin_variables())
        names.emplace_back(variable.name);
    for (const Subroutine& subroutine : subroutines())
        names.emplace_back(subroutine.name);
    for (const NamedAction& action : kActions)
        names.emplace_back(action.name);
#define DBK_AGG(published, kind, text, cells) names.emplace_back(text);
    DBK_DTRACE_AGGS(DBK_AGG)
#undef DBK_AGG
    return names;
}

} // namespace daybreak::compiler
