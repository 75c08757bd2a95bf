// SPDX-License-Identifier: Apache-2.0
//
// RecordingSet: the recordings of a replay, as the command line names and cuts them.
#include "cmd/recording_set.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/info.hpp"
#include "analyze/replay/alignment.hpp"
#include "cmd/terminal.hpp"

#include <algorithm>
#include <map>

namespace daybreak::cmd {

namespace {

using base::errorf;
using base::Result;

base::Error named_error(const std::string& prefix, const base::Error& error) {
    return errorf(error.code(), "%s%s", prefix.c_str(), error.message().c_str());
}

} // namespace

std::string vmname_of(const formats::Trace& trace) {
    return trace.header.host();
}

std::string bootid_of(const formats::Trace& trace) {
    return analyze::boot_text(trace.recording, trace.has_header ? &trace.header : nullptr);
}

Result<std::unique_ptr<RecordingSet>> RecordingSet::open(const TraceFiles& files) {
    DBK_TRY(std::vector<formats::Trace> traces, read_recordings(files));
    auto set = std::make_unique<RecordingSet>();
    for (formats::Trace& trace : traces) {
        auto one = std::make_unique<OpenRecording>();
        one->trace = std::move(trace);
        one->vmname = vmname_of(one->trace);
        one->bootid = bootid_of(one->trace);
        set->all_.push_back(std::move(one));
    }
    std::ranges::sort(set->all_, {}, [](const std::unique_ptr<OpenRecording>& one) {
        return std::pair(one->vmname, one->bootid);
    });
    set->name_all();
    return set;
}

void RecordingSet::name_all() {
    constexpr size_t kBootDigits = 8;
    std::map<std::string, size_t> boots;
    for (const auto& one : all_)
        boots[one->vmname]++;
    for (const auto& one : all_) {
        one->name = one->vmname;
        if (one->vmname.empty() || boots[one->vmname] > 1)
            one->name +=
                (one->name.empty() ? "boot " : ", boot ") + one->bootid.substr(0, kBootDigits);
    }
}

Result<void> RecordingSet::take_symbols(const SymbolsArguments& symbols) {
    std::vector<formats::Trace*> traces;
    for (const auto& one : all_)
        traces.push_back(&one->trace);
    DBK_TRY(places_, cmd::take_symbols(symbols, traces));
    return {};
}

std::vector<const formats::Trace*> RecordingSet::traces() const {
    std::vector<const formats::Trace*> traces;
    for (const auto& one : all_)
        traces.push_back(&one->trace);
    return traces;
}

Result<void> RecordingSet::cut(const WindowOptions& options) {
    std::vector<std::unique_ptr<OpenRecording>> kept;
    std::vector<base::Error> without;
    for (auto& one : all_) {
        auto window = apply_window_options(options, one->trace.recording);
        if (window.ok()) {
            one->window = window->is_set() ? *window : analyze::own_window_of(one->trace.recording);
            kept.push_back(std::move(one));
            continue;
        }
        base::Error error = named_error(prefix(*one), window.error());
        if (error.code() != base::ErrorCode::not_found)
            return error;
        without.push_back(std::move(error));
    }
    if (kept.empty())
        return without[0];
    for (const base::Error& error : without)
        complain("left out: " + error.message());
    all_ = std::move(kept);
    return {};
}

Result<void> RecordingSet::prepare() {
    for (const auto& one : all_) {
        const std::vector<formats::RingRecording>& rings = one->trace.recording.rings;
        for (size_t i = 0; i < rings.size(); i++) {
            if (rings[i].ecbs.empty())
                continue;
            auto program = std::make_unique<analyze::RingProgram>(rings[i]);
            auto table = std::make_unique<analyze::CaptureTable>(rings[i], *program, slots_);
            one->rings.push_back({i, &rings[i], std::move(program), std::move(table)});
        }
        if (one->rings.empty())
            return errorf(base::ErrorCode::not_found,
                          "%sthe recording does not describe its records: nothing can be replayed",
                          prefix(*one).c_str());
    }
    for (const OpenRing* one : rings())
        one->table->finish();
    return {};
}

std::vector<const OpenRing*> RecordingSet::rings() const {
    std::vector<const OpenRing*> rings;
    for (const auto& one : all_)
        for (const OpenRing& ring : one->rings)
            rings.push_back(&ring);
    return rings;
}

Result<void> RecordingSet::find_events(const std::string& event) {
    for (const auto& one : all_) {
        auto first_ns = first_of_probe_ns("--align", event, one->trace.recording);
        if (!first_ns.ok())
            return named_error(prefix(*one), first_ns.error());
        one->event_ns = *first_ns;
    }
    return {};
}

Result<std::string> RecordingSet::align(const std::string& event) {
    analyze::Alignment alignment{std::vector<uint64_t>(all_.size()), ""};
    if (is_of_several()) {
        if (!event.empty())
            DBK_TRY_VOID(find_events(event));
        std::vector<analyze::AlignedRecording> aligned;
        for (const auto& one : all_)
            aligned.push_back({one->name, analyze::wall_pairs_of(one->trace, *one->rings[0].ring),
                               one->event_ns});
        auto found = event.empty() ? analyze::align_by_wall(aligned)
                                   : analyze::align_by_event(aligned, event);
        if (!found.ok())
            return std::move(found).error();
        alignment = std::move(*found);
    }
    for (size_t i = 0; i < all_.size(); i++)
        for (const OpenRing& ring : all_[i]->rings)
            replayed_.push_back({&all_[i]->trace.recording, ring.index, ring.table.get(),
                                 all_[i]->window, all_[i]->vmname, all_[i]->bootid,
                                 alignment.shifts_ns[i], ring.program->target(), i});
    return alignment.note;
}

} // namespace daybreak::cmd
