// SPDX-License-Identifier: Apache-2.0
//
// The names D knows by itself: built-in variables, subroutines, actions, aggregating functions.
#pragma once

#include "compiler/types/type.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace daybreak::compiler {

/// A built-in variable; its id is DIF's.
struct BuiltinVariable {
    std::string_view name;
    uint32_t id;
    std::string_view type; ///< C name, for TypeTable::find(); "task" is curthread's
    bool is_array;
};

const std::vector<BuiltinVariable>& builtin_variables();

/// Stands for a DIF id of what only a replay knows: it is a value of the replayed firing.
constexpr uint32_t kReplayVariable = UINT32_MAX;

/// What a parameter of a subroutine takes.
enum class ParameterKind : uint8_t {
    integer, ///< any integer, converted to the type
    address, ///< uintptr_t: an integer or a pointer
    pointer, ///< void *
    string,  ///< const char *: string, char *, char []
};

struct SubroutineParameter {
    ParameterKind kind;
    std::string_view type; ///< C name
    bool optional = false;
};

struct Subroutine {
    std::string_view name;
    uint32_t id;
    std::string_view result; ///< C name; "void"
    std::vector<SubroutineParameter> parameters;
};

/// Returns the subroutine of that name, or null.
const Subroutine* find_subroutine(std::string_view name);

enum class ActionName : uint8_t {
    breakpoint,
    capture,
    chill,
    clear,
    commit,
    denormalize,
    discard,
    exit,
    freopen,
    ftruncate,
    jstack,
    mod,
    normalize,
    panic,
    pcap,
    print,
    printa,
    printf,
    raise,
    setopt,
    snapshot,
    speculate,
    stack,
    stop,
    sym,
    system,
    trace,
    tracemem,
    trunc,
    uaddr,
    umod,
    ustack,
    usym,
};

/// Returns whether that is the name of an action, and which.
bool find_action(std::string_view name, ActionName& action);

/// How many arguments an action takes.
struct ActionArity {
    size_t least, most;
};
ActionArity action_arity(ActionName action);

/// Returns the DTRACEAGG_ kind of an aggregating function, 0 when it is none.
uint32_t find_aggregating(std::string_view name);
/// Returns "sum" for DTRACEAGG_SUM.
std::string_view aggregating_name(uint32_t kind);

/// Returns the version of D that a built-in name came with: "1.0", "1.6.4".
std::string_view introduced_in(std::string_view name);

/// Every name above, for suggestions.
std::vector<std::string> builtin_names();

} // namespace daybreak::compiler
