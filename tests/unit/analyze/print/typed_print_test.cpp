// SPDX-License-Identifier: Apache-2.0
//
// print(): type descriptions, good and hostile.
#include "analyze/print/typed_print.hpp"

#include "tests/unit/analyze/raw_bytes.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;
using test::bytes_of;

namespace {

std::string printed(std::string_view description, const std::string& bytes) {
    auto type = parse_type_description(description);
    if (!type.ok())
        return "<" + type.error().message() + ">";
    std::string out;
    AddressNames names(nullptr);
    print_typed(out, *type, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()},
                names);
    return out;
}

constexpr std::string_view kStruct =
    "struct in;S8{0 c;char;c1;16:3 s;short;i2;32 e;enum k;e4(ONE=1,MINUS=-1,);}";

} // namespace

TEST_CASE("values print by their types", "[analyze][print]") {
    CHECK(printed("int;i4", bytes_of(-1)) == "int 0xffffffff");
    CHECK(printed("int;i4", bytes_of(0)) == "int 0");
    CHECK(printed("char;c1", "'") == "char '\\''");
    CHECK(printed("char;c1", std::string(1, '\0')) == "char '\\0'");
    CHECK(printed("float;f4", bytes_of(1.5f)) == "float 1.5");
    CHECK(printed("double;f8", bytes_of(-0.25)) == "double -0.25");
    CHECK(printed("string;s256", "say \"hi\"") == "string \"say \\\"hi\\\"\"");
    CHECK(printed("void *;p8", bytes_of(uint64_t{0x1000})) == "void * 0x1000");
    CHECK(printed("int (*)();P8", bytes_of(uint64_t{0x1000})) == "int (*)() 0x1000");
    CHECK(printed("struct deep;x40", std::string(40, 'x')) == "struct deep { ... }");
    CHECK(printed("char [4];a4,1[char;c1]", "ab") == "char [4] [ \"ab\" ]");
    CHECK(printed("int [0];a0,4[int;i4]", "") == "int [0] [ ]");
    CHECK(printed("int [2];a2,4[int;i4]", bytes_of(1) + bytes_of(2)) == "int [2] [ 0x1, 0x2 ]");
}

TEST_CASE("structs print a line per member", "[analyze][print]") {
    std::string bytes = std::string("q\0\x05\0", 4) + bytes_of(-1);
    CHECK(printed(kStruct, bytes) ==
          "struct in {\n    char c = 'q'\n    short s :3 = 0x5\n    enum "
          "k e = MINUS\n}");
    // An unknown enumerator is a number; a bit-field may lie across nine bytes.
    CHECK(printed("enum k;e4(ONE=1,)", bytes_of(7)) == "enum k 7");
    CHECK(printed("struct w;S16{4:64 b;long;u8;}", std::string(9, '\xff')) ==
          "struct w {\n    long b :64 = 0xffffffffffffffff\n}");
}

TEST_CASE("a description cut anywhere is refused", "[analyze][print]") {
    for (size_t length = 0; length < kStruct.size(); length++)
        CHECK_FALSE(parse_type_description(kStruct.substr(0, length)).ok());
    CHECK(parse_type_description(kStruct).ok());
    CHECK_FALSE(parse_type_description(std::string(kStruct) + "x").ok());
}

TEST_CASE("hostile descriptions are refused, or print within bounds", "[analyze][print]") {
    std::string deep;
    for (int i = 0; i < 40; i++)
        deep += "t;a1,1[";
    CHECK_FALSE(parse_type_description(deep + "t;i1").ok());
    CHECK_FALSE(parse_type_description("t;a99999999999,4[int;i4]").ok());
    CHECK_FALSE(parse_type_description("t;i99999999999999999999").ok());
    CHECK_FALSE(parse_type_description("t;S8{0:65 b;t;i8;}").ok());
    CHECK_FALSE(parse_type_description("t;z4").ok());
    // Members beyond the value are empty, and an array that is not there ends.
    CHECK(printed("t;S8{6400 x;int;i4;}", "abc") == "t {\n    int x = 0\n}");
    std::string nested = "t;a10000000,0[t;a10000000,0[int;i4]]";
    CHECK(printed(nested, "").size() < (16u << 20));
}
