// SPDX-License-Identifier: Apache-2.0
//
// Reading MAPS blocks.
#include "formats/segment/process_maps.hpp"

#include "formats/abi/meta.h"

#include <algorithm>
#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::ByteReader;
using base::ByteView;
using base::strprintf;

/// A process that shares memory was made by another, which may, too: not in a circle.
constexpr int kSharingDepthMax = 8;

} // namespace

uint32_t ProcessMaps::file_number(MappedFile file) {
    auto [at, is_new] = numbers_.try_emplace(std::move(file), 0);
    if (is_new) {
        files_.push_back(&at->first);
        at->second = static_cast<uint32_t>(files_.size());
    }
    return at->second;
}

std::string ProcessMaps::take(const dbk_map_entry& head, ByteView entry, Block& block,
                              std::map<uint32_t, uint32_t>& files, uint32_t at) {
    ByteReader reader(entry, "entry");
    static_cast<void>(reader.skip(sizeof(head)));
    Event event{head.pid, head.mono_ns, head.kind, head.image, head.born_ns};
    switch (head.kind) {
    case DBK_MAP_BLOCK: {
        auto what = reader.read<dbk_map_block>();
        if (!what.ok())
            return what.error().message();
        block.number = what->number;
        block.entered_before = what->entered_before;
        return "";
    }
    case DBK_MAP_FILE: {
        auto what = reader.read<dbk_map_file>();
        if (!what.ok())
            return what.error().message();
        auto path = reader.bytes(what->path_bytes);
        if (!path.ok() || what->build_id_bytes > DBK_MAP_BUILD_ID_BYTES)
            return strprintf("a path of %u bytes and a build id of %u in %u bytes",
                             what->path_bytes, what->build_id_bytes, head.entry_bytes);
        MappedFile file;
        file.path.assign(reinterpret_cast<const char*>(path->data()), path->size());
        file.build_id.assign(reinterpret_cast<const char*>(what->build_id), what->build_id_bytes);
        file.path_cut = (head.flags & DBK_MAP_F_CUT) != 0;
        files[at] = file_number(std::move(file));
        return "";
    }
    case DBK_MAP_IMAGE: {
        auto what = reader.read<dbk_map_image>();
        if (!what.ok())
            return what.error().message();
        known_.lived(head.pid);
        event.shared_with = what->cause == DBK_MAP_CAUSE_SHARED ? what->parent_pid : 0;
        break;
    }
    case DBK_MAP_MAPPING: {
        auto what = reader.read<dbk_map_mapping>();
        if (!what.ok())
            return what.error().message();
        auto file = files.find(what->file_at);
        if (what->begin >= what->end || (what->file_at != 0 && file == files.end()))
            return strprintf("a mapping from 0x%" PRIx64 " to 0x%" PRIx64 " of the file at %u",
                             what->begin, what->end, what->file_at);
        event.begin = what->begin;
        event.end = what->end;
        event.offset = what->offset;
        event.file = what->file_at == 0 ? 0 : file->second;
        if (const MappedFile* mapped = event.file == 0 ? nullptr : files_[event.file - 1];
            mapped != nullptr && !mapped->path_cut)
            known_.mapped(head.pid, mapped->path);
        break;
    }
    case DBK_MAP_GAP: {
        auto what = reader.read<dbk_map_gap>();
        if (!what.ok())
            return what.error().message();
        gaps_.push_back({std::min(what->from_ns, head.mono_ns), head.mono_ns});
        counts_.lost += what->lost;
        return "";
    }
    case DBK_MAP_EXIT: {
        auto what = reader.read<dbk_map_exit>();
        known_.ended(head.pid, what.ok() ? std::optional(what->user) : std::nullopt);
        break;
    }
    default:
        return ""; // a newer writer's
    }
    events_.push_back(event);
    return "";
}

std::string ProcessMaps::add(ByteView untrusted_block) {
    ByteReader reader(untrusted_block, "maps");
    std::map<uint32_t, uint32_t> files; // by place, index + 1
    Block block;
    std::string wrong;
    while (reader.remaining() > 0 && wrong.empty()) {
        uint64_t at = reader.offset();
        auto head = reader.read_at<dbk_map_entry>(at);
        if (!head.ok()) {
            wrong = head.error().message();
            break;
        }
        if (head->entry_bytes < sizeof(*head) || head->entry_bytes % 8 != 0 ||
            head->entry_bytes > reader.remaining()) {
            wrong = strprintf("the entry at %" PRIu64 " has %u bytes, %zu are left", at,
                              head->entry_bytes, reader.remaining());
            break;
        }
        ByteView entry = reader.bytes(head->entry_bytes).value();
        wrong = take(*head, entry, block, files, static_cast<uint32_t>(at + DBK_META_DATA_OFFSET));
        block.entries++;
    }
    blocks_[block.number] = block;
    return wrong;
}

