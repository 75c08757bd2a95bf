// SPDX-License-Identifier: Apache-2.0
//
// The container of embedded DOF: building and parsing its bytes.
#include "base/padded.hpp"
#include "formats/module/module_file.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::formats {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

template <typename T>
void append(Bytes& out, const T& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), first, first + sizeof(T));
}

} // namespace

Result<Bytes> build_container(const std::vector<EmbeddedImage>& images) {
    if (images.size() > DBK_EMBED_IMAGES_MAX)
        return errorf(ErrorCode::limit, "%zu images to embed, at most %u fit", images.size(),
                      DBK_EMBED_IMAGES_MAX);
    Bytes out;
    dbk_embed_header header = {};
    header.magic = DBK_EMBED_MAGIC;
    header.image_count = static_cast<uint32_t>(images.size());
    append(out, header);
    for (const EmbeddedImage& image : images) {
        dbk_embed_image entry = {};
        if (image.name.empty() || image.name.size() >= sizeof(entry.name))
            return errorf(ErrorCode::invalid, "enabling name '%s': 1 to %zu bytes expected",
                          image.name.c_str(), sizeof(entry.name) - 1);
        if (image.dof.empty())
            return errorf(ErrorCode::invalid, "enabling '%s' is empty", image.name.c_str());
        entry.dof_bytes = image.dof.size();
        std::memcpy(entry.name, image.name.data(), image.name.size());
        append(out, entry);
        out.insert(out.end(), image.dof.begin(), image.dof.end());
        out.resize(base::padded_to_8(out.size()));
    }
    uint64_t total = out.size();
    std::memcpy(out.data() + offsetof(dbk_embed_header, total_bytes), &total, sizeof(total));
    return out;
}

Result<std::vector<EmbeddedImage>> parse_container(ByteView untrusted_container) {
    ByteReader reader(untrusted_container, "embedded DOF");
    DBK_TRY(auto header, reader.read<dbk_embed_header>());
    if (header.magic != DBK_EMBED_MAGIC)
        return errorf(ErrorCode::corrupt, "embedded DOF: magic is 0x%" PRIx64, header.magic);
    if (header.total_bytes > untrusted_container.size())
        return errorf(ErrorCode::truncated,
                      "embedded DOF: says %" PRIu64 " bytes, the section has %zu",
                      header.total_bytes, untrusted_container.size());
    if (header.image_count > DBK_EMBED_IMAGES_MAX)
        return errorf(ErrorCode::corrupt, "embedded DOF: %u images, at most %u possible",
                      header.image_count, DBK_EMBED_IMAGES_MAX);
    std::vector<EmbeddedImage> images;
    for (uint32_t i = 0; i < header.image_count; i++) {
        DBK_TRY(auto entry, reader.read<dbk_embed_image>());
        DBK_TRY(ByteView dof, reader.bytes(entry.dof_bytes));
        EmbeddedImage image;
        image.name.assign(entry.name, strnlen(entry.name, sizeof(entry.name)));
        image.dof.assign(dof.begin(), dof.end());
        images.push_back(std::move(image));
        DBK_TRY_VOID(reader.skip(base::padded_to_8(reader.offset()) - reader.offset()));
    }
    return images;
}

Result<std::vector<NativePart>> parse_native_parts(ByteView untrusted_section) {
    ByteReader reader(untrusted_section, "native programs");
    std::vector<NativePart> parts;
    while (reader.remaining() != 0) {
        DBK_TRY(auto magic, reader.read<uint64_t>());
        if (magic == 0)
            continue; // between parts
        if (magic != DBK_NATIVE_MAGIC)
            return errorf(ErrorCode::corrupt, "native programs: magic is 0x%" PRIx64, magic);
        DBK_TRY(auto dof_bytes, reader.read<uint32_t>());
        DBK_TRY(auto clause_count, reader.read<uint32_t>());
        DBK_TRY(ByteView ways, reader.bytes(clause_count));
        DBK_TRY(ByteView dof, reader.bytes(dof_bytes));
        NativePart part;
        for (std::byte way : ways) {
            if (static_cast<unsigned>(way) >= DBK_NATIVE_WAY_COUNT)
                return errorf(ErrorCode::corrupt, "native programs: clause %zu is native in way %u", part.ways.size(),
                              static_cast<unsigned>(way));
            part.ways.push_back(static_cast<dbk_native_way>(way));
        }
        part.dof.assign(dof.begin(), dof.end());
        parts.push_back(std::move(part));
        size_t padding = base::padded_to_8(reader.offset()) - reader.offset();
        DBK_TRY_VOID(reader.skip(std::min<size_t>(padding, reader.remaining())));
    }
    return parts;
}

// What is embedded may have a signature after it.
const NativePart* ModuleFileInfo::native_of(const EmbeddedImage& image) const {
    auto found = std::ranges::find_if(natives, [&](const NativePart& part) {
        return part.dof.size() <= image.dof.size() &&
               std::equal(part.dof.begin(), part.dof.end(), image.dof.begin());
    });
    return found == natives.end() ? nullptr : &*found;
}

} // namespace daybreak::formats
