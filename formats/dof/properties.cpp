// SPDX-License-Identifier: Apache-2.0
//
// DOF as properties of a text file.
#include "formats/dof/properties.hpp"

#include "formats/dof/dof_reader.hpp"

#include <charconv>
#include <map>

namespace daybreak::formats {

using base::Bytes;
using base::ErrorCode;
using base::errorf;

namespace {

constexpr std::string_view kPrefix = "dof-data-";
/// As many enablings as a machine may retain elsewhere.
constexpr size_t kPropertiesMax = 1024;

std::string_view text_of(base::ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view take_line(std::string_view& text) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

std::optional<std::byte> byte_of(std::string_view digits) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size() || value > 0xff)
        return std::nullopt;
    return std::byte(value);
}

/// "0x7f,0x44,...;": false when it is not that.
bool read_illumos(std::string_view value, Bytes& image) {
    size_t end = value.find(';');
    if (end == std::string_view::npos || value.find_first_not_of(" \t\r", end + 1) != value.npos)
        return false;
    value = value.substr(0, end);
    while (!value.empty()) {
        size_t comma = value.find(',');
        std::string_view one = value.substr(0, comma);
        auto byte = one.starts_with("0x") ? byte_of(one.substr(2)) : std::nullopt;
        if (!byte || comma + 1 == value.size())
            return false;
        image.push_back(*byte);
        value.remove_prefix(comma == std::string_view::npos ? value.size() : comma + 1);
    }
    return true;
}

/// "7f44...": false when it is not that.
bool read_freebsd(std::string_view value, Bytes& image) {
    while (!value.empty() && (value.back() == '\r' || value.back() == ' '))
        value.remove_suffix(1);
    if (value.size() % 2 != 0)
        return false;
    for (size_t at = 0; at < value.size(); at += 2) {
        auto byte = byte_of(value.substr(at, 2));
        if (!byte)
            return false;
        image.push_back(*byte);
    }
    return true;
}

base::Result<void> read_line(std::string_view line, std::map<size_t, Bytes>& images) {
    line.remove_prefix(kPrefix.size());
    size_t number = 0, equals = line.find('=');
    auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || equals == std::string_view::npos || end != line.data() + equals)
        return errorf(ErrorCode::corrupt, "a property dof-data-N= has no number");
    if (number >= kPropertiesMax)
        return errorf(ErrorCode::limit, "dof-data-%zu: more than %zu properties", number,
                      kPropertiesMax);
    std::string_view value = line.substr(equals + 1);
    Bytes image;
    bool read = value.starts_with("0x") ? read_illumos(value, image) : read_freebsd(value, image);
    if (!read)
        return errorf(ErrorCode::corrupt,
                      "dof-data-%zu: expected 0x7f,0x44,...; or 7f44..., byte after byte", number);
    if (!images.emplace(number, std::move(image)).second)
        return errorf(ErrorCode::corrupt, "dof-data-%zu is there twice", number);
    return {};
}

} // namespace

std::optional<DofFormat> dof_format_named(std::string_view name) {
    if (name == "raw")
        return DofFormat::raw;
    if (name == "illumos")
        return DofFormat::illumos;
    if (name == "freebsd")
        return DofFormat::freebsd;
    return std::nullopt;
}

bool looks_like_dof_properties(base::ByteView untrusted) {
    std::string_view text = text_of(untrusted);
    return text.starts_with(kPrefix) || text.find("\ndof-data-") != std::string_view::npos;
}

base::Result<std::vector<Bytes>> read_dof_properties(base::ByteView untrusted) {
    std::string_view text = text_of(untrusted);
    std::map<size_t, Bytes> numbered;
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (line.starts_with(kPrefix))
            DBK_TRY_VOID(read_line(line, numbered));
    }
    if (numbered.empty())
        return errorf(ErrorCode::not_found, "no property dof-data-0");
    std::vector<Bytes> images;
    for (auto& [number, image] : numbered) {
        if (number != images.size())
            return errorf(ErrorCode::corrupt, "dof-data-%zu is missing, dof-data-%zu is there",
                          images.size(), number);
        images.push_back(std::move(image));
    }
    return images;
}

std::string without_dof_properties(std::string_view text) {
    std::string kept;
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (!line.starts_with(kPrefix))
            kept += std::string(line) + "\n";
    }
    return kept;
}

std::string with_dof_properties(std::string_view text, DofFormat format,
                                const std::vector<Bytes>& images) {
    std::string out = without_dof_properties(text);
    bool illumos = format == DofFormat::illumos;
    for (size_t number = 0; number < images.size(); number++) {
        out += base::strprintf("dof-data-%zu=", number);
        for (size_t i = 0; i < images[number].size(); i++) {
            auto byte = std::to_integer<unsigned>(images[number][i]);
            if (illumos)
                out += base::strprintf(i == 0 ? "0x%x" : ",0x%x", byte);
            else
                out += base::strprintf("%02x", byte);
        }
        out += illumos ? ";\n" : "\n";
    }
    return out;
}

base::Result<std::vector<Bytes>> dof_images_in(base::ByteView untrusted) {
    if (!looks_like_dof(untrusted) && looks_like_dof_properties(untrusted))
        return read_dof_properties(untrusted);
    return std::vector<Bytes>{Bytes(untrusted.begin(), untrusted.end())};
}

} // namespace daybreak::formats
