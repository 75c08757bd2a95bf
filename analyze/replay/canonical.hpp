// SPDX-License-Identifier: Apache-2.0
//
// Canonical: keys of an AggregationTable to those of partial states, and back.
//
//     address --which image?--> build id + offset   (in a part, whose boot it is)
//     build id + offset --where did it lie?--> address   (merged: of several boots the lowest)
//
// Of one boot both are each other's inverse, so what is merged sorts and prints as one replay does.
#pragma once

#include "analyze/aggregate/table.hpp"
#include "formats/aggstate/key.hpp"

#include <map>
#include <optional>
#include <set>

namespace daybreak::analyze {

/// Returns how states name an aggregation of the table.
formats::StateAggregation aggregation_of(const AggregationLayout& layout, const std::string& name);
/// Returns the layout that an aggregation of states has in a table.
AggregationLayout layout_of(const formats::StateAggregation& aggregation, uint32_t variable);

/// Images of one boot, found by address.
class ImageIndex {
public:
    /// The images must outlive it.
    explicit ImageIndex(const std::vector<formats::StateImage>& images);
    formats::Frame frame_of(uint64_t address) const;

private:
    const std::vector<formats::StateImage>& images_;
    std::map<uint64_t, uint32_t> by_address_;
};

/// Makes the canonical key of an entry.  Addresses of the kernel that it has are added to
/// `addresses`.
/// Error: unsupported, when a member is none that states have.
base::Result<void> make_canonical(const std::vector<Value>& members,
                                  const std::vector<formats::StateImage>& images,
                                  const ImageIndex& index, formats::CanonicalKey& key,
                                  std::set<uint64_t>& addresses);

/// Where images lie, for those who print: of each build id the lowest address of all parts.
class FramePlaces {
public:
    void add(const std::vector<formats::StateImage>& images);
    /// Empty: no part has that image.
    std::optional<uint64_t> address_of(base::ByteView build_id, uint64_t offset) const;

private:
    std::map<std::string, uint64_t, std::less<>> bases_; // by build id
};

/// Makes a table's key of a canonical one, which can be taken apart.
/// Error: corrupt.
base::Result<void> make_table_key(base::ByteView canonical, const AggregationLayout& layout,
                                  const FramePlaces& places, AggregationKey& key);

} // namespace daybreak::analyze
