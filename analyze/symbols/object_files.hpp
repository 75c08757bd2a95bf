// SPDX-License-Identifier: Apache-2.0
//
// ObjectFiles: the files on this machine that are of a build which a recording names.
//
// A file of any other build gives wrong names.
#pragma once

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_lines.hpp"
#include "analyze/symbols/object_symbols.hpp"
#include "formats/segment/process_maps.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::analyze {

/// Gets a file of a build that is not here: "executable" or "debuginfo", the build id in
/// hexadecimal.  Returns its path; "": it is nowhere.
using ObjectFetch = std::function<std::string(const char* kind, const std::string& build_id)>;

/// Where files of a build are looked for.
struct ObjectPlaces {
    /// Searched first: FOLDER/.build-id/NN/REST[.debug], FOLDER/PATH, FOLDER/NAME.
    std::vector<std::string> folders;
    /// Files by the build id that they have, searched before those: programs, or debug symbols.
    std::multimap<std::string, std::string> files;
    /// Files of debug symbols by build id.
    std::string debug_folder = "/usr/lib/debug";
    /// The vDSO of the kernel that was recorded; empty: not at hand.
    base::Bytes vdso;
    ObjectFetch fetch; ///< asked last; empty: not at all
};

/// The path that maps have of the kernel's own library in a process.
inline constexpr std::string_view kVdsoPath = "[vdso]";

struct MissingFile {
    std::string path, build_id; ///< the latter in hexadecimal, "" where the kernel did not know it
    std::string why = "";       ///< of what is in its place here; "": nothing is

    auto operator<=>(const MissingFile&) const = default;
};
using MissingFiles = std::set<MissingFile>;

class ObjectFiles {
public:
    /// A file of a build, and the one that debug symbols were in; "": none.
    struct Object {
        ObjectSymbols symbols;
        std::string path, debug_path, lines_path; ///< the last: of `lines`
        std::unique_ptr<ObjectLines> lines;       ///< null: not asked for yet
        std::unique_ptr<ObjectFrames> frames;     ///< the same
    };

    explicit ObjectFiles(ObjectPlaces places) : places_(std::move(places)) {}

    /// Returns the file here that is of that build; null: there is none.  `file` must outlive this.
    Object* find(const formats::MappedFile& file);
    base::ByteView vdso() const { return places_.vdso; }
    /// Those that were asked for and are not here.
    MissingFiles missing() const;
    /// Of those that are here and of these builds: path, and why an address has no function.
    std::map<std::string, std::string> unnamed(const std::set<std::string>& build_ids) const;

private:
    std::unique_ptr<Object> read(const formats::MappedFile& file);

    ObjectPlaces places_;
    std::map<const formats::MappedFile*, std::unique_ptr<Object>> objects_; // null: none here
    std::map<const formats::MappedFile*, std::string> why_; // of some that are null: MissingFile's
};

/// Its path without what the kernel adds of one that is gone, and the last part of that.
std::string_view path_of(const formats::MappedFile& file);
std::string name_of(const formats::MappedFile& file);
/// Bytes of a build id as they are written.
std::string hexadecimal(std::string_view bytes);
/// Why an address in an object that is here has no function.
std::string why_unnamed(const ObjectSymbols& object,
                        const std::string& debug_folder = ObjectPlaces().debug_folder);
/// Opens a regular file to read: devices and pipes are not opened.  Else errno says why not.
base::ScopedFd open_object(const std::string& path);
/// Adds the functions that debug symbols of that build have, where they are in the folder.
void add_debug_symbols(ObjectSymbols& object,
                       const std::string& folder = ObjectPlaces().debug_folder);

} // namespace daybreak::analyze
