// SPDX-License-Identifier: Apache-2.0
//
// Types that were unpacked before: what is taken again, and what is not trusted.
#include "compiler/types/btf_cache.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "tests/unit/compiler/btf_builder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
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
    const std::string image = folder.at("image"), kept = folder.at("cache/daybreak");
    BtfCache cache{kept};

    Fixture() { write(image, btf_of("first")); }
    BtfId id() const {
        BtfKernelTypes kernel({.file = image, .cache = kept});
        return *kernel.id();
    }
};

} // namespace

TEST_CASE("types are unpacked once for each image", "[compiler][types][btf]") {
    Fixture at;
    const BtfId real = at.id();
    const std::string file = at.cache.file_for(at.image);
    REQUIRE(at.cache.find(file));
    CHECK(at.cache.find(file)->id == real);
    CHECK(at.cache.find(file)->btf == btf_of("first"));
    CHECK(fs::status(file).permissions() == fs::perms(0600));
    CHECK(fs::status(at.kept).permissions() == fs::perms(0700));

    BtfId other = real; // to be seen when it is taken from there
    other[0] ^= 1;
    at.cache.keep(file, other, btf_of("second"));
    CHECK(at.id() == other);
    BtfKernelTypes kernel({.file = at.image, .cache = at.kept});
    CHECK((*kernel.vmlinux())->find(BtfKind::struct_, "second") != 0);

    write(at.image, btf_of("third")); // another image in its place
    CHECK(at.cache.file_for(at.image) != file);
    CHECK(at.id() != other);
    CHECK(at.id() != real);
}

TEST_CASE("what is damaged or another's is not taken from the cache", "[compiler][types][btf]") {
    Fixture at;
    at.id();
    const std::string file = at.cache.file_for(at.image);
    const base::Bytes whole = *base::read_file(file);
    auto found_with = [&](base::Bytes bytes) {
        write(file, bytes);
        return at.cache.find(file).has_value();
    };
    CHECK(found_with(whole));
    for (size_t i = 0; i < whole.size(); i++) {
        base::Bytes damaged = whole;
        damaged[i] ^= std::byte{1};
        CHECK(!found_with(damaged));
        CHECK(!found_with({whole.begin(), whole.begin() + i}));
    }
    CHECK(found_with(whole));
    for (const std::string& path : {file, at.kept}) {
        const fs::perms own = fs::status(path).permissions();
        fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
        CHECK(!at.cache.find(file));
        fs::permissions(path, own);
    }
    CHECK(at.cache.find(file));
    if (::geteuid() == 0) {
        const std::string home = at.folder.at("home");
        REQUIRE(fs::create_directory(home));
        REQUIRE(::chown(home.c_str(), 1000, 1000) == 0);
        const BtfCache others(home + "/.cache/daybreak");
        others.keep(others.file_for(at.image), {}, btf_of("some"));
        CHECK(fs::is_empty(home));
    }
    CHECK(BtfCache("").file_for(at.image).empty());
    CHECK(at.cache.file_for(at.folder.at("none")).empty());
    CHECK(at.cache.file_for(at.kept).empty());
}

TEST_CASE("the cache keeps the kernels that were used last", "[compiler][types][btf]") {
    Fixture at;
    std::vector<std::string> files;
    for (size_t i = 0; i < BtfCache::kKernelsMax + 3; i++) {
        files.push_back(at.kept + "/" + std::to_string(i) + ".btf");
        at.cache.keep(files[i], {}, btf_of("some"));
        const auto now = fs::file_time_type::clock::now();
        fs::last_write_time(files[i], now - std::chrono::hours(100 - i));
        CHECK(at.cache.find(files[0]));
    }
    for (size_t i = 0; i < files.size(); i++)
        CHECK(fs::exists(files[i]) == (i == 0 || i > 3));
}
