// SPDX-License-Identifier: Apache-2.0
//
// DeadRecording: finding the recording of a machine that died.
#include "cmd/dead_recording.hpp"

#include "base/byte_source.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "cmd/progress.hpp"
#include "cmd/terminal.hpp"
#include "daybreak_version.hpp"
#include "formats/abi/bank.h"
#include "recorder/extract.hpp"
#include "recorder/host.hpp"
#include "recorder/recover.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::errorf;
using base::Result;

/// What the kdump hook, kdump-tools and daybreak-recover.service write to.
constexpr const char* kCrashFolders[] = {"/var/crash", "/var/log/daybreak/crashes"};
constexpr const char* kRecordings = "/var/log/daybreak";
/// A bank is reserved memory; a larger file is a dump.
constexpr uintmax_t kBankBytesMax = 4ull << 30;
constexpr size_t kFilesLookedAt = 10'000; // in the crash folders

Result<DeadRecording> read(const std::string& file, const std::string& boot,
                           const std::string& path, const char* origin) {
    TraceFiles files;
    files.paths = {file};
    files.options.boot = boot;
    DeadRecording dead;
    DBK_TRY(dead.trace, read_trace_files(files));
    dead.path = path;
    dead.origin = origin;
    return dead;
}

/// As read(), of what is a trace file already.
Result<DeadRecording> read_as_it_is(const DeadPlaces& places, const std::string& file) {
    if (!places.output.empty())
        return errorf(ErrorCode::invalid,
                      "-o %s: %s is a recording already, nothing is recovered or extracted; "
                      "daybreak pack copies it",
                      places.output.c_str(), file.c_str());
    return read(file, places.boot, file, "read from");
}

/// Recovers or extracts into a file, and reads it: `take` writes the file that it is given.
template <class Take>
Result<DeadRecording> taken(const DeadPlaces& places, const std::string& path, const char* origin,
                            Take take) {
    if (!places.output.empty()) {
        DBK_TRY_VOID(take(places.output));
        return read(places.output, "", path, origin);
    }
    // The reader keeps the file open; its name is not needed any more.
    DBK_TRY(auto folder, base::TemporaryFolder::create("daybreak-postmortem"));
    DBK_TRY_VOID(take(folder.at("died.dbrk")));
    return read(folder.at("died.dbrk"), "", path, origin);
}

Result<DeadRecording> recover(const DeadPlaces& places, const std::string& bank) {
    auto take = [&](const std::string& file) -> Result<void> {
        recorder::RecoverOptions options;
        options.tool_version = DAYBREAK_VERSION;
        options.output_path = file;
        recorder::ProcSymbolSource kallsyms;
        recorder::RunningKernel running = {recorder::read_host_facts(DAYBREAK_VERSION), kallsyms};
        options.running = &running;
        if (bank.empty()) {
            DBK_TRY(auto device, recorder::open_device());
            DBK_TRY_VOID(recorder::recover_device(*device, options));
            return {};
        }
        DBK_TRY(base::Bytes image, base::read_file(bank));
        DBK_TRY_VOID(recorder::recover_image(image, bank, options));
        return {};
    };
    return taken(places, bank.empty() ? "/dev/daybreak" : bank, "recovered from", take);
}

Result<DeadRecording> extract(const DeadPlaces& places, const std::string& dump) {
    auto take = [&](const std::string& file) -> Result<void> {
        recorder::ExtractOptions options;
        options.tool_version = DAYBREAK_VERSION;
        options.output_path = file;
        options.boot = places.boot;
        Progress progress("looking through the dump", ProgressUnit::bytes);
        options.scan.progress = [&progress](uint64_t done, uint64_t total) {
            progress.update(done, total);
            return !interrupted.load();
        };
        DBK_TRY(auto input, formats::open_dump_input(dump));
        auto summary = recorder::extract(*input, options);
        if (!summary.ok())
            return std::move(summary).error().with_context(dump);
        return {};
    };
    return taken(places, dump, "extracted from", take);
}

uint32_t word_at(base::ByteView bytes, size_t at) {
    uint32_t word = 0;
    if (bytes.size() >= at + sizeof(word))
        std::memcpy(&word, bytes.data() + at, sizeof(word));
    return word;
}

