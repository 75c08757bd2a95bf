// SPDX-License-Identifier: Apache-2.0
//
// -h: the C header of the providers that the scripts declare.
#include "cmd/dtrace/header.hpp"

#include "base/file.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/terminal.hpp"

namespace daybreak::cmd {

namespace {

/// The last script's name with .h in place of .d; "" without a script of a name.
std::string default_path(const DtraceArguments& arguments) {
    for (size_t i = arguments.programs.size(); i-- > 0;) {
        std::string path = arguments.programs[i].text;
        if (!arguments.programs[i].is_script || path == "-")
            continue;
        if (path.ends_with(".d"))
            path.resize(path.size() - 2);
        return path + ".h";
    }
    return {};
}

int failed(const DtraceArguments& arguments, const std::string& message) {
    say(arguments.name, message);
    return static_cast<int>(Exit::failed);
}

} // namespace

int save_header(const DtraceArguments& arguments, const CompiledPrograms* compiled) {
    std::string path =
        arguments.output_path.empty() ? default_path(arguments) : arguments.output_path;
    if (compiled == nullptr || path.empty())
        return failed(arguments, "-h needs a script (-s) that declares providers, or -o");
    if (compiled->output.providers.empty())
        return failed(arguments, "-h: no provider is declared: expected provider NAME { probe "
                                 "...; }; in the program");
    auto output = base::OutputFile::create(path);
    std::string text = compiler::provider_header(compiled->output.providers, path);
    auto written =
        output.ok() ? output->write(base::as_bytes(text)) : base::Result<void>(output.error());
    if (written.ok())
        written = output->commit();
    if (!written.ok())
        return failed(arguments, written.error().message());
    return static_cast<int>(Exit::ok);
}

} // namespace daybreak::cmd
