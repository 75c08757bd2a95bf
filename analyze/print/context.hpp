// SPDX-License-Identifier: Apache-2.0
//
// PrintContext: what printing depends on besides the value.
#pragma once

#include "analyze/symbols/address_names.hpp"
#include "analyze/values/options.hpp"

namespace daybreak::analyze {

class UnwoundKeys;

/// Options and names in force; both outlive it.
struct PrintContext {
    const OutputOptions& options;
    const AddressNames& names;
    bool* field_was_cut = nullptr;             ///< set when a field is wider than options allow
    const UnwoundKeys* unwound_keys = nullptr; ///< how those in keys were; null: by the engine
    uint64_t target_pid = 0;                   ///< whose addresses plain integers are; 0: of none
};

} // namespace daybreak::analyze
