// SPDX-License-Identifier: Apache-2.0
//
// Drop text: what is said about data that was not stored.
#pragma once

#include "analyze/print/sink.hpp"
#include "formats/segment/recording.hpp"

#include <optional>

namespace daybreak::analyze {

/// Returns "12 drops", "1 dynamic variable drop", "3 failed speculations (available ...)".
std::string drop_phrase(enum dbk_drop cause, uint64_t count);

/// Returns "between 1.204311 s and 1.310020 s"; "after 1.204311 s" if the end is UINT64_MAX, not
/// known.
std::string interval_text(uint64_t from_boot_ns, uint64_t to_boot_ns);

/// Returns the message of one cause on one CPU, with the interval in boot time when it is known;
/// its end may be UINT64_MAX, not known.
Message drop_message(enum dbk_drop cause, uint64_t count, uint16_t cpu,
                     std::optional<std::pair<uint64_t, uint64_t>> boot_interval_ns);

/// Returns "1.204311 s" from nanoseconds.
std::string seconds_text(uint64_t nanoseconds);

} // namespace daybreak::analyze
