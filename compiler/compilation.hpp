// SPDX-License-Identifier: Apache-2.0
//
// One compilation's state, shared by the files of the facade.
#pragma once

#include "compiler/compiler.hpp"
#include "compiler/link/linker.hpp"

#include <set>

namespace daybreak::compiler {

/// Compiles what `options` say into `output`; used once.
class Compilation {
public:
    Compilation(const CompileOptions& options, CompileOutput& output)
        : options_(options), output_(output), sink_(output.diagnostics), types_(options.kernel),
          symbols_(types_), declarer_(types_, sink_,
                                      [this](const Expr& expression) {
                                          return ExprChecker(context_).check_constant(expression);
                                      }),
          context_{types_,           symbols_, declarer_, sink_, options.kernel != nullptr,
                   options.recorded, {}},
          linker_(types_, output.sources, sink_) {}

    void run();
    /// Types of args[] of a probe, as ProbeArgumentTypes has them.
    std::optional<std::vector<std::string>> argument_types(const ProbeDescription& probe);

private:
    void parse_source(const CompileSource& source);
    /// Options for parsing a text: what the declarations so far say goes into it.
    ParseOptions parse_options(const std::string& name);
    void item(const Clause& clause);
    void item(const Declaration& declaration);
    void item(const Inline& definition);
    void item(const Translator& translator);
    void item(const Provider& provider);
    void item(const Pragma& pragma);
    /// What to do about a description that matches nothing.
    std::string hint_for_unmatched(const ProbeDescription& probe) const;
    bool check_probe(const ProbeDescription& probe);

    // replay_clauses.cpp
    void compile_for_replay(const Clause& clause,
                            const std::vector<const ProbeDescription*>& probes);
    PlannedClause plan_for_replay(const Clause& clause, const ProbeDescription& probe);
    void find_left_out(const Clause& clause, const std::vector<ProbeDescription>& probes);
    bool leave_out(std::vector<Diagnostic> reported);
    void keep_aggregations(const Clause& clause);
    void link_empty_aggregations();
    void check_anything_is_left();

    void link(const Clause& clause, const std::vector<const ProbeDescription*>& probes,
              const PlannedClause& planned);

    // pragmas.cpp
    void command_line_options();
    void option_error(const Span& span, std::string_view name,
                      const std::optional<std::string>& value, std::string_view why,
                      std::string hint = "");
    void attributes(const Pragma& pragma);
    void binding(const Pragma& pragma);
    void check_unused_pragmas();
    void set_context(const Span& span, const std::string& value);
    /// Reads the value of option context when there is one that was not read yet.
    void read_context();
    void check_context();
    void apply_limit(const Span& span, std::string_view name,
                     const std::optional<std::string>& value);
    void apply_option(const Span& span, std::string_view name,
                      const std::optional<std::string>& value);

    void declare_variable(const DeclaredName& declared);
    std::string declared_text(const DeclaredName& declared) const;
    std::string variable_text(const Variable& variable) const;
    bool is_type_name(std::string_view name);

    // load_libraries.cpp
    void load_libraries();
    bool load_for(std::string_view name);
    bool load_system(std::string_view name);
    void load_library(const Library& library);
    void depends_on(const Pragma& pragma);
    bool is_met(std::string_view kind, const std::string& name);
    void finish();

    void error(Tag tag, const Span& span, std::string text, std::string hint = "");

    const CompileOptions& options_;
    CompileOutput& output_;
    DiagnosticSink& sink_;
    TypeTable types_;
    SymbolTable symbols_;
    Declarer declarer_;
    SemaContext context_;
    ProgramLinker linker_;
    StabilityRules stability_;
    std::vector<Pragma> identifier_pragmas_; ///< about names, which have to exist in the end
    std::set<std::string, std::less<>> declared_functions_;
    /// Trees stay: inlines refer to expressions in them.
    std::vector<std::unique_ptr<Program>> programs_;
    std::vector<std::unique_ptr<Program>> library_programs_;
    std::string context_text_; ///< value of option context, until it is read
    ContextOption context_option_;
    const Clause* last_clause_ = nullptr;
    std::set<std::string> left_out_probes_; ///< by id and name: of the clause that is compiled
    bool has_left_out_ = false;
    std::vector<std::pair<std::string, PlannedClause>> empty_; ///< aggregations of left-out clauses
    std::map<std::string_view, size_t, std::less<>> system_names_; ///< what defines a name
    std::set<std::string, std::less<>> loaded_;                    ///< or being loaded
    std::set<std::string, std::less<>> skipped_; ///< what they depend on is not there
    const Library* library_ = nullptr;           ///< being loaded
    bool libraries_wanted_ = true;               ///< false: -x nolibs
    bool default_arguments_ = false, empty_allowed_ = false, zero_probes_allowed_ = false;
    bool unused_arguments_allowed_ = false; // -x argref
};

} // namespace daybreak::compiler
