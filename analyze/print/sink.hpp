// SPDX-License-Identifier: Apache-2.0
//
// Sink: where a report goes.
//
// The analyzers print nothing themselves: text for standard output and messages for standard error
// are handed to a Sink in the order in which they belong.  cmd/ owns the terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::analyze {

/// Something to be reported on standard error.
struct Message {
    enum class Kind : uint8_t {
        drop,  ///< data was not stored
        fault, ///< the execution of a DIF object was given up, and its record with it
        note,  ///< what was left out, or holds for the whole report
        error, ///< the recording cannot be printed as it stands; printing goes on
    };
    Kind kind = Kind::error;
    std::string tag;    ///< of a drop: "DTRACEDROP_PRINCIPAL"; for -xdroptags
    std::string text;   ///< as dtrace(1) says it, without its name: "12 drops on CPU 1"
    std::string group;  ///< of a fault: the text that others of its kind have too, for a sum of them
    std::string detail; ///< what Daybreak knows beyond: "between 1.204311 s and 1.310020 s"

    std::string with_detail() const { return detail.empty() ? text : text + " (" + detail + ")"; }
};

class Sink {
public:
    virtual ~Sink() = default;
    /// Takes text for standard output.  Called with pieces of any length.
    virtual void write(std::string_view text) = 0;
    virtual void message(const Message& message) = 0;
};

/// Keeps everything.
class StringSink : public Sink {
public:
    void write(std::string_view text) override { this->text.append(text); }
    void message(const Message& message) override { messages.push_back(message); }

    std::string text;
    std::vector<Message> messages;
};

} // namespace daybreak::analyze
