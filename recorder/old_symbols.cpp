// SPDX-License-Identifier: Apache-2.0
#include "recorder/old_symbols.hpp"

#include "base/file.hpp"
#include "formats/abi/trace.h"
#include "formats/trace/reader.hpp"
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
        if (symbols.modules()[symbol.module] == "vmlinux")
            table.add(symbol.address + distance, symbol.type, symbol.name, "vmlinux");
    table.finish();
    return table;
}

Result<formats::SymbolTable> placed(formats::SymbolTable symbols, const std::string& path,
                                    const formats::Recording& recording) {
    uint64_t there = text_start(symbols);
    uint64_t here = recording.host ? recording.host->kernel_text_start : 0;
    if (symbols.empty() || there == 0)
        return errorf(ErrorCode::invalid, "%s has no symbols of a kernel", path.c_str());
    if (here == 0)
        return errorf(ErrorCode::invalid,
                      "the recording does not tell where its kernel lay: the symbols of %s cannot "
                      "be used",
                      path.c_str());
    if (here == there)
        return symbols;
    return moved(symbols, here - there);
}

} // namespace

Result<formats::SymbolTable> read_old_symbols(const std::string& path,
                                              const formats::Recording& recording) {
    DBK_TRY(base::Bytes bytes, base::read_file(path));
    if (!is_trace(bytes)) {
        formats::SymbolTable table;
        KallsymsFacts facts =
            parse_kallsyms({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, table);
        if (facts.hidden)
            return errorf(ErrorCode::invalid, "%s hides all addresses: save /proc/kallsyms as root",
                          path.c_str());
        return placed(std::move(table), path, recording);
    }
    DBK_TRY(formats::Trace trace, formats::parse_trace(bytes, path));
    bool same_boot = trace.recording.boot_id != 0 && trace.recording.boot_id == recording.boot_id;
    uint64_t header_boot = 0;
    std::memcpy(&header_boot, trace.header.boot_uuid.data(), sizeof(header_boot));
    if (same_boot || (header_boot != 0 && header_boot == recording.boot_id)) {
        if (trace.symbols.empty())
            return errorf(ErrorCode::invalid, "%s has no symbols", path.c_str());
        return std::move(trace.symbols);
    }
    if (!recording.host || trace.header.release != recording.host->release ||
        trace.header.version != recording.host->version)
        return errorf(ErrorCode::invalid, "%s is of another kernel: %s %s", path.c_str(),
                      trace.header.release.c_str(), trace.header.version.c_str());
    return placed(std::move(trace.symbols), path, recording);
}

} // namespace daybreak::recorder
