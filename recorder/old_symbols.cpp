// SPDX-License-Identifier: Apache-2.0
#include "recorder/old_symbols.hpp"

#include "base/file.hpp"
#include "formats/abi/trace.h"
#include "formats/trace/file_reader.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/shared_symbols.hpp"
#include "recorder/symbols.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

using base::ErrorCode;
using base::errorf;
using base::Result;

bool is_trace(base::ByteView bytes) {
    uint32_t magic = 0;
    if (bytes.size() >= sizeof(magic))
        std::memcpy(&magic, bytes.data(), sizeof(magic));
    return magic == DBK_TRACE_MAGIC;
}

uint64_t text_start(const formats::SymbolTable& symbols) {
    for (const formats::Symbol& symbol : symbols.symbols())
        if (symbol.name == "_stext")
            return symbol.address;
    return 0;
}

/// Returns the kernel's own symbols, each `distance` further up.
formats::SymbolTable moved(const formats::SymbolTable& symbols, uint64_t distance) {
    formats::SymbolTable table;
    for (const formats::Symbol& symbol : symbols.symbols())
        if (symbols.modules()[symbol.module] == formats::kKernelModule)
            table.add(symbol.address + distance, symbol.type, symbol.name, "vmlinux");
    table.finish();
    return table;
}

/// What is true of the kernel wherever it lay: its build.
std::vector<formats::ModuleInfo> builds_of(const std::vector<formats::ModuleInfo>& modules) {
    std::vector<formats::ModuleInfo> kernel;
    for (const formats::ModuleInfo& module : modules)
        if (module.name == formats::kKernelModule)
            kernel = {{module.name, 0, 0, module.build_id}};
    return kernel;
}

/// What is known of the boot that symbols are of.
enum class SymbolsBoot : uint8_t { other, unknown };

Result<formats::SymbolTable> placed(formats::SymbolTable symbols, const std::string& path,
                                    const formats::Recording& recording, SymbolsBoot boot) {
    uint64_t there = text_start(symbols);
    uint64_t here = recording.host ? recording.host->kernel_text_start : 0;
    if (symbols.empty() || there == 0)
        return errorf(ErrorCode::invalid, "%s has no symbols of a kernel", path.c_str());
    if (here == 0)
        return errorf(ErrorCode::invalid,
                      "the recording does not say where its kernel lay: the symbols of %s cannot "
                      "be used",
                      path.c_str());
    if (here == there && boot == SymbolsBoot::unknown)
        return symbols;
    return moved(symbols, here - there);
}

/// Error: the symbols are of a kernel of another build than the recording.
Result<void> check_build(const formats::TraceHeader& facts, const std::string& path,
                         const formats::Recording& recording) {
    if (recording.host && facts.release == recording.host->release &&
        facts.version == recording.host->version)
        return {};
    return errorf(ErrorCode::invalid, "%s is of another kernel: %s %s", path.c_str(),
                  facts.release.c_str(), facts.version.c_str());
}

bool is_of_boot(const formats::TraceHeader& facts, const formats::Recording& recording) {
    uint64_t boot_id = formats::boot_of(facts.boot_uuid);
    return boot_id != 0 && boot_id == recording.boot_id;
}

/// Errors: the kernel hides all addresses; more symbols than a file takes.
Result<formats::SymbolTable> parse_text(std::string_view text, const std::string& path) {
    formats::SymbolTable table;
    KallsymsFacts facts = parse_kallsyms(text, table);
    if (facts.hidden)
        return errorf(ErrorCode::invalid, "%s hides all addresses: read it as root", path.c_str());
    if (facts.left_out != 0)
        return errorf(ErrorCode::limit,
                      "%s has %zu symbols, a trace file at most %zu: expected a copy of "
                      "/proc/kallsyms",
                      path.c_str(), facts.symbols + facts.left_out, formats::kSymbolsMax);
    return table;
}

} // namespace

Result<OldSymbols> read_old_symbols(const std::string& path, const formats::Recording& recording) {
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    if (!is_trace(bytes)) {
        DBK_TRY(formats::SymbolTable table,
                parse_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path));
        DBK_TRY(table, placed(std::move(table), path, recording, SymbolsBoot::unknown));
        return OldSymbols{std::move(table), {}, false};
    }
    DBK_TRY(formats::Trace trace, formats::parse_trace(bytes, path));
    if (trace.shared_symbols) {
        DBK_TRY(trace, formats::read_trace(path));
    }
    bool same_boot = trace.recording.boot_id != 0 && trace.recording.boot_id == recording.boot_id;
    if (same_boot || is_of_boot(trace.header, recording)) {
        if (trace.symbols.empty())
            return errorf(ErrorCode::invalid, "%s has no symbols", path.c_str());
        return OldSymbols{std::move(trace.symbols), std::move(trace.header.modules)};
    }
    DBK_TRY_VOID(check_build(trace.header, path, recording));
    DBK_TRY(formats::SymbolTable table,
            placed(std::move(trace.symbols), path, recording, SymbolsBoot::other));
    return OldSymbols{std::move(table), builds_of(trace.header.modules)};
}

Result<OldSymbols> read_running_symbols(const RunningKernel& kernel,
                                        const formats::Recording& recording) {
    const std::string path = "/proc/kallsyms";
    DBK_TRY_VOID(check_build(kernel.facts, path, recording));
    DBK_TRY(std::string text, kernel.symbols.kallsyms());
    DBK_TRY(formats::SymbolTable table, parse_text(text, path));
    std::vector<formats::ModuleInfo> modules;
    (void)read_modules(kernel.symbols, modules); // symbols are of use without them
    if (is_of_boot(kernel.facts, recording))
        return OldSymbols{std::move(table), std::move(modules)};
    DBK_TRY(table, placed(std::move(table), path, recording, SymbolsBoot::other));
    return OldSymbols{std::move(table), builds_of(modules)};
}

OldSymbols symbols_or_finding(Result<OldSymbols> symbols, formats::Findings& findings) {
    if (symbols.ok())
        return std::move(*symbols);
    findings.add(formats::FindingKind::no_symbols, "symbols",
                 symbols.error().message() +
                     ": kernel stacks stay numbers; --symbols takes another trace of that kernel");
    return {};
}

Result<OldSymbols> place_dump_symbols(DumpKernel kernel, const formats::Recording& recording) {
    const std::string path = "the dump";
    formats::TraceHeader facts;
    facts.release = std::move(kernel.release);
    facts.version = std::move(kernel.version);
    DBK_TRY_VOID(check_build(facts, path, recording));
    DBK_TRY(formats::SymbolTable table,
            placed(std::move(kernel.symbols), path, recording, SymbolsBoot::other));
    OldSymbols symbols{std::move(table), {}};
    if (!kernel.build_id.empty())
        symbols.modules = {{std::string(formats::kKernelModule), 0, 0, std::move(kernel.build_id)}};
    return symbols;
}

} // namespace daybreak::recorder
