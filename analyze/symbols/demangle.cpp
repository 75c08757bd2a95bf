// SPDX-License-Identifier: Apache-2.0
//
// Demangling, by GCC's own library.
#include "analyze/symbols/demangle.hpp"

#include <csetjmp>
#include <libiberty/demangle.h>

namespace daybreak::analyze {

namespace {

/// Back references repeat what they point to, so a short name can stand for gigabytes: a text that
/// becomes longer than this is left.  The longest of libstdc++ has some 3000 characters.
constexpr size_t kDemangledBytesMax = 16384;

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
    if (!is_cpp && !name.starts_with("_R"))
        return name;
    Output output;
    // Rust's older mangling is C++'s with a hash at the end, so it is asked for first.
    if (demangle(rust_demangle_callback, name, output) ||
        (is_cpp && demangle(cplus_demangle_v3_callback, name, output)))
        return output.text;
    return name;
}

} // namespace daybreak::analyze
