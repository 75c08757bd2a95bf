// SPDX-License-Identifier: Apache-2.0
//
// Reading what grub-mkconfig wrote, and writing an entry of our own.
#include "bootloader-hooks/install/grub_text.hpp"
#include "bootloader-hooks/install/kernel_arguments.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::install {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr std::string_view kBegin =
    "### BEGIN daybreak: made by daybreak install, removed by daybreak "
    "uninstall ###\n";
/// The same of a file whose last line had no end: ours is taken away with the part.
constexpr std::string_view kBeginAfterPartialLine =
    "### BEGIN daybreak: made by daybreak install, removed by daybreak uninstall, with the line "
    "end "
    "before ###\n";
constexpr std::string_view kEnd = "### END daybreak ###\n";
constexpr std::string_view kKernelPrefix = "vmlinuz-";
/// How the IDs of the distribution's own entries begin: not those of other systems, nor those that
/// a person wrote.
constexpr std::string_view kOwnIdPrefix = "gnulinux-";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::string_view trimmed(std::string_view text) {
    constexpr const char* kBlanks = " \t\r";
    size_t from = text.find_first_not_of(kBlanks);
    return from == text.npos ? std::string_view()
                             : text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

/// Splits a line as GRUB's scripts do; the words keep their quotes.  A comment ends it.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    for (size_t i = 0; i < line.size(); i++) {
        char c = line[i];
        if (!quote && (c == ' ' || c == '\t')) {
            if (!word.empty())
                words.push_back(std::exchange(word, {}));
            continue;
        }
        if (!quote && c == '#' && word.empty())
            break;
        if (c == '\\' && quote != '\'' && i + 1 < line.size())
            word += line[i++];
        else if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        word += line[i];
    }
    if (!word.empty())
        words.push_back(word);
    return words;
}

/// Returns a word without quotes and backslashes.
std::string unquoted(std::string_view word) {
    std::string text;
    char quote = 0;
    for (size_t i = 0; i < word.size(); i++) {
        char c = word[i];
        if (c == '\\' && quote != '\'' && i + 1 < word.size())
            text += word[++i];
        else if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else
            text += c;
    }
    return text;
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

bool loads_kernel(const std::vector<std::string>& words) {
    return words.size() >= 2 && is_one_of(words[0], {"linux", "linux16", "linuxefi"});
}

bool loads_initramfs(const std::vector<std::string>& words) {
    return words.size() >= 2 && is_one_of(words[0], {"initrd", "initrd16", "initrdefi"});
}

/// Takes the title and the ID out of an entry's first line.
void read_header(GrubEntry& entry) {
    entry.title = entry.header.size() > 1 ? unquoted(entry.header[1]) : "";
    for (size_t i = 2; i + 1 < entry.header.size(); i++)
        if (is_one_of(entry.header[i], {"--id", "$menuentry_id_option"}))
            entry.id = unquoted(entry.header[i + 1]);
}

/// Takes the kernel out of an entry's lines.  False when it boots something else, or is not made up
/// of one command a line, as grub-mkconfig writes them.
bool read_body(GrubEntry& entry) {
    bool has_kernel = false, has_initramfs = false;
    for (size_t i = 0; i < entry.lines.size(); i++) {
        std::vector<std::string> words = words_of(entry.lines[i]);
        if (loads_kernel(words)) {
            if (std::exchange(has_kernel, true))
                return false;
            entry.linux_line = i;
            entry.kernel = unquoted(words[1]);
            for (size_t word = 2; word < words.size(); word++)
                entry.arguments.push_back(unquoted(words[word]));
        } else if (loads_initramfs(words)) {
            if (std::exchange(has_initramfs, true))
                return false;
            entry.initrd_line = i;
        }
    }
    entry.is_recovery =
        entry.title.find("recovery") != std::string::npos ||
        std::any_of(entry.arguments.begin(), entry.arguments.end(), is_for_recovery);
    return has_kernel && has_initramfs && entry.linux_line < entry.initrd_line;
}

/// Returns the value of `set default=` that is meant when there is no next_entry: the last one.
std::string value_of_default(const std::vector<std::string>& words) {
    return unquoted(words[1]).substr(std::string_view("default=").size());
}

/// Writes a kernel's argument as GRUB has to read it between double quotes.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text)
        out += c == '$' || c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out + "\"";
}

/// Puts a variable after the first word, or after the kernel.
std::string with_word_after(const std::string& line, size_t words_before, const char* word) {
    size_t at = 0;
    for (size_t i = 0; i < words_before; i++) {
        at = line.find_first_not_of(" \t", at);
        at = std::min(line.find_first_of(" \t", at), line.size());
    }
    return line.substr(0, at) + " " + word + line.substr(at);
}

} // namespace

