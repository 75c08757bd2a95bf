// SPDX-License-Identifier: Apache-2.0
//
// Reading a recorder's files backwards, from the newest, while it goes on writing.
#include "recorder/row.hpp"

#include "base/file.hpp"
#include "formats/status/status.hpp"
#include "formats/trace/file_reader.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

using base::ErrorCode;
using base::Result;

struct RowFile {
    std::string path;
    uint32_t number = 0;
};

/// Returns the files of the boot's row, newest first.
Result<std::vector<RowFile>> list_row(const std::string& folder, uint64_t boot_id) {
    DBK_TRY(std::vector<std::string> names, formats::list_trace_files(folder));
    std::vector<RowFile> row;
    for (const std::string& name : names) {
        std::string path = folder + "/" + name;
        auto file = base::open_source(path);
        if (!file.ok())
            continue; // rotated away, or renamed: then it is listed again
        std::optional<formats::TraceHeader> header = formats::find_header(**file);
        if (header && header->file_number != 0 && formats::boot_of(header->boot_uuid) == boot_id)
            row.push_back({path, header->file_number});
    }
    std::sort(row.begin(), row.end(),
              [](const RowFile& a, const RowFile& b) { return a.number > b.number; });
    return row;
}

/// Reads one row backwards into a builder.
class RowReader {
public:
    RowReader(const std::string& folder, uint64_t boot_id, uint64_t from_mono_ns,
              formats::RecordingBuilder& builder, formats::Findings& findings)
        : folder_(folder), boot_id_(boot_id), from_mono_ns_(from_mono_ns), builder_(builder),
          findings_(findings) {}

    Result<void> run(size_t files_max) {
        DBK_TRY(std::vector<RowFile> row, list_row(folder_, boot_id_));
        for (size_t i = 0; i < std::min(row.size(), files_max); i++)
            if (from_mono_ns_ == 0 || !covered())
                read(row[i]);
        return {};
    }

private:
    /// Returns whether nothing more is wanted of any CPU.
    bool covered() const {
        for (const formats::Unbroken& cpu : builder_.unbroken(boot_id_))
            if (cpu.first_sequence != 1 && cpu.from_mono_ns > from_mono_ns_)
                return false;
        return true;
    }

    void read(const RowFile& file) {
        Result<std::shared_ptr<base::ByteSource>> source = base::open_source(file.path);
        if (!source.ok())
            return; // rotated away since it was listed
        Result<formats::FileContent> content =
            formats::read_blocks(*source, file.path, file.path + ": ", builder_, budget_, store_);
        if ((*source)->failure())
            tell({formats::FindingKind::unreadable, file.path, (*source)->failure()->message()});
        if (!content.ok())
            return;
        for (const formats::Finding& finding : content->findings.list())
            if (finding.kind != formats::FindingKind::unfinished)
                tell(finding);
    }

    /// The newest files are read several times.
    void tell(const formats::Finding& finding) {
        if (std::ranges::find(findings_.list(), finding) == findings_.list().end())
            findings_.add(finding.kind, finding.where, finding.text);
    }

    const std::string& folder_;
    uint64_t boot_id_, from_mono_ns_;
    formats::RecordingBuilder& builder_;
    std::shared_ptr<formats::BlockStore> store_ = std::make_shared<formats::BlockStore>();
    formats::RawBudget budget_;
    formats::Findings& findings_;
};

} // namespace

Result<void> add_recorder_files(const std::string& folder, uint64_t boot_id, uint64_t from_mono_ns,
                                size_t files_max, formats::RecordingBuilder& builder,
                                formats::Findings& findings) {
    return RowReader(folder, boot_id, from_mono_ns, builder, findings).run(files_max);
}

std::string recorder_folder(const std::string& status_path) {
    Result<base::Bytes> bytes = base::read_file(status_path);
    if (!bytes.ok())
        return {};
    std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    Result<formats::RecorderStatus> status = formats::parse_status_json(text, status_path);
    return status.ok() ? status->folder : std::string();
}

} // namespace daybreak::recorder
