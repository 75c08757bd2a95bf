// SPDX-License-Identifier: Apache-2.0
//
// Several files and folders as one recording of one boot (docs/design/0023-files-and-snapshots.md).
#include "formats/trace/shared_symbols.hpp"

#include "base/file.hpp"
#include "formats/abi/trace.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

using SharedSource = std::shared_ptr<base::ByteSource>;

std::string folder_of(const std::string& path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

std::string name_of(const std::string& path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

/// The part of a name that a recorder never changes: it marks a file by "+NAME" after it.
std::string stem_of(const std::string& name) {
    return name.substr(0, name.find_first_of("+."));
}

/// One file to read, as far as it is known before it is read whole.
struct Source {
    std::string path;
    bool listed = false; ///< found in a folder: may vanish, need not be ours
    uint64_t bytes = 0;
    std::optional<TraceHeader> header;

    uint64_t boot_id() const { return header ? boot_of(header->boot_uuid) : 0; }
    uint32_t file_number() const { return header ? header->file_number : file_number_in(path); }
};

/// Symbols, and whose they are.
struct FileSymbols {
    std::string path;
    uint64_t boot_id = 0; ///< 0: not known
    SymbolTable table;
    std::optional<SharedSymbols> shared; ///< when the table is absent
};

/// Reads a recording from files.
class FilesReader {
public:
    explicit FilesReader(const ReadOptions& options) : options_(options) {}

    Result<Trace> run(std::span<const std::string> paths) {
        for (const std::string& path : paths)
            DBK_TRY_VOID(add_path(path));
        set_symbols_apart();
        if (sources_.size() == 1 && !sources_[0].listed && options_.boot.empty())
            DBK_TRY_VOID(read_single());
        else
            DBK_TRY_VOID(read_several());
        take_symbols();
        trace_.path = paths[0];
        if (paths.size() > 1)
            trace_.path += strprintf(" and %zu more", paths.size() - 1);
        return std::move(trace_);
    }

private:
    Result<void> add_path(const std::string& path) {
        struct stat status = {};
        if (::stat(path.c_str(), &status) != 0)
            return base::errno_errorf("cannot open %s", path.c_str());
        if (!S_ISDIR(status.st_mode))
            return add_source(path, false);
        DBK_TRY(std::vector<std::string> names, list_trace_files(path));
        if (names.empty())
            return errorf(ErrorCode::not_found, "%s holds no trace files (*%s)", path.c_str(),
                          kTraceSuffix.data());
        std::string folder = path.ends_with('/') ? path : path + "/";
        for (const std::string& name : names)
            DBK_TRY_VOID(add_source(folder + name, true));
        return {};
    }

    Result<void> add_source(const std::string& path, bool listed) {
        struct stat status = {};
        if (::stat(path.c_str(), &status) == 0 &&
            !identities_.emplace(status.st_dev, status.st_ino).second)
            return {};
        auto bytes = static_cast<uint64_t>(status.st_size);
        if (!listed && base::is_nameless_pipe(path)) {
            DBK_TRY(Bytes content, base::read_file(path));
            bytes = content.size();
            piped_[path] = base::memory_source(std::move(content));
        }
        sources_.push_back({path, listed, bytes, std::nullopt});
        return {};
    }

    /// A file that has the symbols of a boot for others is read for its symbols, when an address is
    /// to get a name, unless there is nothing else.
    void set_symbols_apart() {
        auto first =
            std::stable_partition(sources_.begin(), sources_.end(), [](const Source& source) {
                return boot_of_symbols_file(name_of(source.path)).empty();
            });
        if (first == sources_.begin())
            return;
        for (auto source = first; source != sources_.end(); source++)
            symbols_files_.push_back(source->path);
        sources_.erase(first, sources_.end());
    }

    /// Calls read(path) for the file; again when it got another name meanwhile.  Returns whether it
    /// was read: of a folder some may have gone, or be foreign.
    template <typename Read>
    Result<bool> reading(Source& source, Read read) {
        Result<void> done = read(source.path);
        if (!done.ok() && source.listed && done.error().code() == ErrorCode::not_found) {
            std::string stem = stem_of(name_of(source.path)), folder = folder_of(source.path);
            DBK_TRY(std::vector<std::string> names, list_trace_files(folder));
            for (const std::string& name : names)
                if (stem_of(name) == stem) {
                    source.path = folder + "/" + name;
                    done = read(source.path);
                }
        }
        if (done.ok())
            return true;
        if (!source.listed)
            return std::move(done).error();
        std::error_code ignored;
        // What is gone was rotated away; a link that leads nowhere is still there.
        if (done.error().code() != ErrorCode::not_found ||
            std::filesystem::is_symlink(source.path, ignored))
            findings_.add(file_number_in(source.path) != 0 ? FindingKind::unreadable
                                                           : FindingKind::foreign_file,
                          source.path, done.error().message());
        return false;
    }

    Result<SharedSource> open(const std::string& path) {
        if (auto piped = piped_.find(path); piped != piped_.end())
            return piped->second;
        DBK_TRY(SharedSource source, options_.open_file(path));
        uint64_t pages = source->size() / static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
        if (pages >=
                static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) && // a sparse file has any size
            !looks_like_trace(base::read_beginning(*source, sizeof(uint32_t))))
            return errorf(ErrorCode::io,
                          "%s has %" PRIu64 " bytes, more than this machine has memory",
                          path.c_str(), source->size());
        return source;
    }

    /// Of a file of which a read failed all before counts; if that is nothing, the failure is
    /// returned.
    Result<void> note_failure(const std::string& path, const base::ByteSource& source) {
        if (!source.failure())
            return {};
        if (source.size() == 0)
            return *source.failure();
        if (failed_.insert(path).second)
            findings_.add(FindingKind::unreadable, path, source.failure()->message());
        return {};
    }

    Result<void> read_single() {
        DBK_TRY(SharedSource source, open(sources_[0].path));
        Result<Trace> read = parse_trace(source, sources_[0].path, options_);
        DBK_TRY_VOID(note_failure(sources_[0].path, *source));
        if (!read.ok())
            return std::move(read).error();
        trace_ = std::move(*read);
        trace_.recording.findings.append(findings_);
        note_boot(trace_.recording.boot_id, sources_[0].bytes,
                  trace_.has_header ? trace_.header.clocks.wall_ns : 0);
        name_boots();
        return {};
    }

    Result<void> read_several() {
        DBK_TRY_VOID(look_at_headers());
        // Files that do not say their boot are read at once: their pieces say it.
        for (Source& source : sources_)
            if (source.boot_id() == 0)
                DBK_TRY_VOID(read_unknown(source));
            else
                note_boot(source.boot_id(), source.bytes, source.header->clocks.wall_ns);
        name_boots();
        DBK_TRY(std::optional<uint64_t> boot, choose_boot());
        for (Source& source : sources_)
            if (boot && source.boot_id() == *boot)
                DBK_TRY_VOID(read_source(source));
        if (trace_.files.empty())
            return nothing_read();
        sum_files();
        trace_.recording = builder_.build({boot});
        set_window();
        judge_damage();
        trace_.recording.findings.append(findings_);
        return {};
    }

    Error nothing_read() const {
        size_t count = std::max<size_t>(findings_.count() + damage_.size(), 1);
        std::string first = !findings_.list().empty() ? findings_.list()[0].text
                            : !damage_.empty()        ? damage_[0].second.text
                                                      : "the files are gone";
        return errorf(ErrorCode::invalid, "no trace file could be read: %s%s", first.c_str(),
                      count > 1 ? strprintf(" and %zu more", count - 1).c_str() : "");
    }

    Result<void> look_at_headers() {
        std::vector<Source> kept;
        for (Source& source : sources_) {
            DBK_TRY(bool there, reading(source, [&](const std::string& path) -> Result<void> {
                        DBK_TRY(SharedSource file, open(path));
                        source.header = find_header(*file);
                        return note_failure(path, *file);
                    }));
            if (there)
                kept.push_back(std::move(source));
        }
        sources_ = std::move(kept);
        std::stable_sort(sources_.begin(), sources_.end(),
                         [](const Source& a, const Source& b) { return age(a) < age(b); });
        return {};
    }

    /// What the files of a boot are ordered by: when they were begun, by a clock that is not set,
    /// and in a recorder's row by number.
    static std::tuple<uint64_t, uint32_t> age(const Source& source) {
        return {source.header ? source.header->clocks.mono_ns : 0, source.file_number()};
    }

    Result<void> read_unknown(Source& source) {
        std::map<uint64_t, uint64_t> before = builder_.boots();
        size_t tables = symbols_.size();
        std::vector<uint64_t> boots;
        DBK_TRY_VOID(read_source(source));
        uint64_t wall_ns = source.header ? source.header->clocks.wall_ns : 0;
        for (const auto& [boot, segments] : builder_.boots()) {
            if (before.contains(boot) && before[boot] == segments)
                continue;
            note_boot(boot, source.bytes, wall_ns);
            boots.push_back(boot);
        }
        if (symbols_.size() > tables && !boots.empty()) // of several, which one is not known
            symbols_.back().boot_id = boots.size() == 1 ? boots[0] : 0;
        return {};
    }

    Result<void> read_source(Source& source) {
        DBK_TRY(bool there, reading(source, [&](const std::string& path) -> Result<void> {
                    DBK_TRY(SharedSource file, open(path));
                    std::string prefix = sources_.size() > 1 ? name_of(path) + ": " : "";
                    Result<FileContent> content =
                        read_blocks(file, path, prefix, builder_, budget_, store_, options_.skim);
                    DBK_TRY_VOID(note_failure(path, *file));
                    if (content.ok())
                        take(std::move(*content));
                    else if (source.listed && is_begun(*file))
                        take_begun(path);
                    else if (source.listed)
                        take_ruined(path, content.error());
                    else
                        return content.error();
                    return {};
                }));
        (void)there;
        return {};
    }

    /// Returns whether these could be the first bytes of a trace file whose first block is not
    /// whole yet.
    static bool is_begun(base::ByteSource& file) {
        uint32_t magic = DBK_TRACE_MAGIC;
        Bytes bytes = base::read_beginning(file, sizeof(magic));
        return bytes.empty() ||
               std::memcmp(bytes.data(), &magic, std::min(bytes.size(), sizeof(magic))) == 0;
    }

    /// A recorder had just begun this one.  It counts as a file of its row.
    void take_begun(const std::string& path) {
        findings_.add(FindingKind::unfinished, path, "it was begun, and nothing is in it");
        if (uint32_t number = file_number_in(path))
            builder_.add_file(number);
    }

    /// Not one good block.  In a row it is a file all the same: what it held must stand elsewhere.
    void take_ruined(const std::string& path, const Error& why) {
        uint32_t number = file_number_in(path);
        if (number != 0)
            builder_.add_file(number);
        add_damage(number, {FindingKind::bad_block, path, why.message()});
    }

    void add_damage(uint32_t file_number, const Finding& finding) {
        if (file_number != 0 && finding.kind == FindingKind::bad_block)
            damage_.emplace_back(file_number, finding);
        else
            findings_.add(finding.kind, finding.where, finding.text);
    }

    /// A recorder whose disk fails writes its segments again, into a later file: then damage to a
    /// file of the row costs nothing.  Sequence numbers and counters say whether anything of a ring
    /// is missing after its first segment; values counted in the kernel have none.
    void judge_damage() {
        uint32_t newest = 0;
        for (const TraceFile& file : trace_.files)
            newest = std::max(newest, file.header.file_number);
        for (auto& [number, finding] : damage_)
            findings_.add(number < newest && is_spare(number) ? FindingKind::spare_block
                                                              : finding.kind,
                          std::move(finding.where), std::move(finding.text));
    }

    /// Returns whether all that the file held stands elsewhere.
    bool is_spare(uint32_t file_number) const {
        const std::vector<RingRecording>& rings = trace_.recording.rings;
        return !rings.empty() && std::all_of(rings.begin(), rings.end(), [&](const auto& ring) {
            return is_whole(ring) &&
                   std::all_of(ring.cpus.begin(), ring.cpus.end(),
                               [&](auto& cpu) { return begins_before(cpu, file_number); });
        });
    }

    /// Returns whether segments that this file held would be missed: what is absent before the
    /// first that is here counts as overwritten.
    static bool begins_before(const CpuInfo& cpu, uint32_t file_number) {
        return cpu.segments.empty() || cpu.segments.front().sequence == 1 ||
               std::any_of(cpu.segments.begin(), cpu.segments.end(), [&](const SegmentInfo& one) {
                   return one.file_number != 0 && one.file_number < file_number;
               });
    }

    static bool is_whole(const RingRecording& ring) {
        Completeness sum = ring.completeness();
        return ring.has_info && ring.info.facts.aggregate != DBK_AGGREGATE_ENGINE &&
               sum.lost == 0 && sum.lost_known && sum.segments_missing == 0;
    }

    /// Takes a file's facts; they come oldest first.
    void take(FileContent content) {
        for (const Finding& finding : content.findings.list())
            add_damage(content.number(), finding);
        uint64_t unlisted = content.findings.count() - content.findings.list().size();
        findings_.add_unlisted(unlisted, unlisted != 0 && content.findings.any_loss());
        if (!content.symbols.is_absent() || content.shared_symbols)
            symbols_.push_back({content.file.path, boot_of(content.file.header.boot_uuid),
                                std::move(content.symbols), std::move(content.shared_symbols)});
        if (content.file.has_header) {
            trace_.header = content.file.header;
            trace_.has_header = true;
        }
        if (!trace_.jit_names.add(std::move(content.jit_names)))
            findings_.add(FindingKind::no_symbols, content.file.path,
                          "more names of made code than are taken, left out");
        if (content.summary)
            add_summary(std::move(*content.summary));
        trace_.files.push_back(std::move(content.file));
    }

    /// The newest summary of each CPU holds; what was found is found.
    void add_summary(TraceSummary newer) {
        if (!trace_.summary) {
            trace_.summary = std::move(newer);
            return;
        }
        TraceSummary& sum = *trace_.summary;
        sum.clocks = newer.clocks;
        sum.interrupted |= newer.interrupted;
        for (CpuSummary& cpu : newer.cpus) {
            auto known = std::find_if(sum.cpus.begin(), sum.cpus.end(), [&](const CpuSummary& one) {
                return one.ring_id == cpu.ring_id && one.cpu == cpu.cpu;
            });
            if (known == sum.cpus.end())
                sum.cpus.push_back(std::move(cpu));
            else
                *known = std::move(cpu);
        }
        for (Finding& finding : newer.findings)
            if (sum.findings.size() < Findings::kFindingsMax)
                sum.findings.push_back(std::move(finding));
    }

    void sum_files() {
        TraceFileFacts& sum = trace_.file;
        sum.has_end = true;
        for (const TraceFile& file : trace_.files) {
            sum.file_bytes += file.facts.file_bytes;
            sum.blocks_good += file.facts.blocks_good;
            sum.blocks_lost += file.facts.blocks_lost;
            sum.bytes_skipped += file.facts.bytes_skipped;
            sum.bytes_cut += file.facts.bytes_cut;
            sum.raw_data_bytes += file.facts.raw_data_bytes;
            sum.has_end = sum.has_end && file.facts.has_end;
        }
    }

    /// The window of a file is the recording's when nothing else has data.
    void set_window() {
        const TraceFile* only = nullptr;
        for (const TraceFile& file : trace_.files) {
            if (file.facts.raw_data_bytes == 0)
                continue;
            if (only)
                return;
            only = &file;
        }
        if (!only)
            return;
        trace_.recording.window_from_ns = only->header.window_from_ns;
        trace_.recording.window_to_ns = only->header.window_to_ns;
        trace_.recording.cut_window = only->window;
    }

    void note_boot(uint64_t boot_id, uint64_t file_bytes, uint64_t wall_ns) {
        auto& boots = trace_.boots;
        auto known = std::find_if(boots.begin(), boots.end(),
                                  [&](const TraceBoot& boot) { return boot.boot_id == boot_id; });
        if (known == boots.end())
            known = boots.insert(boots.end(), {boot_id, boot_name(boot_id), 0, 0, 0});
        known->files++;
        known->file_bytes += file_bytes;
        known->last_wall_ns = std::max(known->last_wall_ns, wall_ns);
    }

    void name_boots() {
        std::stable_sort(
            trace_.boots.begin(), trace_.boots.end(),
            [](const TraceBoot& a, const TraceBoot& b) { return a.last_wall_ns < b.last_wall_ns; });
    }

    /// The one that runs, for a machine without a clock may date it before all others; else the
    /// newest; empty when no file says any.
    std::optional<uint64_t> default_boot() const {
        const std::vector<TraceBoot>& boots = trace_.boots;
        auto running = std::find_if(boots.begin(), boots.end(), [&](const TraceBoot& boot) {
            return !options_.running_boot.empty() &&
                   boot_begins_with(boot.boot_id, options_.running_boot);
        });
        if (running != boots.end())
            return running->boot_id;
        return boots.empty() ? std::nullopt : std::optional(boots.back().boot_id);
    }

    /// Returns the wanted boot.
    Result<std::optional<uint64_t>> choose_boot() const {
        const std::vector<TraceBoot>& boots = trace_.boots;
        if (options_.boot.empty())
            return default_boot();
        std::string known;
        const TraceBoot* found = nullptr;
        for (const TraceBoot& boot : boots) {
            known += (known.empty() ? "" : ", ") + boot.name;
            if (!boot_begins_with(boot.boot_id, options_.boot))
                continue;
            if (found)
                return errorf(ErrorCode::invalid, "boots %s and %s both begin with %s",
                              found->name.c_str(), boot.name.c_str(), options_.boot.c_str());
            found = &boot;
        }
        if (!found)
            return errorf(ErrorCode::not_found, "no boot begins with %s; there are: %s",
                          options_.boot.c_str(), known.c_str());
        return std::optional(found->boot_id);
    }

    /// Those of the newest file that has any or refers to some, which shows when an address is to
    /// get a name; else those of a file that has nothing else, beside a file or named.
    void take_symbols() {
        uint64_t boot_id = trace_.recording.boot_id;
        if (!trace_.symbols.is_absent() || trace_.shared_symbols)
            symbols_.push_back({trace_.path, boot_id, std::move(trace_.symbols),
                                std::move(trace_.shared_symbols)});
        std::erase_if(symbols_, [&](const FileSymbols& one) {
            if (one.boot_id == 0 && boot_id != 0)
                add_no_symbols(one.path, kSymbolsOfUnknownBoot);
            return one.boot_id != boot_id;
        });
        std::reverse(symbols_.begin(), symbols_.end());
        auto refers = std::find_if(symbols_.begin(), symbols_.end(),
                                   [](const FileSymbols& one) { return one.table.is_absent(); });
        if (symbols_.empty() || refers != symbols_.end())
            add_symbols_beside(refers == symbols_.end() ? nullptr : &*refers);
        trace_.symbols = {};
        if (!symbols_.empty())
            trace_.symbols.load_later([tables = std::move(symbols_)](SymbolTable& table) {
                for (const FileSymbols& one : tables)
                    if (!one.table.empty()) {
                        table = one.table;
                        return;
                    }
            });
    }

    /// A recorder writes the symbols once per boot, into a file of their own.  `needed_by` is the
    /// newest that refers to it, null: none does.
    void add_symbols_beside(const FileSymbols* needed_by) {
        uint64_t boot_id = trace_.recording.boot_id;
        std::vector<std::string> paths;
        for (const FileSymbols& one : symbols_)
            paths.push_back(symbols_path(one.path, boot_id));
        for (const TraceFile& file : trace_.files)
            paths.push_back(symbols_path(file.path, boot_id));
        const std::string name = symbols_file_name(boot_name(boot_id));
        std::copy_if(symbols_files_.begin(), symbols_files_.end(), std::back_inserter(paths),
                     [&](const std::string& path) { return name_of(path) == name; });
        std::set<std::string> seen;
        for (const std::string& path : paths)
            if (seen.insert(path).second)
                if (std::optional<SymbolTable> table = symbols_at(path)) {
                    use_symbols(path, std::move(*table));
                    return;
                }
        if (needed_by && seen_no_symbols_.empty())
            add_no_symbols(paths[0], "it is not there, and has the symbols of " + needed_by->path +
                                         ": put it beside that file");
    }

    void add_no_symbols(const std::string& where, const std::string& text) {
        trace_.recording.findings.add(FindingKind::no_symbols, where, text);
    }

    /// What keeps names from being had of the file is a finding: its name has but a part of the
    /// boot's.
    std::optional<SymbolTable> symbols_at(const std::string& path) {
        Result<FileContent> content =
            read_symbols_file(path, trace_.recording.boot_id, options_.open_file, budget_);
        if (!content.ok()) {
            if (content.error().code() != ErrorCode::not_found) {
                add_no_symbols(path, content.error().message());
                seen_no_symbols_ = path;
            }
            return std::nullopt;
        }
        for (const Finding& finding : content->findings.list())
            add_no_symbols(path + ": " + finding.where, finding.text);
        if (content->symbols.is_absent())
            return std::nullopt;
        return std::move(content->symbols);
    }

    /// The symbols of a file that has nothing else are those of the files that refer to them, as
    /// far as they are still the same; without such a file they are the recording's.
    void use_symbols(const std::string& path, SymbolTable beside) {
        if (symbols_.empty()) {
            symbols_.push_back({path, trace_.recording.boot_id, std::move(beside), std::nullopt});
            return;
        }
        auto late = std::make_shared<BlockStore>();
        trace_.recording.stores.push_back(late);
        for (FileSymbols& one : symbols_)
            if (one.table.is_absent())
                one.table.load_later([shared = std::move(*one.shared), beside, late, path,
                                      file = one.path](SymbolTable& table) {
                    std::string differs = join_symbols(shared, beside, table);
                    if (!differs.empty())
                        late->add_late(FindingKind::no_symbols, path,
                                       "the symbols of " + differs + " are not those of " + file +
                                           ": " + (table.symbols().empty() ? "" : "modules' ") +
                                           "addresses stay numbers");
                });
    }

    const ReadOptions& options_;
    std::vector<Source> sources_;
    std::set<std::pair<dev_t, ino_t>> identities_;
    RecordingBuilder builder_{options_.segments_in_memory};
    std::shared_ptr<BlockStore> store_ = std::make_shared<BlockStore>(options_.jobs);
    RawBudget budget_;
    Findings findings_;
    std::vector<std::pair<uint32_t, Finding>> damage_; ///< to files of a row, by number
    std::map<std::string, SharedSource> piped_;        ///< a pipe is read once, at the beginning
    std::set<std::string> failed_;                     ///< paths of which a read failed
    std::vector<FileSymbols> symbols_;                 ///< of the files, oldest first
    std::string seen_no_symbols_;                      ///< a file of them that cannot be used
    std::vector<std::string> symbols_files_;           ///< that have nothing else
    Trace trace_;
};

} // namespace

Result<Trace> read_traces(std::span<const std::string> paths, const ReadOptions& options) {
    return FilesReader(options).run(paths);
}

} // namespace daybreak::formats
