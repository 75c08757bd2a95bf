// SPDX-License-Identifier: Apache-2.0
//
// Places: the probes in programs' files that descriptions name, for the module to make.
//
//     pidN:OBJECT:FUNCTION:entry      a function of process N, as its objects' symbols have them
//                         :return
//                         :1f         its instruction at that offset, in hexadecimal
//     pid*:/PATH:FUNCTION:entry       the same of every process that maps that file, also of those
//                                     that do not exist yet; the probes are of provider "pid"
//     PROVIDERN:OBJECT:FUNCTION:NAME  a mark of process N (USDT): "python123", "gc-start"
//     PROVIDER*:/PATH:FUNCTION:NAME   the marks of that file in every process that maps it, of
//                                     PROVIDER: "python*:/usr/bin/python3::gc-start"; digits at
//                                     its end are its own: "glib2"
//     PROVIDER*:OBJECT:FUNCTION:NAME  the same of the files that processes which run now have
//     mapped
//
// OBJECT is a file's name without its folder, without its last numbers or its ".so" and what
// follows, too, or a.out, the program itself; globs may stand for it and for FUNCTION.
#pragma once

#include "formats/dof/dof_program.hpp"
#include "live/process/process_names.hpp"

#include <map>
#include <set>
#include <vector>

namespace daybreak::live {

/// Returns how many of the places are what a description names.
uint32_t count_places(const std::vector<formats::DofPlace>& places,
                      const formats::DofProbeName& description);

class Places {
public:
    /// Adds what a description names in a process that lives; nothing when it is of another kind.
    void add_named(const formats::DofProbeName& description);
    /// Adds the marks of a process that a description names.
    void add_marks(const formats::DofProbeName& description, uint32_t pid);
    /// Adds what a description names in the file of its path; is_by_path() holds.
    /// Errors: not_found, io: the file cannot be read; invalid: it is not a program of 64 bits.
    base::Result<void> add_by_path(const formats::DofProbeName& description);
    /// Adds the marks that a description names of files which running processes have mapped, for
    /// every process that maps them; is_of_running() holds.
    void add_running(const formats::DofProbeName& description);
    const std::vector<formats::DofPlace>& all() const { return places_; }
    /// Returns how many places a description names.
    uint32_t count(const formats::DofProbeName& description) const {
        return count_places(places_, description);
    }
    /// Functions that were left out, as their name is too long for a probe.
    size_t too_long_count() const { return too_long_.size(); }
    /// Returns what is missing of what was named, a line for each; "": nothing.
    std::string remark() const;

private:
    base::Result<void> add_file(const formats::DofProbeName& description, std::string module,
                                std::string path, int fd);
    void take_back_beyond(size_t before, const std::string& path);
    void add_function(const formats::DofProbeName& description, formats::DofPlace place,
                      uint64_t function_bytes, bool is_called);
    void add_mark(const formats::DofProbeName& description, formats::DofPlace place,
                  const analyze::ObjectSymbols& object, const analyze::ObjectMark& mark);
    void add(formats::DofPlace place);
    void note_marks(const std::string& path, const analyze::ObjectSymbols& object);
    void know_by_code(const std::string& path, int fd);

    ProcessNames names_;
    std::vector<formats::DofPlace> places_;
    std::set<std::tuple<std::string, std::string, uint64_t>> known_; // probe, path, offset
    std::set<std::string> too_long_;
    std::map<std::string, std::string> damaged_; // by path, what of the file's marks was left out
    size_t running_places_ = 0, running_bytes_ = 0; ///< of files that processes run
    std::map<std::string, size_t> left_out_;        ///< of these those that are too much: marks
};

/// Returns provider and name of the marks of files that running processes have mapped, each once.
std::set<std::pair<std::string, std::string>> running_marks();
/// Returns the process that a description's provider means: "pid123"; 0: none.
uint32_t process_named(const formats::DofProbeName& description);
/// Returns whether a description is of a file, in whatever process: "pid*:/usr/bin/cat:main:entry",
/// "python*:/usr/bin/python3::gc-start".
bool is_by_path(const formats::DofProbeName& description);
/// Returns whether a description is of marks of no process and no file: "python*:::gc-start".
bool is_of_running(const formats::DofProbeName& description);
/// Returns the numbers that a description's provider ends with, the longest first, as its name may
/// have digits at its end, too: of "glib2123" 2123, 123, 23 and 3.
std::vector<uint32_t> numbers_named(const formats::DofProbeName& description);
/// Returns whether a provider may be one of marks: no provider of the kernel matches.
bool is_of_marks(const std::string& provider);

} // namespace daybreak::live
