// SPDX-License-Identifier: Apache-2.0
//
// A file for each image: a magic, the CRC-32C of what follows, the id, the BTF.
#include "compiler/types/btf_cache.hpp"

#include "base/crc32c.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace daybreak::compiler {

namespace fs = std::filesystem;
using base::ByteReader;
using base::Bytes;
using base::ByteView;

namespace {

constexpr uint64_t kMagic = 0x31465442'4b4244; // "DBKBTF1" and a NUL in the file
constexpr size_t kSummedAt = sizeof(uint64_t) + sizeof(uint32_t);
constexpr size_t kBtfAt = kSummedAt + sizeof(BtfId);
constexpr uint64_t kFileBytesMax = 256u << 20;
constexpr const char* kSuffix = ".btf";

template <typename T> void put(Bytes& bytes, const T& value) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), at, at + sizeof(value));
}

} // namespace

bool BtfCache::is_own(const std::string& path) const {
    struct stat about;
    return ::stat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string BtfCache::file_for(const std::string& image) const {
    struct stat about;
    std::error_code none;
    const std::string path = fs::canonical(image, none);
    // What sysfs shows is not packed, and has no times.
    if (folder_.empty() || none || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) ||
        path.starts_with("/sys/"))
        return "";
    const std::string known = base::strprintf(
        "%s\n%llu %llu %lld %lld.%09ld %lld.%09ld", path.c_str(), static_cast<unsigned long long>(about.st_dev),
        static_cast<unsigned long long>(about.st_ino), static_cast<long long>(about.st_size),
        static_cast<long long>(about.st_mtim.tv_sec), about.st_mtim.tv_nsec,
        static_cast<long long>(about.st_ctim.tv_sec), about.st_ctim.tv_nsec);
    const auto digest = base::sha256(base::as_bytes(known));
    std::string name;
    for (uint8_t byte : std::span(digest).first(16))
        name += base::strprintf("%02x", byte);
    return folder_ + "/" + name + kSuffix;
}

std::optional<BtfCache::Entry> BtfCache::find(const std::string& file) const {
    if (file.empty() || !is_own(folder_) || !is_own(file))
        return {};
    auto bytes = base::read_file(file, kFileBytesMax);
    if (!bytes.ok())
        return {};
    ByteReader reader(*bytes, file);
    auto magic = reader.read<uint64_t>();
    auto sum = reader.read<uint32_t>();
    auto id = reader.bytes(sizeof(BtfId));
    if (!id.ok() || *magic != kMagic || *sum != base::crc32c(ByteView(*bytes).subspan(kSummedAt)))
        return {};
    std::error_code none;
    fs::last_write_time(file, fs::file_time_type::clock::now(), none); // it was used
    Entry entry;
    std::transform(id->begin(), id->end(), entry.id.begin(), [](std::byte b) { return static_cast<uint8_t>(b); });
    bytes->erase(bytes->begin(), bytes->begin() + kBtfAt);
    entry.btf = std::move(*bytes);
    return entry;
}

void BtfCache::drop_oldest() const {
    std::error_code none;
    std::vector<std::pair<fs::file_time_type, fs::path>> kept;
    for (fs::directory_iterator at(folder_, none), end; !none && at != end; at.increment(none))
        if (at->path().extension() == kSuffix)
            kept.emplace_back(at->last_write_time(none), at->path());
    std::sort(kept.begin(), kept.end());
    for (size_t i = 0; i + kKernelsMax < kept.size(); i++)
        fs::remove(kept[i].second, none);
}

void BtfCache::keep(const std::string& file, const BtfId& id, ByteView btf) const {
    std::error_code none;
    if (file.empty() || kBtfAt + btf.size() > kFileBytesMax)
        return;
    // Below another's home, as of sudo, a new folder would be in its owner's way.
    fs::path above = folder_;
    while (!fs::exists(above, none) && above.has_relative_path())
        above = above.parent_path();
    struct stat about;
    if (::stat(above.c_str(), &about) != 0 || about.st_uid != ::geteuid())
        return;
    if (fs::create_directories(folder_, none))
        fs::permissions(folder_, fs::perms::owner_all, none);
    if (!is_own(folder_))
        return;
    Bytes summed;
    put(summed, id);
    summed.insert(summed.end(), btf.begin(), btf.end());
    Bytes head;
    put(head, kMagic);
    put(head, base::crc32c(summed));
    auto output = base::OutputFile::create(file, base::OutputFile::kSecretMode);
    if (output.ok() && output->write(head).ok() && output->write(summed).ok() && output->commit().ok())
        drop_oldest();
}

} // namespace daybreak::compiler
