// SPDX-License-Identifier: Apache-2.0
//
// ProcessNames: user addresses named from /proc and the programs' own symbols.
#pragma once

#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_symbols.hpp"
#include "analyze/symbols/user_names.hpp"
#include "base/file.hpp"
#include "formats/trace/jit_names.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
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
/// file, or what the description says, a.out for the program itself, "libc" for "libc.so.6".
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
    /// Takes all that names need of a process which is about to go.
    void remember(uint64_t pid);

    /// A function where it lies in a process now.
    struct Function {
        std::string object, name; ///< "libc.so.6", "malloc"
        uint64_t address = 0;
        std::string path; ///< opens the very file that is mapped there
        uint64_t file_offset = 0, bytes = 0;
        bool is_program = false; ///< of the program itself, not of a library
    };
    /// Returns the functions of a process, as its objects' symbols have them, that are wanted.
    std::vector<Function> functions(uint64_t pid,
                                    const std::function<bool(const Function&)>& wanted);

    /// A mark of an object that a process has mapped.
    struct Mark {
        std::string object_name, path;
        bool is_program = false;
        const analyze::ObjectSymbols* object = nullptr; ///< lives as long as this
        const analyze::ObjectMark* mark = nullptr;      ///< of the object
    };
    /// Returns the marks of a process's objects.
    std::vector<Mark> marks(uint64_t pid);

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

    /// Ascending by their addresses.
    static std::vector<Mapping> read_maps(uint64_t pid);
    static std::string path_of(uint64_t pid, const Mapping& mapping);
    Object& open_object(uint64_t pid, const Mapping& mapping);
    const analyze::ObjectSymbols& object_of(uint64_t pid, const Mapping& mapping);
    const analyze::ObjectFrames* frames_of(uint64_t pid, const Mapping& mapping);
    const Mapping* mapping_of(uint64_t pid, uint64_t address);
    void take_made(uint64_t pid);
    std::optional<analyze::UserPlace> find_made(uint64_t pid, uint64_t address);

    MadeText made_text_;
    formats::JitNames made_;
    std::map<uint64_t, uint64_t> made_bytes_;       // of a process's text that are known
    std::map<uint64_t, std::vector<Mapping>> maps_; // by process
    /// By device, inode and path: containers have other files of the same path.
    std::map<std::tuple<std::string, uint64_t, std::string>, std::unique_ptr<Object>> objects_;
};

} // namespace daybreak::live
