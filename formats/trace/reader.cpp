// SPDX-License-Identifier: Apache-2.0
//
// Reading trace files: each good block goes where it belongs, each bad one becomes a finding.
#include "formats/trace/reader.hpp"

#include "base/file.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"

#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::errorf;
using base::strprintf;

/// The most that a file's data may unpack to: a small file must not fill the memory.
constexpr uint64_t kRawDataBytesMax = uint64_t{32} << 30;

/// Puts the blocks of one file together.
class FileReader {
public:
    FileReader(ByteView untrusted_file, const std::string& name) : scanner_(untrusted_file, lost_) {
        trace_.path = name;
        trace_.file.file_bytes = untrusted_file.size();
    }

    Result<Trace> run() {
        BlockView block;
        while (scanner_.next(block)) {
            Result<void> taken = take(block);
            if (taken.ok()) {
                trace_.file.blocks_good++;
                continue;
            }
            scanner_.count_lost();
            lost_.add(FindingKind::bad_block, name_of(block), taken.error().message());
        }
        if (trace_.file.blocks_good == 0)
            return errorf(ErrorCode::invalid, "%s is not a Daybreak trace file",
                          trace_.path.c_str());
        trace_.file.blocks_lost = scanner_.blocks_lost();
        trace_.file.bytes_skipped = scanner_.bytes_skipped();
        trace_.file.bytes_cut = scanner_.bytes_cut();
        if (!trace_.file.has_end)
            lost_.add(FindingKind::truncated, trace_.path,
                      "its end block is not there: the file was cut or not finished");
        trace_.symbols.finish();
        trace_.recording = builder_.build();
        trace_.recording.findings.append(lost_);
        return std::move(trace_);
    }

private:
    static std::string name_of(const BlockView& block) {
        return strprintf("block %u", block.header.number);
    }

    Result<void> take(const BlockView& block) {
        if (block.header.version != DBK_TRACE_VERSION)
            return errorf(ErrorCode::unsupported, "version is %u, this program reads %u",
                          block.header.version, DBK_TRACE_VERSION);
        if (block.header.type == 0 || block.header.type > DBK_TRACE_END) {
            lost_.add(
                FindingKind::unknown_kind, name_of(block),
                strprintf("type %u is not known to this version, left out", block.header.type));
            return {};
        }
        DBK_TRY(Bytes raw, unpack_block(block));
        switch (static_cast<enum dbk_trace_type>(block.header.type)) {
        case DBK_TRACE_SCHEMA:
            trace_.schema.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
            return {};
        case DBK_TRACE_HEADER: {
            DBK_TRY(trace_.header, decode_header(raw));
            trace_.has_header = true;
            return {};
        }
        case DBK_TRACE_SYMBOLS:
            return decode_symbols(raw, trace_.symbols);
        case DBK_TRACE_DATA:
            return take_data(block, std::move(raw));
        case DBK_TRACE_INDEX: {
            DBK_TRY(trace_.index, decode_index(raw));
            return {};
        }
        case DBK_TRACE_SUMMARY: {
            DBK_TRY(trace_.summary, decode_summary(raw));
            return {};
        }
        case DBK_TRACE_END:
            return take_end(block, raw);
        }
        return {};
    }

    Result<void> take_data(const BlockView& block, Bytes raw) {
        if (raw.size() > kRawDataBytesMax - trace_.file.raw_data_bytes)
            return errorf(ErrorCode::limit, "the file unpacks to more than %" PRIu64 " bytes",
                          kRawDataBytesMax);
        trace_.file.raw_data_bytes += raw.size();
        builder_.add_owned(std::move(raw), {name_of(block), Packing::packed, std::nullopt});
        return {};
    }

    Result<void> take_end(const BlockView& block, ByteView raw) {
        DBK_TRY(TraceEnd end, decode_end(raw));
        trace_.file.has_end = true;
        if (end.bytes != block.offset_bytes)
            lost_.add(FindingKind::bad_block, name_of(block),
                      strprintf("%" PRIu64 " bytes were written before it, %" PRIu64 " are there",
                                end.bytes, block.offset_bytes));
        return {};
    }

    Trace trace_;
    Findings lost_;
    BlockScanner scanner_;
    RecordingBuilder builder_;
};

} // namespace

bool Trace::has_losses() const {
    return recording.has_losses();
}

Result<Trace> parse_trace(ByteView untrusted_file, const std::string& name) {
    return FileReader(untrusted_file, name).run();
}

Result<Trace> read_trace(const std::string& path) {
    // Read, not mapped: a file that is cut while it is read must not kill the reader.
    DBK_TRY(Bytes content, base::read_file(path));
    return parse_trace(content, path);
}

} // namespace daybreak::formats
