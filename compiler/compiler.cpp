// SPDX-License-Identifier: Apache-2.0
#include "compiler/compilation.hpp"

#include "base/nearest_name.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/other_tracers.hpp"
#include "compiler/syntax/print.hpp"
#include "formats/abi/limits.h"
#include "formats/dof/dof_writer.hpp"
#include "formats/dof/options.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

/// The system's library of names that are Daybreak's own.
constexpr std::string_view kTaskLibrary = "task.d";

} // namespace

void Compilation::error(Tag tag, const Span& span, std::string text, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.tag = tag;
    diagnostic.span = span;
    diagnostic.text = std::move(text);
    if (!hint.empty())
        diagnostic.hints.push_back(std::move(hint));
    sink_.report(std::move(diagnostic));
}

void Compilation::run() {
    default_arguments_ = options_.default_arguments;
    empty_allowed_ = options_.empty_allowed;
    zero_probes_allowed_ = options_.zero_probes_allowed;
    command_line_options();
    load_libraries();
    for (const CompileSource& source : options_.sources)
        parse_source(source);
    if (!sink_.has_errors())
        check_context();
    if (!sink_.has_errors())
        finish();
}

bool Compilation::is_type_name(std::string_view name) {
    return types_.find_typedef(name) != TypeId::none;
}

ParseOptions Compilation::parse_options(const std::string& name) {
    ParseOptions parse_options;
    parse_options.script_name = name;
    parse_options.arguments = options_.arguments;
    parse_options.macros = options_.macros;
    parse_options.target_hint = options_.target_hint;
    parse_options.target_is_variable = options_.target_is_variable;
    parse_options.default_arguments = default_arguments_;
    parse_options.empty_allowed = empty_allowed_;
    parse_options.is_type_name = [this](std::string_view word) { return is_type_name(word); };
    parse_options.literal_value = [this](const Expr& expression) {
        return ExprChecker(context_).literal_value(expression);
    };
    parse_options.is_defined_tag = [this](NamedKind kind, const std::string& tag) {
        return types_.has_own_tag(kind == NamedKind::union_ ? TagKind::union_ : TagKind::struct_,
                                  tag);
    };
    // Declarations hold from where they stand; clauses are compiled when all is declared.
    parse_options.on_item = [this](const Item& one) {
        bool skipped = library_ && skipped_.count(library_->name) != 0;
        if (!std::holds_alternative<Clause>(one) && !skipped)
            std::visit([this](const auto& node) { item(node); }, one);
    };
    return parse_options;
}

void Compilation::parse_source(const CompileSource& source) {
    SourceId id = output_.sources.add(source.name, source.text, source.kind);
    ParseOptions parse_options = this->parse_options(source.name);
    parse_options.probe_spec = source.probe_spec;
    parse_options.names_machines = options_.names_machines;
    parse_options.is_replay = options_.recorded != nullptr;
    parse_options.is_identifier = [this](std::string_view word) {
        return symbols_.global_kind(word).has_value();
    };
    // An option that a pragma sets holds for the text that follows.
    parse_options.on_item = [this, &parse_options,
                             on_item = std::move(parse_options.on_item)](const Item& one) {
        on_item(one);
        parse_options.default_arguments = default_arguments_;
        parse_options.empty_allowed = empty_allowed_;
    };
    programs_.push_back(
        std::make_unique<Program>(parse(id, parse_options, output_.sources, sink_)));
    if (sink_.has_errors())
        return;
    read_context();
    if (options_.recorded)
        output_.normalized += program_text(*programs_.back());
    for (const Item& one : programs_.back()->items)
        if (const auto* clause = std::get_if<Clause>(&one))
            item(*clause);
    check_anything_is_left();
    if (!sink_.has_errors())
        link_empty_aggregations();
    output_.ecb_sources.resize(linker_.program().ecbs.size(), programs_.size() - 1);
    // dtrace(1) looks at these last: whatever else is wrong is reported first.
    if (!sink_.has_errors())
        check_unused_pragmas();
    const std::vector<size_t>& unused = programs_.back()->unused_arguments;
    if (!options_.unused_arguments_allowed && !unused_arguments_allowed_ && !unused.empty() &&
        !sink_.has_errors()) {
        Span span;
        span.source = id;
        error(Tag::D_MACRO_UNUSED, span,
              base::strprintf("extraneous argument '%s' ($%zu is not referenced)",
                              options_.arguments[unused.back()].c_str(), unused.back() + 1));
    }
}

