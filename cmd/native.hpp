// SPDX-License-Identifier: Apache-2.0
//
// Programs translated to C: their text, a module with them, and running one in the simulated machine
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

struct dbk_consumer;

namespace daybreak::translate {
class Library;
}

namespace daybreak::cmd {

/// A program to translate.
struct NativeSource {
    std::string name; ///< put before what is wrong with it; "": nothing is
    base::ByteView untrusted_dof;
};

/// Returns programs as a C file, in the form that they have in the module.  Errors: as Simulation::load().
base::Result<std::string> native_text(const std::vector<NativeSource>& programs);

/// What a module with native programs is made with.
struct NativeBuild {
    std::string sources;      ///< a folder with kmod/build; empty: that of daybreak-dkms
    std::string kernel_build; ///< the kernel's build tree; empty: /lib/modules/RELEASE/build
    bool quietly = false;     ///< what kmod/build says last is the error, else it says all itself
};

/// Returns a module, of kernel `release`, with native forms of programs.  They are not embedded.
/// Errors: not_found (sources), unsupported, as native_text().
/// A signal ends the process after the folder of the build was removed, which is said.
base::Result<base::Bytes> native_module(const NativeBuild& build, base::ByteView module,
                                        const std::string& release,
                                        const std::vector<NativeSource>& programs);

/// Whether this build of daybreak can run what it translates.
bool can_run_native();

/// A program that was translated, compiled and loaded; must outlive the simulation that runs it.
class NativeProgram {
public:
    NativeProgram();
    ~NativeProgram();

    /// Returns what translates the program of a consumer, which is `dof`, and binds it.  With
    /// `verbose` it prints how much of each clause is native.
    std::function<base::Result<void>(dbk_consumer*)> binding(base::ByteView dof, bool verbose) {
        return [=, this](dbk_consumer* consumer) { return bind(consumer, dof, verbose); };
    }

private:
    base::Result<void> bind(dbk_consumer* consumer, base::ByteView dof, bool verbose);

    std::unique_ptr<translate::Library> library_;
};

} // namespace daybreak::cmd
