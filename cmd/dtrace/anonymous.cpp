// SPDX-License-Identifier: Apache-2.0
//
// -A: the programs as properties of a file, for a boot to come.
#include "cmd/dtrace/anonymous.hpp"

#include "base/file.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/terminal.hpp"
#include "formats/dof/properties.hpp"

namespace daybreak::cmd {

namespace {

base::Result<void> write_text(const std::string& path, const std::string& text) {
    DBK_TRY(auto output, base::OutputFile::create(path));
    DBK_TRY_VOID(output.write(base::as_bytes(text)));
    return output.commit();
}

} // namespace

int save_anonymous(const DtraceArguments& arguments, const CompiledPrograms* compiled) {
    std::string path = arguments.output_path.empty() ? kAnonymousPath : arguments.output_path;
    std::string text;
    auto before = base::read_file(path);
    if (before.ok())
        text.assign(reinterpret_cast<const char*>(before->data()), before->size());
    auto format =
        path.ends_with(".dof") ? formats::DofFormat::freebsd : formats::DofFormat::illumos;
    text = compiled ? formats::with_dof_properties(text, format, {compiled->dof()})
                    : formats::without_dof_properties(text);
    auto written = write_text(path, text);
    if (!written.ok()) {
        say(arguments.name, written.error().message());
        return static_cast<int>(Exit::failed);
    }
    if (compiled == nullptr) {
        say(arguments.name, "cleaned up old anonymous enabling in " + path);
    } else if (!arguments.quiet) {
        say(arguments.name, "saved anonymous enabling in " + path);
        say(arguments.name,
            "run daybreak embed " + path + " --module daybreak.ko -o boot.ko and boot with it");
    }
    return static_cast<int>(Exit::ok);
}

} // namespace daybreak::cmd
