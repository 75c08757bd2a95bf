// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"
#include "formats/abi/bank.h"
#include "formats/abi/ioctl.h"
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"
#include "tests/unit/kmod/access.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr uint64_t kAddress = 0x10000000, kBytes = 1 << 20, kPage = DBK_BANK_PAGE_BYTES;
constexpr uint64_t kHalfBytes = (kBytes - kPage) / 2 / kPage * kPage;
constexpr uint64_t kBlockPages = kHalfBytes / kPage - 2;

/// Reserved memory that outlives each loading of the module.
class Memory {
public:
    Memory() { test_memory(bytes_.data(), kAddress, bytes_.size()); }

    dbk_bank_header& bank() { return *reinterpret_cast<dbk_bank_header*>(bytes_.data()); }
    dbk_bank_half& half(uint32_t half, bool copy) {
        return *reinterpret_cast<dbk_bank_half*>(bytes_.data() + kPage + half * kHalfBytes +
                                                 (copy ? kHalfBytes - kPage : 0));
    }
    std::vector<uint8_t>& bytes() { return bytes_; }

    /// A boot of this generation, as the module would have written it.
    void set_generation(uint32_t index, uint64_t generation) {
        for (bool copy : {false, true}) {
            dbk_bank_half& header = half(index, copy);
            header = {};
            header.magic = DBK_BANK_HALF_MAGIC;
            header.version = DBK_BANK_VERSION;
            header.half = static_cast<uint16_t>(index);
            header.generation = generation;
            header.crc32c = crc(&header, offsetof(dbk_bank_half, crc32c));
        }
    }
    static uint32_t crc(const void* data, size_t bytes) {
        return daybreak::base::crc32c(
            daybreak::base::ByteView(static_cast<const std::byte*>(data), bytes));
    }

private:
    std::vector<uint8_t> bytes_ = std::vector<uint8_t>(kBytes, 0x5a);
};

/// The module, loaded with daybreak.bank=1M@0x10000000.
class Loaded {
public:
    explicit Loaded(bool salvage = false, const char* bank = "1M@0x10000000") {
        test_log();
        test_bank_load(bank, salvage);
    }
    ~Loaded() { test_bank_unload(); }
    Loaded(const Loaded&) = delete;
};

dbk_pages allocated(uint64_t pages) {
    dbk_pages block{};
    REQUIRE(dbk_bank_alloc(static_cast<uint32_t>(pages * kPage), &block));
    return block;
}

bool is_zero(const dbk_pages& block) {
    auto* bytes = static_cast<const uint8_t*>(block.address);
    return std::all_of(bytes, bytes + block.bytes, [](uint8_t byte) { return byte == 0; });
}

} // namespace

TEST_CASE("a half has its header twice, each of them whole", "[kmod][bank]") {
    Memory memory;
    Loaded module;
    REQUIRE(test_bank_use() == DBK_BANK_USE_RECORDS);
    const dbk_bank_half& header = memory.half(0, false);
    CHECK(std::memcmp(&header, &memory.half(0, true), sizeof(header)) == 0);
    CHECK(header.magic == DBK_BANK_HALF_MAGIC);
    CHECK(header.crc32c == Memory::crc(&header, offsetof(dbk_bank_half, crc32c)));
    CHECK(header.generation == 1);
    CHECK(header.phys_addr == kAddress + kPage);
    CHECK(header.data_bytes == kBlockPages * kPage);
    CHECK(header.boot_id == 0x1122334455667788);
    CHECK(std::string(header.release) == "6.1.0-test");
    CHECK(header.state == DBK_BANK_RECORDING);
    CHECK(header.state_check == ~uint32_t{DBK_BANK_RECORDING});
    CHECK(memory.bank().magic == DBK_BANK_MAGIC);
    CHECK(memory.bank().half == 0);
    CHECK(memory.bank().crc32c == Memory::crc(&memory.bank(), offsetof(dbk_bank_header, crc32c)));
    // The other half is left as it was.
    CHECK(memory.half(1, false).magic == 0x5a5a5a5a);
}

