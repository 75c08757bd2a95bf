// SPDX-License-Identifier: Apache-2.0
//
// Writing JSON, member by member, into a string.
//
//     JsonObject object(out);
//     object.put("cpu", uint64_t{3});
//     append_json_string(object.key("name"), name);
//     object.end();
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace daybreak::base {

/// Appends the text in quotes.  What is not UTF-8 becomes U+FFFD: JSON cannot hold it.
void append_json_string(std::string& out, std::string_view untrusted_text);

class JsonObject {
public:
    /// Appends to `out`, which must outlive it.
    explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

    /// Appends a member's name; the caller appends its value to what is returned.
    std::string& key(std::string_view name);
    void put(std::string_view name, std::string_view text) { append_json_string(key(name), text); }
    void put(std::string_view name, const char* text) { put(name, std::string_view(text)); }
    void put(std::string_view name, std::same_as<bool> auto value) {
        key(name) += value ? "true" : "false";
    }
    template <std::integral Number>
    requires(!std::same_as<Number, bool>) void put(std::string_view name, Number value) {
        key(name) += std::to_string(value);
    }
    void end() { out_ += '}'; }

private:
    std::string& out_;
    bool has_member_ = false;
};

class JsonArray {
public:
    explicit JsonArray(std::string& out) : out_(out) { out_ += '['; }

    /// Begins an element; the caller appends its value to what is returned.
    std::string& next();
    void end() { out_ += ']'; }

private:
    std::string& out_;
    bool has_element_ = false;
};

} // namespace daybreak::base
