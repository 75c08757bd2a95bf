// SPDX-License-Identifier: Apache-2.0
//
// Canonical: keys of an AggregationTable to those of partial states, and back.
//
//     address --which image?--> build id + offset        (in a part, whose boot it is)
//     build id + offset --where did it lie?--> address   (merged)
//
// Addresses of processes are places in files where the maps of the recording know them.
//
// Of one boot both are each other's inverse, so what is merged sorts and prints as one replay does.
// Of several boots each image gets a place where no boot has anything, in a merge and in a replay
// (common_places.hpp): two kernels may have lain at the same address, and an address of one boot in
// the image of another.
#pragma once

#include "analyze/aggregate/table.hpp"
#include "analyze/replay/file_frames.hpp"
#include "formats/aggstate/key.hpp"
#include "formats/trace/metadata.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace daybreak::analyze {

/// Returns how states name an aggregation of the table.
formats::StateAggregation aggregation_of(const AggregationLayout& layout, const std::string& name);
/// Returns the layout that an aggregation of states has in a table.
AggregationLayout layout_of(const formats::StateAggregation& aggregation, uint32_t variable);

/// Images of one boot, found by address; files are none.
class ImageIndex {
public:
    /// The images must outlive it.
    explicit ImageIndex(const std::vector<formats::StateImage>& images);
    formats::Frame frame_of(uint64_t address) const;

private:
    const std::vector<formats::StateImage>& images_;
    std::map<uint64_t, uint32_t> by_address_;
};

/// Addresses of the kernel that keys have, whose names are for printing.
struct KernelAddresses {
    std::set<uint64_t> frames;   ///< in an image, or not
    std::set<uint64_t> integers; ///< what %a may print: numbers, whatever lies there
};

/// Returns whether a member of that kind is addresses of the kernel.
bool is_kernel_place(ValueKind kind);

/// Makes the canonical key of an entry, and adds the addresses of the kernel and the files that it
/// has.
/// Error: unsupported, when a member is none that states have.
base::Result<void> make_canonical(const std::vector<Value>& members,
                                  const std::vector<formats::StateImage>& images,
                                  const ImageIndex& index, formats::CanonicalKey& key,
                                  KernelAddresses& addresses, MappedFiles& files);

/// Where images lie, for those who print.
class FramePlaces {
public:
    /// The lowest place, and what each takes: no x86-64 machine has these addresses, and a symbol
    /// reaches less far than what an image leaves of its place.
    static constexpr uint64_t kBegin = 0xf000'0000'0000'0000,
                              kPlaceBytes = 2 * formats::kImageBytesMax;

    void add(uint64_t boot_id, const std::vector<formats::StateImage>& images);
    /// Gives each image its place: once, after the last add().  Of several boots it comes of the
    /// build id alone, so that keys sort the same whatever else there is.
    void finish();
    bool is_of_several() const { return has_boots_; }
    /// Empty: no part has that image, or it ends before.
    std::optional<uint64_t> address_of(base::ByteView build_id, uint64_t offset) const;

private:
    struct Place {
        uint64_t lowest = 0, size_bytes = 0; // of all parts
        uint64_t address = 0;
        bool is_file = false;
    };

    std::map<std::string, Place, std::less<>> places_; // by build id
    std::optional<uint64_t> boot_id_;
    bool has_boots_ = false; // more than one
};

/// Places of what has a name and no build id, of several boots.  They come of the names alone, but
/// where two want one.
class PlacesByName {
public:
    /// Returns the address of a symbol's first byte, above all images.
    uint64_t symbol(std::string_view module, std::string_view name);
    /// Returns that of a module, below all images: all its builds are one key of mod().
    uint64_t module(std::string_view name);

private:
    uint64_t place_of(uint64_t begin, std::string text);

    std::map<uint64_t, std::string> texts_; // "module`name", and "module"
};

/// Returns the address of several boots for one of the kernel, which is that in its image if it is
/// in one.
using KernelPlaceOf =
    std::function<uint64_t(formats::KeyTag tag, uint64_t address, bool has_image)>;

/// Makes a table's key of a canonical one, which can be taken apart.  Of one boot it has the
/// addresses of its processes, whose files are then known to `files`. Error: corrupt.
base::Result<void> make_table_key(base::ByteView canonical, const AggregationLayout& layout,
                                  const FramePlaces& places, const KernelPlaceOf& kernel_place,
                                  FileNames& files, AggregationKey& key);

} // namespace daybreak::analyze