TEST_CASE("the older half is overwritten, whatever was lost of either", "[kmod][bank]") {
    struct Example {
        uint64_t first, second; ///< generations; 0: nothing there
        const char* damage;
        uint32_t half;
        uint64_t generation;
    };
    auto example = GENERATE(values<Example>({
        {0, 0, "", 0, 1},
        {1, 0, "", 1, 2},
        {1, 2, "", 0, 3},
        {7, 6, "", 1, 8},
        {5, 5, "", 0, 6},
        {7, 6, "first header", 1, 8},
        {7, 6, "second header", 1, 8},
        {7, 6, "both headers", 0, 7}, // nothing says any more that half 0 is the later
        {7, 6, "both headers, the bank's knows", 1, 8},
        {7, 6, "both headers, the bank's is damaged", 0, 7},
        {7, 6, "another version's", 1, 8}, // whose checksum lies elsewhere
        {7, 6, "wrong checksums", 0, 7},
        {7, 6, "another half's", 0, 7},
    }));
    INFO(example.first << " " << example.second << " " << example.damage);
    Memory memory;
    std::string damage = example.damage;
    if (example.first != 0)
        memory.set_generation(0, example.first);
    if (example.second != 0)
        memory.set_generation(1, example.second);
    if (damage == "first header" || damage.starts_with("both"))
        memory.half(0, false).magic = 0;
    if (damage == "second header" || damage.starts_with("both"))
        memory.half(0, true).magic = 0;
    if (damage.find("bank's") != std::string::npos) {
        memory.bank() = {};
        memory.bank().magic = DBK_BANK_MAGIC;
        memory.bank().version = DBK_BANK_VERSION;
        memory.bank().generation = example.first;
        memory.bank().crc32c = Memory::crc(&memory.bank(), offsetof(dbk_bank_header, crc32c)) +
                               (damage.ends_with("damaged") ? 1 : 0);
    }
    for (bool copy : {false, true}) {
        dbk_bank_half& header = memory.half(0, copy);
        if (damage == "another version's")
            header.version++, header.crc32c = 0;
        if (damage == "wrong checksums")
            header.crc32c++;
        if (damage == "another half's")
            header.half = 1;
    }
    Loaded module;
    CHECK(memory.bank().half == example.half);
    CHECK(memory.half(example.half, false).generation == example.generation);
    CHECK(memory.half(example.half, true).generation == example.generation);
}

TEST_CASE("what a ring leaves is not found by the next boot", "[kmod][bank]") {
    Memory memory;
    Loaded module;
    dbk_pages ring = allocated(3);
    for (uint64_t page = 0; page < 3; page++)
        std::memset(static_cast<uint8_t*>(ring.address) + page * kPage, 0x44, kPage);
    auto* words = static_cast<uint32_t*>(ring.address);
    words[0] = DBK_SEGMENT_MAGIC;
    words[kPage / 4] = DBK_META_MAGIC;
    words[2 * kPage / 4] = DBK_AGGBUF_MAGIC;
    dbk_bank_free(&ring);
    for (uint64_t page = 0; page < 3; page++)
        CHECK(words[page * kPage / 4] == 0);
    // Handed out again it holds nothing of the ring before, also where only a part is used again.
    dbk_pages again = allocated(2), after = allocated(5);
    CHECK(again.address == ring.address);
    CHECK(is_zero(again));
    CHECK(is_zero(after));
    CHECK(memory.half(0, false).used_bytes == 7 * kPage);
    CHECK(memory.half(0, true).used_bytes == 7 * kPage);
    dbk_bank_free(&again);
    dbk_bank_free(&after);
    CHECK(memory.half(0, false).used_bytes == 7 * kPage);
}

TEST_CASE("what rings hold when the module goes is for the next boot", "[kmod][bank]") {
    Memory memory;
    {
        Loaded module;
        dbk_pages ring = allocated(1);
        *static_cast<uint32_t*>(ring.address) = DBK_SEGMENT_MAGIC;
        dbk_bank_leave();
        dbk_bank_free(&ring);
        CHECK(*static_cast<uint32_t*>(ring.address) == DBK_SEGMENT_MAGIC);
    }
    CHECK(memory.half(0, false).state == DBK_BANK_UNLOADED);
    CHECK(memory.half(0, true).state_check == ~uint32_t{DBK_BANK_UNLOADED});
    Loaded next;
    CHECK(memory.bank().half == 1);
}