std::string Compilation::hint_for_unmatched(const ProbeDescription& probe) const {
    std::string hint = hint_for_foreign_probe(probe.text);
    if (hint.empty() && options_.hint_for_probe)
        hint = options_.hint_for_probe(probe);
    if (hint.empty())
        hint = hint_for_missing_probe(probe.provider, probe.module, probe.function, probe.name);
    if (!hint.empty())
        return hint;
    // As every article on other systems has them: "python*:::function-entry".
    const bool is_of_a_program = probe.provider.size() > 1 && probe.provider.ends_with('*') &&
                                 !probe.module.starts_with('/');
    return base::did_you_mean(
        options_.similar_probe ? options_.similar_probe(probe) : "",
        is_of_a_program ? "no running process has such probes; name a file that has them: " +
                              probe.provider + ":/PATH:" + probe.function + ":" + probe.name
                        : options_.hint_for_any_probe);
}

bool Compilation::check_probe(const ProbeDescription& probe) {
    for (const std::string* part : {&probe.provider, &probe.module, &probe.function, &probe.name})
        if (part->size() > DBK_PROBE_NAME_BYTES_MAX) {
            error(Tag::D_PDESC_INVAL, probe.span,
                  base::strprintf("a part of the probe description is longer than %u bytes",
                                  DBK_PROBE_NAME_BYTES_MAX));
            return false;
        }
    if (probe.id && options_.probe_exists && !options_.probe_exists(probe)) {
        std::string hint = options_.recorded ? options_.hint_for_probe(probe)
                                             : "dtrace -l shows the numbers of probes, which "
                                               "change; names do not";
        error(Tag::D_PDESC_INVAL, probe.span,
              base::strprintf("invalid probe identifier %u: Unknown probe identifier", *probe.id),
              std::move(hint));
        return false;
    }
    // "tracepoint:sched:sched_switch" could be a tracepoint of a module of that name: it is not.
    if (options_.probe_exists && !zero_probes_allowed_ &&
        (!options_.probe_exists(probe) || !hint_for_foreign_probe(probe.text).empty())) {
        Diagnostic unmatched;
        unmatched.tag = Tag::D_PDESC_ZERO;
        unmatched.span = probe.span;
        unmatched.text = "probe description " + (probe.machine.empty() ? "" : probe.machine + ":") +
                         probe.parts() + " does not match any probes";
        unmatched.hints = {hint_for_unmatched(probe)};
        unmatched.is_unrecorded = true;
        if (options_.where_possible)
            leave_out({std::move(unmatched)});
        else
            sink_.report(std::move(unmatched));
        return false;
    }
    return true;
}

/// Compiles a clause once for all its probe descriptions, or once for each when it uses args[].
void Compilation::item(const Clause& clause) {
    std::vector<const ProbeDescription*> probes;
    for (const ProbeDescription& probe : clause.probes)
        if (!clause.is_continued ? check_probe(probe) : !sink_.has_errors())
            probes.push_back(&probe);
    for (const ProbeDescription* probe : probes)
        if (!clause.is_continued && !stability_.check_description(clause, *probe, sink_))
            return;
    output_.has_clause_left_out |= probes.empty() && options_.where_possible;
    if (probes.empty() && options_.where_possible && !clause.is_continued && !sink_.has_errors())
        keep_aggregations(clause);
    if (probes.empty())
        return;
    last_clause_ = &clause;
    if (options_.recorded)
        return compile_for_replay(clause, probes);
    context_.probe = probes[0];
    context_.saw_args = false;
    PlannedClause planned = ClausePlanner(context_).plan(clause);
    if (!context_.saw_args || probes.size() == 1) {
        link(clause, probes, planned);
    } else {
        for (size_t i = 0; i < probes.size() && !sink_.has_errors(); i++) {
            context_.probe = probes[i];
            if (i != 0)
                planned = ClausePlanner(context_).plan(clause);
            link(clause, {probes[i]}, planned);
        }
    }
    context_.probe = nullptr;
}

