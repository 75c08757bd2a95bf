// SPDX-License-Identifier: Apache-2.0
//
// The storage and indexes of a TypeTable.
//
// Every type has a slot, which never moves.  A kernel type's slot starts empty, remembering where
// in which BTF it is, and is filled by BtfConverter when a type is used.
#pragma once

#include "compiler/types/btf.hpp"
#include "compiler/types/kernel_types.hpp"
#include "compiler/types/type.hpp"

namespace daybreak::compiler {

struct TypeTable::Tables {
    struct Slot {
        Type type;
        const Btf* btf = nullptr; ///< where to convert it from; null: `type` is filled
        uint32_t btf_id = 0;
    };
    struct FunctionKey {
        TypeId result;
        bool variadic;
        std::vector<std::pair<TypeId, std::string>> parameters;
        bool operator<(const FunctionKey& other) const {
            return std::tie(result, variadic, parameters) <
                   std::tie(other.result, other.variadic, other.parameters);
        }
    };

    std::deque<Slot> slots;
    std::map<std::tuple<TypeKind, TypeId, uint64_t>, TypeId> derived;
    std::map<FunctionKey, TypeId> functions;
    std::map<std::pair<const Btf*, uint32_t>, TypeId> converted;
    std::map<const Btf*, std::string> module_names;

    // names of the D program's scope and of D itself
    std::map<std::pair<TagKind, std::string>, TypeId, std::less<>> tags;
    std::map<std::string, TypeId, std::less<>> typedefs;
    std::map<std::string, EnumeratorLocation, std::less<>> enumerators;
};

/// Makes Types of BTF types, one at a time.
class BtfConverter {
public:
    explicit BtfConverter(const TypeTable& table) : table_(table) {}

    /// Returns the id of a BTF type, giving it a slot when it has none.  D's own base types stand
    /// for the kernel's of the same name.
    TypeId id_of(const Btf& btf, uint32_t btf_id);
    /// Fills a slot.
    void convert(TypeTable::Tables::Slot& slot);
    /// Returns the parameters of a prototype, from the `first` on; a trailing "..." sets *variadic.
    std::vector<TypeParameter> parameters(const Btf& btf, uint32_t prototype, size_t first,
                                          bool* variadic);

private:
    TypeId base_type(const BtfType& found);
    void convert_struct(Type& type, const Btf& btf, uint32_t btf_id, const BtfType& found);
    void convert_enum(Type& type, const Btf& btf, uint32_t btf_id, const BtfType& found);

    const TypeTable& table_;
};

} // namespace daybreak::compiler
