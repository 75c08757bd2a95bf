// SPDX-License-Identifier: Apache-2.0
//
// Programs translated to C, for dof --native, embed --native and sim --native.
#include "cmd/native.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "cmd/filter.hpp"
#include "cmd/held_signals.hpp"
#include "cmd/terminal.hpp"
#include "daybreak_version.hpp"
#include "engine/sim/simulation.hpp"
#include "engine/translate/translate.hpp"
#include "formats/dof/dof_reader.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#ifdef DAYBREAK_RUNS_NATIVE
#include "engine/translate/library.hpp"
#else
namespace daybreak::translate {
class Library {};
} // namespace daybreak::translate
#endif

namespace daybreak::cmd {

using base::Result;

namespace {

constexpr const char* kTableName = "daybreak_native";

Result<void> write_file(const std::string& path, base::ByteView content) {
    DBK_TRY(auto file, base::OutputFile::create(path));
    DBK_TRY_VOID(file.write(content));
    return file.commit();
}

/// Runs kmod/build.
Result<void> run_build(const std::vector<std::string>& words, bool quietly) {
    auto done = run_filter("--native", words, {}, {.takes_errors = quietly, .is_group = true});
    if (!done.ok() && done.error().code() == base::ErrorCode::interrupted)
        complain(base::strprintf("interrupted by SIG%s: nothing was written",
                                 ::sigabbrev_np(HeldSignals::came())));
    if (!done.ok())
        return std::move(done).error();
    if (done->ended_well)
        return {};
    if (!quietly)
        return base::errorf(base::ErrorCode::unsupported,
                            "no native programs, for the reason above; without --native they are "
                            "embedded to be interpreted");
    std::string said = done->output; // its own last words, or else the last line
    said.erase(std::min(said.find_last_not_of('\n') + 1, said.size()));
    const size_t own = said.rfind("kmod/build: ");
    said.erase(0, own != said.npos ? own : said.rfind('\n') + 1);
    return base::errorf(base::ErrorCode::unsupported, "%s",
                        said.empty() ? (words[0] + " failed").c_str() : said.c_str());
}

Result<std::string> translated_program(base::ByteView untrusted_dof, const std::string& name) {
    DBK_TRY(formats::DofImage image, formats::parse_dof(untrusted_dof));
    std::string text;
    sim::SimulationOptions options;
    options.aggregate_default = DBK_AGGREGATE_RECORD; // an embedded program's
    if (image.program.target && image.program.target->typed)
        options.release = image.program.target->release;
    options.created = [&](dbk_consumer* consumer) -> Result<void> {
        text = translate::translate(*consumer, image.program, name).text;
        return {};
    };
    DBK_TRY(auto host, sim::BareHost::create({}));
    DBK_TRY(auto simulation, sim::Simulation::load(*host, untrusted_dof, options));
    return text;
}

} // namespace

Result<std::string> native_text(const std::vector<NativeSource>& programs) {
    std::string text = translate::native_file_head();
    std::vector<std::string> names;
    for (const NativeSource& program : programs) {
        names.push_back(kTableName + std::to_string(names.size()));
        auto translated = translated_program(program.untrusted_dof, names.back());
        if (!translated.ok())
            return program.name.empty() ? std::move(translated).error()
                                        : std::move(translated).error().with_context(program.name);
        text += *translated;
    }
    return text + translate::native_file_tail(names);
}

Result<base::Bytes> native_module(const NativeBuild& build, base::ByteView module,
                                  const std::string& release,
                                  const std::vector<NativeSource>& programs) {
    const std::string sources =
        build.sources.empty() ? "/usr/src/daybreak-" DAYBREAK_VERSION : build.sources;
    const std::string kernel =
        build.kernel_build.empty() ? "/lib/modules/" + release + "/build" : build.kernel_build;
    const std::string script = sources + "/kmod/build";
    if (!std::filesystem::exists(script))
        return base::errorf(base::ErrorCode::not_found,
                            "--native compiles with the module's sources, and %s is not there: %s", script.c_str(),
                            build.sources.empty() ? "install daybreak-dkms, or say --sources FOLDER"
                                                  : "--sources takes a clone of Daybreak, or what daybreak-dkms installs");
    DBK_TRY(std::string text, native_text(programs));
    const HeldSignals until_the_folder_is_removed;
    DBK_TRY(base::TemporaryFolder folder, base::TemporaryFolder::create("daybreak-native"));
    DBK_TRY_VOID(write_file(folder.at("programs.c"), base::as_bytes(text)));
    DBK_TRY_VOID(write_file(folder.at("module.ko"), module));
    const std::vector<std::string> words = {script, kernel, folder.at("build"), "DBK_NATIVE=" + folder.at("programs.c"),
                                            "DBK_MODULE=" + folder.at("module.ko"), "DBK_RELEASE=" + release};
    DBK_TRY_VOID(run_build(words, build.quietly));
    return base::read_file(folder.at("build/daybreak.ko"));
}

NativeProgram::NativeProgram() = default;
NativeProgram::~NativeProgram() = default;

#ifdef DAYBREAK_RUNS_NATIVE

bool can_run_native() {
    return true;
}

Result<void> NativeProgram::bind(dbk_consumer* consumer, base::ByteView dof, bool verbose) {
    DBK_TRY(formats::DofImage image, formats::parse_dof(dof));
    translate::Translation made = translate::translate(*consumer, image.program, kTableName);
    if (verbose)
        for (const translate::Clause& clause : made.clauses)
            put(base::strprintf("native: clause in section %u: %s\n", clause.section,
                                translate::describe(clause).c_str()));
    DBK_TRY(library_, translate::Library::build(translate::native_file_head() + made.text, translate::Host::simulated,
                                                translate::Speed::quickly_compiled));
    const dbk_native_program* program = library_->find(kTableName);
    if (program == nullptr || !dbk_consumer_bind(consumer, program))
        return base::errorf(base::ErrorCode::invalid, "the translated program is not of this one");
    return {};
}

#else

bool can_run_native() {
    return false;
}

Result<void> NativeProgram::bind(dbk_consumer*, base::ByteView, bool) {
    return base::errorf(base::ErrorCode::unsupported, "this build cannot run native programs");
}

#endif

} // namespace daybreak::cmd
