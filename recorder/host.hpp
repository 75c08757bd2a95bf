// SPDX-License-Identifier: Apache-2.0
//
// Facts of the host that a trace file carries.
#pragma once

#include "formats/trace/metadata.hpp"

namespace daybreak::recorder {

/// Returns the clocks now, read side by side.
formats::HostClocks read_clocks();

/// Returns a header with this host's names, clocks, command line, CPUs and memory; what cannot be
/// read stays empty.  For cmd/, which hands it on: nothing else here asks the host.
formats::TraceHeader read_host_facts(const std::string& tool_version);

} // namespace daybreak::recorder