std::string GrubEntry::release() const {
    std::string name = kernel.substr(kernel.rfind('/') + 1);
    return name.starts_with(kKernelPrefix) ? name.substr(kKernelPrefix.size()) : "";
}

std::optional<std::string> GrubEntry::argument(std::string_view name) const {
    for (const std::string& argument : arguments)
        if (argument.substr(0, argument.find('=')) == name)
            return argument.substr(std::min(name.size() + 1, argument.size()));
    return std::nullopt;
}

std::vector<const GrubEntry*> GrubConfig::entries_of(const std::string& release,
                                                     const std::string& saved_entry) const {
    const GrubEntry* booted = default_entry(saved_entry);
    if (booted && !booted->is_recovery && booted->release() == release)
        return {booted};
    std::vector<const GrubEntry*> found;
    for (const GrubEntry& entry : entries)
        if (!entry.is_recovery && entry.release() == release &&
            (!entry.argument("init") ||
             (booted && booted->argument("init") == entry.argument("init"))))
            found.push_back(&entry);
    auto is_own = [](const GrubEntry* entry) { return entry->id.starts_with(kOwnIdPrefix); };
    if (std::any_of(found.begin(), found.end(), is_own))
        std::erase_if(found, [&is_own](const GrubEntry* entry) { return !is_own(entry); });
    bool is_one = std::all_of(found.begin(), found.end(), [&found](const GrubEntry* entry) {
        return entry->kernel == found[0]->kernel && entry->arguments == found[0]->arguments;
    });
    if (is_one && !found.empty())
        found.resize(1);
    return found;
}

const GrubEntry* GrubConfig::entry_of(const std::string& release,
                                      const std::string& saved_entry) const {
    std::vector<const GrubEntry*> found = entries_of(release, saved_entry);
    return found.size() == 1 ? found[0] : nullptr;
}

std::string GrubConfig::wanted_entry(const std::string& saved_entry) const {
    std::string wanted = chosen == "${saved_entry}" ? saved_entry : chosen;
    if (wanted == "0" && chosen.find('>') == std::string::npos)
        return "";
    return wanted.substr(wanted.rfind('>') + 1); // of "submenu>entry" the entry
}

const GrubEntry* GrubConfig::default_entry(const std::string& saved_entry) const {
    std::string wanted = wanted_entry(saved_entry);
    if (wanted.empty())
        return first && !first->empty() ? &entries.front() : nullptr;
    for (const GrubEntry& entry : entries)
        if (entry.id == wanted || entry.title == wanted)
            return &entry;
    return nullptr;
}

std::optional<std::string> GrubConfig::default_release(const std::string& saved_entry) const {
    std::string wanted = wanted_entry(saved_entry);
    if (wanted.empty())
        return first;
    if (const GrubEntry* entry = default_entry(saved_entry))
        return entry->release();
    if (std::find(others.begin(), others.end(), wanted) != others.end())
        return "";
    return std::nullopt;
}

GrubConfig parse_grub_config(const std::string& text) {
    GrubConfig config;
    GrubEntry* open = nullptr;
    GrubEntry entry;
    bool seen = false;
    for (const std::string& line : lines_of(text)) {
        if (open) {
            if (trimmed(line) != "}") {
                entry.lines.push_back(
                    line.substr(std::min(line.find_first_not_of('\t'), line.size())));
                continue;
            }
            open = nullptr;
            bool is_ours = read_body(entry);
            if (!std::exchange(seen, true))
                config.first = is_ours ? entry.release() : "";
            if (is_ours)
                config.entries.push_back(std::move(entry));
            else
                config.others.insert(config.others.end(), {entry.id, entry.title});
            continue;
        }
        std::vector<std::string> words = words_of(line);
        if (words.size() > 2 && words[0] == "menuentry" && words.back() == "{") {
            words.pop_back();
            entry = GrubEntry{.header = std::move(words)};
            read_header(entry);
            open = &entry;
        } else if (words.size() == 2 && words[0] == "set" &&
                   unquoted(words[1]).starts_with("default=")) {
            if (unquoted(words[1]) == "default=${next_entry}")
                config.takes_next_entry = true;
            else
                config.chosen = value_of_default(words);
        } else if (words.size() == 2 && words[0] == "source" && words[1].ends_with("/custom.cfg")) {
            config.reads_custom = true;
        }
    }
    return config;
}

std::string grub_entry_id(const std::string& release) {
    return "daybreak-" + release;
}

