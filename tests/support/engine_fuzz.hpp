// SPDX-License-Identifier: Apache-2.0
//
// What fuzz targets of the engine have in common: memory to load from, images that are refused with
// a reason, options that ask for no more than a fuzzer has.
#pragma once

#include "tests/unit/engine/test_host.hpp"

#include <cstdio>
#include <cstdlib>
#include <span>

namespace daybreak::engine_test {

/// What probes fire with: addresses of the host's memory among them.
inline constexpr uint64_t kFuzzArgs[DBK_PROBE_ARGS_MAX] = {1, 0x5000, 3, 0x7000, ~0ull, 0};

struct FuzzLimit {
    uint32_t option;
    uint64_t most;
    bool must_be_set; ///< its default is more than that
};

/// Ends the run: a finding.
[[noreturn]] inline void fuzz_finding(const char* what) {
    std::fprintf(stderr, "engine: %s\n", what);
    std::abort();
}

/// Whether a program asks for no more than that.
inline bool is_modest(const dbk_program* program, std::span<const FuzzLimit> limits) {
    for (const FuzzLimit& limit : limits) {
        uint64_t value = 0;
        if (dbk_program_option(program, limit.option, &value) ? value > limit.most
                                                              : limit.must_be_set)
            return false;
    }
    return true;
}

/// Resets the host and loads an image.  Returns nullptr when it is refused, for which there
/// must be a reason.
inline dbk_program* load_untrusted(const uint8_t* data, size_t size) {
    host = HostState{};
    host.kernel_memory[0x7000] = std::string(64, 'k') + '\0';
    host.user_memory[0x5000] = std::string(64, 'u') + '\0';
    dbk_reason reason{};
    dbk_program* program = nullptr;
    if (dbk_program_load(data, size, &reason, &program) == 0)
        return program;
    if (reason.text[0] == '\0')
        fuzz_finding("an image was refused without a reason");
    return nullptr;
}

} // namespace daybreak::engine_test
