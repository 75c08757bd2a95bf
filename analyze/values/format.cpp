// SPDX-License-Identifier: Apache-2.0
//
// Format strings of printf() and printa(), taken apart.
#include "analyze/values/format.hpp"

#include "analyze/values/options.hpp"

#include <algorithm>
#include <cstdint>

namespace daybreak::analyze {

namespace {

constexpr std::string_view kConversions = "diouxXcCsSeEfgGpaAkYT";
constexpr int kAddressWidth = 16; // of %?: an address of 64 bits

/// Reads one conversion; `rest` begins after the '%'.
class ConversionReader {
public:
    ConversionReader(std::string_view& rest, Conversion& into) : rest_(rest), into_(into) {}

    bool read() {
        flags();
        into_.width_is_value = number_or_star(into_.width);
        if (!into_.width_is_value && take('?'))
            into_.width = kAddressWidth;
        if (take('.'))
            into_.precision_is_value = number_or_star(into_.precision);
        into_.aggregation |= take('@');
        bool long_or_wide = false;
        while (!rest_.empty() &&
               std::string_view("hlLw").find(rest_[0]) != std::string_view::npos) {
            long_or_wide |= rest_[0] == 'l' || rest_[0] == 'w';
            rest_.remove_prefix(1);
        }
        if (rest_.empty() || kConversions.find(rest_[0]) == std::string_view::npos)
            return false;
        into_.conversion = rest_[0];
        into_.wide = long_or_wide && (rest_[0] == 'c' || rest_[0] == 's');
        rest_.remove_prefix(1);
        return true;
    }

private:
    bool take(char c) {
        if (rest_.empty() || rest_[0] != c)
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    void flags() {
        for (bool any = true; any;) {
            any = false;
            for (auto [letter, flag] : {std::pair{'#', &into_.alternate},
                                        {'0', &into_.zeros},
                                        {'-', &into_.left},
                                        {'+', &into_.plus},
                                        {' ', &into_.space},
                                        {'\'', &into_.group},
                                        {'@', &into_.aggregation}})
                if (take(letter))
                    any = *flag = true;
        }
    }

    bool number_or_star(int& number) {
        if (take('*'))
            return true;
        int64_t value = 0;
        for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1))
            value = std::min<int64_t>(value * 10 + (rest_[0] - '0'), INT32_MAX);
        number = static_cast<int>(value);
        return false;
    }

    std::string_view& rest_;
    Conversion& into_;
};

} // namespace

base::Result<Format> parse_format(std::string_view format) {
    Format result;
    Conversion next;
    std::string_view rest = format;
    while (!rest.empty()) {
        size_t percent = std::min(rest.find('%'), rest.size());
        next.literal.append(rest.substr(0, percent));
        rest.remove_prefix(percent);
        if (rest.empty())
            break;
        if (rest.starts_with("%%")) {
            next.literal += '%';
            rest.remove_prefix(2);
            continue;
        }
        std::string_view start = rest;
        rest.remove_prefix(1);
        if (!ConversionReader(rest, next).read()) {
            std::string text(start.substr(0, std::min<size_t>(start.size() - rest.size() + 1, 16)));
            return base::errorf(base::ErrorCode::invalid, "format has an unknown conversion: %s",
                                text.c_str());
        }
        result.push_back(std::move(next));
        next = Conversion{};
    }
    if (!next.literal.empty())
        result.push_back(std::move(next));
    return result;
}

} // namespace daybreak::analyze
