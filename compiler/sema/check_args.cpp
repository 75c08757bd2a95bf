// SPDX-License-Identifier: Apache-2.0
//
// args[]: the typed arguments of a probe, from the kernel's own prototypes.
#include "compiler/sema/checker.hpp"

#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"

#include "formats/abi/dif.h"

namespace daybreak::compiler {

using base::strprintf;

namespace {

constexpr size_t kOfReturn = 2; // docs/probes.md

bool is_glob(const std::string& part) {
    return part.empty() || part.find_first_of("*?[\\") != std::string::npos;
}

} // namespace

/// Whether all probes that a description can match have the same arguments.
bool ExprChecker::is_stable_set(const ProbeDescription& probe) const {
    // BEGIN and its like are of one provider, however they are written.
    if (probe.name == "BEGIN" || probe.name == "END" || probe.name == "ERROR")
        return true;
    if (is_glob(probe.provider))
        return false;
    if (probe.provider == "fbt")
        return !is_glob(probe.function) && !is_glob(probe.name);
    return probe.provider == "syscall" || probe.provider == "dtrace" ||
           probe.provider == "profile" || !is_glob(probe.name);
}

/// Returns what args[] of a clause's probe has.  Reports when that cannot be said.
std::optional<std::vector<ProbeArgument>> ExprChecker::probe_arguments(const Span& span) {
    const ProbeDescription& probe = *context_.probe;
    if (!is_stable_set(probe)) {
        refuse(Tag::D_ARGS_MULTI, span,
               "args[ ] may not be referenced because probe description " + probe.parts() +
                   " matches an unstable set of probes",
               "name one probe, or use arg0 to arg9");
        return std::nullopt;
    }
    auto arguments = arguments_of(probe);
    if (!arguments)
        refuse_arguments(span);
    return arguments;
}

/// Returns the arguments of a system call as syscall.d declares it, by its function; where it may
/// be one of several, or is none of a 64-bit program's, what the registers hold.
std::vector<ProbeArgument> ExprChecker::call_arguments(const ProbeDescription& probe) {
    auto words = [](TypeId type, size_t count) {
        std::vector<ProbeArgument> arguments;
        for (size_t i = 0; i < count; i++)
            arguments.push_back({type, type, i});
        return arguments;
    };
    if (probe.name == "return")
        return words(types_.long_type(), kOfReturn);
    if (probe.name == "entry" && (is_glob(probe.module) || probe.module == "vmlinux"))
        if (ProviderInfo* calls = symbols_.find_provider("syscall"))
            if (auto call = calls->probes.find(probe.function); call != calls->probes.end())
                return call->second.arguments;
    return words(types_.int64_type(), DIF_VAR_ARG9 - DIF_VAR_ARG0 + 1);
}

std::optional<std::vector<ProbeArgument>> ExprChecker::arguments_of(const ProbeDescription& probe) {
    if (probe.provider == "syscall")
        return call_arguments(probe);
    if (ProviderInfo* declared =
            is_glob(probe.provider) ? nullptr : symbols_.find_provider(probe.provider)) {
        auto found = declared->probes.find(probe.name);
        return found == declared->probes.end() ? std::vector<ProbeArgument>()
                                               : found->second.arguments;
    }
    std::vector<TypeParameter> types;
    if (probe.provider == "sdt" || probe.provider == "fbt") {
        auto known = kernel_arguments(probe);
        if (!known)
            return std::nullopt;
        types = std::move(*known);
    }
    std::vector<ProbeArgument> arguments;
    for (size_t i = 0; i < types.size(); i++)
        arguments.push_back({types[i].type, types[i].type, i});
    return arguments;
}

std::optional<size_t> ExprChecker::argument_count(const ProbeDescription& probe) {
    constexpr size_t kOfClock = 2; // docs/probes.md
    if (probe.id || is_glob(probe.name))
        return std::nullopt;
    // These are of one provider, however they are written.
    if (probe.name == "BEGIN" || probe.name == "END")
        return 0;
    if (probe.name.starts_with("tick-") || probe.name.starts_with("profile-"))
        return kOfClock;
    if (is_glob(probe.provider) || probe.provider == "dtrace")
        return std::nullopt;
    bool is_function = probe.provider == "fbt", is_call = probe.provider == "syscall";
    if ((is_call || is_function) && probe.name == "return")
        return kOfReturn;
    if (ProviderInfo* declared = is_call ? nullptr : symbols_.find_provider(probe.provider)) {
        auto found = declared->probes.find(probe.name);
        if (found == declared->probes.end())
            return std::nullopt;
        return found->second.native.size();
    }
    if (probe.provider != "sdt" && (!is_function || is_glob(probe.function)))
        return std::nullopt;
    bool was_used = types_.kernel_used();
    auto known = context_.has_kernel ? kernel_arguments(probe) : std::nullopt;
    types_.set_kernel_used(was_used);
    return known ? std::optional(known->size()) : std::nullopt;
}

/// Returns the arguments of a tracepoint or function, by its prototype in the kernel's BTF.
std::optional<std::vector<TypeParameter>>
ExprChecker::kernel_arguments(const ProbeDescription& probe) {
    std::string module = is_glob(probe.module) ? "" : probe.module;
    if (probe.provider == "sdt")
        return types_.tracepoint_arguments(probe.name, module);
    TypeId function = types_.find_function(probe.function, module);
    if (!types_.is_function(function))
        return std::nullopt;
    const Type& type = types_.resolved(function);
    if (probe.name != "return")
        return type.parameters;
    // As in every port: args[0] is where it returned, args[1] what.
    return std::vector<TypeParameter>{{"", types_.uint64_type()}, {"", type.target}};
}

/// Says why a tracepoint's or function's arguments are not known.
void ExprChecker::refuse_arguments(const Span& span) {
    const std::string& text = context_.probe->text;
    if (!context_.has_kernel)
        error_with_hint(Tag::D_ARGS_TYPE, span,
                        strprintf("args[] of \"%s\" needs the types of a kernel", text.c_str()),
                        kKernelHint);
    else if (types_.kernel_error())
        refuse(Tag::D_TYPE_ERR, span,
               messages::lookup_failed("args[] of \"" + text + "\"",
                                       types_.kernel_error()->message()));
    else
        refuse(Tag::D_ARGS_TYPE, span,
               strprintf("no types for args[] of \"%s\": the kernel's BTF does not know it",
                         text.c_str()));
}

TypedPtr ExprChecker::check_args(const Expr& expression, const Index& index) {
    context_.saw_args = true;
    if (!context_.probe)
        return refuse(Tag::D_ARGS_NONE, expression.span,
                      "args( ) may not be referenced outside of a probe clause");
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
        return refuse(Tag::D_ARGS_IDX, expression.span,
                      strprintf("index %lld is out of range for %s args[ ]",
                                static_cast<long long>(at->value), context_.probe->parts().c_str()),
                      arguments->empty() ? "it has none"
                      : arguments->size() == 1
                          ? "it has args[0] alone"
                          : strprintf("it has args[0] to args[%zu]", arguments->size() - 1));
    const ProbeArgument& argument = (*arguments)[at->value];
    if (argument.native == TypeId::none || !types_.is_scalar(argument.native))
        return error(Tag::D_ARGS_TYPE, expression.span,
                     "args[%lld] is \"%s\", which is not a scalar",
                     static_cast<long long>(at->value), types_.name(argument.native).c_str());
    TypedPtr native = native_argument(argument, expression.span);
    if (argument.type == argument.native)
        return native;
    bool pointer = types_.is_pointer(argument.type);
    TypeId output =
        types_.complete(types_.resolve(pointer ? types_.element_of(argument.type) : argument.type));
    const TranslatorInfo* translator =
        types_.is_struct_or_union(output) ? find_translator(output, native) : nullptr;
    // Where the provider was declared, there was one or the other: D_PROV_PRXLATOR else.
    return translator ? translated(*translator, native, pointer, expression.span)
                      : convert(native, argument.type);
}

/// Returns an argument as the probe has it.
TypedPtr ExprChecker::native_argument(const ProbeArgument& argument, const Span& span) const {
    auto node = std::make_shared<TypedExpr>();
    node->op = TypedOp::builtin_array;
    node->value = DIF_VAR_ARGS;
    node->variable = symbols_.find(VariableStorage::global, "args");
    node->span = span;
    node->operands = {make_constant(argument.word, types_.int_type(), span)};
    // What the register's upper part holds is not defined for narrower types.
    bool narrow = types_.size_of(argument.native).value_or(8) < 8;
    node->type = narrow ? types_.integer_type(8, false) : argument.native;
    if (!narrow)
        return node;
    return make(TypedOp::convert, argument.native, span, {node});
}

} // namespace daybreak::compiler
