// SPDX-License-Identifier: Apache-2.0
//
// What the writing thread says of itself: its files, and what went wrong.
#include "recorder/follow/write_queue.hpp"

#include <algorithm>

namespace daybreak::recorder {

/// Says so once per kind of failure, and tries again later each time.
void WriteQueue::note_failure(const Error& error) {
    std::lock_guard lock(mutex_);
    auto cause = error.code() == ErrorCode::full ? formats::SkipCause::disk_full
                                                 : formats::SkipCause::disk_error;
    if (!state_.failing || state_.cause != cause)
        say_(error.message() + "; recording in the kernel goes on, writing is tried again");
    state_.failing = true;
    state_.failures++;
    state_.cause = cause;
    state_.error = error.message();
    failed_syncs_ = series_.syncs();
    backoff_ns_ = std::clamp(backoff_ns_ * 2, kBackoffMinNs, kBackoffMaxNs);
}

void WriteQueue::note_state() {
    std::vector<UnsyncedSegment> lost = series_.take_unsynced();
    std::lock_guard lock(mutex_);
    lost_.insert(lost_.end(), lost.begin(), lost.end());
    state_.bytes_written = series_.bytes_written();
    state_.disk_bytes = series_.total_bytes();
    state_.files = series_.files().size();
    state_.pinned_files = static_cast<uint64_t>(
        std::count_if(series_.files().begin(), series_.files().end(),
                      [](const SeriesFile& file) { return file.is_pinned(); }));
    state_.files_removed = series_.files_removed();
    const SeriesFile* current = series_.current();
    state_.current = current ? current->name : "";
    state_.file_bytes = current ? current->bytes : 0;
    state_.rotation_boot_ns = series_.rotation_boot_ns();
    state_.rotation_bytes = current && series_.file_bytes_max() > current->bytes
                                ? series_.file_bytes_max() - current->bytes
                                : 0;
}

} // namespace daybreak::recorder
