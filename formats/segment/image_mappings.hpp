// SPDX-License-Identifier: Apache-2.0
//
// The mappings of code of one image, and which of them held an address at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace daybreak::formats {

/// A later mapping takes the place of what it covers.
///
/// Images of few mappings are searched from the last one back.  Of more there is a tree over the
/// addresses, in which each mapping is in at most two nodes of a level, and what a file was mapped
/// with is sorted: an image of a runtime that maps its code anew has tens of thousands.
class ImageMappings {
public:
    struct Mapping {
        uint64_t from_ns, begin, end, offset; ///< begin < end
        uint32_t file;                        ///< 0: of none
    };
    struct Found {
        Mapping mapping;
        uint64_t begin; ///< address of the first code of the file that is mapped with it
    };

    /// In ascending order of from_ns.
    void add(const Mapping& mapping) { mappings_.push_back(mapping); }
    /// Call after the last add() and before find().
    void finish();
    std::optional<Found> find(uint64_t address, uint64_t mono_ns) const;

private:
    /// The lowest begin of all till then that lie where their file is mapped with the same
    /// distance.
    struct Lowest {
        uint32_t file;
        uint64_t distance, from_ns, begin;
    };

    std::optional<size_t> last_of(uint64_t address, uint64_t mono_ns) const;
    uint64_t lowest_begin(const Mapping& mapping, uint64_t mono_ns) const;
    void make_tree();
    void make_lowest();
    template <class Visit>
    void visit_nodes(const Mapping& mapping, Visit visit) const;

    std::vector<Mapping> mappings_;
    // Of many only.  Leaf i of the tree, node cells + i, is of the addresses from points_[i] on.
    std::vector<uint64_t> points_;
    std::vector<uint32_t> node_starts_; ///< of each node, in node_items_; one more at the end
    std::vector<uint32_t> node_items_;  ///< indices of mappings, ascending in each node
    std::vector<Lowest> lowest_;
};

} // namespace daybreak::formats
