// SPDX-License-Identifier: Apache-2.0
//
// Two boots of one kernel, with other bases: the same keys, and back to each boot's addresses.
#include "analyze/replay/canonical.hpp"
#include "analyze/replay/kernel_images.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;
using formats::StateImage;

namespace {

constexpr uint64_t kKernelBase = 0xffffffff81000000, kModuleBase = 0xffffffffc0100000;

/// A kernel that lay `slide` further up, and its module, which lay `module_slide` further up.
struct Boot {
    formats::SymbolTable symbols;
    std::vector<formats::ModuleInfo> modules;
    uint64_t slide, module_slide;

    Boot(uint64_t kernel, uint64_t module) : slide(kernel), module_slide(module) {
        auto add = [&](uint64_t address, char type, const char* name, const char* of) {
            symbols.add(address, type, name, of);
        };
        add(kKernelBase + slide, 'T', "_text", "vmlinux");
        add(kKernelBase + slide, 'T', "_stext", "vmlinux");
        add(kKernelBase + slide + 0x1000, 't', "vfs_read", "vmlinux");
        add(kKernelBase + slide + 0x8000, 'D', "jiffies", "vmlinux");
        add(kKernelBase + slide + 0x9000, 'B', "_end", "vmlinux");
        add(kModuleBase + module_slide, 't', "ext4_a", "ext4");
        add(kModuleBase + module_slide + 0x1010, 't', "ext4_z", "ext4");
        add(kModuleBase + module_slide + 0x3000, 'r', "ext4_constant", "ext4");
        add(kModuleBase + module_slide + 0x4000, 't', "jbd2_a", "jbd2");
        symbols.finish();
        modules = {{"vmlinux", 0, 0, base::Bytes(20, std::byte{1})},
                   {"ext4", kModuleBase + module_slide, 0x100000, base::Bytes(20, std::byte{2})},
                   {"jbd2", kModuleBase + module_slide + 0x4000, 0x1000, {}},
                   {"hidden", 0, 0x1000, base::Bytes(20, std::byte{3})}};
    }

    std::vector<StateImage> images() const { return kernel_images(modules, symbols); }

    /// The canonical key of one member.
    base::Bytes key_of(ValueKind kind, std::vector<uint64_t> words) const {
        Value member;
        member.type.kind = kind;
        member.data = std::as_bytes(std::span(words));
        std::vector<StateImage> all = images();
        formats::CanonicalKey key;
        KernelAddresses addresses;
        MappedFiles files(nullptr);
        REQUIRE(make_canonical({member}, all, ImageIndex(all), key, addresses, files).ok());
        return base::Bytes(key.bytes().begin(), key.bytes().end());
    }
};

} // namespace

TEST_CASE("images are what lies together: the kernel to its end, modules to their last function",
          "[replay][merge]") {
    Boot boot(0, 0);
    std::vector<StateImage> images = boot.images();
    REQUIRE(images.size() == 2); // of others build id or place is not known
    CHECK(images[0].base_address == kKernelBase);
    CHECK(images[0].size_bytes == 0x9000);
    CHECK(images[1].base_address == kModuleBase);
    CHECK(images[1].size_bytes == 0x2000);
    CHECK(kernel_images(boot.modules, {}).empty());
    boot.modules[1].size_bytes = 0x1800; // as long as the kernel says, at most
    CHECK(boot.images()[1].size_bytes == 0x1800);
}

TEST_CASE("a kernel's frames have the same bytes in two boots", "[replay][merge]") {
    Boot one(0, 0), other(0x12c00000, 0x7000);
    auto words = [](const Boot& boot) {
        return std::vector<uint64_t>{kKernelBase + boot.slide + 0x1010,
                                     kModuleBase + boot.module_slide + 0x1018};
    };
    for (ValueKind kind : {ValueKind::stack, ValueKind::symbol, ValueKind::module}) {
        std::vector<uint64_t> here = words(one), there = words(other);
        here.resize(kind == ValueKind::stack ? 2 : 1);
        there.resize(here.size());
        CHECK(one.key_of(kind, here) == other.key_of(kind, there));
        CHECK(one.key_of(kind, here) != other.key_of(kind, here));
    }
    // What no image has stays an address, and says so: the frame begins with a 0.
    for (uint64_t address : {kModuleBase + 0x2000, kModuleBase + 0x4000, kKernelBase + 0x9000}) {
        base::Bytes key = one.key_of(ValueKind::symbol, {address});
        REQUIRE(key.size() == 5 + 9);
        CHECK(key[5] == std::byte{0});
        CHECK(base::load<uint64_t>(key.data() + 6) == address);
    }
}

TEST_CASE("of one boot a key becomes the addresses that it was made of", "[replay][merge]") {
    Boot boot(0x12c00000, 0x7000);
    std::vector<uint64_t> words{kKernelBase + boot.slide + 0x1010,
                                kModuleBase + boot.module_slide + 0x1018,
                                kModuleBase + boot.module_slide + 0x4000};
    base::Bytes canonical = boot.key_of(ValueKind::stack, words);
    AggregationLayout layout;
    layout.keys.push_back({ValueKind::stack, 0, DTRACEACT_STACK, false});
    FramePlaces places;
    places.add(1, boot.images());
    bool has_two = GENERATE(false, true);
    if (has_two)
        places.add(2, Boot(0, 0).images());
    places.finish();
    AggregationKey key;
    FileNames files;
    auto same = [](formats::KeyTag, uint64_t address, bool) { return address; };
    REQUIRE(make_table_key(canonical, layout, places, same, files, key).ok());
    base::ByteView bytes = key.bytes().last(words.size() * sizeof(uint64_t));
    for (size_t i = 0; i < words.size(); i++)
        CHECK((base::load<uint64_t>(bytes.data() + i * 8) == words[i]) == (!has_two || i == 2));
}

TEST_CASE("of several boots what has no image has the place of its names", "[replay][merge]") {
    PlacesByName places, others;
    const uint64_t one = places.symbol("ext4", "ext4_sync"),
                   two = places.symbol("xfs", "ext4_sync");
    CHECK(one != two);
    CHECK(places.symbol("ext4", "ext4_sync") == one);
    // A module lies below its functions: of them all, mod() has the first.
    CHECK(places.module("ext4") < one);
    // The places come of the names, not of the order in which these are asked for.
    CHECK(others.module("xfs") == places.module("xfs"));
    CHECK(others.symbol("xfs", "ext4_sync") == two);
    CHECK(others.symbol("ext4", "ext4_sync") == one);
}
