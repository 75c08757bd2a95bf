// SPDX-License-Identifier: Apache-2.0
#include "cmd/trace_files.hpp"

#include "base/file.hpp"
#include "cmd/progress.hpp"
#include "cmd/terminal.hpp"
#include "formats/trace/boots.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace daybreak::cmd {

/// For --boot.
constexpr const char* kAllBoots = "all";

void add_trace_files(Command command, TraceFiles& files, bool required) {
    Option paths = command.add_option(
        "FILE", files.paths, "Trace files (.dbrk), or folders of them: together one recording");
    if (required)
        paths.required();
    command.add_option("--boot", files.options.boot,
                       "Boot to read, by ID prefix (default: this one, else the newest)");
}

namespace {

/// Bytes of a file, or of the trace files in a folder; 0 where that is not known.
uint64_t bytes_at(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    auto bytes_of = [&error](const fs::directory_entry& entry) {
        uint64_t bytes = entry.is_regular_file(error) ? entry.file_size(error) : 0;
        return error ? 0 : bytes;
    };
    fs::directory_entry named(path, error);
    if (error || !named.is_directory(error))
        return error ? 0 : bytes_of(named);
    uint64_t sum = 0;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
        if (at->path().extension() == ".dbrk")
            sum += bytes_of(*at);
    return sum;
}

/// Shows how much of the files was read, as long as it is there.
class ReadingProgress {
public:
    ReadingProgress(const std::vector<std::string>& paths, formats::ReadOptions& options) {
        for (const std::string& path : paths)
            shown_->all += bytes_at(path);
        options.open_file =
            [shown = shown_, open = options.open_file](
                const std::string& path) -> base::Result<std::shared_ptr<base::ByteSource>> {
            DBK_TRY(auto source, open(path));
            return base::watched_source(std::move(source),
                                        [shown](size_t bytes) { shown->add(bytes); });
        };
    }
    ~ReadingProgress() {
        shown_->is_over = true;
        shown_->progress.clear();
    }
    ReadingProgress(const ReadingProgress&) = delete;

private:
    /// What is read later, by any thread, does not count.
    struct Shown {
        Progress progress{"daybreak: reading", ProgressUnit::bytes};
        std::thread::id reader = std::this_thread::get_id();
        std::atomic<bool> is_over = false;
        uint64_t bytes = 0, all = 0;

        void add(size_t read) {
            if (is_over || std::this_thread::get_id() != reader)
                return;
            bytes += read;
            progress.update(std::min(bytes, all), all);
        }
    };
    std::shared_ptr<Shown> shown_ = std::make_shared<Shown>();
};

formats::ReadOptions read_options(const TraceFiles& files) {
    formats::ReadOptions options = files.options;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> options.running_boot;
    return options;
}

} // namespace

base::Result<formats::Trace> read_trace_files(const TraceFiles& files) {
    formats::ReadOptions options = read_options(files);
    std::optional<ReadingProgress> progress(std::in_place, files.paths, options);
    DBK_TRY(formats::Trace trace, formats::read_traces(files.paths, options));
    progress.reset();
    if (trace.boots.size() > 1 && options.boot.empty())
        complain(base::strprintf("boot %s, one of %zu in these files; --boot reads another",
                                 formats::boot_name(trace.recording.boot_id).c_str(),
                                 trace.boots.size()));
    return trace;
}

void add_recordings(Command command, TraceFiles& files) {
    command
        .add_option("FILE", files.paths,
                    "Trace files (.dbrk), or folders of them, of one or several boots and machines")
        .required();
    command.add_option("--boot", files.options.boot,
                       "Boot to read, by ID prefix; all (default: that of each file; of a folder "
                       "this one, else the newest)");
}

base::Result<std::vector<formats::Trace>> read_recordings(const TraceFiles& files) {
    const bool all = files.options.boot == kAllBoots;
    std::vector<formats::Trace> traces;
    bool is_of_one = files.paths.size() == 1 && !all;
    // What comes by a pipe can be read only once.
    if (is_of_one || (!files.options.boot.empty() && !all) ||
        std::ranges::any_of(files.paths, base::is_nameless_pipe)) {
        DBK_TRY(formats::Trace trace, read_trace_files(files));
        traces.push_back(std::move(trace));
        return traces;
    }
    formats::ReadOptions options = read_options(files);
    options.boot.clear();
    std::optional<ReadingProgress> progress(std::in_place, files.paths, options);
    DBK_TRY(formats::WantedBoots wanted, formats::find_boots(files.paths, options, all));
    if (wanted.boots.empty()) // of files that say none
        wanted.boots.push_back({0, "", files.paths});
    for (const formats::WantedBoot& boot : wanted.boots) {
        options.boot = wanted.boots.size() == 1 && wanted.left_out == 0 ? "" : boot.name;
        DBK_TRY(formats::Trace trace, formats::read_traces(boot.paths, options));
        traces.push_back(std::move(trace));
    }
    progress.reset();
    if (wanted.left_out != 0)
        complain(base::strprintf("%zu of %zu boots, of each folder one; --boot all reads all",
                                 wanted.boots.size(), wanted.boots.size() + wanted.left_out));
    return traces;
}

} // namespace daybreak::cmd
