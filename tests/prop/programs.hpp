// SPDX-License-Identifier: Apache-2.0
//
// What tests of random D programs share: numbers of the command line, compiling, native code
#pragma once

#include "compiler/compiler.hpp"
#include "engine/translate/library.hpp"
#include "engine/translate/translate.hpp"
#include "formats/dof/dof_reader.hpp"

#include <cstring>
#include <random>

namespace daybreak::prop {

inline uint64_t number_argument(int argc, char** argv, const char* name, uint64_t otherwise) {
    for (int i = 1; i + 1 < argc; i++)
        if (std::strcmp(argv[i], name) == 0)
            return std::strtoull(argv[i + 1], nullptr, 0);
    return otherwise;
}

/// What --seed or DAYBREAK_SEED says, or one that no run had.
inline uint64_t seed_argument(int argc, char** argv) {
    const char* wanted = std::getenv("DAYBREAK_SEED");
    return number_argument(argc, argv, "--seed",
                           wanted ? std::strtoull(wanted, nullptr, 0) : std::random_device()());
}

/// A string literal of D.
inline std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (char c : text) {
        char escape[8];
        bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';
        std::snprintf(escape, sizeof(escape), "\\%03o", static_cast<unsigned char>(c));
        made += plain ? std::string(1, c) : escape;
    }
    return made + "\"";
}

inline compiler::CompileOutput compile_text(const std::string& text) {
    compiler::CompileOptions options;
    options.sources = {{"prop.d", text}};
    options.store_source = false;
    return compiler::compile(options);
}

/// How the native program of that index is compiled: each 32nd as the kernel does it.
inline translate::Speed speed_of(uint64_t index) {
    return index % 32 == 0 ? translate::Speed::quickly_run : translate::Speed::quickly_compiled;
}

/// Lets the consumer run its program translated; `library_ret` must outlive it.
inline base::Result<void> make_native(dbk_consumer* consumer, const base::Bytes& dof,
                                      translate::Speed speed,
                                      std::unique_ptr<translate::Library>& library_ret) {
    DBK_TRY(formats::DofImage image, formats::parse_dof(dof));
    std::string text = translate::native_file_head() +
                       translate::translate(*consumer, image.program, "trial").text;
    DBK_TRY(library_ret, translate::Library::build(text, translate::Host::simulated, speed));
    if (!dbk_consumer_bind(consumer, library_ret->find("trial")))
        return base::errorf(base::ErrorCode::invalid, "it cannot be bound");
    return {};
}

} // namespace daybreak::prop
