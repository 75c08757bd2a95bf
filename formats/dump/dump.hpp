// SPDX-License-Identifier: Apache-2.0
//
// Dumps: the memory of a machine, page by page, out of whatever it was saved as.
//
//     DumpInput --> scan_dump() --pages(physical address, bytes)--> PageSink (PieceFinder)
//
// The formats:
//   elf       /proc/vmcore, QEMU's dump-guest-memory, makedumpfile -E: PT_LOAD by physical address
//   kdump     makedumpfile's and QEMU's kdump-compressed format (kdump_format.hpp)
//   raw       a physical image: QEMU's pmemsave, a saved bank; what is none of the others
// and the flattened form of the second (makedumpfile -F, QEMU -z), which is a list of pieces of the
// file in the order they were made.
//
// A dump is read once, in the order it lies in, by large reads.  All of it is untrusted: nothing is
// allocated by what a header says, and a header can make no byte be read twice.
#pragma once

#include "formats/dump/input.hpp"

#include <functional>

namespace daybreak::formats {

/// Who looks at the memory.
class PageSink {
public:
    virtual ~PageSink() = default;
    /// Memory at a physical address, both multiples of kDumpPageBytes.  An Error ends the scan.
    virtual Result<void> pages(uint64_t phys_addr, ByteView bytes) = 0;
    /// Whether a page whose first bytes are these is wanted: where unpacking costs time, pages that
    /// are not are left packed.
    virtual bool wants(uint64_t phys_addr, ByteView first_bytes) = 0;
    /// The text of VMCOREINFO, when the dump has it, before any memory.
    virtual void vmcoreinfo([[maybe_unused]] std::string_view untrusted_text) {}
};

/// The unit of what is looked at, whatever the page size of the machine was.
constexpr size_t kDumpPageBytes = 4096;
/// How many bytes of a page wants() is asked with.
constexpr size_t kDumpPeekBytes = 64;

enum class DumpFormat : uint8_t { elf, kdump, flattened, raw };

/// What a dump says about itself, and how much memory was in it.
struct DumpFacts {
    DumpFormat format = DumpFormat::raw;
    std::string release;             ///< of the kernel that died, when the dump has it
    std::string hostname;            ///< the same
    uint64_t crash_time_s = 0;       ///< since 1970; 0: it does not tell
    uint64_t bytes_present = 0;      ///< of memory looked at
    uint64_t bytes_excluded = 0;     ///< of memory that the machine had and the dump leaves out
    uint64_t bytes_damaged = 0;      ///< that should be in the dump and could not be read
    std::vector<std::string> damage; ///< what was wrong with it, the first few
    bool cut = false;                ///< the dump ends before its headers say
};

struct ScanOptions {
    /// Physical address of a raw image's first byte; 0 also for a bank's, which has it.
    uint64_t raw_phys_addr = 0;
    /// Called now and then: how far, of how much (0: not known).  False ends the scan.
    std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Returns the format's name ("ELF", "kdump-compressed").
const char* dump_format_text(DumpFormat format);

/// Reads the whole dump, and gives its memory to the sink.
/// Errors: invalid, when it is something else than a dump of a machine; unsupported; io;
///         interrupted. A dump that ends early is not an Error: facts.cut.
Result<DumpFacts> scan_dump(DumpInput& input, PageSink& sink, const ScanOptions& options);

} // namespace daybreak::formats
