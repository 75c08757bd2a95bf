// SPDX-License-Identifier: Apache-2.0
//
// Pragmas and options: what they make the compilation do.
#include "compiler/compilation.hpp"

#include "formats/abi/limits.h"
#include "formats/abi/meta.h"
#include "formats/dof/options.hpp"

#include <cinttypes>

namespace daybreak::compiler {

namespace {

/// Where an option of the command line is: in no text.
constexpr Span kCommandLine = {.source = kNoSource};

/// "failed to set option 'strsize' to '1'": of a pragma, or of -x, which is in no text.
std::string option_failure(const Span& span, std::string_view name,
                           const std::optional<std::string>& value) {
    std::string text = "failed to set ";
    if (span.source == kNoSource)
        return text + "-x " + std::string(name) + (value ? "=" + *value : "");
    text += "option '" + std::string(name) + "'";
    return value ? text + " to '" + *value + "'" : text;
}

} // namespace

void Compilation::item(const Pragma& pragma) {
    switch (pragma.kind) {
    case PragmaKind::option:
        for (size_t i = 0; i < pragma.arguments.size(); i++) {
            const std::string& text = pragma.arguments[i];
            size_t equals = text.find('=');
            std::optional<std::string> value;
            if (equals != std::string::npos)
                value = text.substr(equals + 1);
            const Span& span =
                i < pragma.argument_spans.size() ? pragma.argument_spans[i] : pragma.span;
            apply_option(span, std::string_view(text).substr(0, equals), value);
        }
        return;
    case PragmaKind::depends_on:
        return depends_on(pragma);
    case PragmaKind::attributes:
        return attributes(pragma);
    case PragmaKind::binding:
        return binding(pragma);
    }
}

/// #pragma D attributes A/B/C name, or of what a provider publishes.
void Compilation::attributes(const Pragma& pragma) {
    auto attributes = parse_attributes(pragma.arguments[0]);
    if (!attributes)
        return;
    if (pragma.arguments.size() == 2) {
        stability_.set_identifier(pragma.arguments[1], *attributes);
        identifier_pragmas_.push_back(pragma);
        return;
    }
    const std::string &provider = pragma.arguments[2], &word = pragma.arguments[3];
    if (auto part = provider_part(word))
        stability_.set_provider(provider, *part, *attributes);
    else
        error(Tag::D_PRAGMA_INVAL, pragma.span,
              "invalid component \"" + word + "\" in attribute #pragma for provider " + provider,
              "provider, module, function, name or args");
}

/// #pragma D binding "1.2" name: the name came with that version of D.
void Compilation::binding(const Pragma& pragma) {
    if (auto version = parse_version(pragma.arguments[0]))
        symbols_.set_introduced(pragma.arguments[1], *version);
    identifier_pragmas_.push_back(pragma);
}

/// Reports a pragma about a name that nothing has.  Those of libraries are for programs that need them.
void Compilation::check_unused_pragmas() {
    for (const Pragma& pragma : std::exchange(identifier_pragmas_, {})) {
        const std::string& name = pragma.arguments[1];
        bool is_function = declared_functions_.count(name) != 0;
        bool is_library = output_.sources.kind(pragma.span.source) == SourceKind::library;
        if (!is_library && !is_function && !symbols_.global_kind(name))
            error(Tag::D_PRAGMA_UNUSED, pragma.span,
                  pragma.kind == PragmaKind::binding ? "unused #pragma binding"
                                                     : "unused #pragma attributes",
                  "nothing is called " + name);
    }
}

/// Reports an option that cannot be set.
void Compilation::option_error(const Span& span, std::string_view name,
                               const std::optional<std::string>& value, std::string_view why,
                               std::string hint) {
    error(Tag::D_PRAGMA_OPTSET, span, option_failure(span, name, value) + ": " + std::string(why),
          std::move(hint));
}

/// Buffers are of whole words.
constexpr uint64_t kBufferBytesMin = sizeof(uint64_t);

/// amin=A/B/C: the least stable that a program may use; version=1.2: the newest D it knows.
void Compilation::apply_limit(const Span& span, std::string_view name,
                              const std::optional<std::string>& value) {
    constexpr uint32_t kVersionsEnd = 2u << 24; // there is D 1, and no other
    auto attributes = parse_attributes(value.value_or(""));
    auto version = parse_version(value.value_or(""));
    if (name == "amin" && attributes)
        stability_.set_limit(*attributes);
    else if (name == "version" && version && *version < kVersionsEnd)
        symbols_.set_version(*version);
    else
        option_error(span, name, value, formats::kInvalidOptionValue,
                     name == "amin" ? "example: amin=Evolving/Evolving/Common"
                                    : "example: version=1.2");
}

void Compilation::set_context(const Span& span, const std::string& value) {
    context_option_.place = {span, option_failure(span, "context", value)};
    context_text_ = value;
}

/// Only now, when what the program declares is known.
void Compilation::read_context() {
    for (const formats::DofOption& option : linker_.program().options)
        if (option.option == DBK_OPT_AGGREGATE)
            context_option_.with_aggregations = option.value == DBK_AGGREGATE_RECORD;
    if (context_text_.empty() || sink_.has_errors() || options_.recorded) // a replay stores nothing
        return;
    std::string_view rest = context_text_;
    OptionScope scope(sink_, context_option_.place);
    context_option_.expressions.clear();
    context_option_.is_checked = false;
    context_.context = &context_option_;
    for (bool more = true; more;) {
        size_t comma = rest.find(',');
        more = comma != std::string_view::npos;
        std::string text(rest.substr(0, comma));
        if (text.find_first_not_of(" \t") == std::string::npos) {
            error(Tag::D_PRAGMA_OPTSET, Span{}, "an expression is missing",
                  "example: context=pid,tid,execname");
            break;
        }
        SourceId id = output_.sources.add("option context", std::move(text));
        ExprPtr one = parse_expression(id, parse_options("option context"), output_.sources, sink_);
        if (!one)
            break;
        context_option_.expressions.push_back(std::move(one));
        rest.remove_prefix(more ? comma + 1 : rest.size());
    }
    context_text_.clear();
}

/// Checks option context when no clause has: what it names has to exist all the same.
void Compilation::check_context() {
    if (!context_.context || context_option_.is_checked || !last_clause_)
        return;
    context_.probe = &last_clause_->probes[0];
    ClausePlanner(context_).check_context();
    context_.probe = nullptr;
}

void Compilation::apply_option(const Span& span, std::string_view name,
                               const std::optional<std::string>& value) {
    formats::OptionSetting setting = formats::parse_option(name, value);
    if (!setting.error.empty())
        return option_error(span, name, value, setting.error, setting.hint);
    if (setting.target == formats::OptionTarget::compile_time) {
        if (name == "defaultargs")
            default_arguments_ = true;
        else if (name == "empty")
            empty_allowed_ = true;
        else if (name == "nolibs")
            libraries_wanted_ = false;
        else if (name == "argref")
            unused_arguments_allowed_ = true;
        else if (name == "zdefs")
            zero_probes_allowed_ = true;
        else if (name == "context")
            set_context(span, *value);
        else if (name == "amin" || name == "version")
            apply_limit(span, name, value);
        return;
    }
    if (setting.id == DTRACEOPT_STRSIZE) {
        if (setting.value < DBK_STRSIZE_MIN || setting.value > DBK_STRSIZE_MAX)
            return option_error(
                span, name, value, std::string(formats::kInvalidOptionValue),
                base::strprintf("strsize can be %u to %u", DBK_STRSIZE_MIN, DBK_STRSIZE_MAX));
        types_.set_string_bytes(setting.value);
    }
    bool is_buffer = setting.id == DTRACEOPT_BUFSIZE || setting.id == DTRACEOPT_AGGSIZE;
    if (is_buffer && setting.value < kBufferBytesMin)
        return option_error(span, name, value, std::string(formats::kInvalidOptionValue),
                            base::strprintf("%s can be %" PRIu64 " or more, as 64k or 4m: what a "
                                            "clause records has to fit",
                                            std::string(name).c_str(), kBufferBytesMin));
    linker_.set_option(setting.id, setting.value);
}

void Compilation::command_line_options() {
    for (const auto& [name, value] : options_.options)
        apply_option(kCommandLine, name, value);
}

} // namespace daybreak::compiler
