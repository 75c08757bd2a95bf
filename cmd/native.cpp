// SPDX-License-Identifier: Apache-2.0
//
// Programs translated to C, for dof --native and sim --native.
#include "cmd/native.hpp"

#include "cmd/terminal.hpp"
#include "engine/sim/simulation.hpp"
#include "engine/translate/translate.hpp"
#include "formats/dof/dof_reader.hpp"

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

} // namespace

Result<std::string> native_text(base::ByteView untrusted_dof) {
    DBK_TRY(formats::DofImage image, formats::parse_dof(untrusted_dof));
    sim::SimulationOptions options;
    if (image.program.target && image.program.target->typed)
        options.release = image.program.target->release;
    std::string text = translate::native_file_head();
    options.created = [&](dbk_consumer* consumer) -> Result<void> {
        text += translate::translate(*consumer, image.program, kTableName).text;
        return {};
    };
    DBK_TRY(auto host, sim::SimHost::create({}));
    DBK_TRY(auto simulation, sim::Simulation::load(*host, untrusted_dof, options));
    return text;
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
    DBK_TRY(library_, translate::Library::build(translate::native_file_head() + made.text, translate::Host::simulated));
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
