// SPDX-License-Identifier: Apache-2.0
//
// printf() and printa() formats, byte for byte.
#include "analyze/print/format_print.hpp"
#include "formats/abi/dof.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <ctime>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

/// A value with bytes of its own.
struct Given {
    ValueType type;
    base::Bytes bytes;
};

template <typename T>
Given number(T value) {
    Given given{{ValueKind::integer, sizeof(T)}, base::Bytes(sizeof(T))};
    std::memcpy(given.bytes.data(), &value, sizeof(T));
    return given;
}

Given text(std::string_view characters) {
    auto bytes = base::as_bytes(characters);
    return {{ValueKind::string, 256}, base::Bytes(bytes.begin(), bytes.end())};
}

Given stack(std::initializer_list<uint64_t> frames) {
    auto bytes = std::as_bytes(std::span(frames.begin(), frames.size()));
    return {{ValueKind::stack, 160, DTRACEACT_STACK}, base::Bytes(bytes.begin(), bytes.end())};
}

const OutputOptions kOptions;

formats::SymbolTable symbols() {
    formats::SymbolTable table;
    table.add(0xffffffff81000100, 'T', "do_work", "vmlinux");
    table.add(0xffffffff81000200, 'T', "other", "vmlinux");
    table.add(0xffffffff81000300, 'T', "_etext", "vmlinux");
    table.finish();
    return table;
}

std::string print(std::string_view format, const std::vector<Given>& given,
                  std::vector<AggregationView> aggregations = {}) {
    static const formats::SymbolTable table = symbols();
    AddressNames names(&table);
    std::vector<Value> values;
    for (const Given& each : given)
        values.push_back({each.type, each.bytes});
    auto parsed = parse_format(format);
    if (!parsed.ok())
        return "[" + parsed.error().message() + "]";
    std::string out;
    auto printed = print_formatted(out, *parsed, values, aggregations, {kOptions, names});
    return printed.ok() ? out : out + "[" + printed.error().message() + "]";
}

} // namespace

TEST_CASE("integers print at their own size", "[analyze][print]") {
    CHECK(print("%d", {number<int64_t>(-5)}) == "-5");
    CHECK(print("%d", {number<int32_t>(-5)}) == "-5");
    CHECK(print("%i", {number<int16_t>(-5)}) == "65531"); // zero extended, as DTrace on Linux
    CHECK(print("%d", {number<int8_t>(-5)}) == "251");
    CHECK(print("%u %x %X %o", {number<int32_t>(-1), number<uint16_t>(0xabcd),
                                number<uint8_t>(0xef), number<uint32_t>(8)}) ==
          "4294967295 abcd EF 10");
    CHECK(print("%lld %hhd %ld", {number<int64_t>(1), number<int64_t>(2), number<int32_t>(3)}) ==
          "1 2 3");
    CHECK(print("%p", {number<uint64_t>(0xffff888000000000)}) == "ffff888000000000");
}

TEST_CASE("flags, width and precision are those of printf(3)", "[analyze][print]") {
    CHECK(print("[%5d|%-5d|%05d|%+d|% d]", {number(7), number(7), number(7), number(7),
                                            number(7)}) == "[    7|7    |00007|+7| 7]");
    CHECK(print("[%#x|%#o|%.3d|%8.3d]", {number(255), number(8), number(7), number(7)}) ==
          "[0xff|010|007|     007]");
    CHECK(print("[%?x]", {number<uint64_t>(0x1234)}) == "[            1234]");
    CHECK(print("[%*d|%-*d]", {number(4), number(7), number(4), number(7)}) == "[   7|7   ]");
    CHECK(print("[%*d]", {number(-4), number(7)}) == "[7   ]");
    CHECK(print("[%.*s]", {number(2), text("abcdef")}) == "[ab]");
}

TEST_CASE("a precision of 0 is none", "[analyze][print]") {
    CHECK(print("[%.0s|%0.0s]", {text("abc"), text("abc")}) == "[abc|abc]");
    CHECK(print("[%.*s]", {number(0), text("abc")}) == "[abc]");
}

TEST_CASE("characters and strings", "[analyze][print]") {
    CHECK(print("[%s|%6s|%-6s|%.2s]", {text("abc"), text("abc"), text("abc"), text("abc")}) ==
          "[abc|   abc|abc   |ab]");
    CHECK(print("[%c|%3c|%-3c]", {number(65), number(66), number(67)}) == "[A|  B|C  ]");
    CHECK(print("%S", {text("a\tb\"\x01\xff\\")}) == "a\\tb\\\"\\001\\377\\\\");
    CHECK(print("%C%C", {number(10), number(65)}) == "\\nA");
    CHECK(print("%lc%wc", {number(0xe4), number(0x20ac)}) == "\xc3\xa4\xe2\x82\xac");
    CHECK(print("100%% of %s%%\n", {text("it")}) == "100% of it%\n");
}

TEST_CASE("floating point values print by their size", "[analyze][print]") {
    Given value = number(1.5);
    value.type.kind = ValueKind::bytes;
    Given single = number(0.25f);
    CHECK(print("%f %e %g %G", {value, value, value, single}) == "1.500000 1.500000e+00 1.5 0.25");
}

