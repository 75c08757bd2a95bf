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
        uint64_t lost = 0;        ///< entries that found no room
        uint64_t overwritten = 0; ///< of processes that were gone when their block was needed
    };

    /// Takes what lies after the header of a block, in any order of blocks.  Returns what was wrong
    /// with it, empty when nothing was; what came before that is taken.
    std::string add(base::ByteView untrusted_block);
    /// Call after the last add() and before what follows.
    void finish();

    /// Returns where the address lay at `mono_ns` (CLOCK_MONOTONIC).  Without a time: where it lay
    /// in all images of the process that had it, when these agree.  Empty: not known.
    std::optional<Match> find(uint64_t pid, uint64_t address,
                              std::optional<uint64_t> mono_ns) const;
    bool empty() const { return counts_.blocks == 0; }
    const Counts& counts() const { return counts_; }
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
        uint32_t shared_with = 0;                // IMAGE: whose memory it is; 0: its own
        auto key() const {
            return std::tie(pid, mono_ns, kind, begin, end, offset, file, image, born_ns,
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
    void join_gaps();
    void end_at_gaps(Image& image) const;
    const Image* image_at(uint64_t pid, uint64_t mono_ns) const;
    std::optional<Match> find_in(const Image& image, uint64_t address, uint64_t mono_ns,
                                 int depth) const;

    std::vector<Event> events_;
    std::vector<Gap> gaps_;
    std::map<uint64_t, Block> blocks_;       // by number
    std::map<MappedFile, uint32_t> numbers_; // index + 1
    std::vector<const MappedFile*> files_;
    std::map<uint64_t, std::vector<Image>> images_; // by pid, ascending by from_ns
    KnownProcesses known_;
    Counts counts_;
};

} // namespace daybreak::formats
