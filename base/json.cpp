// SPDX-License-Identifier: Apache-2.0
//
// Writing JSON.
#include "base/json.hpp"

#include "base/result.hpp"
#include "base/visible.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::base {

void append_json_string(std::string& out, std::string_view untrusted_text) {
    out += '"';
    for (std::string_view rest = untrusted_text; !rest.empty();) {
        auto first = static_cast<unsigned char>(rest[0]);
        size_t bytes = visible_bytes(rest);
        if (first == '"' || first == '\\')
            (out += '\\') += rest[0];
        else if (first < 0x20 || first == 0x7f)
            out += strprintf("\\u%04x", unsigned{first});
        else if (bytes == 0)
            out += "\\ufffd";
        else
            out += rest.substr(0, bytes);
        rest.remove_prefix(std::max<size_t>(bytes, 1));
    }
    out += '"';
}

std::string& JsonObject::key(std::string_view name) {
    if (std::exchange(has_member_, true))
        out_ += ',';
    append_json_string(out_, name);
    return out_ += ':';
}

std::string& JsonArray::next() {
    if (std::exchange(has_element_, true))
        out_ += ',';
    return out_;
}

} // namespace daybreak::base