TEST_CASE("a reader maps the other boots' halves, and nothing past them", "[kmod][bank]") {
    Memory memory;
    for (bool salvage : {false, true}) {
        Loaded module(salvage);
        for (uint32_t shown = 0; shown < (salvage ? 2 : 1); shown++) {
            CHECK(test_map_half(shown, kHalfBytes) == 0);
            CHECK(test_map_half(shown, kPage) == 0);
            CHECK(test_map_half(shown, kHalfBytes + kPage) == -EINVAL);
        }
        CHECK(test_map_half(salvage ? 2 : 1, kPage) == -ENOENT);
    }
}

TEST_CASE("a mapped block stays as it is until its last mapping has gone", "[kmod][bank]") {
    Memory memory;
    Loaded module;
    dbk_pages ring = allocated(1);
    *static_cast<uint32_t*>(ring.address) = DBK_SEGMENT_MAGIC;
    test_mapping one{kPage, nullptr}, two{kPage, nullptr};
    REQUIRE(test_map(&one, &ring) == 0);
    REQUIRE(test_map(&two, &ring) == 0);
    dbk_bank_free(&ring);
    test_unmap(&one);
    CHECK(*static_cast<uint32_t*>(ring.address) == DBK_SEGMENT_MAGIC);
    dbk_pages other = allocated(1);
    CHECK(other.address != ring.address);
    test_unmap(&two);
    CHECK(*static_cast<uint32_t*>(ring.address) == 0);
    dbk_pages again = allocated(1);
    CHECK(again.address == ring.address);
    dbk_bank_free(&again);
    dbk_bank_free(&other);
}

TEST_CASE("blocks never overlap, and all come back", "[kmod][bank]") {
    Memory memory;
    Loaded module;
    std::mt19937 random(GENERATE(1u, 2u, 3u));
    std::vector<dbk_pages> blocks;
    uint64_t free_pages = kBlockPages;
    for (int round = 0; round < 5000; round++) {
        if (random() % 2 == 0 && !blocks.empty()) {
            size_t at = random() % blocks.size();
            free_pages += blocks[at].bytes / kPage;
            dbk_bank_free(&blocks[at]);
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
            dbk_pages block{};
            uint32_t bytes = static_cast<uint32_t>((1 + random() % 20) * kPage);
            if (!dbk_bank_alloc(bytes, &block))
                continue;
            REQUIRE(is_zero(block));
            std::memset(block.address, 0xee, bytes); // an overlap does not hold zeros
            REQUIRE(block.phys_addr - kAddress ==
                    static_cast<uint64_t>(static_cast<uint8_t*>(block.address) - memory.bytes().data()));
            free_pages -= bytes / kPage;
            blocks.push_back(block);
        }
        REQUIRE(dbk_bank_free_bytes() == free_pages * kPage);
    }
    for (dbk_pages& block : blocks) {
        auto* bytes = static_cast<const uint8_t*>(block.address);
        CHECK(std::all_of(bytes, bytes + block.bytes, [](uint8_t byte) { return byte == 0xee; }));
        dbk_bank_free(&block);
    }
    CHECK(dbk_bank_free_bytes() == kBlockPages * kPage);
    CHECK(memory.half(0, true).magic == DBK_BANK_HALF_MAGIC);
    dbk_pages all = allocated(kBlockPages), more{};
    CHECK_FALSE(dbk_bank_alloc(kPage, &more));
    dbk_bank_free(&all);
    CHECK_FALSE(dbk_bank_alloc(static_cast<uint32_t>((kBlockPages + 1) * kPage), &more));
}

