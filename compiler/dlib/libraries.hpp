// SPDX-License-Identifier: Apache-2.0
//
// The D libraries that come with the compiler: D text in this folder, built into the program.
//
// A library is parsed when a program first names something that it defines: a program that names
// nothing of them pays for a scan of a few names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::compiler {

struct Library {
    std::string name; ///< "procfs.d": what depends_on calls it
    std::string path; ///< what messages call it; of the system's own the name
    std::string text;
    bool replaces = false; ///< may define again what task.d has: for `daybreak backfill`
    std::string provider;  ///< not empty: all that the library defines, and its text is long
};

/// Returns the system's libraries.
std::span<const Library> system_libraries();

/// Returns what a library defines at top level: inlines, typedefs, tags, variables, providers.
std::vector<std::string_view> defined_names(std::string_view text);

/// Returns the libraries that a text says it depends on, in order.
std::vector<std::string> library_dependencies(std::string_view text);

/// What load_order() found out.
struct LibraryOrder {
    std::vector<size_t> order; ///< every library after those it depends on
    std::string error;         ///< not empty: a cycle, or a dependency that is not there
};

/// Returns the order to load libraries in.  They may depend on each other and on the system's.
LibraryOrder load_order(const std::vector<Library>& libraries);

} // namespace daybreak::compiler
