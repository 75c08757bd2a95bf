// SPDX-License-Identifier: Apache-2.0
//
// Types that were unpacked before: what is taken again, and what is not trusted.
#include "compiler/types/btf_cache.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "tests/unit/compiler/btf_builder.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::compiler;
using daybreak::compiler::test::BtfBuilder;
namespace fs = std::filesystem;

namespace {

base::Bytes btf_of(const char* name) {
    BtfBuilder builder;
    builder.structure(4, name, 4, {});
    return builder.bytes();
}

void write(const std::string& path, base::ByteView bytes) {
    auto file = base::OutputFile::create(path);
    REQUIRE(file.ok());
    REQUIRE(file->write(bytes).ok());
    REQUIRE(file->commit().ok());
}

struct Fixture {
    base::Result<base::TemporaryFolder> made = base::TemporaryFolder::create("btf-cache");
    base::TemporaryFolder& folder = *made;
    const std::string real = fs::canonical(folder.at("")); // the folder for temporary files may be a link
    const std::string image = real + "/image", kept = real + "/cache/daybreak";
    BtfCache cache{kept};

    Fixture() { write(image, btf_of("first")); }
    BtfId id() const {
        BtfKernelTypes kernel({.file = image, .cache = kept});
        return *kernel.id();
    }
    std::string name() const { return cache.file_for(image); }
    std::string file() const { return kept + "/" + name(); }
};

} // namespace

TEST_CASE("types are unpacked once for each image", "[compiler][types][btf]") {
    Fixture at;
    const BtfId real = at.id();
    const std::string name = at.name();
    REQUIRE(at.cache.find(name));
    CHECK(at.cache.find(name)->id == real);
    CHECK(at.cache.find(name)->btf == btf_of("first"));
    CHECK(fs::status(at.file()).permissions() == fs::perms(0600));
    CHECK(fs::status(at.kept).permissions() == fs::perms(0700));

    BtfId other = real; // to be seen when it is taken from there
    other[0] ^= 1;
    at.cache.keep(name, other, btf_of("second"));
    CHECK(at.id() == other);
    BtfKernelTypes kernel({.file = at.image, .cache = at.kept});
    CHECK((*kernel.vmlinux())->find(BtfKind::struct_, "second") != 0);

    write(at.image, btf_of("third")); // another image in its place
    CHECK(at.name() != name);
    CHECK(at.id() != other);
    CHECK(at.id() != real);
}

TEST_CASE("what the running kernel shows is known by its build id", "[compiler][types][btf]") {
    Fixture at;
    const std::string shown = at.real + "/sys/kernel/btf/vmlinux", notes = at.real + "/sys/kernel/notes";
    fs::create_directories(at.real + "/sys/kernel/btf");
    fs::create_directories(at.real + "/proc/sys/kernel");
    write(at.real + "/proc/sys/kernel/osrelease", base::Bytes(3, std::byte{'6'}));
    write(shown, btf_of("first"));
    CHECK(at.cache.file_for(shown).empty()); // no build id is known
    base::Bytes note(16 + 20, std::byte{7});
    const uint32_t head[] = {4, 20, 3};
    std::memcpy(note.data(), head, sizeof(head));
    std::memcpy(note.data() + sizeof(head), "GNU", 4);
    write(notes, note);
    const std::string name = at.cache.file_for(shown);
    REQUIRE(!name.empty());

    auto id_of_running = [&] {
        BtfKernelTypes kernel({.root = at.real, .cache = at.kept});
        return *kernel.id();
    };
    const BtfId real = id_of_running();
    CHECK(real == at.id());
    BtfId other = real; // to be seen when it is taken from there
    other[0] ^= 1;
    at.cache.keep(name, other, btf_of("first"));
    write(shown, btf_of("first")); // as after the next boot of this kernel: other times
    CHECK(at.cache.file_for(shown) == name);
    CHECK(id_of_running() == other);

    note.back() ^= std::byte{1}; // another kernel
    write(notes, note);
    CHECK(at.cache.file_for(shown) != name);
    CHECK(id_of_running() == real);
}

TEST_CASE("what is damaged is not taken from the cache", "[compiler][types][btf]") {
    Fixture at;
    at.id();
    const base::Bytes whole = *base::read_file(at.file());
    auto found_with = [&](base::Bytes bytes) {
        write(at.file(), bytes);
        return at.cache.find(at.name()).has_value();
    };
    CHECK(found_with(whole));
    for (size_t i = 0; i < whole.size(); i++) {
        base::Bytes damaged = whole;
        damaged[i] ^= std::byte{1};
        CHECK(!found_with(damaged));
        CHECK(!found_with({whole.begin(), whole.begin() + i}));
    }
    CHECK(found_with(whole));
    CHECK(BtfCache("").file_for(at.image).empty());
    CHECK(at.cache.file_for(at.real + "/none").empty());
    CHECK(at.cache.file_for(at.kept).empty());
}

