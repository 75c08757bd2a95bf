// SPDX-License-Identifier: Apache-2.0
//
// Which file an address of a process was in, and when.
//
// Read from the MAPS blocks of formats/abi/maps.md.  A process has images one after the other, each
// from an exec, a fork or the beginning of listing to the next or its end; an image has mappings of
// code, of which a later one takes the place of what it covers.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/abi/maps.h"
#include "formats/segment/image_mappings.hpp"
#include "formats/segment/known_processes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace daybreak::formats {

/// A file that a process had mapped as code.
struct MappedFile {
    std::string path;     ///< as the process's kernel wrote it; of one that was cut, its end
    std::string build_id; ///< bytes; empty: not known
    bool path_cut = false;

    bool operator<(const MappedFile& other) const {
        return std::tie(path, build_id) < std::tie(other.path, other.build_id);
    }
};

/// Movable, not copyable: it refers to its own files.
class ProcessMaps {
public:
    ProcessMaps() = default;
    ProcessMaps(ProcessMaps&&) = default;
    ProcessMaps& operator=(ProcessMaps&&) = default;
    ProcessMaps(const ProcessMaps&) = delete;
    ProcessMaps& operator=(const ProcessMaps&) = delete;

    struct Match {
        const MappedFile* file = nullptr;
        uint64_t offset = 0; ///< of the address in the file
        uint64_t begin = 0;  ///< address of the first code of the file that is mapped with it
    };

    /// What is here, for people.
    struct Counts {
        uint64_t blocks = 0, images = 0, mappings = 0, files = 0;
        uint64_t unmapped = 0;    ///< mappings that were taken or moved away
        uint64_t lost = 0;        ///< entries that found no room
        uint64_t overwritten = 0; ///< of processes that were gone when their block was needed
    };

    /// Images by the inode numbers of the namespaces that they were in, without those of process 1.
    struct OtherNamespaces {
        std::map<uint32_t, uint64_t> mount; ///< their paths are of that one
        std::map<uint32_t, uint64_t> pid;
    };

    /// Takes what lies after the header of a block, in any order of blocks.  Returns what was wrong
    /// with it, empty when nothing was; what came before that is taken.
    std::string add(base::ByteView untrusted_block);
    /// Call after the last add() and before what follows.
    void finish();

    /// Returns where the address lay at `mono_ns` (CLOCK_MONOTONIC).  Without a time: where it lay
    /// whenever it was in a file, in all images of the process, when these agree.  Empty: not
    /// known, or in no file.
    std::optional<Match> find(uint64_t pid, uint64_t address,
                              std::optional<uint64_t> mono_ns) const;
    /// Returns whether it lay in one file in one image of the process and elsewhere in another one,
    /// or there were too many images to say.
    bool is_of_several(uint64_t pid, uint64_t address) const;
    /// Returns whether it is known that the address was in no file then: in memory that had none,
    /// or unmapped.
    bool was_in_no_file(uint64_t pid, uint64_t address, uint64_t mono_ns) const;
    bool empty() const { return counts_.blocks == 0; }
    const Counts& counts() const { return counts_; }
    const OtherNamespaces& other_namespaces() const { return other_namespaces_; }
    /// Of all processes, for files of their runtimes; before finish(), too.
    const KnownProcesses& known() const { return known_; }
    /// All that were mapped, each once.
    const std::map<MappedFile, uint32_t>& files() const { return numbers_; }

private:
    struct Event {
        uint32_t pid = 0;
        uint64_t mono_ns = 0;
        uint16_t kind = 0;
        uint32_t image = 0;
        uint64_t born_ns = 0;
        uint64_t begin = 0, end = 0, offset = 0; // MAPPING
        uint32_t file = 0;                       // MAPPING: index + 1; 0: none
        bool is_mapped = false;                  // MAPPING: not the end of one
        uint32_t shared_with = 0;                // IMAGE: whose memory it is; 0: its own
        dbk_map_namespaces namespaces = {};      // IMAGE: 0: not known, too
        auto key() const {
            // What is mapped in place of something else follows what says that that is gone.
            return std::tie(pid, mono_ns, kind, is_mapped, begin, end, offset, file, image, born_ns,
                            shared_with);
        }
    };
    struct Image {
        uint64_t from_ns = 0, until_ns = UINT64_MAX;
        uint32_t shared_with = 0;
        ImageMappings mappings;
    };
    struct Gap {
        uint64_t from_ns, to_ns;
    };
    struct Block {
        uint64_t number = 0, entered_before = 0, entries = 0;
    };

    std::string take(const dbk_map_entry& head, base::ByteView entry, Block& block,
                     std::map<uint32_t, uint32_t>& files, uint32_t at);
    uint32_t file_number(MappedFile file);
    void count_namespaces(const dbk_map_namespaces& namespaces);
    void join_gaps();
    void end_at_gaps(Image& image) const;
    const Image* image_at(uint64_t pid, uint64_t mono_ns) const;
    std::optional<ImageMappings::Found> found_in(const Image& image, uint64_t address,
                                                 uint64_t mono_ns) const;
    const Image* memory_of(const Image& image) const;
    Match match_of(const ImageMappings::Found& found, uint64_t address) const;
    bool agrees(const Image& image, uint64_t address, std::optional<Match>& found) const;
    bool all_agree(uint64_t pid, uint64_t address, std::optional<Match>& found) const;

    std::vector<Event> events_;
    std::vector<Gap> gaps_;
    std::map<uint64_t, Block> blocks_;       // by number
    std::map<MappedFile, uint32_t> numbers_; // index + 1
    std::vector<const MappedFile*> files_;
    std::map<uint64_t, std::vector<Image>> images_; // by pid, ascending by from_ns
    KnownProcesses known_;
    Counts counts_;
    OtherNamespaces other_namespaces_;
};

} // namespace daybreak::formats
