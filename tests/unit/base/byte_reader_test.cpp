// SPDX-License-Identifier: Apache-2.0
#include "base/byte_reader.hpp"

#include "base/short_string.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::base;

TEST_CASE("reading past the end is an error that says how much is there", "[base]") {
    ByteReader reader(as_bytes("abcd"), "header");
    REQUIRE(reader.read<uint16_t>().value() == 0x6261);
    auto wide = reader.read<uint64_t>();
    REQUIRE_FALSE(wide.ok());
    CHECK(wide.error().code() == ErrorCode::truncated);
    CHECK(wide.error().message() == "header: needs 8 bytes at offset 2, has 4 in all");
    CHECK(reader.offset() == 2);
}

TEST_CASE("an offset and a length that overflow together are refused", "[base]") {
    ByteReader reader(as_bytes("abcd"));
    CHECK_FALSE(reader.bytes_at(2, UINT64_MAX).ok());
    CHECK_FALSE(reader.bytes_at(UINT64_MAX, 2).ok());
    CHECK(reader.bytes_at(4, 0).ok());
    CHECK_FALSE(reader.bytes_at(5, 0).ok());
}

TEST_CASE("a string without its NUL is refused", "[base]") {
    using namespace std::string_view_literals;
    ByteReader reader(as_bytes("ab\0cd"sv));
    CHECK(reader.string_at(0).value() == "ab");
    CHECK(reader.string_at(2).value().empty());
    CHECK_FALSE(reader.string_at(3).ok());
    CHECK_FALSE(reader.string_at(99).ok());
}

TEST_CASE("a name in a table ends in the table, and is not longer than asked for", "[base]") {
    ByteView table = as_bytes(std::string_view("\0.text\0.BTF", 11)); // .BTF has no end
    CHECK(short_string_at(table, 0, 64).empty());
    CHECK(short_string_at(table, 1, 64) == ".text");
    CHECK(short_string_at(table, 3, 64) == "ext");
    CHECK(short_string_at(table, 1, 5) == ".text");
    CHECK(short_string_at(table, 1, 4).empty());
    CHECK(short_string_at(table, 7, 64).empty());
    CHECK(short_string_at(table, 11, 64).empty());
    CHECK(short_string_at(table, UINT64_MAX, 64).empty());
}
