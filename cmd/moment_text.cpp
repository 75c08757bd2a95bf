// SPDX-License-Identifier: Apache-2.0
//
// Reading a point in time: a date, a distance, an anchor.
#include "cmd/moment_text.hpp"

#include "cmd/quantity.hpp"

#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>

namespace daybreak::cmd {

namespace {

using analyze::Moment;
using base::errorf;
using base::Result;

constexpr int64_t kNsPerSecond = 1'000'000'000;

struct AnchorName {
    std::string_view name;
    Moment::Anchor anchor;
};
constexpr AnchorName kAnchors[] = {
    {"boot", Moment::Anchor::boot},       {"start", Moment::Anchor::start},
    {"end", Moment::Anchor::end},         {"panic", Moment::Anchor::panic},
    {"trigger", Moment::Anchor::trigger}, {"probe", Moment::Anchor::probe}};

constexpr bool has_name(Moment::Anchor anchor) {
    return anchor == Moment::Anchor::trigger || anchor == Moment::Anchor::probe;
}

/// How dates are written; seconds may have a fraction, a date may end with Z for UTC.
struct DateForm {
    const char* format;
    bool has_day;
};
constexpr DateForm kDateForms[] = {{"%Y-%m-%dT%H:%M:%S", true},
                                   {"%Y-%m-%d %H:%M:%S", true},
                                   {"%Y-%m-%dT%H:%M", true},
                                   {"%Y-%m-%d %H:%M", true},
                                   {"%Y-%m-%d", true},
                                   {"%H:%M:%S", false},
                                   {"%H:%M", false}};

base::Error not_a_time(const std::string& option, const std::string& text) {
    return errorf(
        base::ErrorCode::invalid,
        "%s %s: expected a time: 12.5 or 500ms (after boot), +2 (after the first record), -5 "
        "(before the last), panic-5s, trigger:NAME+1s, probe:GLOB+1s, 10:15:00, "
        "2026-01-31T10:15:00, @1770000000",
        option.c_str(), text.c_str());
}

/// Reads "5", "500ms", "1.5m".
std::optional<int64_t> read_distance(const std::string& text) {
    Result<uint64_t> ns = parse_time("", text);
    if (!ns.ok())
        return std::nullopt;
    return static_cast<int64_t>(*ns);
}

/// Reads ".25", which is all that is left of a date; "" is 0.
std::optional<int64_t> read_fraction(const std::string& text) {
    if (text.empty())
        return 0;
    bool good = text[0] == '.' && text.size() > 1 &&
                text.find_first_not_of("0123456789", 1) == std::string::npos;
    return good ? read_distance("0" + text) : std::nullopt;
}

std::optional<Moment> read_date(std::string text) {
    bool is_utc = text.ends_with('Z');
    if (is_utc)
        text.pop_back();
    for (const DateForm& form : kDateForms) {
        struct tm date {};
        date.tm_mday = 1;
        const char* rest = ::strptime(text.c_str(), form.format, &date);
        bool has_seconds = std::strstr(form.format, "%S") != nullptr;
        std::optional<int64_t> fraction_ns = rest ? read_fraction(rest) : std::nullopt;
        if (!fraction_ns || (*rest && !has_seconds) || (is_utc && !form.has_day))
            continue;
        if (!form.has_day) {
            int64_t seconds = date.tm_hour * 3600 + date.tm_min * 60 + date.tm_sec;
            return Moment{Moment::Anchor::day, seconds * kNsPerSecond + *fraction_ns, "", ""};
        }
        date.tm_isdst = -1;
        const int day = date.tm_mday;
        int64_t seconds = is_utc ? ::timegm(&date) : ::mktime(&date);
        if (date.tm_mday != day) // 30 February was made 2 March
            return std::nullopt;
        if (seconds < 0 || seconds > INT64_MAX / kNsPerSecond - 1)
            return std::nullopt;
        return Moment{Moment::Anchor::wall, seconds * kNsPerSecond + *fraction_ns, "", ""};
    }
    return std::nullopt;
}

/// Reads "panic", "panic-5s", "trigger:NAME+1": a name may have signs in it, the last one counts
/// when a distance follows it.
std::optional<Moment> read_anchored(const std::string& text) {
    for (const AnchorName& known : kAnchors) {
        if (!text.starts_with(known.name))
            continue;
        Moment moment{known.anchor, 0, "", ""};
        std::string rest = text.substr(known.name.size());
        const std::string whole = rest;
        size_t sign = rest.find_last_of("+-");
        if (sign != std::string::npos) {
            std::optional<int64_t> distance = read_distance(rest.substr(sign + 1));
            if (distance) {
                moment.offset_ns = rest[sign] == '-' ? -*distance : *distance;
                rest.resize(sign);
            }
        }
        bool is_named = has_name(known.anchor) && rest.size() > 1 && rest[0] == ':';
        if (is_named) {
            moment.name = rest.substr(1);
            moment.whole_name = whole.substr(1);
        }
        if (is_named || (rest.empty() && known.anchor != Moment::Anchor::probe))
            return moment;
    }
    return std::nullopt;
}

} // namespace

Result<Moment> parse_moment(const std::string& option, const std::string& text) {
    std::optional<Moment> anchored = read_anchored(text);
    if (anchored)
        return *anchored;
    std::optional<Moment> date = read_date(text);
    if (date)
        return *date;
    Moment::Anchor anchor = text.starts_with('+')   ? Moment::Anchor::start
                            : text.starts_with('-') ? Moment::Anchor::end
                            : text.starts_with('@') ? Moment::Anchor::wall
                                                    : Moment::Anchor::boot;
    std::optional<int64_t> distance =
        read_distance(anchor == Moment::Anchor::boot ? text : text.substr(1));
    if (!distance)
        return not_a_time(option, text);
    return Moment{anchor, anchor == Moment::Anchor::end ? -*distance : *distance, "", ""};
}

} // namespace daybreak::cmd
