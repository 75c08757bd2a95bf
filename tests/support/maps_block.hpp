// SPDX-License-Identifier: Apache-2.0
//
// MapsBlock: what processes had mapped, as a kernel's metadata has it.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/abi/meta.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace daybreak::test {

/// A MAPS block's content, entry by entry.
class MapsBlock {
public:
    explicit MapsBlock(uint64_t number = 1, uint64_t entered_before = 0) {
        put(DBK_MAP_BLOCK, {}, dbk_map_block{number, entered_before});
    }

    template <typename T>
    uint32_t put(uint16_t kind, dbk_map_entry head, const T& content, std::string_view more = "") {
        auto at = static_cast<uint32_t>(bytes_.size());
        head.kind = kind;
        head.entry_bytes =
            static_cast<uint32_t>((sizeof(head) + sizeof(content) + more.size() + 7) / 8 * 8);
        append(&head, sizeof(head));
        append(&content, sizeof(content));
        append(more.data(), more.size());
        bytes_.resize(at + head.entry_bytes);
        return at + DBK_META_DATA_OFFSET;
    }
    uint32_t file(std::string_view path, char id = 1) {
        return file(path, std::string(sizeof(dbk_map_file::build_id), id));
    }
    /// Returns where it is, for mapping().
    uint32_t file(std::string_view path, const std::string& build_id) {
        dbk_map_file file = {};
        std::memcpy(file.build_id, build_id.data(),
                    std::min(build_id.size(), sizeof(file.build_id)));
        file.build_id_bytes = static_cast<uint16_t>(build_id.size());
        file.path_bytes = static_cast<uint16_t>(path.size());
        return put(DBK_MAP_FILE, {}, file, path);
    }
    void image(uint32_t pid, uint64_t at, uint32_t cause = DBK_MAP_CAUSE_EXEC,
               uint32_t parent = 0) {
        put(DBK_MAP_IMAGE, of(pid, at), dbk_map_image{cause, parent});
    }
    /// The inode numbers of its namespaces.
    void image_in(uint32_t pid, uint64_t at, uint32_t mount, uint32_t pids) {
        struct {
            dbk_map_image image;
            dbk_map_namespaces namespaces;
        } what = {{DBK_MAP_CAUSE_EXEC, 0}, {mount, pids}};
        put(DBK_MAP_IMAGE, of(pid, at), what);
    }
    void mapping(uint32_t pid, uint64_t at, uint64_t begin, uint64_t end, uint64_t offset,
                 uint32_t file_at) {
        put(DBK_MAP_MAPPING, of(pid, at), dbk_map_mapping{begin, end, offset, file_at, 0});
    }
    void unmapped(uint32_t pid, uint64_t at, uint64_t begin, uint64_t end, uint32_t file_at = 0) {
        dbk_map_entry head = of(pid, at);
        head.flags = DBK_MAP_F_UNMAPPED;
        put(DBK_MAP_MAPPING, head, dbk_map_mapping{begin, end, 0, file_at, 0});
    }
    void exit(uint32_t pid, uint64_t at, uint32_t user) {
        put(DBK_MAP_EXIT, of(pid, at), dbk_map_exit{user, 0});
    }
    /// As older modules wrote it.
    void exit(uint32_t pid, uint64_t at) {
        dbk_map_entry head = of(pid, at);
        head.kind = DBK_MAP_EXIT;
        head.entry_bytes = sizeof(head);
        append(&head, sizeof(head));
    }
    void gap(uint64_t lost, uint64_t from, uint64_t at) {
        put(DBK_MAP_GAP, of(0, at), dbk_map_gap{lost, from});
    }
    const base::Bytes& bytes() const { return bytes_; }

private:
    static dbk_map_entry of(uint32_t pid, uint64_t at) {
        dbk_map_entry head = {};
        head.pid = pid;
        head.mono_ns = at;
        return head;
    }
    void append(const void* from, size_t bytes) {
        const auto* first = static_cast<const std::byte*>(from);
        bytes_.insert(bytes_.end(), first, first + bytes);
    }

    base::Bytes bytes_;
};

} // namespace daybreak::test
