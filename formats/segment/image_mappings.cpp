// SPDX-License-Identifier: Apache-2.0
//
// Searching the mappings of an image.
#include "formats/segment/image_mappings.hpp"

#include <algorithm>
#include <tuple>

namespace daybreak::formats {

namespace {

/// Programs have some tens; of these a search from the end is as fast.
constexpr size_t kFewMax = 32;

uint64_t distance_of(const ImageMappings::Mapping& mapping) {
    return mapping.begin - mapping.offset;
}

} // namespace

void ImageMappings::finish() {
    if (mappings_.size() <= kFewMax)
        return;
    make_tree();
    make_lowest();
}

/// Calls visit(node) for the fewest nodes that are together the addresses of a mapping.
template <class Visit>
void ImageMappings::visit_nodes(const Mapping& mapping, Visit visit) const {
    auto leaf_of = [this](uint64_t address) {
        return static_cast<size_t>(std::ranges::lower_bound(points_, address) - points_.begin()) +
               points_.size();
    };
    size_t left = leaf_of(mapping.begin), right = leaf_of(mapping.end);
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2 != 0)
            visit(left++);
        if (right % 2 != 0)
            visit(--right);
    }
}

void ImageMappings::make_tree() {
    for (const Mapping& mapping : mappings_)
        points_.insert(points_.end(), {mapping.begin, mapping.end});
    std::ranges::sort(points_);
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
    node_starts_.assign(2 * points_.size() + 1, 0);
    for (const Mapping& mapping : mappings_)
        visit_nodes(mapping, [this](size_t node) { node_starts_[node + 1]++; });
    for (size_t node = 1; node < node_starts_.size(); node++)
        node_starts_[node] += node_starts_[node - 1];
    node_items_.resize(node_starts_.back());
    std::vector<uint32_t> next(node_starts_.begin(), node_starts_.end() - 1);
    for (uint32_t i = 0; i < mappings_.size(); i++)
        visit_nodes(mappings_[i], [&](size_t node) { node_items_[next[node]++] = i; });
}

void ImageMappings::make_lowest() {
    for (const Mapping& mapping : mappings_)
        lowest_.push_back({mapping.file, distance_of(mapping), mapping.from_ns, mapping.begin});
    std::ranges::sort(lowest_, [](const Lowest& a, const Lowest& b) {
        return std::tie(a.file, a.distance, a.from_ns) < std::tie(b.file, b.distance, b.from_ns);
    });
    for (size_t i = 1; i < lowest_.size(); i++)
        if (const Lowest& before = lowest_[i - 1];
            before.file == lowest_[i].file && before.distance == lowest_[i].distance)
            lowest_[i].begin = std::min(lowest_[i].begin, before.begin);
}

std::optional<size_t> ImageMappings::last_of(uint64_t address, uint64_t mono_ns) const {
    if (points_.empty()) {
        for (size_t i = mappings_.size(); i-- > 0;)
            if (const Mapping& mapping = mappings_[i];
                mapping.from_ns <= mono_ns && address >= mapping.begin && address < mapping.end)
                return i;
        return std::nullopt;
    }
    auto after = std::ranges::upper_bound(points_, address);
    if (after == points_.begin())
        return std::nullopt;
    std::optional<size_t> last;
    size_t node = static_cast<size_t>(after - points_.begin()) - 1 + points_.size();
    for (; node > 0; node /= 2) {
        auto begin = node_items_.begin() + node_starts_[node],
             end = node_items_.begin() + node_starts_[node + 1];
        auto later = std::upper_bound(begin, end, mono_ns, [this](uint64_t ns, uint32_t i) {
            return ns < mappings_[i].from_ns;
        });
        if (later != begin)
            last = std::max<size_t>(last.value_or(0), *(later - 1));
    }
    return last;
}

uint64_t ImageMappings::lowest_begin(const Mapping& mapping, uint64_t mono_ns) const {
    uint64_t lowest = mapping.begin;
    if (!lowest_.empty()) {
        auto after = std::upper_bound(
            lowest_.begin(), lowest_.end(), std::tuple(mapping.file, distance_of(mapping), mono_ns),
            [](const auto& wanted, const Lowest& one) {
                return wanted < std::tie(one.file, one.distance, one.from_ns);
            });
        return (after - 1)->begin; // it is itself among them
    }
    for (const Mapping& other : mappings_)
        if (other.file == mapping.file && other.from_ns <= mono_ns &&
            distance_of(other) == distance_of(mapping))
            lowest = std::min(lowest, other.begin);
    return lowest;
}

std::optional<ImageMappings::Found> ImageMappings::find(uint64_t address, uint64_t mono_ns) const {
    auto last = last_of(address, mono_ns);
    if (!last)
        return std::nullopt;
    return Found{mappings_[*last], lowest_begin(mappings_[*last], mono_ns)};
}

} // namespace daybreak::formats
