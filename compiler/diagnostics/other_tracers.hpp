// SPDX-License-Identifier: Apache-2.0
//
// What bpftrace and SystemTap call things, and what D calls them; what other DTraces have.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace daybreak::compiler {

/// Returns what to write in D for a variable or function of bpftrace or SystemTap, as a hint; ""
/// for a name that neither has.
std::string hint_for_foreign_name(std::string_view name);

/// Returns what to write in D for a probe as bpftrace ("kprobe:vfs_read") or SystemTap
/// ("kernel.function("vfs_read")") has it, as a hint; "" for one that neither has.
std::string hint_for_foreign_probe(std::string_view text);

/// Returns how to write a function of C++ ("pid1:a.out:space::f:entry"), whose name has colons of its
/// own, as a hint; "" for any other description.
std::string hint_for_cpp_function(std::string_view text);

/// A probe that DTrace has elsewhere and Linux has no place for; without a name all of the
/// provider, with that of a module ("x32") or function ("vop_create") all of it.
struct MissingProbe {
    std::string_view provider, name, reason;
};

/// Returns all of them, by provider (formats/abi/probes/).
std::span<const MissingProbe> missing_probes();

/// Returns what there is in place of a probe that DTrace has elsewhere ("sched:::on-cpu"), as a
/// hint; "" for any other.
std::string hint_for_missing_probe(std::string_view provider, std::string_view module,
                                   std::string_view function, std::string_view name);

} // namespace daybreak::compiler
