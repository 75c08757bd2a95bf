// SPDX-License-Identifier: Apache-2.0
//
// args[]: the typed arguments of a probe, from the kernel's own prototypes.
#include "compiler/sema/checker.hpp"

#include "compiler/diagnostics/messages/prototypes.hpp"

#include "formats/abi/dif.h"

namespace daybreak::compiler {

using base::strprintf;

namespace {

bool is_glob(const std::string& part) {
    return part.empty() || part.find_first_of("*?[\\") != std::string::npos;
}

} // namespace

/// Returns the arguments' types; for syscall, ten of int64_t.  Reports when there are none.
std::optional<std::vector<TypeParameter>> ExprChecker::probe_arguments(const Span& span) {
    const ProbeDescription& probe = *context_.probe;
    const std::string& provider = probe.provider;
    if (provider == "syscall")
        return std::vector<TypeParameter>(DIF_VAR_ARG9 - DIF_VAR_ARG0 + 1,
                                          TypeParameter{"", types_.int64_type()});
    if (provider != "sdt" && provider != "fbt") {
        bool own = probe.name == "BEGIN" || probe.name == "END" || probe.name == "ERROR";
        error_with_hint(is_glob(provider) && !own ? Tag::D_ARGS_MULTI : Tag::D_ARGS_NONE, span,
                        strprintf("probes of \"%s\" have no typed args[]", probe.text.c_str()),
                        "args[] is known for sdt:::TRACEPOINT, fbt::FUNCTION:entry and syscall "
                        "probes; arg0 to arg9 always are");
        return std::nullopt;
    }
    const std::string& name = provider == "sdt" ? probe.name : probe.function;
    if (is_glob(name)) {
        error_with_hint(
            Tag::D_ARGS_MULTI, span,
            strprintf("args[] of \"%s\" would have different types", probe.text.c_str()),
            "name one probe, or use arg0 to arg9");
        return std::nullopt;
    }
    if (!context_.has_kernel) {
        error_with_hint(
            Tag::D_ARGS_TYPE, span,
            strprintf("args[] of \"%s\" needs the types of a kernel", probe.text.c_str()),
            kKernelHint);
        return std::nullopt;
    }
    std::string module = is_glob(probe.module) ? "" : probe.module;
    if (provider == "sdt") {
        if (auto arguments = types_.tracepoint_arguments(name, module))
            return arguments;
    } else {
        TypeId function = types_.find_function(name, module);
        if (types_.is_function(function)) {
            const Type& type = types_.resolved(function);
            if (probe.name != "return")
                return type.parameters;
            // As in every port: args[0] is where it returned, args[1] what.
            return std::vector<TypeParameter>{{"", types_.uint64_type()}, {"", type.target}};
        }
    }
    std::string why = types_.kernel_error() ? types_.kernel_error()->message()
                                            : "the kernel's BTF does not know it";
    error_with_hint(Tag::D_ARGS_TYPE, span,
                    strprintf("no types for args[] of \"%s\": %s", probe.text.c_str(), why.c_str()),
                    "");
    return std::nullopt;
}

TypedPtr ExprChecker::check_args(const Expr& expression, const Index& index) {
    context_.saw_args = true;
    if (!context_.probe)
        return error(Tag::D_ARGS_NONE, expression.span, "args[] is known in clauses only");
    if (index.arguments.size() != 1)
        return refuse(Tag::D_PROTO_LEN, expression.span,
                      messages::prototype_length({"args", true}, index.arguments.size(), 1, 1));
    TypedPtr at = check(*index.arguments[0]);
    if (!at)
        return nullptr;
    if (!at->is_constant() || !types_.is_integer(at->type))
        return refuse(
            Tag::D_PROTO_ARG, index.arguments[0]->span,
            messages::prototype_argument({"args", true}, 1, "integer constant", type_name(at)));
    auto arguments = probe_arguments(expression.span);
    if (!arguments)
        return nullptr;
    if (at->value >= arguments->size())
        return error(Tag::D_ARGS_IDX, expression.span, "args[%lld]: \"%s\" has %zu arguments",
                     static_cast<long long>(at->value), context_.probe->text.c_str(),
                     arguments->size());
    TypeId type = (*arguments)[at->value].type;
    if (type == TypeId::none || !types_.is_scalar(type))
        return error(Tag::D_ARGS_TYPE, expression.span, "args[%lld] is \"%s\", which is no scalar",
                     static_cast<long long>(at->value), types_.name(type).c_str());
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::builtin_array;
    node->value = DIF_VAR_ARGS;
    node->variable = symbols_.find(VariableStorage::global, "args");
    node->span = expression.span;
    node->operands = {make_constant(at->value, types_.int_type(), expression.span)};
    // What the register's upper part holds is not defined for narrower types.
    bool narrow = types_.size_of(type).value_or(8) < 8;
    node->type = narrow ? types_.integer_type(8, false) : type;
    if (!narrow)
        return node;
    return make(TypedOp::convert, type, expression.span, {node});
}

} // namespace daybreak::compiler
