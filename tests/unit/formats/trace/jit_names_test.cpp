// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/jit_names.hpp"

#include "formats/trace/message.hpp"
#include "formats/trace/reader.hpp"
#include "formats/trace/writer.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

/// Returns "name+offset", "" where nothing is.
std::string at(JitNames& names, uint64_t pid, uint64_t address) {
    auto match = names.find(pid, address);
    return match ? std::string(match->name) + "+" + std::to_string(match->offset) : "";
}

} // namespace

TEST_CASE("lines of perf-PID.map name functions, those that do not hold are left out", "[trace]") {
    JitNames names;
    CHECK(names.empty());
    names.add(JitText{7, "1000 20 Lcom/x/Main;::main (String[])\n"
                         "0x1020 10 LazyCompile:~foo a.js:3\n"
                         "1020 8 again\n"
                         "2000 0 empty\n"
                         "xyz 10 not a number\n"
                         "3000\n"
                         "\n"
                         "3000 10 \n"
                         "fffffffffffffff0 20 wraps\n"
                         "4000 10 last"});
    CHECK(!names.empty());
    CHECK(at(names, 7, 0x1000) == "Lcom/x/Main;::main (String[])+0");
    CHECK(at(names, 7, 0x101f) == "Lcom/x/Main;::main (String[])+31");
    CHECK(at(names, 7, 0x1021) == "again+1");
    CHECK(at(names, 7, 0x1028).empty());
    CHECK(at(names, 7, 0x400f) == "last+15");
    for (uint64_t address : {0x0, 0xfff, 0x2000, 0x3000, 0x4010})
        CHECK(at(names, 7, address).empty());
    CHECK(at(names, 7, UINT64_MAX).empty());
    CHECK(at(names, 8, 0x1000).empty());
}

TEST_CASE("of lines that are left out it is said how many, which and what was expected",
          "[trace]") {
    const std::string expected = ", expected ADDRESS SIZE NAME, in hexadecimal and within 64 bits";
    size_t functions_left = 3 + 1 + 2;
    auto damage = [&](const std::string& text) {
        return lines_left_out(text, functions_left).text("line");
    };
    CHECK(damage("1000 20 f\n\n0x2000 0 of no bytes\n3000 10 g").empty());
    CHECK(damage("1000 20 f\nxyz 10 not\ta number\n1000 20 f\n") ==
          "1 line left out, line 2: \"xyz 10 not\\011a number\"" + expected);
    CHECK(
        damage("1000 20 f\n" + std::string(41, 'g') + "\n3000\n3000 10 \nfffffffffffffff0 20 h") ==
        "4 lines left out, the first: line 2: \"" + std::string(40, 'g') + "...\"" + expected);
    CHECK(functions_left == 1);
    CHECK(damage("1000 20 f\n3000 10 g\n4000 10 h\n") ==
          "2 lines left out, the first: line 2: expected at most 262144 functions of a process");
}

TEST_CASE("texts of runtimes take no more room than a recorder gives them", "[trace]") {
    JitNames names;
    for (uint32_t pid = 1; pid <= 3; pid++)
        CHECK(names.add(JitText{pid, std::string(kJitTextBytesMax, ' ')}));
    CHECK_FALSE(names.add(JitText{4, "1000 10 late\n"}));
    CHECK(names.add(JitText{2, "1000 10 newer\n"})); // in place of its older one
    CHECK(names.add(JitText{4, "1000 10 late\n"}));
    CHECK(at(names, 2, 0x1000) == "newer+0");
    CHECK(at(names, 4, 0x1000) == "late+0");
    JitNames other;
    CHECK(other.add(JitText{5, std::string(kJitTextBytesMax, ' ')}));
    CHECK_FALSE(names.add(std::move(other)));
    JitNames many;
    for (uint32_t pid = 0; pid < kJitTextsMax; pid++)
        REQUIRE(many.add(JitText{pid, "1 1 a\n"}));
    CHECK_FALSE(many.add(JitText{kJitTextsMax, "1 1 a\n"}));
}

TEST_CASE("a process with more functions than are taken leaves those of others alone", "[trace]") {
    JitNames names;
    std::string text;
    for (int i = 1; i <= (1 << 18) + 1; i++)
        text += base::strprintf("%x000 10 f\n", i);
    names.add(JitText{1, text});
    size_t functions_left = kJitFunctionsMax;
    CHECK(lines_left_out(text, functions_left).first ==
          "line 262145: expected at most 262144 functions of a process");
    names.add(JitText{2, "1000 10 g\n"});
    CHECK(at(names, 1, 0x1000) == "f+0");
    CHECK(at(names, 1, 0x40000000) == "f+0");
    CHECK(at(names, 1, 0x40001000).empty());
    CHECK(at(names, 2, 0x1000) == "g+0");
}

TEST_CASE("names of runtimes come back from a trace file, of several the newest's", "[trace]") {
    Bytes file;
    auto writer = TraceWriter::create(
        [&file](ByteView bytes) {
            file.insert(file.end(), bytes.begin(), bytes.end());
            return base::Result<void>();
        },
        {});
    REQUIRE(writer.ok());
    for (const char* name : {"old", "new"})
        REQUIRE(writer
                    ->add_block(DBK_TRACE_JIT_NAMES,
                                encode_jit_text({9, std::string("1000 10 ") + name + "\n"}))
                    .ok());
    REQUIRE(writer->finish({}).ok());
    auto trace = parse_trace(file, "memory");
    REQUIRE(trace.ok());
    CHECK(at(trace->jit_names, 9, 0x1004) == "new+4");
    CHECK(!decode_jit_text(base::as_bytes("1234567")).ok());
    CHECK(!decode_jit_text(Bytes(kJitTextBytesMax + 9)).ok());
}
