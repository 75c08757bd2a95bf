// SPDX-License-Identifier: Apache-2.0
//
// The formats of printf(), printa() and their kin: taken apart, and put together again as stored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybreak::compiler {

/// One conversion and the text before it.
struct FormatConversion {
    std::string before; ///< literal text, %% kept as written
    std::string flags;
    std::string width; ///< digits
    std::string precision;
    bool width_argument = false, precision_argument = false; ///< given as *
    bool has_precision = false;
    bool aggregation = false; ///< %@
    std::string size;         ///< h, l, ll ... as stored
    char kind = 0;

    /// Returns "d", "lld": how messages call it.
    std::string name() const { return size + kind; }
    /// Returns "*" for a width and ".*" for a precision that are arguments, in their order.
    std::vector<std::string_view> stars() const;
};

struct Format {
    std::vector<FormatConversion> conversions;
    std::string after; ///< literal text after the last conversion
    std::string error; ///< not empty: why the format cannot be read

    /// Returns the format as it is stored.
    std::string text() const;
};

/// Takes a format apart.  `%?` becomes the width of an address.
Format parse_format(std::string_view text);

/// What an argument of a conversion must be.
enum class FormatArgument { integer, scalar, string, floating, stack, unknown };
FormatArgument format_argument(char kind);

} // namespace daybreak::compiler
