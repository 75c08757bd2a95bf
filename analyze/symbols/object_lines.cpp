// SPDX-License-Identifier: Apache-2.0
//
// Lines of DWARF, by libdw.
#include "analyze/symbols/object_lines.hpp"

#include "base/visible.hpp"

#include <algorithm>
#include <cstring>
#include <elfutils/libdw.h>

namespace daybreak::analyze {

namespace {

/// Ranges of units: a browser of 200 MB has a million.
constexpr size_t kRangesMax = 1 << 22;
constexpr size_t kSourceBytesMax = 255; ///< of a file's name

} // namespace

ObjectLines::ObjectLines(base::ScopedFd file) : file_(std::move(file)) {
    if (file_.valid())
        dwarf_ = ::dwarf_begin(file_.get(), DWARF_C_READ);
    if (dwarf_ != nullptr)
        read_units();
}

ObjectLines::~ObjectLines() {
    ::dwarf_end(dwarf_);
}

void ObjectLines::read_units() {
    size_t header_bytes = 0;
    for (Dwarf_Off offset = 0, next = 0;
         ::dwarf_nextcu(dwarf_, offset, &next, &header_bytes, nullptr, nullptr, nullptr) == 0 &&
         next > offset;
         offset = next) {
        Dwarf_Die unit;
        if (::dwarf_offdie(dwarf_, offset + header_bytes, &unit) == nullptr)
            continue;
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (ptrdiff_t at = 0; (at = ::dwarf_ranges(&unit, at, &base, &begin, &end)) > 0;) {
            if (units_.size() >= kRangesMax)
                break;
            if (begin < end)
                units_.push_back({begin, end, offset + header_bytes});
        }
    }
    std::sort(units_.begin(), units_.end(),
              [](const UnitRange& a, const UnitRange& b) { return a.begin < b.begin; });
}

std::string ObjectLines::find(uint64_t address) const {
    auto after = std::upper_bound(
        units_.begin(), units_.end(), address,
        [](uint64_t wanted, const UnitRange& range) { return wanted < range.begin; });
    if (after == units_.begin() || address >= (after - 1)->end)
        return "";
    Dwarf_Die unit;
    if (::dwarf_offdie(dwarf_, (after - 1)->die_offset, &unit) == nullptr)
        return "";
    Dwarf_Line* line = ::dwarf_getsrc_die(&unit, address);
    const char* source = line ? ::dwarf_linesrc(line, nullptr, nullptr) : nullptr;
    int number = 0;
    if (source == nullptr || ::dwarf_lineno(line, &number) != 0 || number <= 0)
        return "";
    if (const char* slash = std::strrchr(source, '/'))
        source = slash + 1;
    std::string_view name(source, ::strnlen(source, kSourceBytesMax));
    if (std::ranges::any_of(name, [](char c) { return c == '\n'; }))
        return "";
    return base::visible(name) + ":" + std::to_string(number);
}

} // namespace daybreak::analyze
