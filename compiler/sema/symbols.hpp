// SPDX-License-Identifier: Apache-2.0
//
// The identifiers of a program: variables of three scopes, aggregations, inlines.
//
// One table lives through a whole compilation, in the order of the text: a variable gets its id and
// type where it is declared or first assigned, and keeps them.
#pragma once

#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/sema/builtins.hpp"
#include "compiler/sema/ir.hpp"
#include "compiler/syntax/ast_types.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace daybreak::compiler {

/// An aggregation: its function and keys are those of its first use that says them.
struct AggregationInfo {
    std::string name; ///< without the @
    uint32_t id = 0;  ///< from 1
    Span first_use;
    uint32_t kind = 0; ///< DTRACEAGG_, 0: only named so far
    uint64_t arg = 0;  ///< parameters of the quantize kinds
    bool has_keys_known = false;
    /// Every clause so far that aggregates in it is left out: of its keys only the number is known.
    bool has_open_keys = false;
    bool is_read = false; ///< by printa() and what changes it
    std::vector<TypeId> keys;
    std::vector<bool> stack_keys; ///< [i]: the key is stack() or ustack()
};

/// inline TYPE name = value; with parameters: inline TYPE name[T a, ...] = value;
struct InlineInfo {
    std::string name;
    TypeId type = TypeId::none;
    std::vector<TypeParameter> parameters;
    const Expr* value = nullptr; ///< of the program; null: `constant`
    std::optional<int64_t> constant;
    bool is_library = false; ///< defined in the system's library
    /// A name that other ports do not have, so programs have variables of it: theirs wins.
    bool yields = false;
};

/// translator OUTPUT < INPUT name > { member = value; ... };
struct TranslatorInfo {
    TypeId output = TypeId::none;      ///< the struct or union, typedefs looked through
    TypeId output_name = TypeId::none; ///< as it was written
    std::vector<TypeParameter> input;  ///< always one
    struct Member {
        std::string name;
        Span span;
        const Expr* value; ///< of the program
    };
    std::vector<Member> members; ///< as written; of two of one name the first counts
    uint32_t end_line = 0;       ///< of the closing brace, which messages name
    bool is_library = false;     ///< declared in the system's library
};

/// One argument of a declared probe: which of the probe's own it is made of, and what of.
struct ProbeArgument {
    TypeId type = TypeId::none;   ///< what args[] has
    TypeId native = TypeId::none; ///< what the probe has
    size_t word = 0;              ///< arg0, arg1, ...
};

/// provider name { probe name(types) : (types); ... };
struct ProviderInfo {
    std::string name;
    struct Probe {
        std::vector<TypeParameter> native;
        std::vector<ProbeArgument> arguments;
    };
    std::map<std::string, Probe, std::less<>> probes; ///< by name, "__" as "-"
};

/// Returns where a variable of D of that scope is.
constexpr VariableStorage storage_of(VariableScope scope) {
    return scope == VariableScope::thread   ? VariableStorage::thread
           : scope == VariableScope::clause ? VariableStorage::clause
                                            : VariableStorage::global;
}

class SymbolTable {
public:
    explicit SymbolTable(TypeTable& types);

    /// Returns the variable, or null when it is neither built in, declared nor assigned yet.
    Variable* find(VariableStorage storage, std::string_view name);
    /// Makes a variable.  Null when the id space of its scope is full.
    Variable* add(VariableStorage storage, std::string_view name, TypeId type);

    AggregationInfo* find_aggregation(std::string_view name);
    AggregationInfo& add_aggregation(std::string_view name, const Span& span);
    /// Names by id - 1.
    std::vector<std::string> aggregation_names() const;

    /// Asks `load` to define an identifier when nothing of that name is known; whether it did.
    void set_library(std::function<bool(std::string_view)> load) { library_ = std::move(load); }

    /// Returns the inline of that name, or null: also when a variable has taken the name from it.
    const InlineInfo* find_inline(std::string_view name) const;
    /// Returns whether a variable may not have that name, as an inline does.
    bool is_taken_by_inline(std::string_view name) const {
        const InlineInfo* definition = find_inline(name);
        return definition && !definition->yields;
    }
    /// Returns what a name of global scope stands for, functions and actions included; nothing when
    /// it is free.
    std::optional<messages::IdentifierKind> global_kind(std::string_view name);
    void add_inline(InlineInfo definition);

    /// Returns the provider of that name, or null.
    ProviderInfo* find_provider(std::string_view name);
    ProviderInfo& add_provider(const std::string& name);

    /// Returns the translators, in the order of their declarations.
    const std::vector<std::unique_ptr<TranslatorInfo>>& translators() const { return translators_; }
    TranslatorInfo& add_translator(TranslatorInfo translator) {
        translators_.push_back(std::make_unique<TranslatorInfo>(std::move(translator)));
        return *translators_.back();
    }

    /// -x version: names that came with a later one do not exist.
    void set_version(uint32_t version) { version_ = version; }
    /// #pragma D binding: the version of D that a name came with.
    void set_introduced(const std::string& name, uint32_t version) { introduced_[name] = version; }
    /// Whether a name of global scope is newer than the version asked for.
    bool hides(std::string_view name) const;

    /// Enumerators of the program's own enums: names that no variable can have.
    void add_enumerator(const std::string& name) { enumerators_.insert(name); }
    bool is_enumerator(const std::string& name) const { return enumerators_.count(name) != 0; }

    /// Returns a known name much like this one, or "".
    std::string similar(VariableStorage storage, std::string_view name) const;

private:
    struct Key {
        VariableStorage storage;
        std::string name;
        auto operator<=>(const Key&) const = default;
    };
    std::map<Key, std::unique_ptr<Variable>> variables_;
    uint32_t next_id_[3];
    std::map<std::string, AggregationInfo, std::less<>> aggregations_;
    std::map<std::string, InlineInfo, std::less<>> inlines_;
    std::set<std::string> enumerators_;
    uint32_t version_ = UINT32_MAX;
    std::map<std::string, uint32_t, std::less<>> introduced_;
    std::vector<std::unique_ptr<TranslatorInfo>> translators_;
    std::map<std::string, ProviderInfo, std::less<>> providers_;
    std::function<bool(std::string_view)> library_;
};

} // namespace daybreak::compiler
