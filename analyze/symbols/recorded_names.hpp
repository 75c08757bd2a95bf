// SPDX-License-Identifier: Apache-2.0
//
// RecordedNames: user addresses of a recording, named by its maps and the files on this machine.
//
// The maps say which build of which file an address was in.  A file here names it only when it is
// that build: any other gives wrong names, and then object and offset are the answer.
#pragma once

#include "analyze/symbols/object_files.hpp"
#include "analyze/symbols/unwind.hpp"
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
    /// What unwind() is made of; the tables live as long as this.
    UnwindPlace unwind_place(uint64_t pid, uint64_t address, std::optional<uint64_t> mono_ns);
    /// The file alone, without names; empty as of find().
    std::optional<formats::ProcessMaps::Match> locate(uint64_t pid, uint64_t address,
                                                      std::optional<uint64_t> mono_ns);

    /// Whether the address is known to have been in no file then, or within what times are wrong
    /// by.
    bool was_in_no_file(uint64_t pid, uint64_t address, uint64_t mono_ns);

    void shown_unnamed(const UserPlace& place) override { unnamed_.insert(place.build_id); }
    /// Files that addresses were in and that are not here.
    MissingFiles missing() const { return files_.missing(); }
    /// Files here of which addresses were shown without a function: path, and why.
    std::map<std::string, std::string> unnamed() const { return files_.unnamed(unnamed_); }
    /// Files that have too much debug information for all lines to be read, and of what too much.
    const std::map<std::string, std::string>& too_large() const { return too_large_; }

private:
    using Object = ObjectFiles::Object;
    std::optional<UserPlace> find_made(uint64_t pid, uint64_t address);

    const formats::ProcessMaps& maps_;
    ObjectFiles files_;
    formats::JitNames jit_names_;
    std::map<std::string, std::string> too_large_; // by path
    std::set<std::string> unnamed_;                // build ids
};

} // namespace daybreak::analyze