/// What a path is by what it begins with.
Result<DeadRecording> open_path(const DeadPlaces& places, const std::string& path) {
    std::error_code wrong;
    if (fs::is_directory(path, wrong) || base::is_nameless_pipe(path))
        return read_as_it_is(places, path);
    fs::file_type type = fs::status(path, wrong).type();
    if (type == fs::file_type::fifo || type == fs::file_type::character ||
        type == fs::file_type::socket)
        return base::errorf(base::ErrorCode::invalid,
                            "%s is not a file: a trace, a folder, a bank image or a dump is "
                            "expected",
                            path.c_str());
    bool is_regular = type == fs::file_type::regular;
    if (is_regular) {
        DBK_TRY(auto source, base::open_source(path));
        base::Bytes head = base::read_beginning(*source, 2 * DBK_BANK_PAGE_BYTES);
        if (formats::looks_like_trace(head))
            return read_as_it_is(places, path);
        bool is_bank = word_at(head, 0) == DBK_BANK_MAGIC ||
                       word_at(head, 0) == DBK_BANK_HALF_MAGIC ||
                       word_at(head, DBK_BANK_PAGE_BYTES) == DBK_BANK_HALF_MAGIC;
        if (is_bank && fs::file_size(path, wrong) <= kBankBytesMax)
            return recover(places, path);
    }
    return extract(places, path);
}

/// The newest of what was saved of crashes: trace files and dumps.
std::optional<std::string> newest_crash(const std::string& root) {
    std::optional<std::string> newest;
    fs::file_time_type newest_time;
    std::error_code wrong;
    size_t looked_at = 0;
    for (const char* folder : kCrashFolders)
        for (fs::recursive_directory_iterator
                 entry(root + folder, fs::directory_options::skip_permission_denied, wrong),
             end;
             !wrong && entry != end && looked_at < kFilesLookedAt; entry.increment(wrong)) {
            looked_at++;
            std::error_code vanished;
            std::string name = entry->path().filename();
            bool is_dump = name.starts_with("vmcore") || name.starts_with("dump.");
            bool is_wanted = name.ends_with(".dbrk") || (is_dump && !name.ends_with(".txt"));
            if (!is_wanted || !entry->is_regular_file(vanished))
                continue;
            fs::file_time_type time = entry->last_write_time(vanished);
            if (!vanished && (!newest || time > newest_time)) {
                newest = entry->path();
                newest_time = time;
            }
        }
    return newest;
}

/// The newest boot of the recorder's folder but the one that runs.
Result<DeadRecording> earlier_boot(const DeadPlaces& places) {
    std::string folder = places.root + kRecordings, running;
    if (places.root.empty())
        std::ifstream("/proc/sys/kernel/random/boot_id") >> running;
    DBK_TRY(DeadRecording dead, read_as_it_is(places, folder));
    std::erase(running, '-');
    auto is_running = [&running](const formats::TraceBoot& boot) {
        std::string name = boot.name;
        std::erase(name, '-');
        return !running.empty() && running.starts_with(name);
    };
    std::vector<formats::TraceBoot> boots = dead.trace.boots;
    std::erase_if(boots, is_running);
    if (boots.empty())
        return errorf(ErrorCode::not_found, "%s: only of the boot that runs", folder.c_str());
    std::string newest = boots.back().name;
    return read(folder, places.boot.empty() ? newest : places.boot, folder, "read from");
}

} // namespace

Result<DeadRecording> find_dead_recording(const DeadPlaces& places) {
    if (!places.given.empty())
        return open_path(places, places.given == "-" ? "/dev/stdin" : places.given);
    std::vector<std::string> notes;
    auto note = [&notes](const base::Error& error) { notes.push_back(error.message()); };
    auto found = [&notes](Result<DeadRecording> dead) {
        if (dead.ok())
            dead->notes = notes;
        return dead;
    };
    std::string vmcore = places.root + "/proc/vmcore";
    std::error_code none;
    if (fs::exists(vmcore, none))
        return found(extract(places, vmcore));
    if (places.root.empty()) {
        auto bank = recover(places, "");
        if (bank.ok())
            return found(std::move(bank));
        note(bank.error());
    }
    if (auto crash = newest_crash(places.root)) {
        auto dead = open_path(places, *crash);
        if (dead.ok())
            return found(std::move(dead));
        note(dead.error());
    } else {
        notes.push_back(places.root + "/var/crash and " + places.root +
                        "/var/log/daybreak/crashes: no recording and no dump");
    }
    auto earlier = earlier_boot(places);
    if (earlier.ok())
        return found(std::move(earlier));
    note(earlier.error());
    std::string all;
    for (const std::string& text : notes)
        all += (all.empty() ? "" : "; ") + text;
    return errorf(ErrorCode::not_found, "no recording of a machine that died: %s", all.c_str());
}

} // namespace daybreak::cmd
