// SPDX-License-Identifier: Apache-2.0
//
// Finding types by name: in the D program, then in the kernel.
#include "compiler/types/type_tables.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

/// The scopes that mean D's own types, whatever the kernel has.
bool is_own_scope(std::string_view module) {
    return module == "D" || module == "C";
}

BtfKind btf_kind(TagKind kind) {
    switch (kind) {
    case TagKind::struct_:
        return BtfKind::struct_;
    case TagKind::union_:
        return BtfKind::union_;
    case TagKind::enum_:
        return BtfKind::enum_;
    }
    return BtfKind::struct_;
}

/// The typedef of a tracepoint's function has no parameter names, but its iterator has the same
/// parameters with theirs.
void name_arguments(const Btf& btf, std::string_view tracepoint,
                    std::vector<TypeParameter>& arguments) {
    uint32_t iterator = btf.find(BtfKind::function, "__traceiter_" + std::string(tracepoint));
    if (iterator == 0)
        return;
    std::vector<BtfParameter> named = btf.parameters(btf.type(iterator).target);
    if (named.size() != arguments.size() + 1)
        return;
    for (size_t i = 0; i < arguments.size(); i++)
        if (arguments[i].name.empty())
            arguments[i].name = named[i + 1].name;
}

bool is_word_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

} // namespace

/// Returns the BTF that a lookup goes to first; null when there is none, with kernel_error_ set if
/// that is an error.
const Btf* TypeTable::kernel_btf(std::string_view module) {
    if (!kernel_ || kernel_error_)
        return nullptr;
    auto vmlinux = kernel_->vmlinux();
    if (!vmlinux.ok()) {
        kernel_error_ = vmlinux.error();
        return nullptr;
    }
    tables_->module_names.try_emplace(*vmlinux, "vmlinux");
    if (module.empty())
        return *vmlinux;
    auto btf = kernel_->module(module);
    if (!btf.ok()) {
        kernel_error_ = btf.error();
        return nullptr;
    }
    if (!*btf)
        return *vmlinux;
    tables_->module_names.try_emplace(*btf, std::string(module));
    return *btf;
}

/// Asks the module's BTF, then vmlinux's.
template <typename Find>
TypeId TypeTable::find_in_kernel(std::string_view module, Find find) {
    BtfConverter converter(*this);
    for (const Btf* btf = kernel_btf(module); btf; btf = btf->base()) {
        if (uint32_t id = find(*btf)) {
            kernel_used_ = true;
            return converter.id_of(*btf, id);
        }
    }
    return TypeId::none;
}

TypeId TypeTable::find_tag(TagKind kind, std::string_view name, std::string_view module) {
    if (module.empty() || is_own_scope(module)) {
        auto found = tables_->tags.find(std::pair(kind, std::string(name)));
        if (found == tables_->tags.end() && library_ && library_(name))
            found = tables_->tags.find(std::pair(kind, std::string(name)));
        if (found != tables_->tags.end())
            return found->second;
        if (!module.empty())
            return TypeId::none;
    }
    return find_in_kernel(module, [&](const Btf& btf) {
        uint32_t id = btf.find(btf_kind(kind), name);
        if (id == 0 && kind != TagKind::enum_) {
            id = btf.find(BtfKind::forward, name);
            if (id && btf.type(id).flag != (kind == TagKind::union_))
                id = 0;
        }
        return id;
    });
}

TypeId TypeTable::find_typedef(std::string_view name, std::string_view module) {
    if (module.empty() || is_own_scope(module)) {
        auto found = tables_->typedefs.find(name);
        if (found != tables_->typedefs.end())
            return found->second;
        std::vector<std::string_view> words;
        for (size_t begin = 0; begin <= name.size();) {
            size_t end = std::min(name.find(' ', begin), name.size());
            words.push_back(name.substr(begin, end - begin));
            begin = end + 1;
        }
        TypeId base = find_base(words);
        if (base == TypeId::none && library_ && library_(name)) {
            found = tables_->typedefs.find(name);
            base = found == tables_->typedefs.end() ? base : found->second;
        }
        if (base != TypeId::none || !module.empty())
            return base;
    }
    return find_in_kernel(module, [&](const Btf& btf) {
        uint32_t id = btf.find(BtfKind::typedef_, name);
        return id ? id : btf.find(BtfKind::integer, name);
    });
}

TypeId TypeTable::find_function(std::string_view name, std::string_view module) {
    return find_in_kernel(module,
                          [&](const Btf& btf) { return btf.find(BtfKind::function, name); });
}

TypeId TypeTable::find_variable(std::string_view name, std::string_view module) {
    return find_in_kernel(module,
                          [&](const Btf& btf) { return btf.find(BtfKind::variable, name); });
}

