// SPDX-License-Identifier: Apache-2.0
//
// One pass over an untrusted DOF image: shared by the files that implement dof_reader.hpp
//
// dof_reader.cpp reads the header and the section table, dof_read_program.cpp what an enabling is
// made of, dof_read_extras.cpp the sections that only Daybreak writes.
#pragma once

#include <cinttypes>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/dof/dof_reader.hpp"

namespace daybreak::formats {

/// Sections may overlap or be named often, so a small image can describe a huge program: reading
/// stops when what was copied out of it passes this.
constexpr uint64_t kDofCopiedBytesMax = 8 * kDofBytesMax;

/// One pass over an image; every method checks what it touches and names section and offset.
class DofParser {
public:
    explicit DofParser(base::ByteView bytes) : bytes_(bytes) {}

    base::Result<DofImage> run() {
        DBK_TRY_VOID(read_header());
        DBK_TRY_VOID(read_sections());
        for (uint32_t i = 0; i < section_count(); i++)
            DBK_TRY_VOID(read_section(i));
        for (uint32_t i = 0; i < section_count(); i++)
            if (!symbols_read_.count(i))
                DBK_TRY_VOID(read_relocations(i));
        DBK_TRY_VOID(read_extras());
        return std::move(image_);
    }

private:
    base::Result<void> read_header();
    base::Result<void> read_sections();
    base::Result<void> read_section(uint32_t index);
    base::Result<void> read_ecb(uint32_t index);
    base::Result<void> read_options(uint32_t index);
    base::Result<void> read_relocations(uint32_t index);
    base::Result<void> read_extras();
    base::Result<void> read_lines(uint32_t index, uint32_t strings);
    base::Result<void> read_captures(uint32_t index, uint32_t strings);
    base::Result<void> read_target(uint32_t index, uint32_t strings);
    base::Result<void> read_aggregation_names(uint32_t index);
    base::Result<void> read_places(uint32_t index, uint32_t strings);
    base::Result<void> read_more_places(uint32_t index, uint32_t strings);

    base::Result<DofProbeName> probe_name(uint32_t index);
    base::Result<size_t> action_list(uint32_t index);
    base::Result<DofAction> action(uint32_t list_section, const dof_actdesc& description);
    base::Result<size_t> difo(uint32_t index);
    base::Result<void> difo_link(uint32_t index, uint32_t link, Difo& difo);
    base::Result<void> difo_variables(uint32_t index, Difo& difo);
    base::Result<void> difo_symbols(uint32_t index, const std::vector<uint32_t>& links, Difo& difo);

    uint32_t section_count() const { return static_cast<uint32_t>(image_.sections.size()); }
    const dof_section& header(uint32_t index) const { return image_.sections[index].header; }
    base::ByteView content(uint32_t index) const {
        return bytes_.subspan(header(index).offset, header(index).bytes);
    }
    std::string label(uint32_t index) const {
        return base::strprintf("DOF section %u (%s)", index,
                               image_.sections[index].type_name().c_str());
    }
    base::Result<void> expect(uint32_t from, const char* what, uint32_t index, uint32_t type) const;
    base::Result<void> charge(uint32_t index, uint64_t bytes);
    base::Result<std::string> string(uint32_t from, uint32_t table, uint64_t offset);
    template <typename T>
    base::Result<std::vector<T>> table(uint32_t index);
    std::optional<uint32_t> find(uint32_t type) const;

    base::ByteView bytes_;
    DofImage image_;
    uint64_t copied_bytes_ = 0;
    std::map<uint32_t, size_t> difo_by_section_;
    std::map<uint32_t, size_t> actions_by_section_;
    std::set<uint32_t> symbols_read_; ///< KRELHDRs of DIF objects
};

template <typename T>
base::Result<std::vector<T>> DofParser::table(uint32_t index) {
    uint32_t stride = header(index).entry_bytes == 0 ? sizeof(T) : header(index).entry_bytes;
    if (stride < sizeof(T) || header(index).bytes % stride != 0)
        return base::errorf(base::ErrorCode::corrupt,
                            "%s: %" PRIu64 " bytes in entries of %u, expected entries of %zu",
                            label(index).c_str(), header(index).bytes, stride, sizeof(T));
    DBK_TRY_VOID(charge(index, header(index).bytes));
    base::ByteReader reader(content(index), "DOF table");
    std::vector<T> entries;
    for (uint64_t at = 0; at < reader.size(); at += stride) {
        DBK_TRY(T entry, reader.read_at<T>(at));
        entries.push_back(entry);
    }
    return entries;
}

} // namespace daybreak::formats
