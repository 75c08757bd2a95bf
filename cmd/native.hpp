// SPDX-License-Identifier: Apache-2.0
//
// Programs translated to C: their text, and running it in the simulated machine
#pragma once

#include "base/byte_reader.hpp"
#include "base/result.hpp"

#include <functional>
#include <memory>
#include <string>

struct dbk_consumer;

namespace daybreak::translate {
class Library;
}

namespace daybreak::cmd {

/// Returns a program as a C file.  Errors: as Simulation::load().
base::Result<std::string> native_text(base::ByteView untrusted_dof);

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
