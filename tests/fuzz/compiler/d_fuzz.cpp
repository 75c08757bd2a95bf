// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: D text.  It is parsed, its declarations made into types, all errors shown in both
// forms; and what was parsed without error must, printed, parse to the same again.
#include "compiler/syntax/parser.hpp"
#include "compiler/syntax/print.hpp"
#include "compiler/types/declare.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

ParseOptions options_for(TypeTable& types) {
    ParseOptions options;
    options.script_name = "fuzz.d";
    options.arguments = {"1", "-2", "word", "\"text\""};
    options.macros = {{"target", 42}};
    options.empty_allowed = true;
    options.is_type_name = [&types](std::string_view name) {
        return types.find(name) != TypeId::none;
    };
    return options;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    SourceManager sources;
    DiagnosticSink sink;
    TypeTable types;
    Program program = parse(sources.add("fuzz.d", text), options_for(types), sources, sink);
    bool parsed = !sink.has_errors();
    std::string printed = program_text(program);

    Declarer declarer(types, sink);
    for (const Item& item : program.items) {
        if (const auto* declaration = std::get_if<Declaration>(&item))
            for (const DeclaredName& name : declarer.declare(*declaration))
                types.declaration(name.type, name.name);
        if (const auto* definition = std::get_if<Inline>(&item))
            declarer.declare(*definition);
    }
    render_all(sink, sources, {}, {});
    for (const Diagnostic& diagnostic : sink.diagnostics())
        render_classic(diagnostic, sources, {});

    if (parsed) {
        SourceManager again_sources;
        DiagnosticSink again_sink;
        TypeTable again_types;
        Program again = parse(again_sources.add("fuzz.d", printed), options_for(again_types),
                              again_sources, again_sink);
        // Nesting is counted by what is written, so that parentheses added may be too many.
        if (!again_sink.has_errors())
            DBK_ASSERT(program_text(again) == printed);
    }
    return 0;
}
