// SPDX-License-Identifier: Apache-2.0
//
// The file around the pieces: room on the disk, header, modules, symbols, summary.
#include "recorder/output.hpp"

#include "base/counted.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/shared_symbols.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;
using formats::FindingKind;

/// Records compress to a quarter or better, and a kernel's symbols take 1 to 2 MiB; less free room
/// than that is not worth trying.
constexpr uint64_t kLikelyCompression = 4;
constexpr uint64_t kLikelySymbolBytes = 2 << 20;
/// Of index and summary.
constexpr uint64_t kLikelyEndBytes = 1 << 20;

} // namespace

Error no_state(const dbk_ioc_status& status) {
    size_t length = strnlen(status.reason, sizeof(status.reason));
    std::string reason(status.reason, length);
    if (!reason.empty())
        return errorf(ErrorCode::not_found, "no boot recording: a program was refused: %s",
                      reason.c_str());
    return errorf(ErrorCode::not_found,
                  "no boot recording: the module was loaded without a program, or it was "
                  "claimed before; embed one and boot with rdinit=/daybreak/early-init");
}

Result<void> RecordOutput::open(DeviceApi& device, bool all_rings) {
    DBK_TRY(base::OutputFile file,
            formats::create_trace_file(options_.output_path, options_.replace));
    file_.emplace(std::move(file));
    return check_room(device, all_rings);
}

/// Devices and pipes have no room to look at.
Result<void> RecordOutput::check_room(DeviceApi& device, bool all_rings) const {
    struct stat status = {};
    struct statvfs disk = {};
    if (::fstat(file_->fd(), &status) != 0 || !S_ISREG(status.st_mode) ||
        ::fstatvfs(file_->fd(), &disk) != 0 || disk.f_blocks == 0)
        return {};
    DBK_TRY(std::vector<dbk_ioc_region> regions, device.regions());
    std::map<uint32_t, uint64_t> ring_bytes;
    for (const dbk_ioc_region& region : regions)
        ring_bytes[region.ring_id] += region.bytes;
    uint64_t all = 0, largest = 0; // a claim takes one ring, which is not known before
    for (const auto& [ring, bytes] : ring_bytes) {
        all += bytes;
        largest = std::max(largest, bytes);
    }
    uint64_t want = (all_rings ? all : largest) / kLikelyCompression + kLikelySymbolBytes;
    uint64_t have = uint64_t{disk.f_bavail} * disk.f_frsize;
    if (have < want)
        return errorf(ErrorCode::io,
                      "cannot write %s: %" PRIu64 " KiB are free on its disk, about %" PRIu64
                      " KiB are needed; nothing was claimed",
                      options_.output_path.c_str(), have >> 10, want >> 10);
    return {};
}

Result<void> RecordOutput::begin(formats::TraceHeader header) {
    if (Result<void> read = read_modules(symbols_, header.modules); !read.ok())
        findings_.add(FindingKind::no_symbols, "/proc/modules", read.error().message());
    header_ = header;
    DBK_TRY(formats::TraceWriter writer,
            formats::TraceWriter::create([this](ByteView bytes) { return file_->write(bytes); },
                                         header, options_.writer));
    writer_.emplace(std::move(writer));
    return {};
}

Result<void> RecordOutput::add_symbols() {
    if (!options_.with_symbols)
        return {};
    tell(RecordStep::symbols);
    Result<std::string> text = symbols_.kallsyms();
    if (!text.ok()) {
        findings_.add(FindingKind::no_symbols, "/proc/kallsyms", text.error().message());
        return {};
    }
    formats::SymbolTable table;
    KallsymsFacts facts = parse_kallsyms(text.value(), table);
    if (facts.hidden)
        findings_.add(FindingKind::no_symbols, "/proc/kallsyms",
                      "the kernel hides all addresses (kernel.kptr_restrict): stacks "
                      "will be numbers; record as root, or set it to 1");
    else if (facts.symbols == 0)
        findings_.add(FindingKind::no_symbols, "/proc/kallsyms",
                      "it lists no symbols: stacks will be numbers");
    if (facts.left_out != 0)
        findings_.add(FindingKind::no_symbols, "/proc/kallsyms",
                      base::counted(facts.left_out, "symbol") + " left out, a file has at most " +
                          std::to_string(formats::kSymbolsMax));
    if (std::optional<formats::SharedSymbols> beside = shared(table))
        return writer_->add_shared_symbols(*beside);
    return writer_->add_symbols(table);
}

