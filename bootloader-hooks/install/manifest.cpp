// SPDX-License-Identifier: Apache-2.0
//
// Writing and reading the manifest.
#include "bootloader-hooks/install/manifest.hpp"

#include "base/crc32c.hpp"

#include <algorithm>
#include <cinttypes>
#include <sstream>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;
using base::strprintf;

namespace {

constexpr const char* kModes[] = {"every", "once", "menu"};
constexpr const char* kFirstLine = "daybreak-install 1";

/// The rest of a line, without the blank before it.
std::string rest_of(std::istringstream& words) {
    std::string rest;
    std::getline(words >> std::ws, rest);
    return rest;
}

bool read_mode(const std::string& word, Mode& mode) {
    for (size_t i = 0; i < std::size(kModes); i++)
        if (word == kModes[i]) {
            mode = static_cast<Mode>(i);
            return true;
        }
    return false;
}

/// Takes one line; false when it is not one of a manifest.
bool read_line(const std::string& line, Manifest& manifest) {
    std::istringstream words(line);
    std::string key, how;
    words >> key;
    if (key == "mode")
        return read_mode(rest_of(words), manifest.mode);
    if (key == "named")
        return manifest.kernels_named = true;
    if (key == "native")
        return manifest.native = true;
    for (auto [name, to] :
         {std::pair("loader", &manifest.loader), std::pair("version", &manifest.version),
          std::pair("bank", &manifest.bank), std::pair("module", &manifest.module),
          std::pair("sign", &manifest.sign_key), std::pair("certificate", &manifest.certificate),
          std::pair("sources", &manifest.sources)})
        if (key == name)
            return !(*to = rest_of(words)).empty();
    for (auto [name, to] :
         {std::pair("program", &manifest.programs), std::pair("kernel", &manifest.kernels),
          std::pair("interpreted", &manifest.interpreted)})
        if (key == name)
            return !to->emplace_back(rest_of(words)).empty();
    if (key == "file" || key == "helper") {
        PlacedFile file{.is_helper = key == "helper"};
        words >> file.bytes >> std::hex >> file.crc;
        file.path = rest_of(words);
        manifest.files.push_back(file);
        return file.path.starts_with('/');
    }
    if (key == "part") {
        PlacedPart part;
        words >> std::hex >> part.crc >> how;
        part.path = rest_of(words);
        part.made = how == "made";
        manifest.parts.push_back(part);
        return part.path.starts_with('/') && (part.made || how == "kept");
    }
    if (key != "variable")
        return false;
    Variable variable;
    words >> variable.name;
    if (words.peek() == ' ')
        variable.before =
            line.substr(std::min(sizeof("variable ") + variable.name.size(), line.size()));
    manifest.variables.push_back(variable);
    return !variable.name.empty();
}

} // namespace

const char* mode_word(Mode mode) {
    return kModes[static_cast<size_t>(mode)];
}

uint32_t crc_of(const std::string& content) {
    return base::crc32c(base::as_bytes(content));
}

PlacedFile placed_file(const std::string& path, const std::string& content, bool is_helper) {
    return {path, content.size(), crc_of(content), is_helper};
}

std::string Manifest::text() const {
    std::string text =
        strprintf("%s\nmode %s\nloader %s\n", kFirstLine, mode_word(mode), loader.c_str());
    if (!version.empty())
        text += "version " + version + "\n";
    for (const std::string& program : programs)
        text += "program " + program + "\n";
    if (!bank.empty())
        text += "bank " + bank + "\n";
    for (const std::string& kernel : kernels)
        text += "kernel " + kernel + "\n";
    if (kernels_named)
        text += "named\n";
    if (!module.empty())
        text += "module " + module + "\n";
    if (!sign_key.empty())
        text += "sign " + sign_key + "\ncertificate " + certificate + "\n";
    if (native)
        text += "native\n";
    if (!sources.empty())
        text += "sources " + sources + "\n";
    for (const std::string& kernel : interpreted)
        text += "interpreted " + kernel + "\n";
    for (const PlacedFile& file : files)
        text += strprintf("%s %" PRIu64 " %08x %s\n", file.is_helper ? "helper" : "file",
                          file.bytes, file.crc, file.path.c_str());
    for (const PlacedPart& part : parts)
        text += strprintf("part %08x %s %s\n", part.crc, part.made ? "made" : "kept",
                          part.path.c_str());
    for (const Variable& variable : variables)
        text +=
            "variable " + variable.name + (variable.before ? " " + *variable.before : "") + "\n";
    return text;
}

bool Manifest::placed(const std::string& path, const std::string& content) const {
    uint32_t crc = crc_of(content);
    return std::any_of(files.begin(), files.end(), [&](const PlacedFile& file) {
        return file.path == path && file.bytes == content.size() && file.crc == crc;
    });
}

bool Manifest::placed_part(const std::string& path, const std::string& part) const {
    return std::any_of(parts.begin(), parts.end(), [&](const PlacedPart& one) {
        return one.path == path && one.crc == crc_of(part);
    });
}

bool Manifest::names(const std::string& path) const {
    return std::any_of(files.begin(), files.end(),
                       [&path](const PlacedFile& file) { return file.path == path; });
}

std::string Manifest::why_interpreted(const std::string& release) const {
    for (const std::string& kernel : interpreted)
        if (kernel.starts_with(release + " "))
            return kernel.substr(release.size() + 1);
    return "";
}

Result<Manifest> parse_manifest(const std::string& untrusted_text) {
    Manifest manifest;
    std::istringstream lines(untrusted_text);
    std::string line;
    for (int number = 1; std::getline(lines, line); number++)
        if (number == 1 ? line != kFirstLine : !read_line(line, manifest))
            return errorf(ErrorCode::corrupt, "line %d: '%s' is not one of a manifest%s", number,
                          line.c_str(),
                          number == 1 ? strprintf(" (expected '%s')", kFirstLine).c_str() : "");
    if (manifest.loader.empty())
        return errorf(ErrorCode::corrupt, "it names no boot loader");
    return manifest;
}

Result<std::optional<Manifest>> read_manifest(const Host& host) {
    DBK_TRY(std::optional<std::string> text, host.read(kManifestPath));
    if (!text)
        return std::optional<Manifest>();
    auto manifest = parse_manifest(*text);
    if (!manifest.ok())
        return errorf(ErrorCode::corrupt,
                      "%s: %s: run daybreak uninstall --force, which goes by the names of the "
                      "files, then install again",
                      kManifestPath, manifest.error().message().c_str());
    return std::optional(*std::move(manifest));
}

std::string file_trouble(const Host& host, const Manifest& placed, const std::string& path) {
    auto content = host.read(path);
    if (!content.ok())
        return content.error().message();
    if (!*content)
        return path + " is missing";
    return placed.placed(path, **content) ? "" : path + " was changed since it was installed";
}

std::vector<std::string> file_troubles(const Host& host, const Manifest& placed) {
    std::vector<std::string> troubles;
    for (const PlacedFile& file : placed.files)
        if (std::string trouble = file_trouble(host, placed, file.path); !trouble.empty())
            troubles.push_back(std::move(trouble));
    return troubles;
}

} // namespace daybreak::install