std::optional<std::vector<TypeParameter>> TypeTable::tracepoint_arguments(std::string_view name,
                                                                          std::string_view module) {
    BtfConverter converter(*this);
    for (const Btf* btf = kernel_btf(module); btf; btf = btf->base()) {
        uint32_t prototype = btf->find_tracepoint(name);
        if (prototype == 0)
            continue;
        kernel_used_ = true;
        // The first parameter is the probe function's own data pointer.
        auto arguments = converter.parameters(*btf, prototype, 1, nullptr);
        name_arguments(*btf, name, arguments);
        return arguments;
    }
    return std::nullopt;
}

std::optional<EnumeratorLocation> TypeTable::find_own_enumerator(std::string_view name) const {
    auto own = tables_->enumerators.find(name);
    if (own == tables_->enumerators.end())
        return std::nullopt;
    return own->second;
}

std::optional<EnumeratorLocation> TypeTable::find_enumerator(std::string_view name) {
    if (auto own = find_own_enumerator(name))
        return own;
    const Btf* btf = kernel_btf("");
    auto found = btf ? btf->find_enumerator(name) : std::nullopt;
    if (!found)
        return std::nullopt;
    kernel_used_ = true;
    return EnumeratorLocation{BtfConverter(*this).id_of(*btf, found->first), found->second};
}

TypeId TypeTable::find_base(const std::vector<std::string_view>& words) const {
    unsigned chars = 0, shorts = 0, ints = 0, longs = 0, is_signed = 0, is_unsigned = 0;
    unsigned floats = 0, doubles = 0, voids = 0, bools = 0;
    const std::pair<std::string_view, unsigned*> counters[] = {
        {"char", &chars},   {"short", &shorts},     {"int", &ints},
        {"long", &longs},   {"signed", &is_signed}, {"unsigned", &is_unsigned},
        {"float", &floats}, {"double", &doubles},   {"void", &voids},
        {"_Bool", &bools},
    };
    for (std::string_view word : words) {
        const auto* counter = std::find_if(std::begin(counters), std::end(counters),
                                           [&](const auto& row) { return row.first == word; });
        if (counter == std::end(counters))
            return TypeId::none;
        ++*counter->second;
    }
    unsigned signs = is_signed + is_unsigned,
             bases = chars + ints + floats + doubles + voids + bools;
    if (words.empty() || bases > 1 || signs > 1 || shorts > 1 || longs > 2 || (shorts && longs))
        return TypeId::none;
    bool sized = shorts || longs;
    if (voids || bools || floats)
        return signs || sized ? TypeId::none : voids ? void_ : bools ? bool_ : float_;
    if (doubles)
        return signs || shorts || longs > 1 ? TypeId::none : longs ? long_double_ : double_;
    if (chars)
        return sized         ? TypeId::none
               : is_unsigned ? unsigned_char_
               : is_signed   ? signed_char_
                             : char_;
    if (shorts)
        return is_unsigned ? unsigned_short_ : short_;
    if (longs == 2)
        return is_unsigned ? unsigned_long_long_ : long_long_;
    if (longs == 1)
        return is_unsigned ? unsigned_long_ : long_;
    return is_unsigned ? unsigned_int_ : int_;
}

TypeId TypeTable::find(std::string_view name) {
    std::string_view module;
    size_t backquote = name.rfind('`');
    if (backquote != std::string_view::npos) {
        module = name.substr(0, backquote);
        name.remove_prefix(backquote + 1);
    }
    std::vector<std::string_view> words;
    std::vector<TypeKind> qualifiers;
    size_t at = 0;
    auto skip_blanks = [&] {
        while (at < name.size() && name[at] == ' ')
            at++;
    };
    for (skip_blanks(); at < name.size() && is_word_letter(name[at]); skip_blanks()) {
        size_t begin = at;
        while (at < name.size() && is_word_letter(name[at]))
            at++;
        std::string_view word = name.substr(begin, at - begin);
        if (word == "const")
            qualifiers.push_back(TypeKind::const_);
        else if (word == "volatile")
            qualifiers.push_back(TypeKind::volatile_);
        else
            words.push_back(word);
    }
    TypeId id = find_base(words);
    if (id == TypeId::none && words.size() == 1)
        id = find_typedef(words[0], module);
    if (id == TypeId::none && words.size() == 2) {
        if (words[0] == "struct")
            id = find_tag(TagKind::struct_, words[1], module);
        else if (words[0] == "union")
            id = find_tag(TagKind::union_, words[1], module);
        else if (words[0] == "enum")
            id = find_tag(TagKind::enum_, words[1], module);
    }
    if (id == TypeId::none)
        return id;
    for (TypeKind qualifier : qualifiers)
        id = qualified(id, qualifier);
    for (; at < name.size() && name[at] == '*'; skip_blanks()) {
        id = pointer_to(id);
        at++;
    }
    return at == name.size() ? id : TypeId::none;
}

} // namespace daybreak::compiler
