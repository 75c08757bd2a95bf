// SPDX-License-Identifier: Apache-2.0
//
// The running kernel as a session: /dev/daybreak.
//
// ENABLE does at once what enable() and start() are elsewhere: BEGIN has fired when it returns. The
// ring belongs to the open device, so whatever ends this process, it goes with it.
#include "live/session/live_session.hpp"

#include "base/counted.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/dof_writer.hpp"
#include "live/process/child_signal.hpp"
#include "live/process/function_probes.hpp"
#include "live/process/missing_function.hpp"
#include "live/process/places.hpp"
#include "live/ring_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace daybreak::live {

namespace {

/// 20 ms: how soon Ctrl-C is noticed.
constexpr uint64_t kLookNs = 20'000'000;

/// Returns whether the part fits; one that does not names nothing.
template <size_t Bytes>
bool put_name(char (&to)[Bytes], const std::string& name) {
    if (name.size() >= Bytes)
        return false;
    std::memcpy(to, name.c_str(), name.size() + 1);
    return true;
}

class LiveSession : public Session {
public:
    LiveSession(std::unique_ptr<recorder::DeviceApi> device, std::string release,
                SessionOutside outside)
        : device_(std::move(device)), release_(std::move(release)), outside_(std::move(outside)) {}

    bool is_simulated() const override { return false; }
    std::string release() const override { return release_; }
    const formats::SymbolTable* symbols() override;

    base::Result<std::span<const SessionProbe>> probes() override;
    base::Result<uint32_t> make_named(const formats::DofProbeName& description) override;
    base::Result<void> enable(const EnableRequest& request) override;
    std::string remark() const override;
    base::Result<void> claim() override;
    void add_target(Target& target) override { targets_.push_back(&target); }
    base::Result<void> start() override { return {}; }
    uint64_t now_ns() const override { return outside_.clocks().mono_ns; }
    base::Result<SessionEvent> wait(uint64_t ns) override;
    SessionStatus status() override;
    base::Result<formats::RingPieces> poll(const formats::Readings& wanted) override;
    base::Result<void> stop() override;

private:
    base::Result<void> open_ring(uint16_t ring_id);
    base::Result<void> list_probes();
    void start(uint32_t pid);
    base::Result<void> find_places(const formats::DofProbeName& description);

