// SPDX-License-Identifier: Apache-2.0
//
// Addresses of two processes that loaded one library at two places.
#include "analyze/replay/canonical.hpp"

#include "analyze/symbols/address_names.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

/// Process N has libc.so.6 at N * 0x10000000, a function from 0x1000 to 0x1fff there, and at half
/// of that a file of which the kernel did not know the build.
class Processes : public UserNames {
public:
    std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                  std::optional<uint64_t>) override {
        uint64_t start = pid * 0x10000000;
        if (address < start / 2)
            return std::nullopt;
        UserPlace place;
        place.object = address < start ? "unknown" : "libc.so.6";
        place.file_offset = address - start;
        if (address < start)
            return place;
        place.build_id = std::string(20, 'x');
        if (place.file_offset / 0x1000 == 1) {
            place.symbol = "_ZN1a1bEv";
            place.symbol_offset = place.file_offset - 0x1000;
        }
        return place;
    }
};

} // namespace

TEST_CASE("addresses of two processes in one file are one place, with its functions",
          "[replay][files]") {
    Processes processes;
    MappedFiles files(&processes);
    CHECK(files.find(2, 0x20001004)->offset == 0x1004);
    CHECK(files.find(1, 0x10001010)->offset == 0x1010);
    CHECK(files.find(1, 0x10002000)->offset == 0x2000); // where the function's last call returns to
    CHECK(files.find(1, 0x10003000)->build_id == std::string(20, 'x'));
    CHECK_FALSE(files.find(1, 0x8000000)); // no build id
    CHECK_FALSE(files.find(1, 0x10));
    CHECK_FALSE(files.find(1, 0x10000000 + formats::kImageBytesMax));
    std::vector<formats::StateImage> images(1);
    std::vector<formats::StateSymbol> symbols;
    files.put(images, symbols);
    REQUIRE(images.size() == 2);
    CHECK(images[1].name == "libc.so.6");
    CHECK(images[1].size_bytes == 0x3001);
    CHECK(images[1].is_file);
    REQUIRE(symbols.size() == 1);
    CHECK(symbols[0].frame.image == 1u);
    CHECK(symbols[0].frame.offset == 0x1000);
    CHECK(symbols[0].bytes == 0x1000);
    CHECK_FALSE(MappedFiles(nullptr).find(1, 0x10001000));

    FileNames merged;
    merged.add_file(0xf000, images[1].size_bytes, "other-name.so");
    merged.add_file(0xf000, images[1].size_bytes, images[1].name);
    merged.add_function(0xf000 + symbols[0].frame.offset, symbols[0].bytes, symbols[0].name);
    AddressNames names(nullptr, &merged);
    CHECK(names.user_location(7, 0xf000 + 0x1004) == "libc.so.6`a::b()+0x4");
    CHECK(names.user_location(7, 0xf000 + 0x2011) == "libc.so.6:0x2011"); // not met: not known
    CHECK(names.user_location(7, 0xf000 + 0x2000, true) == "libc.so.6`a::b()+0x1000");
    CHECK(names.user_module(7, 0xf000) == "libc.so.6");
    CHECK(names.user_location(7, 0xf000 + 0x3001) == "0x12001");
    CHECK(names.user_location(7, 0xefff) == "0xefff");
    merged.add_address(7, 0x20001004, 0xf000 + 0x1004);
    CHECK(names.user_location(7, 0x20001004) == "libc.so.6`a::b()+0x4");
    merged.add_address(7, 0x20002000, 0xf000 + 0x2000);
    CHECK(names.user_location(7, 0x20002000, true) == "libc.so.6`a::b()+0x1000");
    KeyTimes keys;
    CHECK(names.user_symbol_start(7, 0x20001004, keys) == 0x20001000);
    CHECK(names.user_module_start(7, 0x20001004, keys) == 0x20000000);
    CHECK(names.user_location(8, 0x20001004) == "0x20001004");
    merged.add_address(7, 0x20001004, 0xf000 + 0x1005);
    CHECK(names.user_location(7, 0x20001004) == "0x20001004");
}
