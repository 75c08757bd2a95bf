// SPDX-License-Identifier: Apache-2.0
#include "analyze/replay/common_symbols.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

struct Boot {
    formats::SymbolTable symbols;

    Boot(uint64_t base, bool is_other_module) {
        symbols.add(base, 'T', "vfs_read", "vmlinux");
        symbols.add(base + 0x100, 'T', "vfs_write", "vmlinux");
        symbols.add(base + 0x200, 'B', "_end", "vmlinux");
        symbols.add(0xffffffffc0000000, 't', "start", is_other_module ? "ext4" : "xfs");
        symbols.finish();
    }
};

std::string text(const CommonSymbols& common, uint64_t address) {
    auto match = common.symbols().find(address);
    return match ? std::string(match->module) + "`" + std::string(match->name) + "+" +
                       std::to_string(match->offset_bytes)
                 : "?";
}

} // namespace

TEST_CASE("a function of two boots is one address, another at its place is another", "[replay]") {
    Boot a(0xffffffff81000000, false), b(0xffffffff96000000, true);
    CommonSymbols common({&a.symbols, &b.symbols});
    uint64_t read = common.common(0, 0xffffffff81000012);
    CHECK(common.common(1, 0xffffffff96000012) == read);
    CHECK(common.common(0, 0xffffffff81000012) == read);
    CHECK(text(common, read) == "vmlinux`vfs_read+18");
    uint64_t write = common.common(1, 0xffffffff96000100);
    CHECK(text(common, write) == "vmlinux`vfs_write+0");
    CHECK(common.common(0, 0xffffffff81000100) == write);
    uint64_t xfs = common.common(0, 0xffffffffc0000004), ext4 = common.common(1, 0xffffffffc0000004);
    CHECK(xfs != ext4);
    CHECK(text(common, xfs) == "xfs`start+4");
    CHECK(text(common, ext4) == "ext4`start+4");
}

TEST_CASE("an address without a name stays what it is", "[replay]") {
    Boot a(0xffffffff81000000, false);
    formats::SymbolTable none;
    CommonSymbols common({&a.symbols, &none});
    CHECK(common.common(0, 0xffffffff81000300) == 0xffffffff81000300); // after the end
    CHECK(common.common(1, 0xffffffff81000012) == 0xffffffff81000012);
    CHECK(text(common, common.common(0, 0xffffffff81000000)) == "vmlinux`vfs_read+0");
    CHECK(text(common, 0xffffffff81000300) == "?");
}