/// Adds a clause that is right, and what it may be relied upon.
void Compilation::link(const Clause& clause, const std::vector<const ProbeDescription*>& probes,
                       const PlannedClause& planned) {
    if (sink_.has_errors())
        return;
    for (const ProbeDescription* probe : probes)
        output_.stability.push_back(stability_.clause(clause, *probe, sink_));
    if (sink_.has_errors())
        return;
    size_t first = linker_.program().ecbs.size();
    linker_.add_clause(probes, planned);
    for (size_t i = first; clause.is_continued && i < linker_.program().ecbs.size(); i++)
        output_.continued_ecbs.insert(i);
}

void Compilation::item(const Declaration& declaration) {
    for (const NamedType& named : declaration.specifiers.named)
        for (const EnumeratorSyntax& enumerator : named.enumerators)
            symbols_.add_enumerator(enumerator.name);
    for (const DeclaredName& declared : declarer_.declare(declaration))
        declare_variable(declared);
}

/// A declaration in words: its type, and what it is indexed with.
std::string Compilation::declared_text(const DeclaredName& declared) const {
    std::string text = types_.name(declared.type);
    for (size_t i = 0; i < declared.keys.size(); i++)
        text += (i == 0 ? " [" : ", ") + types_.name(declared.keys[i].type);
    return declared.keys.empty() ? text : text + "]";
}

std::string Compilation::variable_text(const Variable& variable) const {
    std::string text = types_.name(variable.type);
    for (size_t i = 0; i < variable.keys.size(); i++)
        text += (i == 0 ? " [" : ", ") + types_.name(variable.keys[i]);
    return variable.keys.empty() ? text : text + "]";
}

void Compilation::declare_variable(const DeclaredName& declared) {
    if (declared.type == TypeId::none || declared.storage == StorageClass::typedef_)
        return;
    VariableStorage storage = declared.storage == StorageClass::self    ? VariableStorage::thread
                              : declared.storage == StorageClass::this_ ? VariableStorage::clause
                                                                        : VariableStorage::global;
    if (declared.associative && storage == VariableStorage::clause)
        return error(Tag::D_DECL_LOCASSC, declared.span,
                     "associative arrays may not be declared as local variables: " + declared.name);
    if (types_.is_function(declared.type))
        return static_cast<void>(declared_functions_.insert(declared.name));
    if (storage == VariableStorage::global && symbols_.is_taken_by_inline(declared.name))
        return error(Tag::D_DECL_IDRED, declared.span,
                     messages::redeclared(declared.name, declared_text(declared), "inline"));
    std::vector<TypeId> keys;
    for (const TypeParameter& key : declared.keys)
        keys.push_back(types_.unqualified(key.type));
    if (Variable* known = symbols_.find(storage, declared.name)) {
        bool same = !known->builtin && known->is_array == declared.associative &&
                    types_.compatible(known->type, declared.type) &&
                    known->keys.size() == keys.size();
        for (size_t i = 0; same && i < keys.size(); i++)
            same = types_.compatible(known->keys[i], keys[i]);
        if (!same && known->builtin)
            error(Tag::D_DECL_IDRED, declared.span, messages::redeclared_builtin(declared.name));
        else if (!same)
            error(Tag::D_DECL_IDRED, declared.span,
                  messages::redeclared(declared.name, declared_text(declared),
                                       variable_text(*known)));
        return;
    }
    // One that is declared first, as curthread's task_struct is, counts as it is defined.
    TypeId type = types_.complete(types_.unqualified(declared.type));
    Variable* variable = symbols_.add(storage, declared.name, type);
    if (!variable)
        return error(Tag::D_ID_OFLOW, declared.span, messages::too_many_identifiers(declared.name));
    variable->is_array = declared.associative;
    variable->keys = std::move(keys);
}

