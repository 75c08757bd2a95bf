// SPDX-License-Identifier: Apache-2.0
//
// ObjectFrames: how a function's caller is found, by the tables that compilers write for exceptions
// (.eh_frame).
//
// libdw reads the tables; where a rule says that a register lies, or what it is, is worked out
// here, with nothing but the registers and the piece of stack that a record has.
#pragma once

#include "analyze/symbols/elf_file.hpp"
#include "base/byte_reader.hpp"
#include "base/file.hpp"

#include <array>
#include <cstdint>
#include <optional>

struct Dwarf_CFI_s;

namespace daybreak::analyze {

/// A function's registers, as DWARF numbers them, and the stack of its thread.
struct FrameState {
    static constexpr size_t kSp = 7, kIp = 16, kCount = 17;
    std::array<std::optional<uint64_t>, kCount> registers; ///< empty: not known
    base::ByteView stack;                                  ///< from `stack_begin` on
    uint64_t stack_begin = 0;

    std::optional<uint64_t> load(uint64_t address) const;
};

class ObjectFrames {
public:
    /// What came of going one caller up.
    enum class Step : uint8_t {
        caller,       ///< the registers are the caller's
        signal,       ///< the same, and it was interrupted: no call is before its address
        outermost,    ///< nothing called it
        no_rule,      ///< the file says nothing of that address
        unknown_rule, ///< or something that is not understood here
        no_memory,    ///< the stack has less than it takes
        implausible,  ///< the file's tables are none that a compiler writes: nothing is read
    };

    /// Reads an untrusted ELF file, or an image of one that must outlive this.
    explicit ObjectFrames(base::ScopedFd file);
    explicit ObjectFrames(base::ByteView untrusted_image);
    ~ObjectFrames();
    ObjectFrames(const ObjectFrames&) = delete;
    ObjectFrames& operator=(const ObjectFrames&) = delete;

    /// Makes of a function's registers its caller's.  `address` is where in the object it is, as
    /// the object's symbols count.
    Step step(uint64_t address, FrameState& state) const;

private:
    void open_tables();

    base::ScopedFd file_;
    ElfFile elf_;
    Dwarf_CFI_s* tables_ = nullptr;
    Step without_tables_ = Step::no_rule; ///< why there are none
};

} // namespace daybreak::analyze
