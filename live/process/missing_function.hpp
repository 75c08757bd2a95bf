// SPDX-License-Identifier: Apache-2.0
//
// Why a process has no such function.
#pragma once

#include "formats/dof/dof_program.hpp"

#include <cstdint>
#include <string>

namespace daybreak::live {

/// Returns why functions of a process have no probes at all: it has ended, or runs a program of 32
/// bits; "": they have.
std::string why_not_traced(uint32_t pid);

/// Returns why a process that is traced has no function that the description names.
std::string why_no_function(uint32_t pid, const formats::DofProbeName& description);

} // namespace daybreak::live
