// SPDX-License-Identifier: Apache-2.0
//
// Two boots of one kernel, and two processes that loaded one library at two places.
#include "analyze/replay/common_places.hpp"

#include "analyze/symbols/address_names.hpp"
#include "tests/support/maps_block.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

/// A kernel with a module.  Of the module no build id is known.
formats::Trace boot(uint64_t base, bool is_other_module, uint8_t build_id = 0) {
    formats::Trace trace;
    formats::SymbolTable& symbols = trace.symbols;
    symbols.add(base, 'T', "_text", "vmlinux");
    symbols.add(base + 0x1000, 'T', "vfs_read", "vmlinux");
    symbols.add(base + 0x1100, 'T', "vfs_write", "vmlinux");
    symbols.add(base + 0x1200, 'B', "_end", "vmlinux");
    symbols.add(0xffffffffc0000000, 't', "start", is_other_module ? "ext4" : "xfs");
    symbols.finish();
    if (build_id != 0)
        trace.header.modules = {{"vmlinux", 0, 0, base::Bytes(20, std::byte{build_id})}};
    return trace;
}

std::string text(CommonPlaces& common, uint64_t address) {
    common.settle();
    auto match = common.symbols().find(address);
    return match ? std::string(match->module) + "`" + std::string(match->name) + "+" +
                       std::to_string(match->offset_bytes)
                 : "?";
}

constexpr uint64_t kA = 0xffffffff81000000, kB = 0xffffffff96000000;

} // namespace

TEST_CASE("a function of two boots is one address, another at its place is another", "[replay]") {
    uint8_t build_id = GENERATE(0, 7);
    formats::Trace a = boot(kA, false, build_id), b = boot(kB, true, build_id);
    CommonPlaces common({{&a, nullptr}, {&b, nullptr}});
    uint64_t read = common.kernel(0, kA + 0x1012);
    CHECK(common.kernel(1, kB + 0x1012) == read);
    CHECK(common.kernel(0, kA + 0x1012) == read);
    CHECK(text(common, read) == "vmlinux`vfs_read+18");
    uint64_t write = common.kernel(1, kB + 0x1100);
    CHECK(text(common, write) == "vmlinux`vfs_write+0");
    CHECK(common.kernel(0, kA + 0x1100) == write);
    uint64_t xfs = common.kernel(0, 0xffffffffc0000004),
             ext4 = common.kernel(1, 0xffffffffc0000004);
    CHECK(xfs != ext4);
    CHECK(text(common, xfs) == "xfs`start+4");
    CHECK(text(common, ext4) == "ext4`start+4");
    AddressNames names(&common.symbols());
    CHECK(names.module_start(write) == names.module_start(read));
    CHECK(names.module(names.module_start(read)) == "vmlinux");
    CHECK(names.module(names.module_start(ext4)) == "ext4");
}

TEST_CASE("an image's place comes of its build id, whichever recording came first", "[replay]") {
    formats::Trace a = boot(kA, false, 9), b = boot(kB, false, 5);
    CommonPlaces common({{&a, nullptr}, {&b, nullptr}}), turned({{&b, nullptr}, {&a, nullptr}});
    uint64_t of_a = common.kernel(0, kA + 0x1000), of_b = common.kernel(1, kB + 0x1000);
    CHECK(of_b != of_a);
    CHECK(turned.kernel(0, kB + 0x1000) == of_b);
    CHECK(turned.kernel(1, kA + 0x1000) == of_a);
}

TEST_CASE("an address without a name stays what it is", "[replay]") {
    formats::Trace a = boot(kA, false), none;
    CommonPlaces common({{&a, nullptr}, {&none, nullptr}});
    CHECK(common.kernel(0, kA + 0x1300) == kA + 0x1300); // after the end
    CHECK(common.kernel(1, kA + 0x1012) == kA + 0x1012);
    CHECK(text(common, common.kernel(0, kA + 0x1000)) == "vmlinux`vfs_read+0");
    CHECK(text(common, kA + 0x1300) == "?");
}

namespace {

/// A boot in which process 7 has /lib/libNAME.so there.
formats::Trace process(char name, uint64_t begin, uint16_t build_id_bytes = 20) {
    formats::Trace trace;
    test::MapsBlock maps;
    uint32_t file =
        maps.file(std::string("/lib/lib") + name + ".so", std::string(build_id_bytes, name));
    maps.image(7, 100);
    maps.mapping(7, 100, begin, begin + 0x2000, 0x1000, file);
    CHECK(trace.recording.maps.add(maps.bytes()) == "");
    trace.recording.maps.finish();
    return trace;
}

} // namespace

TEST_CASE("a place in a file is one address, wherever processes have it", "[replay]") {
    formats::Trace a = process('x', 0x10000), b = process('x', 0x70000), c = process('a', 0x10000),
                   unknown = process('x', 0x10000, 0);
    RecordedNames of_a(a.recording.maps, {}), of_b(b.recording.maps, {}),
        of_c(c.recording.maps, {}), of_unknown(unknown.recording.maps, {});
    CommonPlaces common(
        {{&a, &of_a}, {&b, &of_b}, {&c, &of_c}, {&unknown, &of_unknown}, {&a, nullptr}});
    uint64_t place = common.user(0, 7, 0x10234, 200);
    CHECK(place != 0x10234);
    CHECK(common.user(1, 7, 0x70234, 200) == place);
    uint64_t other = common.user(2, 7, 0x10234, 200);
    CHECK(other != place); // another build
    AddressNames names(nullptr, &common.users());
    CHECK(names.user_location(7, place) == "libx.so:0x1234");
    CHECK(names.user_location(7, other) == "liba.so:0x1234");
    KeyTimes keys;
    CHECK(names.user_module(7, names.user_module_start(7, place, keys)) == "libx.so");
    CHECK(common.user(0, 8, 0x10234, 200) == 0x10234); // another process
    CHECK(common.user(0, 7, 0x12345, 200) == 0x12345); // not mapped
    CHECK(common.user(3, 7, 0x10234, 200) == 0x10234); // no build id
    CHECK(common.user(4, 7, 0x10234, 200) == 0x10234); // no maps
    CHECK(names.user_location(7, 0x10234) == "0x10234");
    CHECK(common.users().line(7, place, false, std::nullopt).empty());
    CHECK(common.users().line(7, place + 1, false, std::nullopt).empty());
}

TEST_CASE("of one recording a module begins where its code does in each process", "[replay]") {
    formats::Trace trace;
    test::MapsBlock maps;
    const uint32_t file = maps.file("/lib/libx.so");
    // The file's first byte would be at 0xf000 in both.
    for (auto [pid, begin] : {std::pair(7u, 0x10000ull), std::pair(8u, 0xf000ull)}) {
        maps.image(pid, 100);
        maps.mapping(pid, 100, begin, 0x12000, begin - 0xf000, file);
    }
    CHECK(trace.recording.maps.add(maps.bytes()) == "");
    trace.recording.maps.finish();
    RecordedNames users(trace.recording.maps, {});
    CommonPlaces common({{&trace, &users}});
    AddressNames names(nullptr, &common.users());
    KeyTimes keys;
    for (auto [pid, begin] : {std::pair(7u, 0x10000ull), std::pair(8u, 0xf000ull)}) {
        const uint64_t place = common.user(0, pid, 0x10234, 200);
        auto found =
            common.users().find(pid, names.user_module_start(pid, place, keys), std::nullopt);
        REQUIRE(found);
        CHECK(found->address == begin);
        CHECK(common.users().find(pid, place, std::nullopt)->address == 0x10234);
    }
}
