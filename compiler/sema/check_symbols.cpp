// SPDX-License-Identifier: Apache-2.0
//
// Kernel symbols: `name and module`name.
//
// Where a symbol lies is known where the program is loaded: the code holds its name, and the loader
// puts the address in.  What it is, BTF says for functions and per-CPU variables only.  Any other
// has an address, and what a cast or a pointer makes of it, as in a debugger:
//
//     &`jiffies            void *
//     (unsigned long)`jiffies, *(unsigned long *)&`jiffies
//     stringof(`linux_banner)
#include "compiler/sema/checker.hpp"

#include "formats/abi/dif.h"

namespace daybreak::compiler {

namespace {

const Identifier* as_symbol(const Expr& expression) {
    const auto* name = expression.get_if<Identifier>();
    return name && name->scope == VariableScope::kernel ? name : nullptr;
}

std::string full_name(const Identifier& name) {
    return name.module.empty() ? name.name : name.module + "`" + name.name;
}

} // namespace

TypedPtr ExprChecker::symbol(const std::string& name, TypeId type, const Span& span) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::symbol;
    node->type = type;
    node->span = span;
    node->text = name;
    return node;
}

/// Returns the address of this CPU's copy of a per-CPU variable: its symbol is an offset.
TypedPtr ExprChecker::per_cpu(TypedPtr offset, const Span& span) {
    TypeId word = types_.unsigned_long_type();
    auto cpu = std::make_shared<TypedExpr>();
    cpu->op = TypedOp::variable;
    cpu->variable = symbols_.find(VariableStorage::global, "cpu");
    cpu->type = word;
    cpu->span = span;
    TypedPtr at =
        fold(TypedOp::shift_left, word, true, cpu, make_constant(3, types_.int_type(), span), span);
    at = fold(TypedOp::add, word, true, symbol("__per_cpu_offset", word, span), at, span);
    return fold(TypedOp::add, word, true, offset, load(word, at, span), span);
}

/// Returns a symbol whose type BTF knows; null, unreported, for any other.
TypedPtr ExprChecker::typed_symbol(const Expr& expression, const Identifier& name) {
    TypeId word = types_.unsigned_long_type();
    TypedPtr address = symbol(full_name(name), word, expression.span);
    TypeId type = types_.find_variable(name.name, name.module);
    if (type != TypeId::none) {
        address = make(TypedOp::reinterpret, types_.pointer_to(type), expression.span,
                       {per_cpu(address, expression.span)});
        return load(type, address, expression.span);
    }
    type = types_.find_function(name.name, name.module);
    if (!types_.is_function(type))
        return nullptr;
    return make(TypedOp::reinterpret, types_.pointer_to(type), expression.span, {address});
}

TypedPtr ExprChecker::check_symbol(const Expr& expression, const Identifier& name) {
    if (TypedPtr typed = typed_symbol(expression, name))
        return typed;
    std::string shown = (name.module.empty() ? "vmlinux" : name.module) + "`" + name.name;
    std::string why = types_.kernel_error() ? types_.kernel_error()->message()
                      : context_.has_kernel ? "the kernel's BTF has no type for it"
                                            : "no kernel's types are given";
    return error_with_hint(Tag::D_SYM_NOTYPES, expression.span,
                           "no symbolic type information is available for " + shown + ": " + why,
                           "say its type: (unsigned long)`" + name.name +
                               ", or take its address: &`" + name.name);
}

/// Returns the address of a symbol that has no type; null for everything else.
TypedPtr ExprChecker::untyped_symbol(const Expr& expression) {
    const Identifier* name = as_symbol(expression);
    if (!name || typed_symbol(expression, *name))
        return nullptr;
    return symbol(full_name(*name), types_.pointer_to(types_.void_type()), expression.span);
}

/// Returns what lies at a symbol without a type, taken as the type of a cast.
TypedPtr ExprChecker::cast_symbol(const Expr& expression, TypeId to, TypedPtr address) {
    address = make(TypedOp::reinterpret, types_.pointer_to(to), expression.span, {address});
    if (types_.is_string(to))
        return make(TypedOp::reinterpret, to, expression.span, {address});
    return dereference(address, expression.span);
}

} // namespace daybreak::compiler
