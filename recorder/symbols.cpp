// SPDX-License-Identifier: Apache-2.0
//
// Parsing /proc/kallsyms and /proc/modules, and finding the notes beside them.
#include "recorder/symbols.hpp"

#include "base/elf_notes.hpp"
#include "base/file.hpp"
#include "formats/trace/shared_symbols.hpp"
#include "formats/trace/writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace daybreak::recorder {

namespace {

Result<std::string> read_text(const char* path) {
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Returns the next line without its newline and moves after it.
std::string_view next_line(std::string_view& text) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

/// Returns the next word and moves after it; empty at the end of the line.
std::string_view next_word(std::string_view& line) {
    // Of half a million words of a kernel: string_view's own search calls memchr() for each
    // character.
    auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    auto begin = std::find_if_not(line.begin(), line.end(), is_blank),
         end = std::find_if(begin, line.end(), is_blank);
    std::string_view word(begin, end);
    line = std::string_view(end, line.end());
    return word;
}

bool parse_number(std::string_view word, int base, uint64_t& value) {
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

} // namespace

Result<std::string> ProcSymbolSource::kallsyms() {
    return read_text("/proc/kallsyms");
}
Result<std::string> ProcSymbolSource::modules() {
    return read_text("/proc/modules");
}

Result<Bytes> ProcSymbolSource::notes(const std::string& module) {
    if (module == formats::kKernelModule)
        return base::read_file("/sys/kernel/notes");
    if (module.empty() || module.front() == '.' || module.find('/') != std::string::npos)
        return base::errorf(base::ErrorCode::invalid, "no name of a module");
    return base::read_file("/sys/module/" + module + "/notes/.note.gnu.build-id");
}

KallsymsFacts parse_kallsyms(std::string_view untrusted_text, formats::SymbolTable& table,
                             size_t symbols_max) {
    KallsymsFacts facts;
    size_t seen = 0;
    bool any_address = false;
    while (!untrusted_text.empty()) {
        std::string_view line = next_line(untrusted_text);
        if (line.empty())
            continue;
        std::string_view address_word = next_word(line), type = next_word(line),
                         name = next_word(line), module = next_word(line);
        uint64_t address = 0;
        bool in_module = module.size() > 2 && module.front() == '[' && module.back() == ']';
        if (!parse_number(address_word, 16, address) || type.size() != 1 || name.empty() ||
            (!module.empty() && !in_module)) {
            facts.lines_refused++;
            continue;
        }
        seen++;
        any_address |= address != 0;
        if (type == "a" || type == "A" || address == 0)
            continue;
        if (facts.symbols == symbols_max) {
            facts.left_out++;
            continue;
        }
        table.add(address, type.front(), name,
                  in_module ? module.substr(1, module.size() - 2) : "vmlinux");
        facts.symbols++;
    }
    facts.hidden = seen > 0 && !any_address;
    table.finish();
    return facts;
}

std::vector<formats::ModuleInfo> parse_modules(std::string_view untrusted_text) {
    // name size references users state address: "ext4 1130496 1 - Live 0xffffffffc0500000"
    std::vector<formats::ModuleInfo> modules;
    while (!untrusted_text.empty()) {
        std::string_view line = next_line(untrusted_text);
        std::array<std::string_view, 6> words;
        for (std::string_view& word : words)
            word = next_word(line);
        formats::ModuleInfo module;
        module.name = words[0];
        if (!parse_number(words[1], 10, module.size_bytes) || !words[5].starts_with("0x") ||
            !parse_number(words[5].substr(2), 16, module.base_address))
            continue;
        modules.push_back(std::move(module));
    }
    return modules;
}

Result<void> read_modules(SymbolSource& source, std::vector<formats::ModuleInfo>& modules) {
    auto build_id = [&source](std::string_view module) {
        Result<Bytes> notes = source.notes(std::string(module));
        ByteView id = notes.ok() ? base::build_id_of(*notes) : ByteView();
        return Bytes(id.begin(), id.end());
    };
    modules = {{std::string(formats::kKernelModule), 0, 0, build_id(formats::kKernelModule)}};
    if (modules.front().build_id.empty())
        modules.clear();
    DBK_TRY(std::string text, source.modules());
    for (formats::ModuleInfo& module : parse_modules(text)) {
        module.build_id = build_id(module.name);
        modules.push_back(std::move(module));
    }
    return {};
}

Result<Bytes> symbols_file(const formats::TraceHeader& header, const formats::SymbolTable& symbols,
                           int zstd_level) {
    Bytes content;
    auto sink = [&content](ByteView bytes) -> Result<void> {
        content.insert(content.end(), bytes.begin(), bytes.end());
        return {};
    };
    DBK_TRY(formats::TraceWriter writer, formats::TraceWriter::create(sink, header, {zstd_level}));
    DBK_TRY_VOID(writer.add_symbols(symbols));
    formats::TraceSummary summary;
    summary.clocks = header.clocks;
    DBK_TRY_VOID(writer.finish(summary));
    return content;
}

} // namespace daybreak::recorder