TEST_CASE("addresses print as symbols", "[analyze][print]") {
    CHECK(print("%a", {number(uint64_t{0xffffffff81000100})}) == "vmlinux`do_work");
    CHECK(print("[%-26a]", {number(uint64_t{0xffffffff81000110})}) ==
          "[vmlinux`do_work+0x10      ]");
    CHECK(print("%a %A", {number(uint64_t{0x10}), number(uint64_t{0x401000})}) == "0x10 0x401000");
    for (ValueKind kind : {ValueKind::uaddress, ValueKind::usymbol}) {
        Given of_process = number(std::array<uint64_t, 2>{42, 0x401000});
        of_process.type.kind = kind;
        CHECK(print("%10A", {of_process}) == "  0x401000");
    }
}

TEST_CASE("an integer is an address of the only target", "[analyze][print]") {
    class OneFunction : public UserNames {
    public:
        std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                      std::optional<uint64_t>) override {
            if (pid != 42 || address < 0x401000 || address >= 0x401020)
                return std::nullopt;
            return UserPlace{"prog", address - 0x400000, "work", address - 0x401000, 0x400000};
        }
    } users;
    AddressNames names(nullptr, &users);
    auto printed = [&](uint64_t target, uint64_t address) {
        Given given = number(address);
        std::string out;
        PrintContext context{.options = kOptions, .names = names, .target_pid = target};
        const std::vector<Value> values = {{given.type, given.bytes}};
        auto format = parse_format("[%16A]");
        REQUIRE(format.ok());
        REQUIRE(print_formatted(out, *format, values, {}, context).ok());
        return out;
    };
    CHECK(printed(42, 0x401004) == "[   prog`work+0x4]");
    CHECK(printed(42, 0x500000) == "[        0x500000]");
    CHECK(printed(7, 0x401004) == "[        0x401004]");
    CHECK(printed(0, 0x401004) == "[        0x401004]");
}

TEST_CASE("times print in the local zone", "[analyze][print]") {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    uint64_t ns = 1'000'000'000;
    CHECK(print("%Y", {number(ns * 1062609821)}) == "2003 Sep  3 17:23:41");
    CHECK(print("%T", {number(ns * 1062609821)}) == "Wed, 03 Sep 2003 17:23:41 UTC");
}

TEST_CASE("stacks in a format: the width is the frames', left-aligned the indentation",
          "[analyze][print]") {
    Given frames = stack({0xffffffff81000110, 0xffffffff81000200, 0, 0xffffffff81000200});
    CHECK(print("%k", {frames}) == "\nvmlinux`do_work+0x10\nvmlinux`other\n");
    CHECK(print("%24k", {frames}) == "\n    vmlinux`do_work+0x10\n           vmlinux`other\n");
    CHECK(print("%-4k", {frames}) == "\n    vmlinux`do_work+0x10\n    vmlinux`other\n");
}

TEST_CASE("%@ takes aggregations, the last one again", "[analyze][print]") {
    AggregationFunction sum{DTRACEAGG_SUM, 0}, avg{DTRACEAGG_AVG, 0};
    std::vector<uint64_t> minus{static_cast<uint64_t>(-90)}, average{4, 10};
    CHECK(print("%d: %@d %@5d|%@-5u|%@x", {number(1)}, {{sum, minus, 10}, {avg, average, 1}}) ==
          "1: -9     2|2    |2");
    CHECK(print("%@d %@d", {}, {{sum, minus, 1}}) == "-90 -90");
    CHECK(print("%@u", {}, {{sum, minus, 10}}) == std::to_string((0 - uint64_t{90}) / 10));
}

TEST_CASE("what a format cannot print is an error after what it could", "[analyze][print]") {
    CHECK(print("a%db%d", {number(1)}) == "a1b[conversion %d has no value]");
    CHECK(print("%@d", {}) == "[conversion %d has no value]");
    CHECK(print("%*d", {number(1)}) == "[conversion %d has no value]");
    CHECK(print("abc%", {}) == "[format has an unknown conversion: %]");
    CHECK(print("%5.2!x", {}) == "[format has an unknown conversion: %5.2!]");
    CHECK(print("%1$d", {}) == "[format has an unknown conversion: %1$]");
}

TEST_CASE("a hostile width is cut", "[analyze][print]") {
    CHECK(print("%99999999999999999999d", {number(1)}).size() == size_t{kFieldWidthMax});
    CHECK(print("%*d", {number(INT32_MIN), number(1)}).size() == size_t{kFieldWidthMax});
    auto cuts = [](const char* format) {
        bool cut = false;
        std::string out;
        Given one = number(1);
        Value value{one.type, one.bytes};
        AddressNames names(nullptr);
        CHECK(print_formatted(out, *parse_format(format), std::span(&value, 1), {},
                              {kOptions, names, &cut})
                  .ok());
        return cut;
    };
    STATIC_REQUIRE(kFieldWidthMax <= 1 << 16); // 60 such fields in a record: 4 MB
    CHECK_FALSE(cuts("%65536d"));
    CHECK(cuts("%65537d"));
    CHECK(cuts("%-99999999999999999999d"));
    CHECK(cuts("%.65537d"));
}