TEST_CASE("what another could have put there is not taken from the cache", "[compiler][types][btf]") {
    Fixture at;
    at.id();
    const std::string name = at.name(), elsewhere = at.real + "/elsewhere";
    REQUIRE(at.cache.find(name));
    for (const std::string& path : {at.file(), at.kept})
        for (fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
            const fs::perms own = fs::status(path).permissions();
            fs::permissions(path, others, fs::perm_options::add);
            CHECK(!at.cache.find(name));
            fs::permissions(path, own);
            CHECK(at.cache.find(name));
        }
    for (const std::string& path : {at.file(), at.kept, at.real + "/cache"}) {
        fs::rename(path, elsewhere); // it is our own, and so is the link
        fs::create_symlink(elsewhere, path);
        CHECK(!at.cache.find(name));
        fs::remove(path);
        fs::rename(elsewhere, path);
        CHECK(at.cache.find(name));
    }
    fs::remove(at.file());
    REQUIRE(::mkfifo(at.file().c_str(), 0600) == 0);
    CHECK(!at.cache.find(name)); // and does not wait for a writer
}

TEST_CASE("nothing is kept or removed where another could write or leads", "[compiler][types][btf]") {
    Fixture at;
    const std::string elsewhere = at.real + "/elsewhere";
    fs::create_directories(elsewhere);
    for (size_t i = 0; i < BtfCache::kKernelsMax + 3; i++)
        write(elsewhere + "/" + std::to_string(i) + ".btf", btf_of("theirs"));
    auto count_after_keep = [&] {
        at.cache.keep("some.btf", {}, btf_of("some"));
        return std::distance(fs::directory_iterator(elsewhere), {});
    };
    fs::create_directory(at.real + "/cache");
    fs::create_directory_symlink(elsewhere, at.kept);
    CHECK(count_after_keep() == BtfCache::kKernelsMax + 3);
    fs::remove(at.kept);
    fs::rename(elsewhere, at.kept);
    fs::create_directory_symlink(at.kept, elsewhere);
    fs::permissions(at.kept, fs::perms::all);
    CHECK(count_after_keep() == BtfCache::kKernelsMax + 3);
    fs::permissions(at.kept, fs::perms::owner_all);
    CHECK(count_after_keep() == BtfCache::kKernelsMax);

    write(at.real + "/theirs", btf_of("theirs")); // a link for a file is replaced
    fs::remove(at.kept + "/some.btf");
    fs::create_symlink(at.real + "/theirs", at.kept + "/some.btf");
    count_after_keep();
    CHECK(fs::is_regular_file(fs::symlink_status(at.kept + "/some.btf")));
    CHECK(*base::read_file(at.real + "/theirs") == btf_of("theirs"));
}

TEST_CASE("the cache is below a home of one's own", "[compiler][types][btf]") {
    Fixture at;
    const std::string home = at.real + "/home", link = at.real + "/link", caches = at.real + "/caches";
    REQUIRE(fs::create_directory(home));
    fs::create_directory_symlink(home, link);
    CHECK(BtfCache::folder_below(nullptr, home.c_str()) == home + "/.cache/daybreak");
    CHECK(BtfCache::folder_below("", link.c_str()) == home + "/.cache/daybreak");
    CHECK(BtfCache::folder_below("relative", home.c_str()) == home + "/.cache/daybreak");
    CHECK(BtfCache::folder_below(home.c_str(), "/") == home + "/daybreak");
    CHECK(BtfCache::folder_below(caches.c_str(), home.c_str()) == caches + "/daybreak"); // is made
    for (const char* none : {static_cast<const char*>(nullptr), "", "relative", "/", "//", "/.", caches.c_str()})
        CHECK(BtfCache::folder_below(nullptr, none).empty());
    CHECK(BtfCache::folder_below("/", home.c_str()).empty());

    if (::geteuid() == 0)
        REQUIRE(::chown(home.c_str(), 1000, 1000) == 0);
    const std::string others = ::geteuid() == 0 ? home : "/usr";
    CHECK(BtfCache::folder_below(nullptr, others.c_str()).empty());
    CHECK(BtfCache::folder_below(others.c_str(), at.real.c_str()).empty());
    BtfCache(others + "/.cache/daybreak").keep("some.btf", {}, btf_of("some"));
    CHECK(!fs::exists(others + "/.cache"));
    if (::geteuid() == 0) { // our folder below another's
        fs::create_directories(home + "/.cache/daybreak");
        fs::permissions(home + "/.cache/daybreak", fs::perms::owner_all);
        BtfCache(home + "/.cache/daybreak").keep("some.btf", {}, btf_of("some"));
        CHECK(fs::is_empty(home + "/.cache/daybreak"));
    }
}

TEST_CASE("the cache keeps the kernels that were used last", "[compiler][types][btf]") {
    Fixture at;
    std::vector<std::string> files;
    for (size_t i = 0; i < BtfCache::kKernelsMax + 3; i++) {
        files.push_back(std::to_string(i) + ".btf");
        at.cache.keep(files[i], {}, btf_of("some"));
        const auto now = fs::file_time_type::clock::now();
        fs::last_write_time(at.kept + "/" + files[i], now - std::chrono::hours(100 - i));
        CHECK(at.cache.find(files[0]));
    }
    for (size_t i = 0; i < files.size(); i++)
        CHECK(fs::exists(at.kept + "/" + files[i]) == (i == 0 || i > 3));
}
