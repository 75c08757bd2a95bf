// SPDX-License-Identifier: Apache-2.0
#include "formats/bank/bank.hpp"
#include "tests/support/bank_builder.hpp"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using test::BankImage;

namespace {

BankImage two_boots() {
    BankImage image;
    image.put(0, {.generation = 4, .boot_id = 4});
    image.put(1, {.generation = 5, .boot_id = 5});
    return image;
}

/// The code of what parse_bank() or parse_bank_half() refused.
template <typename T>
ErrorCode code_of(const Result<T>& result) {
    REQUIRE(!result.ok());
    return result.error().code();
}

} // namespace

TEST_CASE("the worked example of bank.md says what its text says", "[bank][spec]") {
    base::Bytes bytes = test::spec_example("formats/abi/bank.md", "## Worked example");
    REQUIRE(bytes.size() == sizeof(dbk_bank_header) + sizeof(dbk_bank_half));
    base::Bytes image(16u << 20);
    uint64_t half_bytes = 8384512;
    std::copy(bytes.begin(), bytes.begin() + 64, image.begin());
    std::copy(bytes.begin() + 64, bytes.end(),
              image.begin() + static_cast<ptrdiff_t>(4096 + half_bytes));
    Result<Bank> bank = parse_bank(image);
    REQUIRE(bank.ok());
    CHECK(bank->bank_bytes == 16u << 20);
    REQUIRE(bank->halves.size() == 1);
    const BankHalf& half = bank->halves[0];
    CHECK(half.half == 1);
    CHECK(half.generation == 3);
    CHECK(half.phys_addr == 0x10000000 + 4096 + half_bytes);
    CHECK(half.blocks_phys_addr == half.phys_addr + 4096);
    CHECK(half.blocks.size() == half_bytes - 8192);
    CHECK(half.boot_id == 0x1122334455667788);
    CHECK(half.release == "6.1.0-56-amd64");
    CHECK(half.module_version == "0.1.0");
    CHECK(half.state == DBK_BANK_RECORDING);
    CHECK(half.used_bytes == 4104u << 10);
    CHECK(half.start_mono_ns == 250'000'000);
    REQUIRE(bank->others.size() == 1);
    CHECK(bank->others[0].error.code() == ErrorCode::not_found);
    CHECK(bank->findings.count() == 0);
}

TEST_CASE("the later half comes first", "[bank]") {
    BankImage image = two_boots();
    Result<Bank> bank = parse_bank(image.bytes());
    REQUIRE(bank.ok());
    REQUIRE(bank->halves.size() == 2);
    CHECK(bank->halves[0].boot_id == 5);
    CHECK(bank->halves[1].boot_id == 4);
    CHECK(bank->findings.count() == 0);
}

TEST_CASE("one half alone is an image as well", "[bank]") {
    BankImage image = two_boots();
    Result<Bank> bank = parse_bank(image.half_image(0));
    REQUIRE(bank.ok());
    REQUIRE(bank->halves.size() == 1);
    CHECK(bank->bank_bytes == 0);
    CHECK(bank->halves[0].boot_id == 4);
}

TEST_CASE("a page that firmware overwrote costs no header", "[bank]") {
    BankImage image = two_boots();
    const dbk_bank_header& header = image.header();
    SECTION("the bank's own") {
        image.scribble(0);
    }
    SECTION("the bank's own, partly") {
        image.at(0)[20] ^= std::byte{1};
    }
    SECTION("the first page of a half") {
        image.scribble(header.half_offset[1]);
    }
    SECTION("the last page of a half") {
        image.scribble(header.half_offset[1] + header.half_bytes - 4096);
    }
    SECTION("the bank's own and the first pages of both halves") {
        image.scribble(0);
        image.scribble(header.half_offset[0]);
        image.scribble(header.half_offset[1]);
    }
    Result<Bank> bank = parse_bank(image.bytes());
    REQUIRE(bank.ok());
    REQUIRE(bank->halves.size() == 2);
    CHECK(bank->halves[0].boot_id == 5);
    CHECK_FALSE(bank->findings.any_loss());
}

TEST_CASE("both headers of a half gone: that half is refused, the other is read", "[bank]") {
    BankImage image = two_boots();
    image.scribble(image.header().half_offset[1]);
    image.scribble(image.header().half_offset[1] + image.header().half_bytes - 4096);
    Result<Bank> bank = parse_bank(image.bytes());
    REQUIRE(bank.ok());
    REQUIRE(bank->halves.size() == 1);
    CHECK(bank->halves[0].boot_id == 4);
    REQUIRE(bank->others.size() == 1);
    CHECK(bank->others[0].half == 1);
}

TEST_CASE("what is not a bank is said", "[bank]") {
    CHECK(code_of(parse_bank({})) == ErrorCode::not_found);
    CHECK(code_of(parse_bank(base::Bytes(100))) == ErrorCode::not_found);
    CHECK(code_of(parse_bank(base::Bytes(2u << 20))) == ErrorCode::not_found);
    CHECK(code_of(parse_bank(base::Bytes(2u << 20, std::byte{0x5a}))) == ErrorCode::not_found);
    CHECK(code_of(parse_bank_half({})) == ErrorCode::not_found);
    CHECK(code_of(parse_bank_half(base::Bytes(9000))) == ErrorCode::not_found);
    BankImage fresh;
    fresh.put_bank(fresh.header());
    CHECK(code_of(parse_bank(fresh.bytes())) == ErrorCode::not_found);
}

