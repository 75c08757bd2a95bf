// SPDX-License-Identifier: Apache-2.0
//
// RecordedNames: user addresses of a recording, named by its maps and the files on this machine.
//
// The maps say which build of which file an address was in.  A file here names it only when it is
// that build: any other gives wrong names, and then object and offset are the answer.
#pragma once

#include "analyze/symbols/object_files.hpp"
#include "analyze/symbols/user_names.hpp"
#include "formats/segment/process_maps.hpp"
#include "formats/trace/jit_names.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::analyze {

class RecordedNames : public UserNames {
public:
    /// `maps` must outlive it.
    RecordedNames(const formats::ProcessMaps& maps, ObjectPlaces places,
                  formats::JitNames jit_names = {})
        : maps_(maps), files_(std::move(places)), jit_names_(std::move(jit_names)) {}

    std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                  std::optional<uint64_t> mono_ns) override;
    std::string line(uint64_t pid, uint64_t address, bool is_return,
                     std::optional<uint64_t> mono_ns) override;
    UnwoundStack unwind(uint64_t pid, const RecordedThread& thread,
                        std::optional<uint64_t> mono_ns) override;
    /// The file alone, without names; empty as of find().
    std::optional<formats::ProcessMaps::Match> locate(uint64_t pid, uint64_t address,
                                                      std::optional<uint64_t> mono_ns);

    /// Files that addresses were in and that are not here.
    MissingFiles missing() const { return files_.missing(); }

private:
    using Match = formats::ProcessMaps::Match;
    using Object = ObjectFiles::Object;

    void remember(uint64_t pid, uint64_t address, const Match& match);
    std::optional<UserPlace> find_made(uint64_t pid, uint64_t address);

    const formats::ProcessMaps& maps_;
    ObjectFiles files_;
    formats::JitNames jit_names_;
    /// What was asked for with a time, and the beginnings of symbol and object, which are keys of
    /// aggregations: there the time is not known any more.  Without a file: there were several.
    std::map<std::pair<uint64_t, uint64_t>, Match> remembered_; // by pid and address
};

} // namespace daybreak::analyze
