// SPDX-License-Identifier: Apache-2.0
//
// List: the probes of a recording, as dtrace -l prints probes.
#pragma once

#include "analyze/decode/wanted_probes.hpp"
#include "analyze/decode/window.hpp"
#include "analyze/print/sink.hpp"
#include "formats/segment/recording.hpp"

#include <cstdint>
#include <string>

namespace daybreak::analyze {

/// Appends the heading of a list of probes.
void print_probe_heading(std::string& out);
/// Appends one probe.
void print_probe(std::string& out, uint32_t id, const std::string& provider,
                 const std::string& module, const std::string& function, const std::string& name);

/// Appends one probe as an object of JSON and a newline.
void print_probe_json(std::string& out, uint32_t id, const std::string& provider,
                      const std::string& module, const std::string& function,
                      const std::string& name);

/// Prints those of the wanted probes that any ring of the recording enabled, ascending by id, each
/// once; of a window, and when `fired`, those that have records in it.  Returns how many.
size_t print_probe_list(const formats::Recording& recording, bool json, Sink& sink,
                        const TimeWindow& window = {}, const WantedProbes& wanted = {},
                        bool fired = false);

} // namespace daybreak::analyze
