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
/// Of so many mappings of an address, the newest ones, is asked whether they agree.
constexpr int kAgreeingMax = 64;
constexpr size_t kAgreeingImagesMax = 4096;

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
        if (auto namespaces = reader.read<dbk_map_namespaces>(); namespaces.ok())
            event.namespaces = *namespaces;
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
        event.is_mapped = (head.flags & DBK_MAP_F_UNMAPPED) == 0;
        if (!event.is_mapped && event.file != 0)
            return "a file where nothing is mapped";
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

void ProcessMaps::count_namespaces(const dbk_map_namespaces& namespaces) {
    if (namespaces.mount != 0)
        other_namespaces_.mount[namespaces.mount]++;
    if (namespaces.pid != 0)
        other_namespaces_.pid[namespaces.pid]++;
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
            count_namespaces(event.namespaces);
        } else if (event.kind == DBK_MAP_MAPPING && !images.empty() &&
                   images.back().until_ns == UINT64_MAX) {
            images.back().mappings.add(
                {event.mono_ns, event.begin, event.end, event.offset, event.file});
            (event.is_mapped ? counts_.mappings : counts_.unmapped)++;
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

/// Returns the image whose memory an image uses: its own, or the one that its parent had when they
/// began to share it; null: that is not known.
const ProcessMaps::Image* ProcessMaps::memory_of(const Image& image) const {
    const Image* of = &image;
    for (int depth = kSharingDepthMax; of && of->shared_with != 0; depth--)
        of = depth > 0 ? image_at(of->shared_with, of->from_ns) : nullptr;
    return of;
}

std::optional<ImageMappings::Found> ProcessMaps::found_in(const Image& image, uint64_t address,
                                                          uint64_t mono_ns) const {
    const Image* memory = memory_of(image);
    return memory ? memory->mappings.find(address, mono_ns) : std::nullopt;
}

ProcessMaps::Match ProcessMaps::match_of(const ImageMappings::Found& found,
                                         uint64_t address) const {
    const ImageMappings::Mapping& mapping = found.mapping;
    return {files_[mapping.file - 1], address - mapping.begin + mapping.offset, found.begin};
}

/// Returns whether all mappings of an address in an image say what was found, or the first of them
/// does where nothing was.
bool ProcessMaps::agrees(const Image& image, uint64_t address, std::optional<Match>& found) const {
    uint64_t until_ns = UINT64_MAX;
    for (int asked = 0; asked < kAgreeingMax; asked++) {
        auto in_image = found_in(image, address, until_ns);
        if (!in_image)
            return true;
        if (in_image->mapping.file != 0) {
            Match match = match_of(*in_image, address);
            if (found && (found->file != match.file || found->offset != match.offset))
                return false;
            if (!found)
                found = match;
        }
        if (in_image->mapping.from_ns == 0)
            return true;
        until_ns = in_image->mapping.from_ns - 1;
    }
    return true;
}

bool ProcessMaps::all_agree(uint64_t pid, uint64_t address, std::optional<Match>& found) const {
    auto images = images_.find(pid);
    if (images == images_.end())
        return true;
    return images->second.size() <= kAgreeingImagesMax &&
           std::ranges::all_of(images->second,
                               [&](const Image& image) { return agrees(image, address, found); });
}

std::optional<ProcessMaps::Match> ProcessMaps::find(uint64_t pid, uint64_t address,
                                                    std::optional<uint64_t> mono_ns) const {
    if (mono_ns) {
        const Image* image = image_at(pid, *mono_ns);
        auto found = image ? found_in(*image, address, *mono_ns) : std::nullopt;
        return found && found->mapping.file != 0 ? std::optional(match_of(*found, address))
                                                 : std::nullopt;
    }
    std::optional<Match> found;
    return all_agree(pid, address, found) ? found : std::nullopt;
}

bool ProcessMaps::is_of_several(uint64_t pid, uint64_t address) const {
    std::optional<Match> found;
    return !all_agree(pid, address, found);
}

bool ProcessMaps::was_in_no_file(uint64_t pid, uint64_t address, uint64_t mono_ns) const {
    const Image* image = image_at(pid, mono_ns);
    auto found = image ? found_in(*image, address, mono_ns) : std::nullopt;
    return found && found->mapping.file == 0;
}

} // namespace daybreak::formats
