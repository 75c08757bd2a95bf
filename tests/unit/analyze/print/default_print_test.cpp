// SPDX-License-Identifier: Apache-2.0
//
// Values without a format, byte for byte.
#include "analyze/print/bytes.hpp"
#include "analyze/print/default_print.hpp"
#include "formats/abi/dof.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace daybreak;
using namespace daybreak::analyze;

namespace {

template <typename T>
std::string traced_number(T number, bool quiet = false) {
    OutputOptions options;
    options.quiet = quiet;
    AddressNames names(nullptr);
    Value value{{ValueKind::integer, sizeof(T)}, std::as_bytes(std::span(&number, 1))};
    std::string out;
    print_traced(out, value, {options, names});
    return out;
}

std::string traced_text(std::string_view text, OutputOptions options = {}) {
    AddressNames names(nullptr);
    std::string out;
    print_traced(out, {{ValueKind::string, 32}, base::as_bytes(text)}, {options, names});
    return out;
}

} // namespace

TEST_CASE("trace() of integers has DTrace's widths", "[analyze][print]") {
    CHECK(traced_number<int64_t>(-7) == "               -7");
    CHECK(traced_number<int32_t>(-7) == "       -7");
    CHECK(traced_number<uint16_t>(65535) == " 65535");
    CHECK(traced_number<int8_t>(-1) == " 255");
    CHECK(traced_number<int64_t>(-7, true) == "-7");
    CHECK(traced_number<int8_t>(3, true) == "3");
}

TEST_CASE("trace() of strings pads to 33 after two spaces", "[analyze][print]") {
    CHECK(traced_text("hello") == "  hello                            ");
    CHECK(traced_text("") == "                                   ");
    OutputOptions quiet;
    quiet.quiet = true;
    CHECK(traced_text("hello", quiet) == "hello");
    CHECK(traced_text("a longer one than thirty-three characters") ==
          "  a longer one than thirty-three characters");
}

TEST_CASE("what is not a string is dumped with its whole room", "[analyze][print]") {
    CHECK(traced_text("ab\x01") ==
          "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
          "         0: 61 62 01 00 00 00 00 00 00 00 00 00 00 00 00 00  ab..............\n"
          "        10: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................\n");
    OutputOptions raw;
    raw.rawbytes = true;
    CHECK(traced_text("ab", raw).starts_with("\n             0  1"));
}

TEST_CASE("a short last line of a dump keeps the characters' column", "[analyze][print]") {
    std::string out;
    print_hex_dump(out, base::as_bytes("abc"));
    CHECK(out == "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
                 "         0: 61 62 63                                         abc\n");
}

TEST_CASE("bell and backspace are printable, NULs only at the end", "[analyze][print]") {
    using namespace std::string_view_literals;
    CHECK(is_printable_string(base::as_bytes("a\a\b\t\n")));
    CHECK(is_printable_string(base::as_bytes("ab\0\0"sv)));
    CHECK(!is_printable_string(base::as_bytes("a\0b"sv)));
    CHECK(!is_printable_string(base::as_bytes("\xc3\xa4")));
}

TEST_CASE("stacks print a frame a line and stop at 0", "[analyze][print]") {
    formats::SymbolTable table;
    table.add(0x1000, 't', "start", "vmlinux");
    table.add(0x2000, 't', "end", "vmlinux");
    table.add(0x9000, 't', "probe", "ext4");
    table.finish();
    AddressNames names(&table);
    OutputOptions options;
    uint64_t frames[] = {0x1000, 0x1010, 0x9004, 0, 0x1000};
    Value value{{ValueKind::stack, 160, DTRACEACT_STACK}, std::as_bytes(std::span(frames))};
    std::string out;
    print_traced(out, value, {options, names});
    CHECK(out == "\n              vmlinux`start\n"
                 "              vmlinux`start+0x10\n"
                 "              ext4`probe+0x4\n");
    options.stackindent = 2;
    out.clear();
    print_key(out, value, {options, names});
    CHECK(out == "\n  vmlinux`start\n  vmlinux`start+0x10\n  ext4`probe+0x4\n");
}

TEST_CASE("user stacks begin after the process id", "[analyze][print]") {
    AddressNames names(nullptr);
    OutputOptions options;
    uint64_t words[] = {4711, 0x401000, 0x7f0000001234};
    std::string out;
    print_traced(out, {{ValueKind::ustack, 168, DTRACEACT_USTACK}, std::as_bytes(std::span(words))},
                 {options, names});
    CHECK(out == "\n              0x401000\n              0x7f0000001234\n");
}

TEST_CASE("sym() and mod() have a field of 50", "[analyze][print]") {
    formats::SymbolTable table;
    table.add(0x1000, 't', "start", "vmlinux");
    table.add(0x2000, 't', "end", "vmlinux");
    table.finish();
    AddressNames names(&table);
    OutputOptions options;
    uint64_t address = 0x1008;
    auto bytes = std::as_bytes(std::span(&address, 1));
    std::string out;
    print_traced(out, {{ValueKind::symbol, 8, DTRACEACT_SYM}, bytes}, {options, names});
    CHECK(out == "  vmlinux`start                                     ");
    out.clear();
    print_traced(out, {{ValueKind::module, 8, DTRACEACT_MOD}, bytes}, {options, names});
    CHECK(out == "  vmlinux                                           ");
    out.clear();
    print_traced(out, {{ValueKind::uaddress, 8, DTRACEACT_UADDR}, bytes}, {options, names});
    CHECK(out == "  0x1008                                            ");
}

TEST_CASE("setopt takes names and words", "[analyze][print]") {
    OutputOptions options;
    CHECK(options.set("aggsortkey", "TRUE") == SetOption::done);
    CHECK(options.aggsortkey);
    CHECK(options.set("aggsortkey", "off") == SetOption::done);
    CHECK(!options.aggsortkey);
    CHECK(options.set("aggsortpos", "3") == SetOption::done);
    CHECK(options.aggsortpos == 3);
    CHECK(options.set("stackindent", "0x4") == SetOption::done);
    CHECK(options.stackindent == 4);
    CHECK(options.set("aggrate", "10hz") == SetOption::done);
    CHECK(options.set("aggrate", "half") == SetOption::bad_value);
    CHECK(options.set("stackindent", "wide") == SetOption::bad_value);
    CHECK(options.set("bufsize", "4") == SetOption::too_late);
    CHECK(options.set("no such option", "1") == SetOption::unknown);
}
