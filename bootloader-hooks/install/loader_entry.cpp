// SPDX-License-Identifier: Apache-2.0
//
// Entries of systemd-boot: reading, sorting, and ours.
#include "bootloader-hooks/install/loader_entry.hpp"

#include <algorithm>
#include <cstring>
#include <fnmatch.h>
#include <sstream>
#include <strings.h>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr const char* kBlanks = " \t\r";
constexpr std::string_view kPrefix = "daybreak-";

std::string trimmed(const std::string& text) {
    size_t from = text.find_first_not_of(kBlanks), to = text.find_last_not_of(kBlanks);
    return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

/// "6.1" or "6.1+0-3" of "6.1+0-3.conf": what comes after the last +, "" when there is none.
std::string tries_of(const std::string& id) {
    size_t plus = id.rfind('+');
    return plus == std::string::npos ? "" : id.substr(plus + 1);
}

} // namespace

std::string LoaderEntry::value(const std::string& key) const {
    for (const auto& [name, text] : lines)
        if (name == key)
            return text;
    return "";
}

bool LoaderEntry::is_ours() const {
    return id.starts_with(kPrefix);
}

bool LoaderEntry::is_exhausted() const {
    std::string tries = tries_of(id);
    return tries.starts_with("0-") || tries.starts_with("0.");
}

LoaderEntry parse_loader_entry(const std::string& id, const std::string& untrusted_text) {
    LoaderEntry entry;
    entry.id = id;
    std::istringstream lines(untrusted_text);
    for (std::string line; std::getline(lines, line);) {
        line = trimmed(line);
        if (line.empty() || line[0] == '#')
            continue;
        size_t blank = std::min(line.find_first_of(kBlanks), line.size());
        entry.lines.emplace_back(line.substr(0, blank), trimmed(line.substr(blank)));
    }
    return entry;
}

bool comes_before(const LoaderEntry& a, const LoaderEntry& b) {
    if (a.is_exhausted() != b.is_exhausted())
        return b.is_exhausted();
    std::string a_key = a.value("sort-key"), b_key = b.value("sort-key");
    if (a_key.empty() != b_key.empty())
        return b_key.empty();
    for (const char* key : {"sort-key", "machine-id"})
        if (int order = a.value(key).compare(b.value(key)); !a_key.empty() && order != 0)
            return order < 0;
    if (int order = ::strverscmp(a.value("version").c_str(), b.value("version").c_str());
        !a_key.empty() && order != 0)
        return order > 0; // the newest first
    return ::strverscmp(a.id.c_str(), b.id.c_str()) > 0;
}

const LoaderEntry* default_entry(const std::vector<LoaderEntry>& sorted,
                                 const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns)
        for (const LoaderEntry& entry : sorted)
            if (::fnmatch(pattern.c_str(), entry.id.c_str(), FNM_CASEFOLD) == 0)
                return &entry;
    return sorted.empty() ? nullptr : &sorted.front();
}

std::string loader_entry_id(const std::string& release) {
    return std::string(kPrefix) + release + ".conf";
}

Result<std::string> loader_entry_text(const LoaderEntry& entry, const std::string& cpio,
                                      const std::string& arguments) {
    std::string options = " ";
    for (const auto& [key, value] : entry.lines)
        if (key == "options")
            options += value + " ";
    for (const char* name : {" rdinit=", " daybreak.bank="})
        if (options.find(name) != std::string::npos &&
            (" " + arguments).find(name) != std::string::npos)
            return errorf(ErrorCode::invalid,
                          "the entry %s has%s already: take it out of /etc/kernel/cmdline, run "
                          "kernel-install, and install again",
                          entry.id.c_str(), name);
    // Entries that hang for ever after a panic would keep a machine that no person looks at.
    std::string added =
        arguments + (options.find(" panic=") == std::string::npos ? " panic=30" : "");
    std::string text = "# Placed by `daybreak install`, taken away by `daybreak uninstall`.\n";
    bool has_options = false, has_cpio = false;
    for (const auto& [key, value] : entry.lines) {
        if (key == "sort-key")
            continue;
        // First: the kernel takes files as they follow each other, and a cpio only from a multiple
        // of four bytes, where one that is compressed need not end.
        if (key == "initrd" && !has_cpio) {
            text += "initrd " + cpio + "\n";
            has_cpio = true;
        }
        bool is_first_options = key == "options" && !has_options;
        has_options = has_options || key == "options";
        text += key + " " + value + (key == "title" ? ", with Daybreak" : "") +
                (is_first_options ? " " + added : "") + "\n";
    }
    if (!has_options)
        text += "options " + added + "\n";
    return text + (has_cpio ? "" : "initrd " + cpio + "\n") + "sort-key zz-daybreak\n";
}

} // namespace daybreak::install
