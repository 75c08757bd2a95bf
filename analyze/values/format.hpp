// SPDX-License-Identifier: Apache-2.0
//
// Format strings of printf() and printa(), taken apart.
//
//     %[flags][width][.precision][size]conversion
//
// flags are # 0 - + ' space and @ (which may also follow the precision); width and precision are
// digits or '*' (the next value), width may be '?' (as wide as an address).  The size letters h l L
// w are accepted: a value is printed at its own size.  A precision of 0 is none, as everywhere in
// DTrace.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace daybreak::analyze {

/// One conversion and the text before it.
struct Conversion {
    std::string literal;    ///< comes first, %% already one %
    char conversion = '\0'; ///< '\0': only the literal, at the end of the format
    bool wide = false;      ///< %lc %ls %wc %ws
    bool aggregation = false;
    bool alternate = false, zeros = false, left = false, plus = false, space = false, group = false;
    bool width_is_value = false, precision_is_value = false;
    int width = 0;
    int precision = 0;
};

using Format = std::vector<Conversion>;

/// Returns the conversions of a format.  Error: invalid, with the conversion that is none.
base::Result<Format> parse_format(std::string_view format);

} // namespace daybreak::analyze
