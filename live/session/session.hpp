// SPDX-License-Identifier: Apache-2.0
//
// Session: the machine that `daybreak dtrace` traces, and one enabling at work on it.
//
// Three exist: the running kernel through /dev/daybreak (live_session.hpp); where that is absent,
// what is real without it, timers and the processes of -c; and with --simulate a machine that is
// made up (simulated_session.hpp, both).
// What is asked of them is what dtrace(1) asks of its kernel:
//
//     probes()                 what can be traced: for -l, and to refuse what matches nothing
//     enable(DOF)              verified, a ring made, probes armed; or claim() an anonymous one
//     start()                  BEGIN, then every probe
//     wait(ns)*                time passes: at most that much, less when something is due
//     status()*                whether exit() was called, or a buffer is full
//     poll()*                  what was recorded and aggregated since the last poll
//     stop()                   END; a last poll() brings what is left
//
// The session never decodes a record and never prints; clocks, and whether to stop, it is given.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/dof/dof_program.hpp"
#include "formats/dof/reading_rates.hpp"
#include "formats/segment/ring_pieces.hpp"
#include "formats/trace/metadata.hpp"
#include "recorder/symbols.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace daybreak::live {

class Target;

/// A probe of the machine.
struct SessionProbe {
    uint32_t id = 0;
    std::string provider, module, function, name;
};

/// What a session asks the machine that it runs on.
struct SessionOutside {
    std::function<formats::HostClocks()> clocks; ///< read side by side
    std::function<bool()> interrupted;           ///< whether Ctrl-C came: a wait ends then
    recorder::SymbolSource* kernel = nullptr;    ///< its symbols; outlives the session
};

struct EnableRequest {
    base::ByteView dof;
    bool destructive = false; ///< -w, or option destructive
};

/// Why a wait ended.
enum class SessionEvent : uint8_t {
    elapsed,       ///< the time is over
    interrupted,   ///< a signal arrived
    target_exited, ///< the last process of -c and -p is gone: stop
    idle,          ///< nothing can happen any more: stop
};

/// What a consumer learns at statusrate.
struct SessionStatus {
    bool exited = false; ///< exit() was called: stop
    bool filled = false; ///< a buffer of policy fill is full: stop
    bool killed = false; ///< the deadman ended it: its clauses took a CPU for themselves
};

class Session {
public:
    virtual ~Session() = default;

    /// Whether there is no kernel under it.
    virtual bool is_simulated() const = 0;
    /// Release of the kernel that is traced.
    virtual std::string release() const = 0;
    /// The kernel's symbols, for addresses; null when there are none.  Lives as long as the
    /// session; first asked for after enable().
    virtual const formats::SymbolTable* symbols() = 0;

    /// Returns every probe that exists now, in the order of ids.  They live until the next call.
    virtual base::Result<std::span<const SessionProbe>> probes() = 0;
    /// Publishes the probes that only exist because a program names them (profile-97); nothing when
    /// the description names none, or is an id.  Returns how many there are of that description; 0:
    /// probes() has them, or there are none.
    virtual base::Result<uint32_t> make_named(const formats::DofProbeName& description) = 0;

    /// Verifies the program and arms its probes.  Errors: invalid (refused by the verifier), denied
    /// (destructive, privileges), limit.
    virtual base::Result<void> enable(const EnableRequest& request) = 0;
    /// What the enabled program may not do on this machine, a sentence, or "".
    virtual std::string remark() const { return {}; }
    /// -a: takes the oldest anonymous enabling over instead, which goes on tracing.
    /// Error: not_found, when there is none.
    virtual base::Result<void> claim() = 0;
    /// A process of -c or -p, for sessions that have to see what it does themselves.  It outlives
    /// the session; called before start().
    virtual void add_target(Target& target) { static_cast<void>(target); }
    /// Fires BEGIN and lets the other probes in.  An enabling that was claimed runs already.
    virtual base::Result<void> start() = 0;
    /// Returns the time that wait() lets pass: CLOCK_MONOTONIC, or that of a machine made up.
    virtual uint64_t now_ns() const = 0;
    /// Lets at most this much time pass.
    virtual base::Result<SessionEvent> wait(uint64_t ns) = 0;
    /// Returns how tracing stands.
    virtual SessionStatus status() = 0;
    /// Takes what is there and asked for; metadata always.  Segments that came complete are
    /// released.
    virtual base::Result<formats::RingPieces> poll(const formats::Readings& wanted) = 0;
    /// Reports at which rates polls come: aggrate may be set, or not.
    virtual void set_rates(const formats::ReadingRates& rates) { static_cast<void>(rates); }
    /// Fires END; nothing is recorded after it.
    virtual base::Result<void> stop() = 0;
};

} // namespace daybreak::live
