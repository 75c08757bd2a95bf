// SPDX-License-Identifier: Apache-2.0
//
// RecordedNames: user addresses of a recording, named by its maps and the files on this machine.
//
// The maps say which build of which file an address was in.  A file here names it only when it is
// that build: any other gives wrong names, and then object and offset are the answer.
#pragma once

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_lines.hpp"
#include "analyze/symbols/object_symbols.hpp"
#include "analyze/symbols/user_names.hpp"
#include "formats/segment/process_maps.hpp"
#include "formats/trace/jit_names.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::analyze {

/// Where files of a build are looked for.
struct ObjectPlaces {
    /// Searched first: FOLDER/.build-id/NN/REST[.debug], FOLDER/PATH, FOLDER/NAME.
    std::vector<std::string> folders;
    /// Files of debug symbols by build id.
    std::string debug_folder = "/usr/lib/debug";
    /// The vDSO of the kernel that was recorded; empty: not at hand.
    base::Bytes vdso;
};

class RecordedNames : public UserNames {
public:
    /// `maps` must outlive it.
    RecordedNames(const formats::ProcessMaps& maps, ObjectPlaces places,
                  formats::JitNames jit_names = {})
        : maps_(maps), places_(std::move(places)), jit_names_(std::move(jit_names)) {}

    std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                  std::optional<uint64_t> mono_ns) override;
    std::string line(uint64_t pid, uint64_t address, bool is_return,
                     std::optional<uint64_t> mono_ns) override;
    UnwoundStack unwind(uint64_t pid, const RecordedThread& thread,
                        std::optional<uint64_t> mono_ns) override;
    /// The file alone, without names; empty as of find().
    std::optional<formats::ProcessMaps::Match> locate(uint64_t pid, uint64_t address,
                                                      std::optional<uint64_t> mono_ns);

    /// Files that addresses were in, of which this machine does not have that build: path and build
    /// id in hexadecimal, "" where the kernel did not know it.
    std::vector<std::pair<std::string, std::string>> missing() const;

private:
    using Match = formats::ProcessMaps::Match;
    /// A file of that build, and the one that debug symbols were in; "": none.
    struct Object {
        ObjectSymbols symbols;
        std::string path, debug_path;
        std::unique_ptr<ObjectLines> lines;   ///< null: not asked for yet
        std::unique_ptr<ObjectFrames> frames; ///< the same
    };

    void remember(uint64_t pid, uint64_t address, const Match& match);
    std::optional<UserPlace> find_made(uint64_t pid, uint64_t address);
    Object* object_of(const formats::MappedFile& file);
    std::unique_ptr<Object> read_object(const formats::MappedFile& file) const;

    const formats::ProcessMaps& maps_;
    ObjectPlaces places_;
    formats::JitNames jit_names_;
    /// What was asked for with a time, and the beginnings of symbol and object, which are keys of
    /// aggregations: there the time is not known any more.  Without a file: there were several.
    std::map<std::pair<uint64_t, uint64_t>, Match> remembered_;             // by pid and address
    std::map<const formats::MappedFile*, std::unique_ptr<Object>> objects_; // null: none here
};

} // namespace daybreak::analyze