TEST_CASE("another version of the bank or of a half is refused", "[bank]") {
    BankImage image = two_boots();
    SECTION("of the bank") {
        dbk_bank_header header = image.header();
        header.version = 2;
        image.put_bank(header);
        CHECK(code_of(parse_bank(image.bytes())) == ErrorCode::unsupported);
    }
    SECTION("of a half") {
        dbk_bank_half half = image.half_header(1);
        half.version = 2;
        image.put_half(1, half);
        CHECK(code_of(parse_bank_half(image.half_image(1))) == ErrorCode::unsupported);
        Result<Bank> bank = parse_bank(image.bytes());
        REQUIRE(bank.ok());
        CHECK(bank->halves.size() == 1);
        REQUIRE(bank->others.size() == 1);
        CHECK(bank->others[0].error.code() == ErrorCode::unsupported);
    }
}

TEST_CASE("a half that contradicts itself or its place is refused", "[bank]") {
    BankImage image = two_boots();
    dbk_bank_half half = image.half_header(1);
    SECTION("size") {
        half.half_bytes += 4096;
        half.data_bytes += 4096;
    }
    SECTION("room for blocks") {
        half.data_bytes = ~uint64_t{0};
    }
    SECTION("where blocks begin") {
        half.data_offset = 1;
    }
    SECTION("which half") {
        half.half = 0;
    }
    SECTION("no such half") {
        half.half = 2;
    }
    SECTION("generation") {
        half.generation = 0;
    }
    SECTION("address") {
        half.phys_addr += 4096;
    }
    image.put_half(1, half);
    Result<Bank> bank = parse_bank(image.bytes());
    REQUIRE(bank.ok());
    CHECK(bank->halves.size() == 1);
    REQUIRE(bank->others.size() == 1);
    CHECK(bank->others[0].error.code() == ErrorCode::corrupt);
}

TEST_CASE("a state that is not known is not reported", "[bank]") {
    BankImage image = two_boots();
    dbk_bank_half half = image.half_header(1);
    SECTION("its check does not hold") {
        half.state_check = 0;
    }
    SECTION("a value that has no meaning") {
        half.state = 77;
        half.state_check = ~77u;
    }
    half.used_bytes = 17; // not a number of pages
    image.put_half(1, half);
    Result<BankHalf> read = parse_bank_half(image.half_image(1));
    REQUIRE(read.ok());
    CHECK(read->state == 0);
    CHECK(read->used_bytes == half.data_bytes);
    CHECK(std::string(bank_state_text(0)) == "how it ended is not known");
    CHECK(std::string(bank_state_text(DBK_BANK_PANIC)) == "the kernel panicked");
}

TEST_CASE("an image that was cut has what it has", "[bank]") {
    BankImage image = two_boots();
    base::ByteView whole(image.bytes());
    for (size_t bytes = 0; bytes < whole.size(); bytes += 1000) {
        Result<Bank> bank = parse_bank(whole.first(bytes));
        if (!bank.ok())
            continue;
        for (const BankHalf& half : bank->halves) {
            CHECK(half.blocks.size() <= bytes);
            CHECK((half.cut || half.blocks.size() == half.half_bytes - 8192));
        }
    }
    Result<Bank> bank = parse_bank(whole.first(image.header().half_offset[1] + 10000));
    REQUIRE(bank.ok());
    REQUIRE(bank->halves.size() == 2);
    CHECK(bank->halves[0].cut);
    CHECK(bank->findings.any_loss());
}

TEST_CASE("one changed bit of a half's header costs the header, not the half", "[bank]") {
    for (size_t byte = 0; byte < offsetof(dbk_bank_half, crc32c) + 4; byte++) {
        BankImage image = two_boots();
        image.at(image.header().half_offset[1])[byte] ^= std::byte{0x20};
        Result<BankHalf> half = parse_bank_half(image.half_image(1));
        if (!half.ok()) { // of another version, says its header
            CHECK(half.error().code() == ErrorCode::unsupported);
            continue;
        }
        CHECK(half->from_copy);
        CHECK(half->boot_id == 5);
        CHECK(half->release == "6.1.0-test");
    }
}

TEST_CASE("the copy of a header counts for a half of its size alone", "[bank]") {
    BankImage image = two_boots(), larger(DBK_BANK_BYTES_MIN * 2);
    larger.put(1, {.generation = 9, .boot_id = 9});
    dbk_bank_half other = larger.half_header(1);
    uint64_t begin = image.header().half_offset[1];
    image.scribble(begin);
    std::memcpy(image.at(begin + image.header().half_bytes - 4096), &other, sizeof(other));
    CHECK(code_of(parse_bank_half(image.half_image(1))) == ErrorCode::not_found);
}
