// SPDX-License-Identifier: Apache-2.0
//
// Packing: block by block, each read back as it was written.
#include "recorder/pack.hpp"

#include "base/crc32c.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/shared_symbols.hpp"

#include <cinttypes>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::recorder {

namespace {

using base::ErrorCode;
using base::errorf;
using formats::Bytes;
using formats::ByteView;

/// Everything that a file says: payloads of pieces run into each other, those of other blocks do
/// not; an index, a table of contents and an end speak of the file itself.
class Contents {
public:
    void add(const dbk_trace_block& header, ByteView raw) {
        if (header.type == DBK_TRACE_INDEX || header.type == DBK_TRACE_CONTENTS ||
            header.type == DBK_TRACE_END)
            return;
        if (!formats::has_pieces(header)) {
            const uint64_t words[] = {header.type, raw.size()};
            add(std::as_bytes(std::span(words)));
        }
        add(raw);
    }
    bool operator==(const Contents&) const = default;

private:
    void add(ByteView bytes) {
        crc32c_ = base::crc32c(bytes, crc32c_);
        bytes_ += bytes.size();
    }

    uint32_t crc32c_ = 0;
    uint64_t bytes_ = 0;
};

Result<Bytes> unpack(const formats::BlockView& block) {
    uint16_t type = block.header.type;
    if (type == 0 || type > DBK_TRACE_TYPE_MAX)
        return errorf(ErrorCode::unsupported, "its type is %u, this program knows 1 to %u", type,
                      DBK_TRACE_TYPE_MAX);
    if (!formats::has_known_version(block.header))
        return errorf(ErrorCode::unsupported, "its version is %u, this program reads %s",
                      block.header.version, formats::versions_text(type).c_str());
    return formats::unpack_block(block);
}

/// Adds what blocks say to `contents` as a reader finds it.
Result<void> read_back(ByteView blocks, Contents& contents) {
    formats::Findings findings;
    formats::BlockScanner scanner(blocks, findings);
    formats::BlockView block;
    while (scanner.next(block)) {
        DBK_TRY(Bytes raw, unpack(block));
        contents.add(block.header, raw);
    }
    return {};
}

/// Gives the writer the symbols that a block refers to; `before` has what they say.
Result<void> copy_shared(base::ByteSource& file, const std::string& path, ByteView raw,
                         formats::TraceWriter& writer, Contents& before) {
    DBK_TRY(formats::SharedSymbols shared, formats::decode_shared_symbols(raw));
    std::optional<formats::TraceHeader> header = formats::find_header(file);
    uint64_t boot_id = header ? formats::boot_of(header->boot_uuid) : 0;
    std::string symbols = formats::symbols_path(path, boot_id);
    formats::RawBudget budget;
    Result<formats::FileContent> beside =
        formats::read_symbols_file(symbols, boot_id, base::open_source, budget);
    if (!beside.ok())
        return errorf(ErrorCode::not_found, "%s has its symbols in %s: %s; without -o it stays so",
                      path.c_str(), symbols.c_str(), beside.error().message().c_str());
    formats::SymbolTable table;
    std::string differs = formats::join_symbols(shared, beside->symbols, table);
    if (!differs.empty())
        return errorf(ErrorCode::corrupt,
                      "%s has its symbols in %s, and those of %s are not the same any more; "
                      "without -o it stays so",
                      path.c_str(), symbols.c_str(), differs.c_str());
    auto count = [&](ByteView block) { return read_back(block, before); };
    DBK_TRY_VOID(formats::TraceWriter::empty(count, {}).add_symbols(table));
    return writer.add_symbols(table);
}

/// Puts the window, a block that the file did not have.
Result<void> put_window(const Cut& cut, formats::TraceWriter& writer, Contents& before) {
    dbk_trace_block header = {};
    header.type = DBK_TRACE_WINDOW;
    Bytes raw = formats::encode_window(cut.window());
    before.add(header, raw);
    return writer.add_block(DBK_TRACE_WINDOW, raw);
}

/// Makes of a block what a cut leaves of it, nothing of the window that was before.
void cut_block(Cut& cut, enum dbk_trace_type type, Bytes& raw) {
    if (type == DBK_TRACE_DATA || type == DBK_TRACE_COLUMNS)
        raw = cut.kept_of(raw);
    else if (type == DBK_TRACE_WINDOW)
        raw.clear();
}

/// A schema that does not know windows and tables of contents yet becomes one that does.
void renew_schema(Bytes& raw) {
    std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
    ByteView schema = base::as_bytes(formats::kTraceSchemaText);
    if (text.find("struct Contents ") == text.npos)
        raw.assign(schema.begin(), schema.end());
}

/// Gives all blocks to the writer, symbols that another file has as its own when it is not written
/// in place; `before` is what they say.
Result<void> copy_blocks(base::ByteSource& file, const std::string& path,
                         const PackOptions& options, formats::TraceWriter& writer,
                         Contents& before) {
    bool whole = !options.output_path.empty();
    formats::Findings findings;
    formats::BlockScanner scanner(file, findings);
    formats::BlockView block;
    bool ended = false, has_window = false;
    while (scanner.next(block)) {
        Result<Bytes> unpacked = unpack(block);
        if (!unpacked.ok())
            return errorf(unpacked.error().code(),
                          "%s: block %u at 0x%" PRIx64 ": %s; the file stays as it is",
                          path.c_str(), block.header.number, block.offset_bytes,
                          unpacked.error().message().c_str());
        Bytes raw = std::move(*unpacked);
        auto type = static_cast<enum dbk_trace_type>(block.header.type);
        if (options.cut && !has_window && type != DBK_TRACE_SCHEMA && type != DBK_TRACE_HEADER) {
            DBK_TRY_VOID(put_window(*options.cut, writer, before));
            has_window = true;
        }
        if (whole && type == DBK_TRACE_SHARED_SYMBOLS) {
            DBK_TRY_VOID(copy_shared(file, path, raw, writer, before));
            continue;
        }
        if (type == DBK_TRACE_SCHEMA)
            renew_schema(raw);
        if (options.cut) {
            cut_block(*options.cut, type, raw);
            if (raw.empty())
                continue;
        }
        before.add(block.header, raw);
        ended = type == DBK_TRACE_END;
        DBK_TRY_VOID(formats::has_pieces(block.header) ? writer.add_rows(raw)
                                                       : writer.add_block(type, raw));
    }
    if (file.failure())
        return *file.failure();
    if (findings.count() != 0)
        return errorf(ErrorCode::corrupt, "%s is damaged (%s: %s), and stays as it is",
                      path.c_str(), findings.list().front().where.c_str(),
                      findings.list().front().text.c_str());
    if (!ended)
        return errorf(ErrorCode::corrupt, "%s has no end: it is still being written, or was cut",
                      path.c_str());
    return {};
}

bool is_same_file(const std::string& a, const std::string& b) {
    struct stat one = {}, other = {};
    return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

} // namespace

Result<PackSummary> pack(const std::string& path, const PackOptions& options) {
    DBK_TRY(std::shared_ptr<base::ByteSource> file, base::open_source(path));
    const uint64_t file_bytes = file->size();
    if (!formats::looks_like_trace(base::read_beginning(*file, sizeof(dbk_trace_block))))
        return errorf(ErrorCode::invalid, "%s is not a Daybreak trace file", path.c_str());
    bool in_place = options.output_path.empty();
    DBK_ASSERT(!in_place || !options.cut);
    if (options.cut && is_same_file(path, options.output_path))
        return errorf(ErrorCode::invalid,
                      "%s is the recording that the window is cut out of, and stays as it is: "
                      "name another file",
                      options.output_path.c_str());
    DBK_TRY(base::OutputFile output,
            formats::create_trace_file(in_place ? path : options.output_path,
                                       in_place || options.replace));
    Contents before, after;
    auto sink = [&](ByteView block) -> Result<void> {
        DBK_TRY_VOID(read_back(block, after));
        return output.write(block);
    };
    formats::TraceWriter writer = formats::TraceWriter::empty(sink, options.writer);
    DBK_TRY_VOID(copy_blocks(*file, path, options, writer, before));
    if (options.cut && !options.cut->is_done())
        return errorf(ErrorCode::corrupt, "%s is not any more what it was when it was looked at",
                      path.c_str());
    if (!(before == after))
        return errorf(ErrorCode::corrupt, "%s would not read back the same, and stays as it is",
                      path.c_str());
    PackSummary summary{file_bytes, writer.bytes_written(), true};
    if (in_place && !options.even_if_larger && summary.bytes_after >= summary.bytes_before) {
        summary.replaced = false;
        return summary;
    }
    struct stat status = {};
    if (in_place && ::stat(path.c_str(), &status) == 0 &&
        (::fchmod(output.fd(), status.st_mode & 07777) != 0 ||
         (::fchown(output.fd(), status.st_uid, status.st_gid) != 0 && ::geteuid() == 0)))
        return errorf(ErrorCode::io, "%s: its owner and mode cannot be kept", path.c_str());
    DBK_TRY_VOID(output.commit());
    return summary;
}

} // namespace daybreak::recorder
