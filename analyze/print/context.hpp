// SPDX-License-Identifier: Apache-2.0
//
// PrintContext: what printing depends on besides the value.
#pragma once

#include "analyze/values/options.hpp"
#include "analyze/symbols/address_names.hpp"

namespace daybreak::analyze {

/// Options and names in force; both outlive it.
struct PrintContext {
    const OutputOptions& options;
    const AddressNames& names;
    bool* field_was_cut = nullptr; ///< set when a field is wider than options allow
};

} // namespace daybreak::analyze
