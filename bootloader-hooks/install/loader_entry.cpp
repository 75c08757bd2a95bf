// SPDX-License-Identifier: Apache-2.0
//
// Entries of systemd-boot: reading, sorting, and ours.
#include "bootloader-hooks/install/loader_entry.hpp"
#include "bootloader-hooks/install/kernel_arguments.hpp"

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
/// After those of the distributions; traced_os_release() gives an image the same.
constexpr const char* kSortKey = "zz-daybreak";

std::string trimmed(const std::string& text) {
    size_t from = text.find_first_not_of(kBlanks), to = text.find_last_not_of(kBlanks);
    return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

/// "6.1" or "6.1+0-3" of "6.1+0-3.conf": what comes after the last +, "" when there is none.
std::string tries_of(const std::string& id) {
    size_t plus = id.rfind('+');
    return plus == std::string::npos ? "" : id.substr(plus + 1);
}

/// Returns what is added to `options`.  Error: invalid: it has one that is ours already.
Result<std::string> added_arguments(const LoaderEntry& entry, const std::string& arguments) {
    std::string options = " ";
    for (const auto& [key, value] : entry.lines)
        if (key == "options")
            options += value + " ";
    auto has_argument = [&options](const char* name) {
        return options.find(base::strprintf(" %s=", name)) != std::string::npos;
    };
    if (const char* name = doubled_argument(arguments, has_argument))
        return errorf(ErrorCode::invalid,
                      "the entry %s has %s= already: take it out of /etc/kernel/cmdline, run "
                      "kernel-install, and install again",
                      entry.id.c_str(), name);
    return entry_arguments(arguments, has_argument);
}

/// Text of a section: without what pads it.
std::string section_text(const UnifiedImage& image, const char* name) {
    std::string text = image.section(name).value_or("");
    text.erase(text.find_last_not_of(std::string_view(" \t\r\n\0", 5)) + 1);
    return text;
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

bool LoaderEntry::boots_linux() const {
    return is_unified() || (!value("linux").empty() && !value("initrd").empty());
}

std::vector<std::string> LoaderEntry::arguments() const {
    std::vector<std::string> words;
    for (const auto& [key, text] : lines) {
        std::istringstream options(key == "options" ? text : "");
        for (std::string word; options >> word;)
            words.push_back(word);
    }
    return words;
}

bool LoaderEntry::is_recovery() const {
    std::vector<std::string> words = arguments();
    return std::any_of(words.begin(), words.end(), is_for_recovery);
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
    entry.release = entry.value("version");
    return entry;
}

LoaderEntry unified_entry(const std::string& id, const UnifiedImage& image) {
    LoaderEntry entry;
    entry.id = id;
    entry.release = image.release();
    // The first key that is there counts, as in systemd 252.
    auto add = [&](const char* name, std::initializer_list<const char*> keys) {
        for (const char* key : keys)
            if (std::string value = image.os_value(key); !value.empty())
                return void(entry.lines.emplace_back(name, value));
    };
    add("title", {"PRETTY_NAME", "IMAGE_ID", "NAME", "ID"});
    add("version", {"IMAGE_VERSION", "VERSION", "VERSION_ID", "BUILD_ID"});
    add("sort-key", {"IMAGE_ID", "ID"});
    entry.lines.emplace_back("options", section_text(image, ".cmdline"));
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

std::vector<const LoaderEntry*> entries_to_copy(const std::vector<LoaderEntry>& entries,
                                                const std::string& release,
                                                const std::string& machine_id,
                                                const LoaderEntry* booted) {
    auto is_of_kernel = [&release](const LoaderEntry& entry) {
        return entry.release == release && entry.boots_linux() && !entry.is_recovery();
    };
    if (booted && is_of_kernel(*booted))
        return {booted};
    auto init_of = [](const LoaderEntry* entry) {
        std::vector<std::string> words = entry ? entry->arguments() : std::vector<std::string>();
        std::erase_if(words, [](const std::string& word) { return !word.starts_with("init="); });
        return words;
    };
    std::vector<const LoaderEntry*> found;
    for (const LoaderEntry& entry : entries) {
        std::string machine = entry.value("machine-id");
        bool is_ours = machine_id.empty() || machine.empty() || machine == machine_id;
        bool has_init = !init_of(&entry).empty() && init_of(&entry) != init_of(booted);
        if (is_of_kernel(entry) && is_ours && !has_init)
            found.push_back(&entry);
    }
    // What they are called, and the tries that are left, do not matter.
    auto content = [](const LoaderEntry* entry) {
        auto lines = entry->lines;
        std::erase_if(lines, [](const auto& line) { return line.first == "title"; });
        return lines;
    };
    bool is_one = std::all_of(found.begin(), found.end(), [&](const LoaderEntry* entry) {
        return entry->is_unified() == found[0]->is_unified() && content(entry) == content(found[0]);
    });
    if (is_one && !found.empty())
        found.resize(1);
    return found;
}

std::string loader_entry_id(const std::string& release, bool is_unified) {
    return std::string(kPrefix) + release + (is_unified ? ".efi" : ".conf");
}

std::string release_of_id(const std::string& id) {
    return id.substr(kPrefix.size(), id.rfind('.') - kPrefix.size());
}

Result<std::string> loader_entry_text(const LoaderEntry& entry, const std::string& cpio,
                                      const std::string& arguments) {
    DBK_TRY(std::string added, added_arguments(entry, arguments));
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
    return text + (has_cpio ? "" : "initrd " + cpio + "\n") + "sort-key " + kSortKey + "\n";
}

LoaderEntry traced_entry(const LoaderEntry& entry) {
    LoaderEntry ours = entry;
    ours.id = loader_entry_id(entry.release, entry.is_unified());
    std::erase_if(ours.lines, [](const auto& line) { return line.first == "sort-key"; });
    ours.lines.emplace_back("sort-key", kSortKey);
    return ours;
}

Result<std::string> traced_image(const LoaderEntry& entry, const UnifiedImage& image,
                                 const std::string& cpio, const std::string& arguments) {
    for (const char* name : {".osrel", ".cmdline", ".initrd", ".linux"})
        if (auto count = std::count_if(image.sections.begin(), image.sections.end(),
                                       [&](const ImageSection& one) { return one.name == name; });
            count != 1)
            return errorf(ErrorCode::unsupported,
                          "the image %s has %s section %s, so no copy of it can be made",
                          entry.id.c_str(), count ? "more than one" : "no", name);
    DBK_TRY(std::string added, added_arguments(entry, arguments));
    // Ours is not compressed and ends at a multiple of four bytes: the kernel finds what follows,
    // microcode, too.
    std::string initrd = cpio;
    initrd.resize((initrd.size() + 3) / 4 * 4);
    return with_sections(image,
                         {{".osrel", traced_os_release(section_text(image, ".osrel") + "\n")},
                          {".cmdline", section_text(image, ".cmdline") + " " + added},
                          {".initrd", initrd + *image.section(".initrd")}});
}

} // namespace daybreak::install