TEST_CASE("a large bank is written back in steps", "[kmod][bank]") {
    std::vector<uint8_t> memory(64 << 20);
    test_memory(memory.data(), kAddress, memory.size());
    Loaded module(false, "64M@0x10000000");
    std::vector<dbk_pages> blocks;
    for (int i = 0; i < 5; i++)
        blocks.push_back(allocated(1024));
    uint64_t most = test_bank_write_back();
    CHECK(most > 0);
    CHECK(most <= 4 << 20);
    for (dbk_pages& block : blocks)
        dbk_bank_free(&block);
}

TEST_CASE("how the boot ended is in both headers", "[kmod][bank]") {
    Memory memory;
    Loaded module;
    uint32_t unsafe = test_seals_outside_rcu();
    SECTION("in order") {
        test_reboot(1);
        CHECK(memory.half(0, false).state == DBK_BANK_IN_ORDER);
        CHECK(memory.half(0, true).state == DBK_BANK_IN_ORDER);
        // Rings may be closed meanwhile; a reader of RCU is waited for.
        CHECK(test_seals_outside_rcu() == unsafe);
    }
    SECTION("panic") {
        test_panic("nothing works");
        for (bool copy : {false, true}) {
            CHECK(memory.half(0, copy).state == DBK_BANK_PANIC);
            CHECK(memory.half(0, copy).state_check == ~uint32_t{DBK_BANK_PANIC});
        }
    }
}

TEST_CASE("salvage writes nothing", "[kmod][bank]") {
    Memory memory;
    memory.set_generation(1, 3);
    std::vector<uint8_t> before = memory.bytes();
    {
        Loaded module(true);
        CHECK(test_bank_use() == DBK_BANK_USE_SALVAGE);
        dbk_pages none{};
        CHECK_FALSE(dbk_bank_alloc(kPage, &none));
    }
    CHECK(memory.bytes() == before);
}

TEST_CASE("a bank lies where it was said, or not at all", "[kmod][bank]") {
    struct Example {
        const char *text, *reason; ///< a part of the refusal; "": taken
    };
    auto example = GENERATE(values<Example>({
        {"1M@0x10000000", ""},
        {"1M$0x10000000", ""},
        {"0x10000000,1M", ""},
        {"1024K@256M", ""},
        {"0xff000@0x10000000", "a bank has 1 MiB to 1 TiB"},
        {"2T@0x10000000", "a bank has 1 MiB to 1 TiB"},
        {"1M@0x10000100", "begin and end with a page"},
        {"0x100001@0x10000000", "begin and end with a page"},
        {"1M@0", "there is no memory"},
        {"1M@0xfffffffffff00000", "there is no memory"},
        {"2M@0xfffffffffff00000", "there is no memory"},
        {"16Mb", "is neither SIZE@ADDRESS"},
        {"1M@0x10000000x", "is neither SIZE@ADDRESS"},
        {"recorder", "reserves no memory by name"},
        {"2M@0x10000000", "cannot be mapped"},
    }));
    INFO(example.text);
    Memory memory;
    Loaded module(false, example.text);
    std::string reason = test_bank_reason();
    if (std::string(example.reason).empty()) {
        CHECK(test_bank_use() == DBK_BANK_USE_RECORDS);
        CHECK(test_bank_address() == kAddress);
        CHECK(test_bank_bytes() == kBytes);
    } else {
        CHECK(test_bank_use() == DBK_BANK_USE_REFUSED);
        CHECK(reason.find(example.reason) != std::string::npos);
    }
}

TEST_CASE("memory of others is left alone", "[kmod][bank]") {
    Memory memory;
    std::vector<uint8_t> before = memory.bytes();
    auto [used, claimed, ram, reason] = GENERATE(table<bool, bool, bool, std::string>(
        {{true, false, true, "is memory that the kernel uses"},
         {false, true, true, "another user has claimed that memory"},
         {false, false, false, "is not all memory"}}));
    test_memory_facts(used, claimed, ram);
    {
        Loaded module;
        CHECK(test_bank_use() == DBK_BANK_USE_REFUSED);
        CHECK(std::string(test_bank_reason()).find(reason) != std::string::npos);
    }
    CHECK(memory.bytes() == before);
}
