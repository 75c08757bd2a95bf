// SPDX-License-Identifier: Apache-2.0
//
// File frames: addresses of processes as files have them, build id and offset in the file.
//
//     pid 711, 0x7f3a10020d10 --maps of the recording--> libc.so.6, its build id, 0x94d10
//     (MappedFiles) build id, 0x94d10 --symbols of the part--> libc.so.6`malloc+0x10 (FileNames)
//
// The loader puts a library elsewhere in each process, so only there a function is one in all
// boots.
#pragma once

#include "analyze/symbols/object_files.hpp"
#include "analyze/symbols/user_names.hpp"
#include "formats/aggstate/state.hpp"
#include "formats/segment/process_maps.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace daybreak::analyze {

/// Whether a file's build is known, so that a place in it is the same one in all boots.
bool is_common(const formats::MappedFile& file);

/// The files that the keys of a part have addresses in.
class MappedFiles {
public:
    /// `users` must outlive it; null: no file is known.
    explicit MappedFiles(UserNames* users) : users_(users) {}

    struct Frame {
        std::string_view build_id; ///< lives as long as this
        uint64_t offset = 0, address = 0;
    };
    /// Returns where an address of a process was, and remembers it; empty: not known.
    std::optional<Frame> find(uint64_t pid, uint64_t address);
    /// Appends the files as images, and the functions that were met as symbols of these: in an
    /// order that says nothing of that of the addresses.
    void put(std::vector<formats::StateImage>& images,
             std::vector<formats::StateSymbol>& symbols) const;

private:
    struct Function {
        std::string name;
        uint64_t bytes = 0;
    };
    struct File {
        std::set<std::string> names; ///< the same build may have several
        uint64_t end = 0;            ///< the last offset that was met, plus 1
        std::map<uint64_t, Function> functions;
    };

    UserNames* users_;
    std::map<std::string, File, std::less<>> files_; // by build id
};

/// Names of what is of many processes: at the places that files have there, and at the addresses
/// that are said to be such.
class FileNames : public UserNames {
public:
    /// Where no function is known the file on this machine is asked; it must outlive this.
    void look_in(ObjectFiles* objects) { objects_ = objects; }
    /// `build_id` is of bytes; "": the file is not looked for.
    void add_file(uint64_t place, uint64_t bytes, const std::string& name,
                  std::string build_id = {});
    void add_function(uint64_t place, uint64_t bytes, const std::string& name);
    /// Names an address of a process by a place.  One that has two places has no name, and of more
    /// than kAddressesMax the last have none.
    void add_address(uint64_t pid, uint64_t address, uint64_t place);
    bool empty() const { return files_.empty(); }

    std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                  std::optional<uint64_t> mono_ns) override;

private:
    static constexpr size_t kAddressesMax = 1u << 20;

    struct Named {
        std::string name;
        uint64_t bytes = 0;
        formats::MappedFile file = {}; ///< of a file
    };
    using NamedPlaces = std::map<uint64_t, Named>;
    static void add(NamedPlaces& places, uint64_t place, uint64_t bytes, const std::string& name);
    static NamedPlaces::const_iterator find_in(const NamedPlaces& places, uint64_t address);
    uint64_t place_of(uint64_t pid, uint64_t address) const;
    void name_by_object(const Named& file, UserPlace& place);

    ObjectFiles* objects_ = nullptr;
    NamedPlaces files_, functions_;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> addresses_; // by pid and address; 0: several
};

} // namespace daybreak::analyze
