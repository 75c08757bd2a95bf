/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
//
// Translations compiled by the host's C compiler and loaded into this process
//
// For the simulated machine of builds with tests: it needs the engine's headers, and a program that
// is linked dynamically and exports the engine's functions.
#pragma once

#include "base/result.hpp"
#include "engine/api/engine.h"

#include <memory>
#include <string>

namespace daybreak::translate {

/// Whose functions it calls: BareHost's, part of them inline, or a test's own.
enum class Host : uint8_t { simulated, own };

/// How it is compiled: by cc as for the kernel (-O2, the interface's functions inline), or, in a third of the time, by what the
/// environment's DAYBREAK_CC names (default: cc).
enum class Speed : uint8_t { quickly_run, quickly_compiled };

class Library {
public:
    /// Compiles `text`, a file's.  Errors: not_found, io (what the compiler said
    /// first), invalid.
    static base::Result<std::unique_ptr<Library>> build(const std::string& text, Host host, Speed speed);
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library();

    /// Returns the table of that name, or nullptr.  It lives as long as the library.
    const dbk_native_program* find(const std::string& name) const;

private:
    explicit Library(void* handle) : handle_(handle) {}

    void* handle_;
};

} // namespace daybreak::translate