void Compilation::item(const Inline& definition) {
    DeclaredName declared = declarer_.declare(definition);
    if (declared.type == TypeId::none)
        return;
    bool yields = library_ && context_.in_library && library_->name == kTaskLibrary;
    auto previous = symbols_.global_kind(declared.name);
    const InlineInfo* known = symbols_.find_inline(declared.name);
    if (previous && !(library_ && library_->replaces && known && known->yields)) {
        bool is_inline = known != nullptr;
        return error(
            Tag::D_DECL_IDRED, definition.span,
            messages::redefined_inline(declared.name, identifier_kind(*previous), is_inline));
    }
    InlineInfo info;
    info.name = declared.name;
    info.type = declared.type;
    info.parameters = declared.keys;
    info.value = definition.value.get();
    info.is_library = context_.in_library;
    info.yields = yields;
    // What needs a kernel's types is checked where it is used, as translators are.
    bool plain = info.parameters.empty() && !info.yields;
    if (plain) {
        ExprChecker checker(context_);
        TypedPtr value = checker.check(*definition.value);
        if (!value)
            return;
        bool fits = types_.assignable(info.type, value->type) || ExprChecker::is_zero(value) ||
                    checker.is_translated_to(value, info.type);
        if (!fits)
            return error(Tag::D_OP_INCOMPAT, definition.span,
                         messages::inline_incompatible(info.name, types_.name(info.type),
                                                       types_.name(value->type)));
        // Constants are computed once.
        if (types_.is_integer(info.type) && value->is_constant())
            info.constant = static_cast<int64_t>(value->value);
    }
    symbols_.add_inline(std::move(info));
}

void Compilation::item(const Translator& translator) {
    ExprChecker(context_).declare_translator(translator);
}

void Compilation::item(const Provider& provider) {
    ExprChecker(context_).declare_provider(provider);
    if (library_)
        return;
    DeclaredProvider declared{provider.name, {}};
    for (const ProviderProbe& probe : provider.probes) {
        declared.probes.push_back({probe.name, {}});
        for (const ParameterSyntax& parameter : probe.arguments) {
            TypeId type = declarer_.parameter(parameter).type;
            if (type == TypeId::none || types_.is_void(type))
                continue;
            DeclaredProvider::Argument argument{types_.name(type), 0, types_.is_signed(type),
                                                types_.is_pointer(type) ||
                                                    types_.is_string_like(type)};
            if (argument.is_pointer)
                argument.bytes = sizeof(uint64_t);
            else if (types_.is_integer(type))
                argument.bytes = static_cast<uint32_t>(types_.size_of(type).value_or(0));
            declared.probes.back().arguments.push_back(std::move(argument));
        }
    }
    output_.providers.push_back(std::move(declared));
}

/// Everything is compiled: says what for, and writes.
void Compilation::finish() {
    formats::DofProgram& program = linker_.program();
    if (options_.error_clause && !program.ecbs.empty())
        linker_.add_error_clause();
    program.aggregation_names = symbols_.aggregation_names();
    formats::DofTarget target;
    target.compiler = options_.compiler_version;
    target.typed = types_.kernel_used();
    target.release = options_.release;
    if (target.release.empty() && options_.kernel && target.typed)
        target.release = options_.kernel->release();
    if (target.typed) {
        auto id = options_.kernel->id();
        if (!id.ok())
            return error(Tag::D_TYPE_ERR, Span{}, id.error().message());
        std::copy(id->begin(), id->end(), target.btf_id.begin());
    }
    if (auto pid = options_.macros.find("target"); pid != options_.macros.end())
        target.target_pid = static_cast<uint32_t>(pid->second);
    if (!options_.sources.empty())
        target.main_file = options_.sources[0].name;
    program.target = std::move(target);
    if (options_.store_source) {
        program.source.emplace();
        for (const CompileSource& source : options_.sources)
            *program.source += source.text;
    }
    auto dof = formats::write_dof(program);
    if (!dof.ok())
        return error(Tag::D_UNKNOWN, Span{}, dof.error().message());
    output_.dof = std::move(dof).value();
    output_.program = std::move(program);
}

CompileOutput compile(const CompileOptions& options) {
    CompileOutput output;
    Compilation(options, output).run();
    return output;
}

} // namespace daybreak::compiler
