// SPDX-License-Identifier: Apache-2.0
//
// Jobs one by one, and again when the disk refuses.
#include "recorder/follow/write_queue.hpp"

#include "formats/abi/segment.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

namespace daybreak::recorder {

namespace {

/// What a job takes beside its bytes.
constexpr size_t kJobBytes = 256;

size_t bytes_of(const WriteJob& job) {
    return kJobBytes + job.bytes.size();
}

/// Returns which segment the bytes are a copy of; sequence 0: of none.
UnsyncedSegment segment_in(ByteView bytes) {
    dbk_segment_header header = {};
    if (bytes.size() >= sizeof(header))
        std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.magic != DBK_SEGMENT_MAGIC)
        return {};
    return {header.ring_id, header.cpu, header.sequence};
}

} // namespace

WriteQueue::~WriteQueue() {
    finish(0);
}

size_t WriteQueue::room_bytes() const {
    std::lock_guard lock(mutex_);
    return room_bytes_ > jobs_bytes_ ? room_bytes_ - jobs_bytes_ : 0;
}

void WriteQueue::add(WriteJob job) {
    std::lock_guard lock(mutex_);
    bool waits = job.kind == WriteJob::Kind::sync && !jobs_.empty() &&
                 jobs_.back().kind == WriteJob::Kind::sync;
    if (waits)
        return; // one sync covers both
    if (job.kind == WriteJob::Kind::piece)
        job.segment = segment_in(job.bytes);
    jobs_bytes_ += bytes_of(job);
    jobs_.push_back(std::move(job));
    changed_.notify_all();
}

WriteState WriteQueue::state() const {
    std::lock_guard lock(mutex_);
    return state_;
}

formats::SkipCause WriteQueue::hindrance() const {
    std::lock_guard lock(mutex_);
    return state_.cause;
}

std::vector<UnsyncedSegment> WriteQueue::take_lost() {
    std::lock_guard lock(mutex_);
    if (lost_.empty())
        return {};
    std::set<UnsyncedSegment> waiting; // the one that is being written among them
    for (const WriteJob& job : jobs_)
        waiting.insert(job.segment);
    std::erase_if(lost_, [&](const UnsyncedSegment& one) { return waiting.contains(one); });
    return std::exchange(lost_, {});
}

/// Records are worth more than their stacks' names: a disk without room for the symbols does not
/// hold them up.  They are tried again when a file ends.
void WriteQueue::write_symbols() {
    if (!symbols_)
        return;
    Result<void> done = series_.write_symbols(*symbols_);
    if (done.ok())
        symbols_.reset();
    else if (!std::exchange(said_symbols_, true))
        say_("no symbols yet: " + done.error().message());
}

Result<void> WriteQueue::run(const WriteJob& job) {
    switch (job.kind) {
    case WriteJob::Kind::piece:
        return series_.put(job.bytes);
    case WriteJob::Kind::metadata:
        series_.put_metadata(job.bytes);
        return {};
    case WriteJob::Kind::skipped:
        return series_.put_skipped(job.skipped);
    case WriteJob::Kind::forget:
        DBK_TRY_VOID(series_.flush());
        series_.forget_ring(job.ring_id);
        return {};
    case WriteJob::Kind::sync:
        return series_.sync();
    case WriteJob::Kind::rotate:
        write_symbols();
        return series_.rotate();
    case WriteJob::Kind::pin:
        series_.pin(job.trigger, job.from_mono_ns, job.to_mono_ns);
        return {};
    case WriteJob::Kind::symbols:
        symbols_ = job.symbols;
        write_symbols();
        return {};
    }
    return {};
}

uint64_t WriteQueue::drain() {
    for (;;) {
        WriteJob job;
        {
            std::lock_guard lock(mutex_);
            if (jobs_.empty() || given_up_)
                return 0;
            job = std::move(jobs_.front()); // its place is kept: a failed one goes back there
        }
        Result<void> done = run(job);
        note_state();
        if (!done.ok()) {
            note_failure(done.error());
            std::lock_guard lock(mutex_);
            jobs_.front() = std::move(job);
            return backoff_ns_;
        }
        std::lock_guard lock(mutex_);
        std::erase(lost_, job.segment);
        if (state_.failing && series_.syncs() != failed_syncs_) {
            say_("writing works again");
            state_.failing = false;
            state_.cause = formats::SkipCause::disk_slow;
            state_.error.clear();
            backoff_ns_ = 0;
        }
        state_.synced += job.kind == WriteJob::Kind::sync;
        jobs_bytes_ -= bytes_of(job);
        jobs_.pop_front();
    }
}

void WriteQueue::loop() {
    for (;;) {
        uint64_t again_ns = drain();
        std::unique_lock lock(mutex_);
        idle_ = jobs_.empty();
        changed_.notify_all();
        if (given_up_ || (ending_ && idle_))
            return;
        if (idle_)
            changed_.wait(lock, [this] { return !jobs_.empty() || ending_; });
        else // not woken by new jobs: the disk gets its pause
            changed_.wait_for(lock,
                              std::chrono::nanoseconds(is_awaited_ ? kBackoffMinNs : again_ns),
                              [this] { return given_up_; });
        idle_ = false;
    }
}

void WriteQueue::start_thread() {
    thread_ = std::thread([this] { loop(); });
}

bool WriteQueue::wait_empty(uint64_t timeout_ns) {
    if (!thread_.joinable())
        return drain() == 0;
    std::unique_lock lock(mutex_);
    is_awaited_ = true;
    bool done = changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                  [this] { return jobs_.empty() && idle_; });
    is_awaited_ = false;
    return done;
}

bool WriteQueue::finish(uint64_t timeout_ns) {
    bool done = wait_empty(timeout_ns);
    if (!thread_.joinable())
        return done;
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
        given_up_ = !done;
        changed_.notify_all();
    }
    thread_.join();
    return done;
}

} // namespace daybreak::recorder
