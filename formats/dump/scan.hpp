// SPDX-License-Identifier: Apache-2.0
//
// What the readers of the formats share while a dump is scanned; inside of formats/dump only.
#pragma once

#include "formats/dump/dump.hpp"

namespace daybreak::formats {

/// One scan under way.
struct Scan {
    DumpInput& input;
    PageSink& sink;
    const ScanOptions& options;
    DumpFacts facts;

    /// Notes damage of the dump itself; only the first few texts are kept.
    void damaged(uint64_t bytes, std::string text);
    /// Reports how far it is.  Error: interrupted.
    Result<void> tell(uint64_t done, uint64_t total) const;
    /// Gives memory on; `bytes` may begin and end anywhere, whole pages of it are looked at.
    Result<void> give(uint64_t phys_addr, ByteView bytes);
};

/// Reads bytes that mostly come in ascending order, through a window.
class Cursor {
public:
    explicit Cursor(DumpInput& input, size_t window_bytes = 1u << 20)
        : input_(input), window_bytes_(window_bytes) {}
    /// Returns `bytes` at `offset`, fewer at the end; the view lives till the next call.
    Result<ByteView> at(uint64_t offset, size_t bytes);

private:
    DumpInput& input_;
    size_t window_bytes_;
    uint64_t start_ = 0;
    Bytes window_;
};

/// Reads release and crash time out of the text of VMCOREINFO, and gives it to the sink.
void read_vmcoreinfo(std::string_view untrusted_text, Scan& scan);

Result<void> scan_elf(Scan& scan);
Result<void> scan_kdump(Scan& scan);
Result<void> scan_raw(Scan& scan);

/// Returns the file that a flattened one describes.  `input` must outlive it.
/// Errors: unsupported on a pipe; corrupt, limit.
Result<std::unique_ptr<DumpInput>> unflatten(DumpInput& input);
/// Whether a file begins as flattened ones do.
bool is_flattened(ByteView head);

/// The most of VMCOREINFO that is looked at; kernels give it one page.
constexpr size_t kVmcoreinfoBytesMax = 64u << 10;
/// What is read at a time: large enough for disks, small enough for a processor's cache.
constexpr size_t kReadBytes = 1u << 20;

} // namespace daybreak::formats