    std::unique_ptr<recorder::DeviceApi> device_; // destroyed after what is mapped from it
    std::string release_;
    SessionOutside outside_;
    std::optional<formats::SymbolTable> symbols_;
    std::vector<SessionProbe> probes_; ///< as they were listed last, then those of places
    size_t listed_ = 0;                ///< of them, the module's
    Places places_;
    std::vector<Target*> targets_;
    std::set<uint32_t> started_; ///< commands whose libraries are mapped
    uint16_t ring_id_ = 0;
    std::optional<RingReader> ring_;
};

const formats::SymbolTable* LiveSession::symbols() {
    if (!symbols_) {
        // Most programs print no address of the kernel: to list and sort 150 000 symbols would be
        // most of a short run.
        symbols_.emplace().load_later([this](formats::SymbolTable& table) {
            if (auto text = outside_.kernel->kallsyms(); text.ok())
                recorder::parse_kallsyms(*text, table);
        });
    }
    return &*symbols_;
}

/// Brings the module's probes up to date. Ids grow in the order of its list: while the last one
/// that is known is at its place, none before it has gone, and what came follows it. A probe that
/// goes just while the list is read can hide another one till one more goes: the list is for people.
base::Result<void> LiveSession::list_probes() {
    probes_.resize(listed_);
    if (listed_ != 0) {
        DBK_TRY(auto last, device_->probe(listed_ - 1, /*only_existing=*/true));
        if (!last || last->probe_id != probes_.back().id)
            probes_.clear();
    }
    for (;;) {
        listed_ = probes_.size();
        DBK_TRY(auto probe, device_->probe(listed_, /*only_existing=*/true));
        if (!probe)
            return {};
        probes_.push_back(
            {probe->probe_id, probe->provider, probe->module, probe->function, probe->name});
    }
}

base::Result<std::span<const SessionProbe>> LiveSession::probes() {
    DBK_TRY_VOID(list_probes());
    // The module makes these with the program, and numbers them so.
    uint32_t id = probes_.empty() ? 0 : probes_.back().id;
    for (const formats::DofPlace& place : places_.all())
        probes_.push_back({++id, place.probe.provider, place.probe.module, place.probe.function,
                           place.probe.name});
    return std::span<const SessionProbe>(probes_);
}

/// The libraries of a command of -c are there when its first instruction is to come.
void LiveSession::start(uint32_t pid) {
    for (const Target* target : targets_)
        if (static_cast<uint32_t>(target->pid()) == pid && target->is_held() &&
            started_.insert(pid).second)
            run_to_start(target->pid(), /*traces_more=*/false);
}

base::Result<void> LiveSession::find_places(const formats::DofProbeName& description) {
    if (is_by_path(description))
        return places_.add_by_path(description);
    if (uint32_t pid = process_named(description)) {
        if (runs_32_bits(pid))
            return base::errorf(base::ErrorCode::unsupported, "%s", why_not_traced(pid).c_str());
        start(pid);
        places_.add_named(description);
    }
    if (description.id != 0 || !is_of_marks(description.provider))
        return {};
    if (targets_.empty() && is_of_running(description)) {
        places_.add_running(description);
        return {};
    }
    std::vector<uint32_t> numbers = numbers_named(description);
    std::set<uint32_t> pids(numbers.begin(), numbers.end());
    for (const Target* target : targets_)
        pids.insert(static_cast<uint32_t>(target->pid()));
    for (uint32_t pid : pids) {
        start(pid);
        places_.add_marks(description, pid);
    }
    return {};
}

base::Result<uint32_t> LiveSession::make_named(const formats::DofProbeName& description) {
    DBK_TRY_VOID(find_places(description));
    if (description.id != 0)
        return 0u;
    uint32_t matched = places_.count(description);
    dbk_ioc_provide request = {};
    if (put_name(request.provider, description.provider) &&
        put_name(request.module, description.module) &&
        put_name(request.function, description.function) &&
        put_name(request.name, description.name)) {
        DBK_TRY(uint32_t of_module, device_->count(request));
        matched += of_module;
    }
    return matched;
}

base::Result<void> LiveSession::open_ring(uint16_t ring_id) {
    DBK_TRY(auto ring, RingReader::open(*device_, ring_id));
    ring_id_ = ring_id;
    ring_.emplace(std::move(ring));
    return {};
}

/// The program itself says whether it is destructive, and the module whether that may be.
base::Result<void> LiveSession::enable(const EnableRequest& request) {
    if (places_.all().empty()) {
        DBK_TRY(uint16_t ring_id, device_->enable(request.dof));
        return open_ring(ring_id);
    }
    DBK_TRY(formats::DofImage image, formats::parse_dof(request.dof));
    image.program.places = places_.all();
    DBK_TRY(base::Bytes dof, formats::write_dof(image.program));
    DBK_TRY(uint16_t ring_id, device_->enable(dof));
    return open_ring(ring_id);
}

std::string LiveSession::remark() const {
    std::string remark = device_->remark();
    if (std::string missing = places_.remark(); !missing.empty())
        remark += (remark.empty() ? "" : "\n") + missing;
    return remark;
}

base::Result<void> LiveSession::claim() {
    DBK_TRY(auto ring_id, device_->claim());
    if (!ring_id)
        return base::errorf(base::ErrorCode::not_found, "No anonymous tracing state");
    return open_ring(*ring_id);
}

base::Result<SessionEvent> LiveSession::wait(uint64_t ns) {
    uint64_t deadline_ns = now_ns() + ns;
    for (;;) {
        if (outside_.interrupted())
            return SessionEvent::interrupted;
        uint64_t now = now_ns();
        if (now >= deadline_ns)
            return SessionEvent::elapsed;
        if (sleep_until_child(std::min(deadline_ns - now, kLookNs)))
            return SessionEvent::interrupted;
    }
}

SessionStatus LiveSession::status() {
    return {ring_->activity() >= DBK_ACTIVITY_DRAINING, ring_->has_filled(),
            ring_->activity() == DBK_ACTIVITY_KILLED};
}

base::Result<formats::RingPieces> LiveSession::poll(const formats::Readings& wanted) {
    return ring_->poll(wanted, [this] { return now_ns(); });
}

base::Result<void> LiveSession::stop() {
    DBK_TRY_VOID(device_->stop(ring_id_));
    ring_->set_stopped();
    return {};
}

} // namespace

base::Result<std::unique_ptr<Session>>
open_live_session(std::unique_ptr<recorder::DeviceApi> device, std::string release,
                  SessionOutside outside) {
    DBK_TRY_VOID(recorder::check_version(*device));
    return std::unique_ptr<Session>(
        std::make_unique<LiveSession>(std::move(device), std::move(release), std::move(outside)));
}

} // namespace daybreak::live
