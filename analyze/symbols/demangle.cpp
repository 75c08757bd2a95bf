// SPDX-License-Identifier: Apache-2.0
//
// Demangling, by GCC's own library.
#include "analyze/symbols/demangle.hpp"

#define HAVE_DECL_BASENAME 1 // <cstring> has one; that of libiberty.h differs

#include <algorithm>
#include <csetjmp>
#include <libiberty/demangle.h>
#include <string_view>

namespace daybreak::analyze {

namespace {

/// Back references repeat what they point to, so a short name can stand for gigabytes: a text that
/// becomes longer than this is left.  The longest of libstdc++ has some 3000 characters.
constexpr size_t kDemangledBytesMax = 16384;
/// 2 to the 10th, and 2 to the 16th: milliseconds.
constexpr size_t kRereadMax = 10, kReferencesMax = 32;
constexpr const char* kSequenceDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

struct Output {
    std::string text;
    std::jmp_buf too_long;
};

/// The library has nothing to stop it early, and on this way allocates nothing: we jump out.
void append(const char* part, size_t bytes, void* output_pointer) {
    auto* output = static_cast<Output*>(output_pointer);
    if (output->text.size() + bytes > kDemangledBytesMax)
        std::longjmp(output->too_long, 1);
    output->text.append(part, bytes);
}

/// How often a name refers to what stood before, or to a template's argument: S_, S0_; T_, T0_.
size_t references(const std::string& name, char letter, std::string_view end) {
    size_t found = 0;
    for (size_t at = 0; (at = name.find(letter, at)) != std::string::npos;) {
        at = std::min(name.find_first_not_of(kSequenceDigits, at + 1), name.size());
        found += std::string_view(name).substr(at).starts_with(end);
    }
    return found;
}

/// Whether the library may work on it for hours before the first letter comes out.  With a
/// conversion operator it reads twice what follows a template's argument that has arguments itself,
/// and it looks for a pack in all that the pattern of a pack expansion stands for: each doubles
/// with every level.
bool may_take_long(const std::string& name) {
    auto has = [&name](const char* part) { return name.find(part) != std::string::npos; };
    return (has("cv") && references(name, 'T', "_I") > kRereadMax) ||
           ((has("Dp") || has("sp") || has("sZ")) && references(name, 'S', "_") > kReferencesMax);
}

using Demangle = int (*)(const char*, int, demangle_callbackref, void*);

/// Returns whether it is a name of that language, and not too long.
bool demangle(Demangle language, const std::string& name, Output& output) {
    output.text.clear();
    if (setjmp(output.too_long) != 0)
        return false;
    return language(name.c_str(), DMGL_PARAMS | DMGL_ANSI, append, &output) != 0;
}

} // namespace

std::string demangled(const std::string& untrusted_name) {
    const std::string& name = untrusted_name;
    bool is_cpp = name.starts_with("_Z");
    if (is_cpp ? may_take_long(name) : !name.starts_with("_R"))
        return name;
    Output output;
    // Rust's older mangling is C++'s with a hash at the end, so it is asked for first.
    if (demangle(rust_demangle_callback, name, output) ||
        (is_cpp && demangle(cplus_demangle_v3_callback, name, output)))
        return output.text;
    return name;
}

} // namespace daybreak::analyze
