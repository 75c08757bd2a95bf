// SPDX-License-Identifier: Apache-2.0
//
// RecordedState: what a recording knows of the machine where a probe fired.
//
// A program that is compiled for a replay has no machine: what a clause asks of it must be an
// expression that the recording stored for the clause's probe.
#pragma once

#include "compiler/syntax/ast.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::compiler {

class RecordedState {
public:
    virtual ~RecordedState() = default;

    /// Returns the recorded probes that a description matches, and those that the replay fires
    /// itself (BEGIN, END, ERROR, tick-N), each by its four names.  Of several recordings, which
    /// may have recorded different values at a probe, each has the id of the replay's probe.
    virtual std::vector<ProbeDescription> matches(const ProbeDescription& description) const = 0;

    struct Value {
        uint32_t slot;    ///< it is args[slot] of the replayed firing
        std::string type; ///< C name
        /// Every firing of the probe has it.  Else a bit of args[presence_word(slot)] says whether
        /// this one does: a recorded clause had a predicate, faulted, or its record was dropped.
        bool is_always = true;
        /// Only recorded clauses with a predicate, or that speculate, have it, and there are other
        /// firings.
        bool is_conditional = false;
    };
    /// Returns what was recorded of an expression, by its canonical text.
    virtual std::optional<Value> find(const ProbeDescription& probe,
                                      const std::string& expression) const = 0;
    /// The program uses what find() returned.
    virtual void use(const ProbeDescription& probe, const std::string& expression) const = 0;
    /// Whether the process is known at each firing where an address of it is: by its number, or by
    /// what was recorded of its addresses.
    virtual bool has_process(const ProbeDescription& probe) const = 0;
    /// Whether addresses that are to be named, of processes or of the kernel, are to be the same
    /// for one function in all recordings.
    virtual bool has_places(bool is_of_process) const = 0;
    /// Returns the canonical texts of all that was recorded there, as one line; "nothing".
    virtual std::string all(const ProbeDescription& probe) const = 0;
    /// Returns " of web-1": whose recordings have the probe; empty: there is one recording.
    virtual std::string place(const ProbeDescription& probe) const = 0;
};

} // namespace daybreak::compiler
