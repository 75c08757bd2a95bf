// SPDX-License-Identifier: Apache-2.0
//
// From one port's numbers to another's, by name.
#include "formats/dof/dialect.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace daybreak::formats {

namespace {

using base::ErrorCode;
using base::errorf;
using base::Result;

/// What differs from the common base.
struct Port {
    DofDialect dialect;
    const char* name;
    std::vector<const char*> subroutines; ///< from number 44
    uint64_t library_base;                ///< of library actions: the highest subroutine + 1
};

const Port& port_of(DofDialect dialect) {
    static const std::array<Port, 4> kPorts = {{
        {DofDialect::oracle, "oracle", {"d_path", "link_ntop"}, 46},
        {DofDialect::illumos, "illumos", {"toupper", "tolower", "getf", "json", "strtoll"}, 49},
        {DofDialect::freebsd,
         "freebsd",
         {"toupper", "tolower", "memref", "typeref", "sx_shared_held", "sx_exclusive_held",
          "sx_isexclusive", "memstr", "getf", "json", "strtoll"},
         55},
        {DofDialect::opendtrace,
         "opendtrace",
         {"toupper", "tolower", "memref", "sx_shared_held", "sx_exclusive_held", "sx_isexclusive",
          "memstr", "getf", "json", "strtoll"},
         54},
    }};
    return kPorts[static_cast<size_t>(dialect)];
}

constexpr uint32_t kSubroutineOwnMin = 44;
constexpr uint32_t kOptionOwnMin = 27;
/// tracemem() of a computed size: its second action.
constexpr uint32_t kActionTracememDynamic = 7;
/// In BSD 8 is printm() and 9 printt(); in Oracle 8 is print().
constexpr uint32_t kActionPrintm = 8, kActionPrintt = 9;
/// setopt, the last library action that all ports number alike.
constexpr uint64_t kLibraryCommonMax = DT_ACT_SETOPT;

std::optional<uint32_t> subroutine_named(std::string_view name) {
#define DBK_SUBROUTINE_NAMED(constant, id, text)                                                   \
    if (name == (text))                                                                            \
        return id;
    DBK_DIF_SUBRS(DBK_SUBROUTINE_NAMED)
#undef DBK_SUBROUTINE_NAMED
    return std::nullopt;
}

Result<uint32_t> translate_subroutine(const Port& port, uint32_t number) {
    if (number < kSubroutineOwnMin ||
        (port.dialect == DofDialect::oracle && number <= DIF_SUBR_MAX))
        return number;
    if (number - kSubroutineOwnMin >= port.subroutines.size())
        return errorf(ErrorCode::unsupported, "subroutine %u does not exist in dialect %s", number,
                      port.name);
    const char* name = port.subroutines[number - kSubroutineOwnMin];
    if (auto own = subroutine_named(name))
        return *own;
    return errorf(ErrorCode::unsupported, "uses %s(), which Daybreak does not have", name);
}

/// Variables beyond those that all ports share; 0x121 and 0x200 mean something else elsewhere.
Result<void> check_variable(const Port& port, uint32_t id) {
    if (id < DIF_VAR_OTHER_MIN || id >= DIF_VAR_OTHER_UBASE || id < DIF_VAR_CURCPU)
        return {};
    if (port.dialect == DofDialect::oracle || id == DIF_VAR_CPU)
        return {};
    static const std::map<uint32_t, const char*> kNames = {
        {0x121, "execargs"}, {0x122, "jid"}, {0x123, "jailname"}};
    auto known = kNames.find(id);
    return errorf(ErrorCode::unsupported,
                  "uses the variable %s (0x%x), which Daybreak does not have",
                  known == kNames.end() ? "?" : known->second, id);
}

Result<void> translate_difo(const Port& port, Difo& difo) {
    for (uint32_t& instruction : difo.text) {
        uint32_t op = DIF_INSTR_OP(instruction);
        if (op == DIF_OP_CALL) {
            DBK_TRY(uint32_t subroutine, translate_subroutine(port, DIF_INSTR_SUBR(instruction)));
            instruction = DIF_INSTR_INDEX(op, subroutine, DIF_INSTR_RD(instruction));
        } else if (op == DIF_OP_LDGS) {
            DBK_TRY_VOID(check_variable(port, DIF_INSTR_VAR(instruction)));
        }
    }
    // illumos and BSD know a second flag, for addresses of user space, which our loads tell apart.
    difo.type.flags &= DIF_TF_BYREF;
    for (DifVariable& variable : difo.variables)
        variable.type.flags &= DIF_TF_BYREF;
    return {};
}

/// factor<<48 | low<<32 | high<<16 | steps becomes steps<<48 | high<<32 | low<<16 | factor.
uint64_t translate_llquantize(uint64_t arg) {
    uint64_t factor = arg >> 48, low = arg >> 32 & 0xffff, high = arg >> 16 & 0xffff;
    uint64_t steps = arg & 0xffff;
    return steps << 48 | high << 32 | low << 16 | factor;
}

Result<void> translate_library(const Port& port, DofAction& action) {
    if (action.arg < port.library_base || action.arg - port.library_base > kLibraryCommonMax)
        return errorf(ErrorCode::unsupported,
                      "library action %llu does not exist in dialect %s, or not here",
                      static_cast<unsigned long long>(action.arg), port.name);
    action.arg = action.arg - port.library_base + DT_ACT_BASE;
    return {};
}

Result<void> translate_actions(const Port& port, DofActionList& list) {
    bool foreign = port.dialect != DofDialect::oracle;
    for (size_t i = 0; i < list.actions.size(); i++) {
        DofAction& action = list.actions[i];
        if (action.kind == DTRACEACT_LIBACT)
            DBK_TRY_VOID(translate_library(port, action));
        if (!foreign)
            continue;
        if (action.kind == DTRACEAGG_LLQUANTIZE) {
            action.arg = translate_llquantize(action.arg);
        } else if (action.kind == DTRACEACT_TRACEMEM) {
            bool dynamic =
                i + 1 < list.actions.size() && list.actions[i + 1].kind == kActionTracememDynamic;
            action.arg = dynamic ? 2 : 1;
        } else if (action.kind == kActionTracememDynamic) {
            action.kind = DTRACEACT_TRACEMEM;
            action.arg = 3;
        } else if (action.kind == kActionPrintm || action.kind == kActionPrintt) {
            return errorf(ErrorCode::unsupported,
                          "uses the action %s, which Daybreak does not have",
                          action.kind == kActionPrintm ? "printm()" : "printt()");
        }
    }
    return {};
}

/// Whether two neighbours belong to one statement although nothing numbers them.
bool continues(const DofAction& before, const DofAction& action) {
    if (action.kind == DTRACEACT_PRINTF || action.kind == DTRACEACT_PRINTA ||
        action.kind == DTRACEACT_SYSTEM || action.kind == DTRACEACT_FREOPEN)
        return before.kind == action.kind && before.text == action.text;
    if (action.kind == DTRACEACT_LIBACT)
        return before.kind == DTRACEACT_LIBACT && before.arg == action.arg;
    return action.kind == DTRACEACT_TRACEMEM && action.arg >= 3;
}

/// uarg is a pointer in other compilers: the same one for all actions of a statement, or 0.
void number_statements(DofActionList& list) {
    bool said = std::any_of(list.actions.begin(), list.actions.end(),
                            [](const DofAction& action) { return action.uarg != 0; });
    std::vector<uint64_t> numbers;
    for (size_t i = 0; i < list.actions.size(); i++) {
        const DofAction& action = list.actions[i];
        uint64_t last = numbers.empty() ? 0 : numbers.back();
        bool same = false;
        if (i != 0)
            same = said ? list.actions[i - 1].uarg == action.uarg
                        : continues(list.actions[i - 1], action);
        numbers.push_back(same ? last : last + 1);
        if (!said && DTRACEACT_IS_AGG(action.kind) && action.tuple_count <= i)
            for (size_t member = i - action.tuple_count; member < i; member++)
                numbers[member] = numbers[i];
    }
    for (size_t i = 0; i < numbers.size(); i++)
        list.actions[i].uarg = numbers[i];
}

/// arg1 to arg5 of dtrace:::ERROR, traced, as every port's consumer asks for.
void add_fault_clause(DofProgram& program) {
    DofActionList list;
    for (uint32_t id = DIF_VAR_ARG1; id <= DIF_VAR_ARG5; id++) {
        Difo difo;
        difo.type = {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, 8};
        difo.text = {DIF_INSTR_INDEX(DIF_OP_LDGS, id, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        DofAction action;
        action.difo = program.difos.size();
        action.kind = DTRACEACT_DIFEXPR;
        action.uarg = id - DIF_VAR_ARG0;
        program.difos.push_back(std::move(difo));
        list.actions.push_back(std::move(action));
    }
    DofEcb ecb;
    ecb.probe = {"dtrace", "", "", "ERROR", 0};
    ecb.actions = program.action_lists.size();
    ecb.uarg = 1;
    program.action_lists.push_back(std::move(list));
    program.ecbs.push_back(std::move(ecb));
}

} // namespace

std::optional<DofDialect> dof_dialect_named(std::string_view name) {
    for (DofDialect dialect :
         {DofDialect::oracle, DofDialect::illumos, DofDialect::freebsd, DofDialect::opendtrace})
        if (name == port_of(dialect).name)
            return dialect;
    return std::nullopt;
}

DofProgram join_programs(std::vector<DofProgram> parts) {
    DofProgram whole;
    for (DofProgram& part : parts) {
        size_t difos = whole.difos.size(), lists = whole.action_lists.size();
        for (DofActionList& list : part.action_lists)
            for (DofAction& action : list.actions)
                if (action.difo)
                    *action.difo += difos;
        for (DofEcb& ecb : part.ecbs) {
            if (ecb.predicate)
                *ecb.predicate += difos;
            if (ecb.actions)
                *ecb.actions += lists;
        }
        for (DofLine& line : part.lines)
            line.difo += difos;
        for (DofCapture& capture : part.captures)
            capture.action_list += lists;
        auto append = [](auto& to, auto& from) {
            std::move(from.begin(), from.end(), std::back_inserter(to));
        };
        append(whole.difos, part.difos);
        append(whole.action_lists, part.action_lists);
        append(whole.ecbs, part.ecbs);
        append(whole.options, part.options);
        append(whole.relocations, part.relocations);
        append(whole.lines, part.lines);
        append(whole.captures, part.captures);
        append(whole.places, part.places);
        append(whole.aggregation_names, part.aggregation_names);
        if (part.target && !whole.target)
            whole.target = std::move(part.target);
        if (part.source && !whole.source)
            whole.source = std::move(part.source);
        whole.integer_registers = std::max(whole.integer_registers, part.integer_registers);
        whole.tuple_registers = std::max(whole.tuple_registers, part.tuple_registers);
    }
    return whole;
}

Result<void> translate_program(DofProgram& program, DofDialect from) {
    const Port& port = port_of(from);
    for (Difo& difo : program.difos)
        DBK_TRY_VOID(translate_difo(port, difo));
    for (DofActionList& list : program.action_lists) {
        DBK_TRY_VOID(translate_actions(port, list));
        number_statements(list);
    }
    if (from != DofDialect::oracle)
        std::erase_if(program.options,
                      [](const DofOption& option) { return option.option >= kOptionOwnMin; });
    bool said = std::any_of(program.ecbs.begin(), program.ecbs.end(),
                            [](const DofEcb& ecb) { return ecb.uarg == 1; });
    if (!said && !program.ecbs.empty())
        add_fault_clause(program);
    program.dof_version = DOF_VERSION_2;
    program.dif_version = DIF_VERSION;
    return {};
}

} // namespace daybreak::formats
