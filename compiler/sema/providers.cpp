// SPDX-License-Identifier: Apache-2.0
//
// Provider declarations: what args[] of a provider's probes are.
//
//     provider proc { probe create(struct task_struct *t) : (psinfo_t *t); };
//
// The first list is what the probe itself has, arg0 and so on; the second what args[] has.  Each of
// the second is made of the one of the first that has its name, else of the one in its place, by a
// translator when their types differ.
#include "compiler/sema/checker.hpp"

namespace daybreak::compiler {

using base::strprintf;

namespace {

constexpr size_t kNameBytesMax = 63; // DTRACE_PROVNAMELEN - 1, of every port
constexpr size_t kArgumentsMax = 10; // arg0 to arg9

/// A name in D has no dashes; two underscores stand for one.
std::string probe_name(const std::string& written) {
    std::string name;
    for (size_t i = 0; i < written.size(); i++) {
        bool dash = written.compare(i, 2, "__") == 0;
        name += dash ? '-' : written[i];
        i += dash;
    }
    return name;
}

bool same_types(const TypeTable& types, const ProviderInfo::Probe& left,
                const ProviderInfo::Probe& right) {
    if (left.native.size() != right.native.size() ||
        left.arguments.size() != right.arguments.size())
        return false;
    for (size_t i = 0; i < left.native.size(); i++)
        if (!types.compatible(left.native[i].type, right.native[i].type))
            return false;
    for (size_t i = 0; i < left.arguments.size(); i++)
        if (!types.compatible(left.arguments[i].type, right.arguments[i].type) ||
            left.arguments[i].word != right.arguments[i].word)
            return false;
    return true;
}

} // namespace

/// Finds what an argument of the second list is made of.
std::optional<ProbeArgument> ExprChecker::declared_argument(const ProviderInfo::Probe& probe,
                                                            const TypeParameter& argument,
                                                            size_t index, const Span& span) {
    ProbeArgument made{argument.type, TypeId::none, index};
    for (size_t i = 0; !argument.name.empty() && i < probe.native.size(); i++)
        if (probe.native[i].name == argument.name)
            made.word = i;
    if (made.word >= probe.native.size()) {
        refuse(Tag::D_PROV_PRXLATOR, span,
               strprintf("probe argument #%zu (%s) is made of no argument of the probe", index,
                         types_.name(argument.type).c_str()));
        return std::nullopt;
    }
    made.native = probe.native[made.word].type;
    bool known = types_.assignable(made.type, made.native);
    bool pointer = types_.is_pointer(made.type);
    TypeId output =
        types_.complete(types_.resolve(pointer ? types_.element_of(made.type) : made.type));
    for (const auto& translator : symbols_.translators())
        known = known || (types_.compatible(translator->output, output) &&
                          types_.compatible(translator->input[0].type, made.native));
    if (known)
        return made;
    refuse(Tag::D_PROV_PRXLATOR, span,
           strprintf("translator from %s to %s is not defined", types_.name(made.native).c_str(),
                     types_.name(made.type).c_str()));
    return std::nullopt;
}

std::optional<ProviderInfo::Probe> ExprChecker::declared_probe(const ProviderProbe& syntax,
                                                               const std::string& shown) {
    ProviderInfo::Probe probe;
    for (const auto* list : {&syntax.arguments, &syntax.translated}) {
        if (list->size() <= kArgumentsMax)
            continue;
        refuse(Tag::D_PROV_PRARGLEN, syntax.span,
               strprintf("probe %s %s argument list exceeds %zu arguments", shown.c_str(),
                         list == &syntax.arguments ? "input" : "output", kArgumentsMax));
        return std::nullopt;
    }
    for (const ParameterSyntax& parameter : syntax.arguments) {
        TypeParameter argument = context_.declarer.parameter(parameter);
        if (argument.type == TypeId::none)
            return std::nullopt;
        if (types_.is_void(argument.type) && syntax.arguments.size() == 1)
            break; // probe name(void)
        probe.native.push_back(std::move(argument));
    }
    if (!syntax.has_translated) {
        for (size_t i = 0; i < probe.native.size(); i++)
            probe.arguments.push_back({probe.native[i].type, probe.native[i].type, i});
        return probe;
    }
    for (size_t i = 0; i < syntax.translated.size(); i++) {
        TypeParameter argument = context_.declarer.parameter(syntax.translated[i]);
        if (argument.type == TypeId::none)
            return std::nullopt;
        auto made = declared_argument(probe, argument, i, syntax.translated[i].span);
        if (!made)
            return std::nullopt;
        probe.arguments.push_back(*made);
    }
    return probe;
}

void ExprChecker::declare_provider(const Provider& syntax) {
    if (syntax.name.size() > kNameBytesMax) {
        refuse(Tag::D_PROV_BADNAME, syntax.span,
               strprintf("provider name may not exceed %zu characters: %s", kNameBytesMax,
                         syntax.name.c_str()));
        return;
    }
    if (syntax.name.back() >= '0' && syntax.name.back() <= '9') {
        refuse(Tag::D_PROV_BADNAME, syntax.span,
               "provider name may not end with a digit: " + syntax.name);
        return;
    }
    ProviderInfo* known = symbols_.find_provider(syntax.name);
    ProviderInfo declared;
    for (const ProviderProbe& one : syntax.probes) {
        std::string name = probe_name(one.name), shown = syntax.name + ":::" + name;
        auto probe = declared_probe(one, shown);
        if (!probe)
            return;
        if (declared.probes.count(name)) {
            refuse(Tag::D_PROV_PRDUP, one.span, "probe redeclared: " + shown);
            return;
        }
        auto earlier = known ? known->probes.find(name) : declared.probes.end();
        if (known && earlier != known->probes.end() &&
            !same_types(types_, earlier->second, *probe)) {
            refuse(Tag::D_PROV_INCOMPAT, one.span,
                   "provider " + syntax.name + " redeclared: probe " + name +
                       " has other arguments");
            return;
        }
        declared.probes.emplace(std::move(name), std::move(*probe));
    }
    symbols_.add_provider(syntax.name).probes.merge(declared.probes);
}

} // namespace daybreak::compiler
