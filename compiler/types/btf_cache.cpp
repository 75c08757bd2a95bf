// SPDX-License-Identifier: Apache-2.0
//
// A file for each image: a magic, the CRC-32C of what follows, the id, the BTF.
#include "compiler/types/btf_cache.hpp"

#include "base/crc32c.hpp"
#include "base/elf_notes.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace daybreak::compiler {

namespace fs = std::filesystem;
using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ScopedFd;

namespace {

constexpr uint64_t kFileMagic = 0x31465442'4b4244; // "DBKBTF1" and a NUL in the file
constexpr size_t kSummedAt = sizeof(uint64_t) + sizeof(uint32_t);
constexpr size_t kBtfAt = kSummedAt + sizeof(BtfId);
constexpr uint64_t kFileBytesMax = 256u << 20;
constexpr std::string_view kSuffix = ".btf";
constexpr std::string_view kShownBtf = "/sys/kernel/btf/vmlinux", kShownNotes = "/sys/kernel/notes";
constexpr int kFolder = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

template <typename T> void put(Bytes& bytes, const T& value) {
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), at, at + sizeof(value));
}

/// Whether it is of that type (S_IFREG, S_IFDIR), the effective user's, and no other may write to it.
bool is_own(int fd, mode_t type) {
    struct stat about;
    return ::fstat(fd, &about) == 0 && (about.st_mode & S_IFMT) == type && about.st_uid == ::geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Returns what is in a regular file.
std::optional<Bytes> read_all(int fd) {
    struct stat about;
    if (::fstat(fd, &about) != 0 || static_cast<uint64_t>(about.st_size) > kFileBytesMax)
        return {};
    Bytes bytes(static_cast<size_t>(about.st_size));
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return {};
        done += static_cast<size_t>(std::max<ssize_t>(got, 0));
    }
    return bytes;
}

/// Returns the build id of the running kernel, whose notes are in the folder above its BTF; empty: there is none.
std::string build_id_beside(const std::string& shown) {
    auto notes = base::read_file(shown.substr(0, shown.size() - kShownBtf.size()).append(kShownNotes));
    const ByteView id = notes.ok() ? base::build_id_of(*notes) : ByteView();
    return std::string(reinterpret_cast<const char*>(id.data()), id.size());
}

/// Returns what an image is known by; empty: by nothing.
std::string identity_of(const std::string& path, const struct stat& about) {
    if (path.ends_with(kShownBtf)) {
        const std::string id = build_id_beside(path);
        return id.empty() ? "" : "build id\n" + id;
    }
    if (path.starts_with("/sys/")) // of no size, and no times
        return "";
    return base::strprintf("%s\n%llu %llu %lld %lld.%09ld %lld.%09ld", path.c_str(),
                           static_cast<unsigned long long>(about.st_dev), static_cast<unsigned long long>(about.st_ino),
                           static_cast<long long>(about.st_size), static_cast<long long>(about.st_mtim.tv_sec),
                           about.st_mtim.tv_nsec, static_cast<long long>(about.st_ctim.tv_sec),
                           about.st_ctim.tv_nsec);
}

void drop_oldest(int folder) {
    DIR* entries = ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (entries == nullptr)
        return;
    std::vector<std::tuple<time_t, long, std::string>> kept;
    struct stat about;
    while (const dirent* entry = ::readdir(entries))
        if (std::string_view(entry->d_name).ends_with(kSuffix) &&
            ::fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0)
            kept.emplace_back(about.st_mtim.tv_sec, about.st_mtim.tv_nsec, entry->d_name);
    ::closedir(entries);
    std::sort(kept.begin(), kept.end());
    for (size_t i = 0; i + BtfCache::kKernelsMax < kept.size(); i++)
        ::unlinkat(folder, std::get<std::string>(kept[i]).c_str(), 0);
}

} // namespace

