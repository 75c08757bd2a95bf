// SPDX-License-Identifier: Apache-2.0
//
// ProcessNames: user addresses named from /proc and the programs' own symbols.
//
// /proc says what is mapped now.  A ring whose program names user addresses has what was mapped
// when, which decides where it is known: between a record and its printing a process may have
// executed another program, or have ended.
#pragma once

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_symbols.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "analyze/symbols/user_names.hpp"
#include "base/file.hpp"
#include "formats/trace/jit_names.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <tuple>
#include <utility>
#include <vector>

namespace daybreak::live {

/// Returns whether a process runs a program of 32 bits: what its registers and stack mean is
/// another convention.
bool runs_32_bits(uint64_t pid);

/// Returns what the module of a probe in an object is, if a description's means it: the name of its
/// file; that without its last numbers, as a library's SONAME is ("libstdc++.so.6" of
/// "libstdc++.so.6.0.30"); or what the description says, a.out for the program itself, "libc" for
/// "libc.so.6".
std::optional<std::string> module_meant(const std::string& wanted, const std::string& object,
                                        bool is_program);

/// Returns the vDSO that the kernel gave this process, as it gives every one of 64 bits; empty:
/// none.
base::ByteView own_vdso();

/// Reads a process's maps when it is first asked for, and again when an address lies in none of
/// them; an object's symbols when one in it is looked up, its tables of frames when one is unwound.
class ProcessNames : public analyze::UserNames {
public:
    /// Returns what the runtime of a process has written of the code that it makes, when its size
    /// is another than `bytes_known`, which becomes that.
    using MadeText = std::function<std::string(uint32_t pid, uint64_t& bytes_known)>;

    /// `made_text` empty: what is in no file has no name.
    explicit ProcessNames(MadeText made_text = nullptr) : made_text_(std::move(made_text)) {}

    std::optional<analyze::UserPlace> find(uint64_t pid, uint64_t address,
                                           std::optional<uint64_t> mono_ns) override;
    /// A file that was mapped and is not there any more has no tables of frames.
    analyze::UnwoundStack unwind(uint64_t pid, const analyze::RecordedThread& thread,
                                 std::optional<uint64_t> mono_ns) override;
    /// Each call is a look.
    void set_maps(formats::ProcessMaps maps) override;
    void shown_unnamed(const analyze::UserPlace& place) override;
    /// Files here of which addresses were shown without a function: path, and why.
    std::map<std::string, std::string> unnamed() const;
    /// Takes all that names need of a process which is about to go.
    void remember(uint64_t pid);

    /// A function where it lies in a process now.
    struct Function {
        std::string object, name; ///< "libc.so.6", "malloc"
        uint64_t address = 0;
        std::string path; ///< opens the very file that is mapped there
        uint64_t file_offset = 0, bytes = 0;
        bool is_program = false; ///< of the program itself, not of a library
        bool is_called = true;   ///< and so returns
    };
    /// Returns the functions of a process, as its objects' symbols have them, that are wanted.
    std::vector<Function> functions(uint64_t pid,
                                    const std::function<bool(const Function&)>& wanted);

    /// A file that a process has mapped as code.
    struct MappedObject {
        std::string name;
        bool is_program = false;
        const analyze::ObjectSymbols* symbols = nullptr; ///< lives as long as this
        std::string path;                                ///< as its process sees it
    };
    /// Returns those of a process, each once.
    std::vector<MappedObject> objects(uint64_t pid);

    /// A mark of an object that a process has mapped.
    struct Mark {
        std::string object_name, path;
        bool is_program = false;
        const analyze::ObjectSymbols* object = nullptr; ///< lives as long as this
        const analyze::ObjectMark* mark = nullptr;      ///< of the object
    };
    /// Returns the marks of a process's objects.
    std::vector<Mark> marks(uint64_t pid);

    /// A file that processes have mapped as code.
    struct CodeFile {
        std::string path; ///< opens it from here: of a container through /proc/PID/root
        std::string name; ///< "libc.so.6"
        bool is_program = false;
        bool is_of_root = false; ///< its owner
        uint64_t bytes = 0;
    };
    /// Returns those of the processes that run now, each once; without what was replaced or deleted
    /// since.
    static std::vector<CodeFile> code_files();

private:
    struct Object {
        base::ScopedFd file;                             ///< till it is read
        std::optional<std::pair<dev_t, ino_t>> identity; ///< of the file, when it was there
        analyze::ObjectSymbols symbols;
        std::unique_ptr<analyze::ObjectFrames> frames; ///< null: not asked for, or no file
    };
    struct Mapping {
        uint64_t begin, end, file_offset, inode;
        uint64_t object_start; ///< of the first mapping of this path
        bool is_code;
        std::string path, device;
    };

    /// What was read of a process: again at most once for each look at the ring, as what its
    /// records name was there before.  Reading 60 000 mappings takes 55 ms.
    struct Known {
        std::vector<Mapping> maps;
        uint64_t maps_look = 0, made_look = 0; ///< the last looks that read maps, and what it made
        uint64_t made_bytes = 0;               ///< of that text
    };

    /// Ascending by their addresses.
    static std::vector<Mapping> read_maps(uint64_t pid);
    /// Those of them that are code of a file.
    static std::vector<Mapping> read_code(uint64_t pid);
    static std::string path_of(uint64_t pid, const Mapping& mapping);
    Object& open_object(uint64_t pid, const Mapping& mapping);
    const analyze::ObjectSymbols& object_of(uint64_t pid, const Mapping& mapping);
    const analyze::ObjectFrames* frames_of(uint64_t pid, const Mapping& mapping);
    const Mapping* mapping_of(uint64_t pid, uint64_t address);
    bool is_other_than(uint64_t pid, uint64_t address, std::optional<uint64_t> mono_ns,
                       const Mapping* now);
    void take_made(uint64_t pid);
    std::optional<analyze::UserPlace> find_made(uint64_t pid, uint64_t address);
    std::optional<analyze::UserPlace> find_variable(uint64_t pid, uint64_t address,
                                                    const Mapping& mapping);

    formats::ProcessMaps recorded_maps_;
    std::unique_ptr<analyze::RecordedNames> recorded_; ///< by those maps; null: there are none
    std::set<std::pair<std::string, std::string>> shown_unnamed_; ///< objects and their build ids
    std::map<std::string, std::string> unnamed_before_;           ///< by maps before the recorded
    MadeText made_text_;
    formats::JitNames made_;
    uint64_t look_ = 1;               // number of the look at the ring whose records are named
    std::map<uint64_t, Known> known_; // by process
    /// By device, inode and path: containers have other files of the same path.
    std::map<std::tuple<std::string, uint64_t, std::string>, std::unique_ptr<Object>> objects_;
};

} // namespace daybreak::live
