// SPDX-License-Identifier: Apache-2.0
//
// Drop text: what is said about data that was not stored.
#include "analyze/print/drop_text.hpp"

#include <array>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

struct DropKind {
    const char* tag;
    const char* text;
};

DropKind kind_of(enum dbk_drop cause) {
    switch (cause) {
#define DBK_DROP_CASE(name, slot, tag, text)                                                       \
    case DBK_DROP_##name:                                                                          \
        return {tag, text};
        DBK_DROPS(DBK_DROP_CASE)
#undef DBK_DROP_CASE
    }
    return {"UNKNOWN", "drop of an unknown cause"};
}

/// Causes that belong to one CPU's buffer; the others are the whole consumer's, in DTrace's words.
bool names_cpu(enum dbk_drop cause) {
    switch (cause) {
    case DBK_DROP_PRINCIPAL:
    case DBK_DROP_AGGREGATION:
    case DBK_DROP_WORK:
    case DBK_DROP_NESTED:
    case DBK_DROP_TOOBIG:
    case DBK_DROP_FILLED:
    case DBK_DROP_MISSED:
        return true;
    default:
        return false;
    }
}

/// What is counted, in the words of drops.h.
constexpr std::array kNouns = {"drop", "speculation", "overflow", "error", "probe", "record", "firing", "clause"};

std::string plural(std::string text) {
    size_t best = std::string::npos, length = 0;
    for (std::string_view noun : kNouns) {
        size_t at = text.find(noun);
        if (at < best) {
            best = at;
            length = noun.size();
        }
    }
    return best == std::string::npos ? text : text.insert(best + length, "s");
}

} // namespace

std::string drop_phrase(enum dbk_drop cause, uint64_t count) {
    std::string text = kind_of(cause).text;
    return std::to_string(count) + " " + (count > 1 ? plural(text) : text);
}

std::string seconds_text(uint64_t nanoseconds) {
    return base::strprintf("%" PRIu64 ".%06" PRIu64 " s", nanoseconds / 1'000'000'000,
                           nanoseconds / 1000 % 1'000'000);
}

std::string interval_text(uint64_t from_boot_ns, uint64_t to_boot_ns) {
    std::string from = seconds_text(from_boot_ns);
    return to_boot_ns == UINT64_MAX ? "after " + from
                                    : "between " + from + " and " + seconds_text(to_boot_ns);
}

Message drop_message(enum dbk_drop cause, uint64_t count, uint16_t cpu,
                     std::optional<std::pair<uint64_t, uint64_t>> boot_interval_ns) {
    Message message;
    message.kind = Message::Kind::drop;
    message.tag = std::string("DTRACEDROP_") + kind_of(cause).tag;
    message.text = drop_phrase(cause, count);
    if (names_cpu(cause))
        message.text += base::strprintf(" on CPU %u", unsigned{cpu});
    if (boot_interval_ns)
        message.detail = interval_text(boot_interval_ns->first, boot_interval_ns->second);
    return message;
}

} // namespace daybreak::analyze