std::optional<formats::FileContent> symbols_beside(const std::string& path, uint64_t boot_id) {
    std::string beside = formats::symbols_path(path, boot_id);
    struct stat status = {};
    if (boot_id == 0 || ::stat(beside.c_str(), &status) != 0 || status.st_uid != ::geteuid())
        return std::nullopt;
    formats::RawBudget budget;
    Result<formats::FileContent> content =
        formats::read_symbols_file(beside, boot_id, base::open_source, budget);
    if (!content.ok())
        return std::nullopt;
    return std::move(*content);
}

std::optional<formats::SharedSymbols> RecordOutput::shared(const formats::SymbolTable& table) {
    uint64_t boot_id = formats::boot_of(header_.boot_uuid);
    std::optional<formats::FileContent> beside = symbols_beside(options_.output_path, boot_id);
    if (!beside)
        return std::nullopt;
    auto shared = formats::share_symbols(table, beside->symbols, header_.modules);
    if (shared)
        symbols_path_ = formats::symbols_path(options_.output_path, boot_id);
    return shared;
}

Error RecordOutput::keep_what_fitted(Error why) {
    struct stat status = {};
    if (::fstat(file_->fd(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return why;
    if (Result<void> kept = file_->commit(); !kept.ok())
        return errorf(why.code(), "%s; what was claimed is lost: %s", why.message().c_str(),
                      kept.error().message().c_str());
    return errorf(why.code(), "%s; what was claimed is gone, the file has what could be written",
                  why.message().c_str());
}

std::vector<RecordedRing> recorded_rings(const formats::Recording& recording) {
    std::vector<RecordedRing> rings;
    for (const formats::RingRecording& ring : recording.rings)
        if (ring.ring_id != 0) // 0 has the machine's own metadata
            rings.push_back(
                {ring.ring_id,
                 ring.info.name.empty() ? strprintf("ring %u", ring.ring_id) : ring.info.name,
                 ring.completeness()});
    return rings;
}

/// Whether the disk has no room for so many bytes and the end of the file.
bool RecordOutput::is_short_of_room(uint64_t bytes) const {
    struct statvfs disk = {};
    return ::fstatvfs(file_->fd(), &disk) == 0 && disk.f_blocks != 0 &&
           uint64_t{disk.f_bavail} * disk.f_frsize < bytes / kLikelyCompression + kLikelyEndBytes;
}

/// Cuts off what was written of a block that failed.  Returns whether the file can go on.
bool RecordOutput::take_back() const {
    auto end = static_cast<off_t>(writer_->bytes_written());
    return ::ftruncate(file_->fd(), end) == 0 && ::lseek(file_->fd(), end, SEEK_SET) == end;
}

/// The end of the file is worth more than names: what finds no room is left out.
Result<void> RecordOutput::add_jit_names(const formats::KnownProcesses& known,
                                         formats::Findings& findings) {
    JitTexts made = options_.jit_texts(known);
    findings.append(made.findings);
    for (size_t i = 0; i < made.texts.size(); i++) {
        Result<void> done = errorf(ErrorCode::full, "the disk has no room");
        if (!is_short_of_room(made.texts[i].text.size()))
            done = writer_->add_block(DBK_TRACE_JIT_NAMES, formats::encode_jit_text(made.texts[i]));
        if (done.ok())
            continue;
        if (!take_back())
            return done;
        findings.add(FindingKind::no_made_names, "names of code that processes made",
                     base::counted(made.texts.size() - i, "process", "processes") +
                         " left out: " + done.error().message());
        break;
    }
    return {};
}

Result<RecordSummary> RecordOutput::finish(const formats::Recording& recording, bool interrupted) {
    tell(RecordStep::finishing);
    formats::Findings findings = findings_;
    if (options_.jit_texts && !recording.maps.empty())
        DBK_TRY_VOID(add_jit_names(recording.maps.known(), findings));
    findings.append(recording.findings);
    formats::TraceSummary summary = formats::summary_of(recording);
    summary.findings = findings.list();
    summary.interrupted = interrupted;
    if (options_.clocks)
        summary.clocks = options_.clocks();
    DBK_TRY_VOID(writer_->finish(summary));
    DBK_TRY_VOID(file_->commit());

    RecordSummary result;
    result.file_bytes = writer_->bytes_written();
    result.symbols_path = symbols_path_;
    result.interrupted = interrupted;
    result.findings = summary.findings;
    result.has_losses = interrupted || findings.any_loss() || recording.has_losses();
    result.rings = recorded_rings(recording);
    return result;
}

} // namespace daybreak::recorder