/// Gaps ascend by their ends; each begins where the first of it and those after it does.
void ProcessMaps::join_gaps() {
    std::sort(gaps_.begin(), gaps_.end(),
              [](const Gap& a, const Gap& b) { return a.to_ns < b.to_ns; });
    for (size_t i = gaps_.size(); i-- > 1;)
        gaps_[i - 1].from_ns = std::min(gaps_[i - 1].from_ns, gaps_[i].from_ns);
}

/// What was known before entries were lost is not known to hold from then on.
void ProcessMaps::end_at_gaps(Image& image) const {
    auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), image.from_ns,
                                [](uint64_t ns, const Gap& one) { return ns < one.to_ns; });
    if (gap != gaps_.end())
        image.until_ns = std::min(image.until_ns, std::max(gap->from_ns, image.from_ns));
}

void ProcessMaps::finish() {
    // Entries that were entered again are there twice: then they are equal.
    std::sort(events_.begin(), events_.end(),
              [](const Event& a, const Event& b) { return a.key() < b.key(); });
    auto same = [](const Event& a, const Event& b) { return a.key() == b.key(); };
    events_.erase(std::unique(events_.begin(), events_.end(), same), events_.end());
    for (const Event& event : events_) {
        std::vector<Image>& images = images_[event.pid];
        if (event.kind != DBK_MAP_MAPPING && !images.empty())
            images.back().until_ns = std::min(images.back().until_ns, event.mono_ns);
        if (event.kind == DBK_MAP_IMAGE) {
            images.push_back({event.mono_ns, UINT64_MAX, event.shared_with, {}});
            counts_.images++;
        } else if (event.kind == DBK_MAP_MAPPING && !images.empty() &&
                   images.back().until_ns == UINT64_MAX) {
            images.back().mappings.add(
                {event.mono_ns, event.begin, event.end, event.offset, event.file});
            counts_.mappings++;
        }
    }
    events_ = {};
    join_gaps();
    for (auto& [pid, images] : images_)
        for (Image& image : images) {
            end_at_gaps(image);
            image.mappings.finish();
        }
    const Block* before = nullptr;
    for (const auto& [number, block] : blocks_) {
        uint64_t known = before ? before->entered_before + before->entries : 0;
        if (block.entered_before > known)
            counts_.overwritten += block.entered_before - known;
        before = &block;
    }
    counts_.blocks = blocks_.size();
    counts_.files = files_.size();
}

/// Each image ends where the next one begins, or earlier.
const ProcessMaps::Image* ProcessMaps::image_at(uint64_t pid, uint64_t mono_ns) const {
    auto of = images_.find(pid);
    if (of == images_.end())
        return nullptr;
    auto after =
        std::upper_bound(of->second.begin(), of->second.end(), mono_ns,
                         [](uint64_t ns, const Image& image) { return ns < image.from_ns; });
    return after != of->second.begin() && mono_ns < (after - 1)->until_ns ? &*(after - 1) : nullptr;
}

std::optional<ProcessMaps::Match> ProcessMaps::find_in(const Image& image, uint64_t address,
                                                       uint64_t mono_ns, int depth) const {
    if (image.shared_with != 0) {
        const Image* other = depth > 0 ? image_at(image.shared_with, image.from_ns) : nullptr;
        return other ? find_in(*other, address, mono_ns, depth - 1) : std::nullopt;
    }
    auto found = image.mappings.find(address, mono_ns);
    if (!found || found->mapping.file == 0)
        return std::nullopt;
    const ImageMappings::Mapping& mapping = found->mapping;
    return Match{files_[mapping.file - 1], address - mapping.begin + mapping.offset, found->begin};
}

std::optional<ProcessMaps::Match> ProcessMaps::find(uint64_t pid, uint64_t address,
                                                    std::optional<uint64_t> mono_ns) const {
    if (mono_ns) {
        const Image* image = image_at(pid, *mono_ns);
        return image ? find_in(*image, address, *mono_ns, kSharingDepthMax) : std::nullopt;
    }
    auto images = images_.find(pid);
    if (images == images_.end())
        return std::nullopt;
    std::optional<Match> found;
    for (const Image& image : images->second) {
        std::optional<Match> match = find_in(image, address, UINT64_MAX, kSharingDepthMax);
        if (found && match && (found->file != match->file || found->offset != match->offset))
            return std::nullopt;
        if (match)
            found = match;
    }
    return found;
}

} // namespace daybreak::formats
