// SPDX-License-Identifier: Apache-2.0
#include "compiler/sema/symbols.hpp"

#include "base/nearest_name.hpp"
#include "compiler/dlib/constants.hpp"
#include "compiler/dlib/libraries.hpp"
#include "compiler/syntax/attributes.hpp"
#include "formats/abi/dif.h"

#include <algorithm>

namespace daybreak::compiler {

std::string Variable::text() const {
    switch (storage) {
    case VariableStorage::thread:
        return "self->" + name;
    case VariableStorage::clause:
        return "this->" + name;
    default:
        return name;
    }
}

SymbolTable::SymbolTable(TypeTable& types)
    : next_id_{DIF_VAR_OTHER_UBASE, DIF_VAR_OTHER_UBASE, DIF_VAR_OTHER_UBASE} {
    for (const BuiltinVariable& builtin : builtin_variables()) {
        auto variable = std::make_unique<Variable>();
        variable->name = builtin.name;
        variable->id = builtin.id;
        variable->builtin = true;
        variable->is_array = builtin.is_array;
        // Declared, not looked up: only a program that looks into it is bound to a kernel.
        variable->type = builtin.type == "task"
                             ? types.pointer_to(types.declare_tag(TagKind::struct_, "task_struct"))
                         : builtin.type == "cpuinfo"
                             ? types.pointer_to(types.declare_tag(TagKind::struct_, "cpuinfo"))
                         : builtin.type.empty() ? types.dynamic_type()
                                                : types.find(builtin.type);
        Key key{VariableStorage::global, std::string(builtin.name)};
        variables_[std::move(key)] = std::move(variable);
    }
    for (const LibraryConstant& constant : library_constants())
        add_inline({std::string(constant.name), types.int_type(), {}, nullptr, constant.value});
}

Variable* SymbolTable::find(VariableStorage storage, std::string_view name) {
    auto found = variables_.find(Key{storage, std::string(name)});
    if (found == variables_.end())
        return nullptr;
    // What it points to is the library's; only a program that names it pays for that.
    if (found->second->builtin && name == "curcpu" && library_)
        library_("cpuinfo_t");
    return found->second.get();
}

Variable* SymbolTable::add(VariableStorage storage, std::string_view name, TypeId type) {
    uint32_t& next = next_id_[static_cast<size_t>(storage)];
    if (next > DIF_VAR_OTHER_MAX)
        return nullptr;
    auto variable = std::make_unique<Variable>();
    variable->storage = storage;
    variable->name = name;
    variable->id = next++;
    variable->type = type;
    Variable* added = variable.get();
    variables_[Key{storage, std::string(name)}] = std::move(variable);
    return added;
}

bool SymbolTable::hides(std::string_view name) const {
    if (version_ == UINT32_MAX)
        return false;
    auto bound = introduced_.find(name);
    uint32_t since =
        bound != introduced_.end() ? bound->second : parse_version(introduced_in(name)).value_or(0);
    return since > version_;
}

std::optional<messages::IdentifierKind> SymbolTable::global_kind(std::string_view name) {
    using messages::IdentifierKind;
    ActionName action;
    if (const Variable* variable = find(VariableStorage::global, name))
        return variable->is_array ? IdentifierKind::array : IdentifierKind::scalar;
    if (const InlineInfo* definition = find_inline(name))
        return definition->parameters.empty() ? IdentifierKind::scalar : IdentifierKind::array;
    if (find_subroutine(name))
        return IdentifierKind::function;
    if (find_action(name, action))
        return IdentifierKind::action;
    if (find_aggregating(name))
        return IdentifierKind::aggregating;
    return std::nullopt;
}

AggregationInfo* SymbolTable::find_aggregation(std::string_view name) {
    auto found = aggregations_.find(name);
    return found == aggregations_.end() ? nullptr : &found->second;
}

AggregationInfo& SymbolTable::add_aggregation(std::string_view name, const Span& span) {
    AggregationInfo info;
    info.name = name;
    info.id = static_cast<uint32_t>(aggregations_.size() + 1);
    info.first_use = span;
    return aggregations_[std::string(name)] = std::move(info);
}

std::vector<std::string> SymbolTable::aggregation_names() const {
    std::vector<std::string> names(aggregations_.size());
    for (const auto& [name, info] : aggregations_)
        names[info.id - 1] = name;
    return names;
}

const InlineInfo* SymbolTable::find_inline(std::string_view name) const {
    auto found = inlines_.find(name);
    if (found == inlines_.end() && library_ && library_(name))
        found = inlines_.find(name);
    if (found == inlines_.end() ||
        (found->second.yields &&
         variables_.count(Key{VariableStorage::global, std::string(name)}) != 0))
        return nullptr;
    return &found->second;
}

ProviderInfo* SymbolTable::find_provider(std::string_view name) {
    auto found = providers_.find(name);
    if (found == providers_.end() && library_ && library_(name))
        found = providers_.find(name);
    return found == providers_.end() ? nullptr : &found->second;
}

ProviderInfo& SymbolTable::add_provider(const std::string& name) {
    ProviderInfo& added = providers_[name];
    added.name = name;
    return added;
}

void SymbolTable::add_inline(InlineInfo definition) {
    std::string name = definition.name;
    inlines_[std::move(name)] = std::move(definition);
}

std::string SymbolTable::similar(VariableStorage storage, std::string_view name) const {
    std::vector<std::string> candidates;
    for (const auto& [key, variable] : variables_)
        if (key.storage == storage)
            candidates.push_back(key.name);
    if (storage == VariableStorage::global) {
        for (const auto& [inline_name, info] : inlines_)
            candidates.push_back(inline_name);
        for (const Library& library : library_ ? system_libraries() : std::span<const Library>())
            for (std::string_view defined : defined_names(library.text))
                candidates.emplace_back(defined);
        std::vector<std::string> known = builtin_names();
        candidates.insert(candidates.end(), known.begin(), known.end());
    }
    return base::nearest_name(name, candidates);
}

} // namespace daybreak::compiler
