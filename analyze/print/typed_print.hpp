// SPDX-License-Identifier: Apache-2.0
//
// print(): values by their types.
#pragma once

#include "analyze/symbols/address_names.hpp"
#include "analyze/values/type_description.hpp"

#include <string>

namespace daybreak::analyze {

/// Appends what print() prints of a value: its type, and all that is in it, line by line.
void print_typed(std::string& out, const TypeDescription& description, base::ByteView data,
                 const AddressNames& names);

} // namespace daybreak::analyze
