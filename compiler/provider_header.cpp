// SPDX-License-Identifier: Apache-2.0
//
// The C header of a provider's declaration: what a program that has the probes includes.
//
// A probe is a function that is always inlined: an instruction that does nothing, and a note in
// section .note.stapsdt that says where that instruction is, where its arguments are and which
// variable counts the tracers.  So the program needs no library, and no step beside compiling.
#include "compiler/compiler.hpp"

#include "base/result.hpp"

#include <cctype>

namespace daybreak::compiler {

namespace {

using base::strprintf;

/// Before the probes.  By the flags of a comparison that has its operand in memory a test is two
/// instructions: GCC loads a volatile variable into a register first.  The note: lengths of owner
/// and content, kind 3; the owner; three addresses; provider, name and operands.  "?": of the group
/// of the function, which the linker may leave out.
constexpr char kBefore[] = R"(
#ifndef DAYBREAK_PROBE
#if defined(__x86_64__) && !defined(__ILP32__) && defined(__ELF__) && defined(__GNUC__) && \
	!defined(DAYBREAK_NO_PROBES)
#define DAYBREAK_PROBE(provider, name, operands) \
	"990:	nop\n" \
	"	.pushsection .note.stapsdt, \"?\", \"note\"\n" \
	"	.balign 4\n" \
	"	.4byte 992f-991f, 994f-993f, 3\n" \
	"991:	.asciz \"stapsdt\"\n" \
	"992:	.balign 4\n" \
	"993:	.8byte 990b, _.stapsdt.base, " #provider "_" #name "_semaphore\n" \
	"	.asciz \"" #provider "\", \"" #name "\", \"" operands "\"\n" \
	"994:	.balign 4\n" \
	"	.popsection\n" \
	"	.ifndef _.stapsdt.base\n" \
	"	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
	"	.weak _.stapsdt.base\n" \
	"	.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .byte 0\n" \
	"	.size _.stapsdt.base, 1\n" \
	"	.popsection\n" \
	"	.endif\n"
#else
#define DAYBREAK_PROBE(provider, name, operands) ""
#endif
/* Whether a tracer is counted, read anew each time: the kernel counts. */
__attribute__((always_inline, unused)) static __inline__ int daybreak_enabled(
	const volatile unsigned short *count)
{
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
	int is_enabled;
	__asm__ __volatile__("cmp{w $0, %1| word ptr %1, 0}" : "=@ccne"(is_enabled) : "m"(*count));
	return is_enabled;
#else
	return *count != 0;
#endif
}
#endif

#ifdef __cplusplus
extern "C" {
#endif
)";

constexpr char kAfter[] = R"(
#ifdef __cplusplus
}
#endif

)";

/// PROVIDER_PROBE: letters in upper case, two underscores as one.
std::string macro_name(const std::string& provider, const std::string& probe) {
    std::string name = provider + "_", upper;
    for (size_t i = 0; i < probe.size(); i++) {
        name += probe[i];
        i += probe.compare(i, 2, "__") == 0;
    }
    for (unsigned char c : name)
        upper += static_cast<char>(std::toupper(c));
    return upper;
}

std::string guard_of(const std::string& file_name) {
    std::string guard = "_";
    for (unsigned char c : file_name.substr(file_name.rfind('/') + 1))
        guard += static_cast<char>(std::isalnum(c) ? std::toupper(c) : '_');
    return guard;
}

/// A text for each argument, joined; '#' stands for its number.
template <class TextOf>
std::string list_of(const DeclaredProvider::Probe& probe, const char* between, TextOf text_of) {
    std::string list;
    for (size_t i = 0; i < probe.arguments.size(); i++) {
        list += i == 0 ? "" : between;
        for (char c : std::string(text_of(probe.arguments[i])))
            list += c == '#' ? std::to_string(i) : std::string(1, c);
    }
    return list;
}

using Argument = DeclaredProvider::Argument;

std::string parameter_of(const Argument& argument) {
    if (argument.is_pointer)
        return "const volatile void *arg#";
    return strprintf("%sint%u_t arg#", argument.is_signed ? "" : "u", argument.bytes * 8);
}

std::string operand_of(const Argument& argument) {
    return strprintf("%s%u@%%#", argument.is_signed ? "-" : "", argument.bytes);
}

/// What a pointer leads to has to be in memory before a tracer reads it.
std::string probe_text(const std::string& provider, const DeclaredProvider::Probe& probe) {
    bool has_pointers = false;
    for (const Argument& argument : probe.arguments)
        has_pointers |= argument.is_pointer;
    std::string name = provider + "_" + probe.name, macro = macro_name(provider, probe.name);
    std::string numbers = list_of(probe, ", ", [](const Argument&) { return "arg#"; });
    std::string text = "\n/* " + probe.name + "(" +
                       list_of(probe, ", ", [](const Argument& one) { return one.type; }) +
                       ") */\n";
    text += "extern unsigned short " + name +
            "_semaphore;\n__attribute__((weak, used, "
            "visibility(\"hidden\"), section(\".probes\"))) unsigned short " +
            name + "_semaphore;\n";
    text += "__attribute__((always_inline, unused)) static __inline__ void " + name + "_probe(" +
            (probe.arguments.empty() ? "void" : list_of(probe, ", ", parameter_of)) +
            ")\n{\n\t__asm__ __volatile__(DAYBREAK_PROBE(" + provider + ", " + probe.name + ", \"" +
            list_of(probe, " ", operand_of) +
            "\")\n\t\t: : " + list_of(probe, ", ", [](const Argument&) { return "\"nr\"(arg#)"; }) +
            (has_pointers ? " : \"memory\"" : "") + ");\n}\n";
    text += "#define " + macro + "(" + numbers + ") " + name + "_probe(" + numbers + ")\n#define " +
            macro + "_ENABLED() \\\n\t(int)__builtin_expect(daybreak_enabled(&" + name +
            "_semaphore), 0)\n";
    return text;
}

} // namespace

std::string provider_header(const std::vector<DeclaredProvider>& providers,
                            const std::string& file_name) {
    std::string guard = guard_of(file_name);
    std::string text = "/* Made by daybreak dtrace -h. */\n#ifndef " + guard + "\n#define " +
                       guard + "\n\n#include <stdint.h>\n" + kBefore;
    for (const DeclaredProvider& provider : providers)
        for (const DeclaredProvider::Probe& probe : provider.probes)
            text += probe_text(provider.name, probe);
    return text + kAfter + "#endif /* " + guard + " */\n";
}

} // namespace daybreak::compiler
