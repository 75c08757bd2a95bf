// SPDX-License-Identifier: Apache-2.0
//
// Canonical text of types and declarations.
#include "compiler/syntax/print_types.hpp"

#include <algorithm>

namespace daybreak::compiler {

namespace {

// By SpecifierWord.
constexpr const char* kSpellings[] = {
    "typedef", "extern",   "static",   "auto",   "register", "self",   "this",
    "const",   "volatile", "restrict", "void",   "char",     "short",  "int",
    "long",    "float",    "double",   "signed", "unsigned", "string", "userland",
};

size_t count(const Specifiers& specifiers, SpecifierWord word) {
    return static_cast<size_t>(
        std::count_if(specifiers.words.begin(), specifiers.words.end(),
                      [word](const Specifier& specifier) { return specifier.word == word; }));
}

/// One order for base words: unsigned long long, and `int` and `signed` only where they say
/// something.
void base_words(const Specifiers& specifiers, std::vector<std::string>& words) {
    using W = SpecifierWord;
    auto add = [&](W word, size_t times) {
        for (; times > 0; times--)
            words.push_back(kSpellings[static_cast<size_t>(word)]);
    };
    size_t sized = count(specifiers, W::short_) + count(specifiers, W::long_);
    size_t ints = count(specifiers, W::int_), chars = count(specifiers, W::char_);
    size_t is_signed = count(specifiers, W::signed_), is_unsigned = count(specifiers, W::unsigned_);
    size_t others = chars + count(specifiers, W::void_) + count(specifiers, W::float_) +
                    count(specifiers, W::double_) + count(specifiers, W::string_) +
                    specifiers.named.size();
    if (others == 0 && (sized || ints || is_signed || is_unsigned)) {
        add(W::unsigned_, is_unsigned);
        // `signed` and `unsigned` together are an error that text must keep.
        add(W::signed_, is_unsigned ? is_signed : 0);
        add(W::short_, count(specifiers, W::short_));
        add(W::long_, count(specifiers, W::long_));
        add(W::int_, sized == 0 ? std::max<size_t>(ints, 1) : ints > 1 ? ints : 0);
        return;
    }
    for (W word : {W::userland_, W::signed_, W::unsigned_, W::short_, W::long_, W::void_, W::char_,
                   W::int_, W::float_, W::double_, W::string_})
        add(word, count(specifiers, word));
}

std::string body_text(const NamedType& named) {
    std::string text = " {";
    for (const Declaration& member : named.members) {
        text += " " + specifiers_text(member.specifiers);
        const char* separator = " ";
        for (const Declarator& declarator : member.declarators) {
            text += separator + declarator_text(declarator);
            separator = ", ";
        }
        text += ";";
    }
    const char* separator = " ";
    for (const EnumeratorSyntax& enumerator : named.enumerators) {
        text += separator + enumerator.name;
        if (enumerator.value)
            text += " = " + expression_text(*enumerator.value);
        separator = ", ";
    }
    return text + " }";
}

std::string named_text(const NamedType& named) {
    static constexpr const char* kKinds[] = {"", "struct", "union", "enum"};
    std::string text = named.has_module ? named.module + "`" : "";
    text += kKinds[static_cast<size_t>(named.kind)];
    if (!named.name.empty())
        text += (named.kind == NamedKind::typedef_ ? "" : " ") + named.name;
    return named.has_body ? text + body_text(named) : text;
}

std::string parameter_list(const std::vector<ParameterSyntax>& parameters, bool variadic) {
    std::string text;
    for (const ParameterSyntax& parameter : parameters)
        text +=
            (text.empty() ? "" : ", ") + declared_text(parameter.specifiers, parameter.declarator);
    if (variadic)
        text += text.empty() ? "..." : ", ...";
    return text;
}

/// Adds one derivation around what has been built so far, from the name outwards.
struct Deriver {
    std::string& text;

    void parenthesize() {
        if (!text.empty() && text[0] == '*')
            text = "(" + text + ")";
    }
    void operator()(const PointerDerivation& pointer) {
        std::string star = "*";
        if (pointer.is_const)
            star += " const";
        if (pointer.is_volatile)
            star += " volatile";
        if (pointer.is_restrict)
            star += " restrict";
        if (star.size() > 1 && !text.empty())
            star += " ";
        text = star + text;
    }
    void operator()(const ArrayDerivation& array) {
        parenthesize();
        text += "[" +
                (array.size ? expression_text(*array.size)
                            : parameter_list(array.keys, array.variadic)) +
                "]";
    }
    void operator()(const FunctionDerivation& function) {
        parenthesize();
        text += "(" + parameter_list(function.parameters, function.variadic) + ")";
    }
};

} // namespace

std::string specifiers_text(const Specifiers& specifiers) {
    std::vector<std::string> words;
    for (const Specifier& specifier : specifiers.words)
        if (specifier.word <= SpecifierWord::this_)
            words.push_back(kSpellings[static_cast<size_t>(specifier.word)]);
    for (SpecifierWord qualifier :
         {SpecifierWord::const_, SpecifierWord::volatile_, SpecifierWord::restrict_})
        if (count(specifiers, qualifier))
            words.push_back(kSpellings[static_cast<size_t>(qualifier)]);
    base_words(specifiers, words);
    for (const NamedType& named : specifiers.named)
        words.push_back(named_text(named));
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

std::string declarator_text(const Declarator& declarator) {
    std::string text = declarator.module + declarator.name;
    for (const Derivation& derivation : declarator.derivations)
        std::visit(Deriver{text}, derivation);
    if (declarator.bits)
        text += (text.empty() ? ": " : " : ") + expression_text(*declarator.bits);
    return text;
}

std::string declared_text(const Specifiers& specifiers, const Declarator& declarator) {
    std::string name = declarator_text(declarator);
    return specifiers_text(specifiers) + (name.empty() ? "" : " ") + name;
}

std::string type_name_text(const TypeName& type) {
    return declared_text(type.specifiers, type.declarator);
}

std::string declaration_text(const Declaration& declaration) {
    std::string text = specifiers_text(declaration.specifiers);
    const char* separator = " ";
    for (const Declarator& declarator : declaration.declarators) {
        text += separator + declarator_text(declarator);
        separator = ", ";
    }
    return text + ";\n";
}

} // namespace daybreak::compiler