std::string BtfCache::folder_below(const char* caches, const char* home) {
    const bool has_caches = caches != nullptr && caches[0] == '/';
    if (!has_caches && (home == nullptr || home[0] != '/'))
        return "";
    std::error_code none;
    const fs::path above = fs::weakly_canonical(has_caches ? caches : home, none);
    struct stat about;
    const bool is_there = ::stat(above.c_str(), &about) == 0;
    // A home that is not there (/nonexistent) is not made.  The kernel starts init with HOME=/.
    if (none || above == "/" || (is_there ? about.st_uid != ::geteuid() : !has_caches))
        return "";
    return above / (has_caches ? "daybreak" : ".cache/daybreak");
}

/// Another user could lead a path through his folder to one of our folders, and elsewhere a moment
/// later: each folder is opened in the one before, no link is followed, and what was opened is looked at.
ScopedFd BtfCache::open_folder(bool is_made) const {
    if (!folder_.starts_with('/'))
        return {};
    ScopedFd at(::open("/", kFolder));
    for (const fs::path& name : fs::path(folder_).relative_path()) {
        struct stat about;
        if (::fstat(at.get(), &about) != 0 || (about.st_uid != 0 && about.st_uid != ::geteuid()))
            return {};
        if (is_made && about.st_uid == ::geteuid())
            ::mkdirat(at.get(), name.c_str(), S_IRWXU);
        at = ScopedFd(::openat(at.get(), name.c_str(), kFolder));
    }
    return is_own(at.get(), S_IFDIR) ? std::move(at) : ScopedFd();
}

std::string BtfCache::file_for(const std::string& image) const {
    struct stat about;
    std::error_code none;
    const std::string path = fs::canonical(image, none);
    if (folder_.empty() || none || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
        return "";
    const std::string known = identity_of(path, about);
    if (known.empty())
        return "";
    const auto digest = base::sha256(base::as_bytes(known));
    std::string name;
    for (uint8_t byte : std::span(digest).first(16))
        name += base::strprintf("%02x", byte);
    return name.append(kSuffix);
}

std::optional<BtfCache::Entry> BtfCache::find(const std::string& file) const {
    if (file.empty())
        return {};
    const ScopedFd folder = open_folder(false);
    const ScopedFd fd(::openat(folder.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!is_own(fd.get(), S_IFREG))
        return {};
    auto bytes = read_all(fd.get());
    if (!bytes)
        return {};
    ByteReader reader(*bytes, file);
    auto magic = reader.read<uint64_t>();
    auto sum = reader.read<uint32_t>();
    auto id = reader.bytes(sizeof(BtfId));
    if (!id.ok() || *magic != kFileMagic ||
        *sum != base::crc32c(ByteView(*bytes).subspan(kSummedAt)))
        return {};
    ::futimens(fd.get(), nullptr); // it was used
    Entry entry;
    std::transform(id->begin(), id->end(), entry.id.begin(), [](std::byte b) { return static_cast<uint8_t>(b); });
    bytes->erase(bytes->begin(), bytes->begin() + kBtfAt);
    entry.btf = std::move(*bytes);
    return entry;
}

void BtfCache::keep(const std::string& file, const BtfId& id, ByteView btf) const {
    if (file.empty() || kBtfAt + btf.size() > kFileBytesMax)
        return;
    const ScopedFd folder = open_folder(true);
    if (!folder.valid())
        return;
    Bytes summed;
    put(summed, id);
    summed.insert(summed.end(), btf.begin(), btf.end());
    Bytes head;
    put(head, kFileMagic);
    put(head, base::crc32c(summed));
    const std::string temporary = base::strprintf(".%s.%d", file.c_str(), static_cast<int>(::getpid()));
    const ScopedFd fd(::openat(folder.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                               base::OutputFile::kSecretMode));
    if (fd.valid() && base::write_all(fd.get(), head, temporary).ok() &&
        base::write_all(fd.get(), summed, temporary).ok() &&
        ::renameat(folder.get(), temporary.c_str(), folder.get(), file.c_str()) == 0)
        drop_oldest(folder.get());
    else
        ::unlinkat(folder.get(), temporary.c_str(), 0);
}

} // namespace daybreak::compiler
