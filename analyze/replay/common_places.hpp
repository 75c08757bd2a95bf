// SPDX-License-Identifier: Apache-2.0
//
// CommonPlaces: one address for what recordings have at different ones.
//
// A function lies elsewhere in each boot, and where it lay another one lies in the next.  In a
// replay of several recordings an address of a stack, or one that sym() and its kin are given,
// becomes a place in its image here, or, where no build id is known, in its symbol:
//
//     web-1  0xffffffff8a1b2c3d  vmlinux, 0x3b2c3d  --+--> 0xf000000000000000+0x3b2c3d
//     web-2  0xffffffff961b2c3d  vmlinux, 0x3b2c3d  --'
//     web-1  pid 711, 0x7f3a10020d10  libc.so.6, 0x94d10  --> 0xf000000040200000+0x94d10
//
// Images lie where they lie in a merge of partial states: keys of several boots sort and print
// there as here.
//
// Of one recording, for partial states, addresses of the kernel stay, and a file has a place for
// each address that it was mapped at: what a process had at one address before an exec and after it
// are two places, which the merge joins as it has one boot or several.
#pragma once

#include "analyze/replay/canonical.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "formats/trace/reader.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace daybreak::analyze {

class CommonPlaces {
public:
    /// A recording, and what is known of its processes' files; null: nothing.
    struct Source {
        const formats::Trace* trace = nullptr;
        RecordedNames* users = nullptr;
    };

    /// What the sources point to must outlive it.
    explicit CommonPlaces(std::vector<Source> sources)
        : sources_(std::move(sources)), known_(sources_.size()), files_(*this) {}

    /// Returns the address here of what a source, by index, has at an address of the kernel; the
    /// same when neither its image nor its name is known.
    uint64_t kernel(size_t source, uint64_t address);
    /// The same of a process at CLOCK_MONOTONIC of the recording; the same when the file or its
    /// build id is not known.
    uint64_t user(size_t source, uint64_t pid, uint64_t address, uint64_t mono_ns);

    /// Where a thread's stack led to then, as addresses of its process; nothing when no files are
    /// known.
    UnwoundStack unwind(size_t source, uint64_t pid, const RecordedThread& thread,
                        uint64_t mono_ns) const {
        RecordedNames* users = sources_[source].users;
        return users ? users->unwind(pid, thread, mono_ns) : UnwoundStack{};
    }

    /// Names of the addresses so far: those of the kernel as of the last settle().
    const formats::SymbolTable& symbols() const { return symbols_; }
    UserNames& users() { return files_; }
    /// Before names are looked up.
    void settle() {
        if (std::exchange(is_unsettled_, false))
            symbols_.finish();
    }

private:
    /// An address that had a place first.
    struct Origin {
        size_t source;
        uint64_t pid, address, mono_ns;
    };
    /// Source lines are where the place came from.
    class Files : public FileNames {
    public:
        explicit Files(const CommonPlaces& places) : places_(places) {}
        std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                      std::optional<uint64_t> mono_ns) override;
        std::string line(uint64_t pid, uint64_t address, bool is_return,
                         std::optional<uint64_t> mono_ns) override;

    private:
        const CommonPlaces& places_;
    };

    /// A file that was mapped, at which address its first byte would be, and at which offset its
    /// code began; of several recordings 0.
    struct Mapped {
        std::string build_id;
        uint64_t address = 0, code_offset = 0;
    };

    bool is_of_one() const { return sources_.size() == 1; }
    void find_images();
    void find_files();
    uint64_t place_of(const formats::ProcessMaps::Match& match, uint64_t address);
    uint64_t make_place(size_t source, uint64_t address);
    void name(uint64_t place, std::string_view name, std::string_view module);

    std::vector<Source> sources_;
    std::vector<std::vector<formats::StateImage>> images_; // by source; empty: not asked for yet
    std::vector<ImageIndex> indexes_;
    FramePlaces image_places_, file_places_;
    std::vector<std::unordered_map<uint64_t, uint64_t>> known_; // kernel places by source
    PlacesByName places_by_name_;                               // of no known image
    std::map<uint64_t, Origin> origins_;                        // by place
    std::map<std::tuple<std::string, uint64_t, uint64_t>, uint64_t>
        mapped_at_;                     // of one, by build id, address and that of the code
    std::map<uint64_t, Mapped> mapped_; // by place
    formats::SymbolTable symbols_;
    std::set<uint64_t> named_; // addresses of symbols_
    bool has_files_ = false;   // find_files() was called
    bool is_unsettled_ = false;
    Files files_;
};

} // namespace daybreak::analyze
