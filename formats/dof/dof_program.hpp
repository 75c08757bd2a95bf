// SPDX-License-Identifier: Apache-2.0
//
// DofProgram: what a DOF image says, free of sections and offsets.
//
// The compiler fills one and write_dof() makes bytes of it; parse_dof() makes one of untrusted
// bytes.  Objects refer to each other by index into the vectors of this struct:
//
//     ecbs[i] --predicate--> difos[j]
//        |----actions------> action_lists[k].actions[n] --difo--> difos[m]
//
// Several ECBs (the probe descriptions of one clause) may share an action list and a predicate.
#pragma once

#include "formats/abi/dof.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::formats {

/// A variable that a DIF object refers to.
struct DifVariable {
    std::string name;
    uint32_t id = 0;
    uint8_t kind = DIFV_KIND_SCALAR;
    uint8_t scope = DIFV_SCOPE_GLOBAL;
    uint16_t flags = 0; ///< DIFV_F_REF, DIFV_F_MOD
    dif_type type{};
};

/// An integer that becomes the address of a kernel symbol where the object is loaded.
struct DifSymbol {
    std::string name;     ///< "symbol" or "module`symbol"
    uint32_t integer = 0; ///< index in the integer table
    uint64_t addend = 0;
};

/// One compiled expression.  Its string table starts with a NUL byte unless it is empty.
struct Difo {
    dif_type type{};
    std::vector<uint32_t> text;
    std::vector<uint64_t> integers;
    std::string strings;
    std::vector<DifVariable> variables;
    std::vector<DifSymbol> symbols;
    uint32_t section = 0; ///< of its DIFOHDR; set by parse_dof() and write_dof()

    /// Returns the NUL-terminated string at `offset` of the string table, or "" when there is none.
    std::string string_at(uint32_t offset) const;
    /// Returns the name of a variable of this object, or "" when its table does not list it.
    std::string variable_name(uint32_t id, uint8_t scope) const;
};

struct DofAction {
    std::optional<size_t> difo;
    uint32_t kind = DTRACEACT_NONE;
    uint32_t tuple_count = 0;
    uint64_t arg = 0;                ///< unused when there is text
    std::optional<std::string> text; ///< a format string, or the name of a file
    uint64_t uarg = 0;               ///< number of the D statement in its clause, from 1
};

struct DofActionList {
    std::vector<DofAction> actions;
    uint32_t section = 0; ///< of its ACTDESC; set by parse_dof() and write_dof()
};

struct DofProbeName {
    std::string provider, module, function, name;
    uint32_t id = 0;

    /// Returns "provider:module:function:name".
    std::string text() const;
};

struct DofEcb {
    DofProbeName probe;
    std::optional<size_t> predicate;
    std::optional<size_t> actions;
    uint64_t uarg = 0;
    uint32_t section = 0; ///< of its ECBDESC; set by parse_dof() and write_dof()
};

struct DofOption {
    uint32_t option = 0;
    uint64_t value = 0;
    std::optional<std::string> text;
};

/// A relocation of the image that is not a DIF object's; Daybreak's compiler makes none.
struct DofRelocation {
    std::string name;
    uint32_t type = 0;
    uint64_t offset = 0;
    uint64_t data = 0;
    uint32_t target_section = 0;
    bool user = false;
};

/// From this instruction on, until the next entry of the same object, the text came from here.
struct DofLine {
    size_t difo = 0;
    uint32_t instruction = 0;
    std::string file;
    uint32_t line = 0;
    uint32_t column = 0;
};

/// The D text that a recorded value stands for.
struct DofCapture {
    size_t action_list = 0;
    uint32_t action = 0;
    std::string expression;
    std::string type;
};

/// What the program was compiled for, and by what.
struct DofTarget {
    std::string release; ///< uname -r; empty: any kernel
    std::string compiler;
    uint32_t dialect = DBK_DOF_DIALECT_ORACLE;
    bool typed = false; ///< uses that kernel's types: must not run on another
    std::array<uint8_t, 16> btf_id{};
    std::string main_file;
    uint32_t target_pid = 0; ///< $target; 0: there was none
};

/// A probe in a file that programs map as code: struct dbk_dof_place.
struct DofPlace {
    DofProbeName probe;
    std::string path;
    std::string operands;
    uint32_t kind = DBK_PLACE_ENTRY;
    uint32_t pid = 0;
    uint64_t offset = 0, function_at = 0, semaphore = 0, build_id_at = 0;
    std::vector<uint8_t> build_id; ///< at most DBK_PLACE_BUILD_ID_MAX bytes
};

struct DofProgram {
    uint8_t dof_version = DOF_VERSION_2;
    uint8_t dif_version = DIF_VERSION;
    uint8_t integer_registers = DIF_DIR_NREGS;
    uint8_t tuple_registers = DIF_DTR_NREGS;
    std::vector<Difo> difos;
    std::vector<DofActionList> action_lists;
    std::vector<DofEcb> ecbs;
    std::vector<DofOption> options;
    std::vector<DofRelocation> relocations; ///< read only; write_dof() refuses them

    std::vector<DofLine> lines;
    std::vector<DofCapture> captures;
    std::optional<DofTarget> target;
    std::vector<std::string> aggregation_names; ///< [id - 1]
    std::vector<DofPlace> places;
    std::optional<std::string> source;

    /// Returns the name of an aggregation, "" when the image does not tell.
    std::string aggregation_name(uint64_t id) const;
};

/// Limits, of the format as every port has them and of what we are willing to read.
constexpr uint64_t kDofBytesMax = 8u << 20;
constexpr uint64_t kDifoBytesMax = 256u << 10;
constexpr size_t kEcbActionsMax = 16384;
constexpr size_t kDofSectionsMax = 65536;

} // namespace daybreak::formats
