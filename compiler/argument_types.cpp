// SPDX-License-Identifier: Apache-2.0
//
// What args[] of a probe has, asked without a program.
#include "compiler/compilation.hpp"

namespace daybreak::compiler {

std::optional<std::vector<std::string>> Compilation::argument_types(const ProbeDescription& probe) {
    auto arguments = ExprChecker(context_).arguments_of(probe);
    if (!arguments)
        return std::nullopt;
    std::vector<std::string> types;
    for (const ProbeArgument& argument : *arguments)
        types.push_back(types_.name(argument.type));
    return types;
}

/// A compilation of no source: its libraries are what declares the providers.
struct ProbeArgumentTypes::State {
    explicit State(KernelTypes* kernel) : options(options_with(kernel)) { compilation.run(); }

    static CompileOptions options_with(KernelTypes* kernel) {
        CompileOptions options;
        options.kernel = kernel;
        return options;
    }

    CompileOptions options; // before what is made with it
    CompileOutput output;
    Compilation compilation{options, output};
};

ProbeArgumentTypes::ProbeArgumentTypes(KernelTypes* kernel)
    : state_(std::make_unique<State>(kernel)) {}

ProbeArgumentTypes::~ProbeArgumentTypes() = default;

std::optional<std::vector<std::string>> ProbeArgumentTypes::of(const ProbeDescription& probe) {
    return state_->compilation.argument_types(probe);
}

} // namespace daybreak::compiler