Result<std::string> grub_entry_text(const GrubEntry& entry, const GrubAddition& addition) {
    auto has_argument = [&entry](const char* name) { return entry.argument(name).has_value(); };
    if (const char* name = doubled_argument(addition.arguments, has_argument))
        return errorf(ErrorCode::invalid,
                      "GRUB's entry '%s' has %s=%s already: take it out of /etc/default/grub, run "
                      "update-grub, and install again",
                      entry.title.c_str(), name, entry.argument(name)->c_str());
    std::string cpio = entry.kernel.substr(0, entry.kernel.rfind('/') + 1) + addition.cpio;
    std::string text = "menuentry " + entry.header.at(1) + "', with Daybreak'";
    for (size_t i = 2; i < entry.header.size(); i++) {
        if (is_one_of(entry.header[i], {"--id", "$menuentry_id_option"}))
            i++; // and what it was
        else
            text += " " + entry.header[i];
    }
    text += " --id " + grub_entry_id(entry.release()) + " {\n\tset fallback=0\n";
    const char* margin = addition.notes_attempts ? "\t\t\t" : "\t\t";
    for (size_t i = 0; i < entry.lines.size(); i++) {
        std::string line = entry.lines[i];
        if (trimmed(line) == "savedefault")
            continue; // GRUB would boot this entry from then on
        if (i == entry.linux_line) {
            text += "\tset daybreak_arguments=\n\tset daybreak_initrd=\n\tif [ -f " + cpio +
                    " ]; then\n";
            if (addition.notes_attempts)
                text += "\t\tset daybreak_tried=" + entry.release() +
                        "\n\t\tif save_env daybreak_tried; then\n";
            text += margin + ("set daybreak_arguments=" + quoted(addition.arguments)) + "\n" +
                    margin + "set daybreak_initrd=" + cpio + "\n";
            text += addition.notes_attempts ? "\t\tfi\n\tfi\n" : "\tfi\n";
            line = with_word_after(line, 2, "$daybreak_arguments");
        } else if (i == entry.initrd_line) {
            line = with_word_after(line, 1, "$daybreak_initrd");
        }
        text += "\t" + line + "\n";
    }
    return text + "}\n";
}

std::string PartedFile::without() const {
    bool takes_line_end = std::string_view(part).starts_with(kBeginAfterPartialLine);
    return before.substr(0, before.size() - (takes_line_end && after.empty() ? 1 : 0)) + after;
}

std::string PartedFile::with(const std::string& body) const {
    bool is_partial = part.empty() ? !before.empty() && before.back() != '\n'
                                   : std::string_view(part).starts_with(kBeginAfterPartialLine);
    std::string text = before + (part.empty() && is_partial ? "\n" : "");
    return text + std::string(is_partial ? kBeginAfterPartialLine : kBegin) + body +
           std::string(kEnd) + after;
}

Result<PartedFile> find_part(const std::string& text) {
    constexpr std::string_view kAnyBegin = "### BEGIN daybreak";
    size_t begin = text.starts_with(kAnyBegin) ? 0 : text.find("\n" + std::string(kAnyBegin));
    if (begin == std::string::npos) {
        if (text.find(kEnd) != std::string::npos)
            return errorf(ErrorCode::corrupt,
                          "the end of Daybreak's part is there, its beginning is not");
        return PartedFile{text, "", ""};
    }
    begin += text[begin] == '\n';
    size_t end = text.find(kEnd, begin);
    std::string_view rest = std::string_view(text).substr(begin);
    if (end == std::string::npos || text.find(kAnyBegin, begin + 1) < end ||
        !(rest.starts_with(kBegin) || (begin > 0 && rest.starts_with(kBeginAfterPartialLine))))
        return errorf(ErrorCode::corrupt,
                      "the lines that begin and end Daybreak's part do not fit together");
    end += kEnd.size();
    if (text.find(kAnyBegin, end) != std::string::npos)
        return errorf(ErrorCode::corrupt, "Daybreak's part is there twice");
    return PartedFile{text.substr(0, begin), text.substr(begin, end - begin), text.substr(end)};
}

std::optional<std::string> grub_variable(const std::string& block, const std::string& name) {
    for (const std::string& line : lines_of(block)) {
        if (!line.starts_with(name + "="))
            continue;
        std::string value;
        for (size_t i = name.size() + 1; i < line.size(); i++)
            value += line[i] == '\\' && i + 1 < line.size() ? line[++i] : line[i];
        return value;
    }
    return std::nullopt;
}

} // namespace daybreak::install
