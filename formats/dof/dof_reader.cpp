// SPDX-License-Identifier: Apache-2.0
//
// Reading DOF: header, section table, and the checks that all sections share
#include "formats/dof/dof_parser.hpp"

#include "formats/abi/places.h"

namespace daybreak::formats {

using base::ByteReader;
using base::ByteView;
using base::Error;
using base::ErrorCode;
using base::errorf;
using base::Result;
using base::strprintf;

Result<void> DofParser::read_header() {
    ByteReader reader(bytes_, "DOF header");
    if (!looks_like_dof(bytes_))
        return Error(ErrorCode::invalid, "not DOF, as daybreak compile makes it of D: the first "
                                         "bytes are not 7f 44 4f 46");
    DBK_TRY(dof_header header, reader.read<dof_header>());
    const uint8_t* ident = header.ident;
    if (ident[DOF_ID_MODEL] != DOF_MODEL_LP64)
        return errorf(ErrorCode::unsupported, "DOF header: data model %u, expected 2 (LP64)",
                      ident[DOF_ID_MODEL]);
    if (ident[DOF_ID_ENCODING] != DOF_ENCODE_LSB)
        return errorf(ErrorCode::unsupported, "DOF header: encoding %u, expected 1 (little-endian)",
                      ident[DOF_ID_ENCODING]);
    if (ident[DOF_ID_VERSION] != DOF_VERSION_1 && ident[DOF_ID_VERSION] != DOF_VERSION_2)
        return errorf(ErrorCode::unsupported, "DOF header: version %u, expected 1 or 2",
                      ident[DOF_ID_VERSION]);
    if (ident[DOF_ID_DIFVERS] < 1 || ident[DOF_ID_DIFVERS] > DIF_VERSION)
        return errorf(ErrorCode::unsupported, "DOF header: DIF version %u, expected 1 or 2",
                      ident[DOF_ID_DIFVERS]);
    for (size_t i = DOF_ID_DIFTREG + 1; i < DOF_ID_SIZE; i++)
        if (ident[i] != 0)
            return errorf(ErrorCode::corrupt, "DOF header: byte %zu is 0x%02x, expected 0", i,
                          ident[i]);
    if (header.flags != 0)
        return errorf(ErrorCode::unsupported, "DOF header: flags 0x%x, expected 0", header.flags);
    if (header.header_bytes < sizeof(dof_header))
        return errorf(ErrorCode::corrupt, "DOF header: says it has %u bytes, needs %zu",
                      header.header_bytes, sizeof(dof_header));
    if (header.section_bytes != sizeof(dof_section))
        return errorf(ErrorCode::corrupt, "DOF header: section headers of %u bytes, expected %zu",
                      header.section_bytes, sizeof(dof_section));
    uint64_t size_bytes = std::max(header.load_bytes, header.file_bytes);
    if (size_bytes > kDofBytesMax)
        return errorf(ErrorCode::limit, "DOF header: image of %" PRIu64 " bytes, at most %" PRIu64,
                      size_bytes, kDofBytesMax);
    // A stripped image keeps the file size it had; only the loadable part need be there.
    if (header.load_bytes > bytes_.size())
        return errorf(ErrorCode::truncated,
                      "DOF header: image of %" PRIu64 " bytes, only %zu are there",
                      header.load_bytes, bytes_.size());
    bytes_ = bytes_.first(std::min<uint64_t>(bytes_.size(), size_bytes));
    image_.header = header;
    image_.program.dof_version = ident[DOF_ID_VERSION];
    image_.program.dif_version = ident[DOF_ID_DIFVERS];
    image_.program.integer_registers = ident[DOF_ID_DIFIREG];
    image_.program.tuple_registers = ident[DOF_ID_DIFTREG];
    return {};
}

Result<void> DofParser::read_sections() {
    const dof_header& header = image_.header;
    if (header.section_count > kDofSectionsMax)
        return errorf(ErrorCode::limit, "DOF header: %u sections, at most %zu",
                      header.section_count, kDofSectionsMax);
    if (header.section_offset % alignof(uint64_t) != 0)
        return errorf(ErrorCode::corrupt, "DOF header: section table at %" PRIu64 " is misaligned",
                      header.section_offset);
    ByteReader reader(bytes_, "DOF section table");
    DBK_TRY_VOID(reader.seek(header.section_offset));
    for (uint32_t i = 0; i < header.section_count; i++) {
        DofSection section;
        DBK_TRY(section.header, reader.read<dof_section>());
        const dof_section& h = section.header;
        image_.sections.push_back(section);
        if (h.align == 0 || (h.align & (h.align - 1)) != 0)
            return errorf(ErrorCode::corrupt, "%s: alignment %u is not a power of two",
                          label(i).c_str(), h.align);
        if (h.offset % h.align != 0)
            return errorf(ErrorCode::corrupt, "%s: offset %" PRIu64 " is not a multiple of %u",
                          label(i).c_str(), h.offset, h.align);
        uint64_t end = (h.flags & DOF_SECF_LOAD) ? header.load_bytes : bytes_.size();
        if (h.offset > end || h.bytes > end - h.offset) {
            // Cut off by stripping: still listed, but with nothing in it.
            if (!(h.flags & DOF_SECF_LOAD) && header.file_bytes > bytes_.size()) {
                image_.sections.back().header.offset = 0;
                image_.sections.back().header.bytes = 0;
                continue;
            }
            return errorf(ErrorCode::truncated,
                          "%s: %" PRIu64 " bytes at %" PRIu64 " do not fit in %" PRIu64,
                          label(i).c_str(), h.bytes, h.offset, end);
        }
        if (h.entry_bytes != 0 && h.bytes % h.entry_bytes != 0)
            return errorf(ErrorCode::corrupt,
                          "%s: %" PRIu64 " bytes are not a multiple of entries of %u",
                          label(i).c_str(), h.bytes, h.entry_bytes);
    }
    return {};
}

Result<void> DofParser::expect(uint32_t from, const char* what, uint32_t index,
                               uint32_t type) const {
    if (index >= section_count())
        return errorf(ErrorCode::corrupt, "%s: %s names section %u of %u", label(from).c_str(),
                      what, index, section_count());
    if (header(index).type != type) {
        DofSection wanted;
        wanted.header.type = type;
        return errorf(ErrorCode::corrupt, "%s: %s names %s, expected type %s", label(from).c_str(),
                      what, label(index).c_str(), wanted.type_name().c_str());
    }
    return {};
}

Result<void> DofParser::charge(uint32_t index, uint64_t bytes) {
    copied_bytes_ += bytes;
    if (copied_bytes_ > kDofCopiedBytesMax)
        return errorf(ErrorCode::limit, "%s: the image describes more than %" PRIu64 " bytes",
                      label(index).c_str(), kDofCopiedBytesMax);
    return {};
}

Result<std::string> DofParser::string(uint32_t from, uint32_t table, uint64_t offset) {
    ByteReader reader(content(table), "string table");
    auto text = reader.string_at(offset);
    if (!text.ok())
        return errorf(ErrorCode::corrupt, "%s: string at %" PRIu64 " of %s does not end in it",
                      label(from).c_str(), offset, label(table).c_str());
    DBK_TRY_VOID(charge(from, text->size()));
    return std::string(text.value());
}

std::optional<uint32_t> DofParser::find(uint32_t type) const {
    for (uint32_t i = 0; i < section_count(); i++)
        if (header(i).type == type && header(i).bytes != 0)
            return i;
    return std::nullopt;
}

std::string DofSection::type_name() const {
    switch (header.type) {
#define DBK_SECTION_NAME(name, type, text)                                                         \
    case type:                                                                                     \
        return text;
        DBK_DOF_SECTIONS(DBK_SECTION_NAME)
#undef DBK_SECTION_NAME
    case DBK_DOF_SECT_LINES:
        return "LINES";
    case DBK_DOF_SECT_CAPTURE:
        return "CAPTURE";
    case DBK_DOF_SECT_TARGET:
        return "TARGET";
    case DBK_DOF_SECT_AGGNAMES:
        return "AGGNAMES";
    case DBK_DOF_SECT_STRINGS:
        return "STRINGS";
    case DBK_DOF_SECT_OPTIONS:
        return "OPTIONS";
    case DBK_DOF_SECT_PLACES:
        return "PLACES";
    case DBK_DOF_SECT_MORE_PLACES:
        return "MORE_PLACES";
    default:
        return strprintf("type 0x%x", header.type);
    }
}

const DofEcb* DofImage::ecb_at(uint32_t section) const {
    for (const DofEcb& ecb : program.ecbs)
        if (ecb.section == section)
            return &ecb;
    return nullptr;
}

bool looks_like_dof(ByteView untrusted) {
    return untrusted.size() >= 4 && std::memcmp(untrusted.data(), DOF_MAGIC_BYTES, 4) == 0;
}

Result<DofImage> parse_dof(ByteView untrusted) {
    return DofParser(untrusted).run();
}

} // namespace daybreak::formats
