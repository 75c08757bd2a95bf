// SPDX-License-Identifier: Apache-2.0
//
// The interpreter, operation by operation.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/internal.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>

using namespace daybreak::engine_test;

namespace {

/// a OP b, both from the integer table.
Outcome binary(uint32_t op, uint64_t a, uint64_t b) {
    // A load that nothing lowers comes first, so that the interpreter runs it all.
    return run({{setx(0, 1), setx(1, 2), op3(op, 1, 2, 3), ret(3)}, int_type(), {a, b}});
}

/// 1 when the branch is taken after cmp a, b.
uint64_t taken(uint32_t op, uint64_t a, uint64_t b) {
    Difo d{{setx(0, 1), setx(1, 2), cmp(1, 2), branch(op, 6), setx(2, 3), ret(3), setx(3, 3),
            op3(DIF_OP_ADD, 3, 0, 3), ret(3)},
           int_type(),
           {a, b, 0, 1}};
    return run(d).value();
}

Difo subr(uint32_t id, std::vector<uint32_t> pushes, std::vector<uint64_t> integers,
          std::string strings, dif_type type) {
    Difo d{std::move(pushes), type, std::move(integers), std::move(strings)};
    d.code.push_back(call(id, 3));
    d.code.push_back(flushts());
    d.code.push_back(ret(3));
    return d;
}

/// A subroutine of strings a and b, and integers.
Outcome text_subr(uint32_t id, const std::string& a, const char* b, std::vector<uint64_t> integers,
                  dif_type type) {
    std::string strings = std::string("\0", 1) + a + '\0';
    auto second = static_cast<uint32_t>(strings.size());
    std::vector<uint32_t> code{sets(1, 1), push_string(1)};
    if (b != nullptr) {
        strings += std::string(b) + '\0';
        code.push_back(sets(second, 2));
        code.push_back(push_string(2));
    }
    for (uint32_t i = 0; i < integers.size(); i++) {
        code.push_back(setx(i, 4));
        code.push_back(push_value(4));
    }
    return run(subr(id, code, std::move(integers), strings, type));
}

std::string text_of(uint32_t id, const std::string& a, const char* b = nullptr,
                    std::vector<uint64_t> integers = {}) {
    return text_subr(id, a, b, std::move(integers), string_type()).text();
}

int64_t number_of(uint32_t id, const std::string& a, const char* b = nullptr,
                  std::vector<uint64_t> integers = {}) {
    return static_cast<int64_t>(text_subr(id, a, b, std::move(integers), int_type()).value());
}

} // namespace

TEST_CASE("arithmetic and logic", "[engine][dif]") {
    const uint64_t minus = ~0ull, low = 1ull << 63;
    CHECK(binary(DIF_OP_OR, 12, 10).value() == 14);
    CHECK(binary(DIF_OP_XOR, 12, 10).value() == 6);
    CHECK(binary(DIF_OP_AND, 12, 10).value() == 8);
    CHECK(binary(DIF_OP_SUB, 3, 5).value() == 0 - 2ull);
    CHECK(binary(DIF_OP_ADD, minus, 5).value() == 4);
    CHECK(binary(DIF_OP_MUL, 7, 0 - 6ull).value() == 0 - 42ull);
    CHECK(binary(DIF_OP_SLL, 1, 63).value() == low);
    CHECK(binary(DIF_OP_SLL, 1, 64).value() == 1);
    CHECK(binary(DIF_OP_SRL, low, 63).value() == 1);
    CHECK(binary(DIF_OP_SRA, low, 63).value() == minus);
    CHECK(binary(DIF_OP_SDIV, 0 - 7ull, 2).value() == 0 - 3ull);
    CHECK(binary(DIF_OP_UDIV, minus, 2).value() == minus / 2);
    CHECK(binary(DIF_OP_SREM, 0 - 7ull, 2).value() == 0 - 1ull);
    CHECK(binary(DIF_OP_UREM, 7, 4).value() == 3);
    CHECK(binary(DIF_OP_SDIV, low, minus).value() == low);
    CHECK(binary(DIF_OP_SREM, low, minus).value() == 0);
    CHECK(run({{setx(0, 1), load(DIF_OP_NOT, 1, 2), mov(2, 3), nop(), ret(3)}, int_type(), {5}})
              .value() == ~5ull);
    CHECK(run({{ret(0)}}).value() == 0);
}

TEST_CASE("a zero divisor is a fault", "[engine][dif]") {
    for (uint32_t op : {DIF_OP_SDIV, DIF_OP_UDIV, DIF_OP_SREM, DIF_OP_UREM}) {
        auto outcome = binary(op, 1, 0);
        CHECK_FALSE(outcome.record);
        CHECK(outcome.errors == 1);
    }
}

TEST_CASE("branches compare without overflow", "[engine][dif]") {
    const uint64_t values[] = {0, 1, 2, ~0ull, ~1ull, 1ull << 63, (1ull << 63) - 1};
    for (uint64_t a : values) {
        for (uint64_t b : values) {
            auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
            INFO(a << " and " << b);
            CHECK(taken(DIF_OP_BE, a, b) == (a == b));
            CHECK(taken(DIF_OP_BG, a, b) == (sa > sb));
            CHECK(taken(DIF_OP_BLU, a, b) == (a < b));
        }
    }
    const uint64_t a = 1, b = 1ull << 63; // signed greater, unsigned less
    CHECK(taken(DIF_OP_BA, a, b) == 1);
    CHECK(taken(DIF_OP_BNE, a, b) == 1);
    CHECK(taken(DIF_OP_BGU, a, b) == 0);
    CHECK(taken(DIF_OP_BGE, a, b) == 1);
    CHECK(taken(DIF_OP_BGEU, a, b) == 0);
    CHECK(taken(DIF_OP_BL, a, b) == 0);
    CHECK(taken(DIF_OP_BLE, a, b) == 0);
    CHECK(taken(DIF_OP_BLEU, a, b) == 1);
    CHECK(taken(DIF_OP_BGEU, a, a) == 1);
    CHECK(taken(DIF_OP_BLE, a, a) == 1);
}

TEST_CASE("loads extend as their names say", "[engine][dif]") {
    host = HostState{};
    host.kernel_memory[0x1000] = std::string("\x81\x82\x83\x84\x85\x86\x87\x88", 8);
    host.user_memory[0x2000] = std::string("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8", 8);
    auto at = [](uint32_t op, uint64_t address) {
        return run({{setx(0, 1), load(op, 1, 2), ret(2)}, int_type(), {address}});
    };
    for (uint32_t base : {DIF_OP_LDSB, DIF_OP_RLDSB}) {
        CHECK(at(base, 0x1000).value() == 0xffffffffffffff81);
        CHECK(at(base + 1, 0x1000).value() == 0xffffffffffff8281);
        CHECK(at(base + 2, 0x1000).value() == 0xffffffff84838281);
        CHECK(at(base + 3, 0x1000).value() == 0x81);
        CHECK(at(base + 4, 0x1000).value() == 0x8281);
        CHECK(at(base + 5, 0x1000).value() == 0x84838281);
        CHECK(at(base + 6, 0x1000).value() == 0x8887868584838281);
    }
    CHECK(at(DIF_OP_ULDSB, 0x2000).value() == ~0ull);
    CHECK(at(DIF_OP_ULDUB, 0x2000).value() == 0xff);
    CHECK(at(DIF_OP_ULDSH, 0x2000).value() == 0xfffffffffffffeff);
    CHECK(at(DIF_OP_ULDUH, 0x2000).value() == 0xfeff);
    CHECK(at(DIF_OP_ULDSW, 0x2000).value() == 0xfffffffffcfdfeff);
    CHECK(at(DIF_OP_ULDUW, 0x2000).value() == 0xfcfdfeff);
    CHECK(at(DIF_OP_ULDX, 0x2000).value() == 0xf8f9fafbfcfdfeff);
    CHECK_FALSE(at(DIF_OP_LDX, 0x1001).record);
    CHECK_FALSE(at(DIF_OP_LDUB, 0).record);
    CHECK_FALSE(at(DIF_OP_LDUB, ~0ull).record);
    CHECK_FALSE(at(DIF_OP_ULDUB, 0x1000).record);
}

TEST_CASE("stores reach scratch and nothing else", "[engine][dif]") {
    for (auto [op, value] : {std::pair{DIF_OP_STB, 0x88ull},
                             {DIF_OP_STH, 0x7788ull},
                             {DIF_OP_STW, 0x55667788ull},
                             {DIF_OP_STX, 0x1122334455667788ull}}) {
        Difo d{{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), setx(1, 3), load(op, 3, 2),
                load(DIF_OP_LDX, 2, 4), ret(4)},
               int_type(),
               {8, 0x1122334455667788}};
        CHECK(run(d).value() == value);
    }
    auto store_at = [](std::vector<uint32_t> address, std::vector<uint64_t> integers) {
        Difo d{std::move(address), int_type(), std::move(integers)};
        d.code.insert(d.code.end(), {load(DIF_OP_STX, 1, 2), ret(0)});
        return run(d);
    };
    CHECK_FALSE(store_at({setx(0, 2)}, {0xffff888000001000}).record);
    CHECK_FALSE(store_at({setx(0, 2)}, {0}).record);
    SECTION("after an allocation, up to the end of scratch") {
        auto after = [&](uint64_t bytes) {
            return store_at({setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), setx(1, 1),
                             op3(DIF_OP_ADD, 2, 1, 2)},
                            {8, bytes})
                .errors;
        };
        CHECK(after(0) == 0);
        CHECK(after(32768 - 8) == 0);
        CHECK(after(32768 - 7) == 1);
    }
    SECTION("a string table is read-only") {
        Difo d{{sets(1, 2), load(DIF_OP_STB, 0, 2), ret(0)}, int_type(), {}, {"\0abc", 5}};
        CHECK(run(d).errors == 1);
    }
}

TEST_CASE("copys copies into scratch", "[engine][dif]") {
    Difo d{{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), sets(1, 3), setx(1, 4),
            op3(DIF_OP_COPYS, 3, 4, 2), load(DIF_OP_LDUW, 2, 5), ret(5)},
           int_type(),
           {8, 4},
           {"\0abcd", 6}};
    CHECK(run(d).value() == 0x64636261);
    d.integers[1] = 32769;
    CHECK(run(d).errors == 1);
}

TEST_CASE("scratch ends", "[engine][dif]") {
    auto alloc = [](uint64_t bytes) {
        return run({{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), ret(0)}, int_type(), {bytes}});
    };
    CHECK(alloc(32768).errors == 0);
    CHECK(alloc(32769).errors == 1);
    CHECK(alloc(~0ull).errors == 1);
    CHECK(alloc(0).errors == 0);
}

TEST_CASE("strings compare to the first difference", "[engine][dif]") {
    auto compare = [](const std::string& a, const std::string& b, uint32_t op) {
        std::string strings = std::string("\0", 1) + a + '\0';
        auto second = static_cast<uint32_t>(strings.size());
        strings += b + '\0';
        return run({{sets(1, 1), sets(second, 2), DIF_INSTR_FMT(DIF_OP_SCMP, 1, 2, 0),
                     branch(op, 6), setx(0, 3), ret(3), setx(1, 3), ret(3)},
                    int_type(),
                    {0, 1},
                    strings})
            .value();
    };
    CHECK(compare("abc", "abc", DIF_OP_BE) == 1);
    CHECK(compare("abc", "abd", DIF_OP_BL) == 1);
    CHECK(compare("abd", "abc", DIF_OP_BG) == 1);
    CHECK(compare("ab", "abc", DIF_OP_BL) == 1);
    CHECK(compare("", "a", DIF_OP_BNE) == 1);
    CHECK(compare("\xff", "a", DIF_OP_BG) == 1);
    SECTION("NULL is the empty string") {
        Difo d{{sets(0, 1), DIF_INSTR_FMT(DIF_OP_SCMP, 1, 0, 0), branch(DIF_OP_BE, 5), setx(0, 3),
                ret(3), setx(1, 3), ret(3)},
               int_type(),
               {0, 1},
               std::string("\0", 1)};
        CHECK(run(d).value() == 1);
    }
    SECTION("a bad address is a fault") {
        Difo d{{sets(0, 1), setx(0, 2), DIF_INSTR_FMT(DIF_OP_SCMP, 1, 2, 0), ret(0)},
               int_type(),
               {0x10},
               std::string("\0", 1)};
        CHECK(run(d).errors == 1);
    }
}

TEST_CASE("the tuple stack has eight members", "[engine][dif]") {
    auto pushes = [](int count) {
        Difo d{{}, no_type()};
        for (int i = 0; i < count; i++)
            d.code.push_back(push_value(0));
        d.code.insert(d.code.end(), {DIF_INSTR_FMT(DIF_OP_POPTS, 0, 0, 0), push_value(0), ret(0)});
        d.type = int_type();
        return run(d);
    };
    CHECK(pushes(8).errors == 0);
    CHECK(pushes(9).errors == 1);
    CHECK(pushes(0).errors == 0);
}

TEST_CASE("built-in variables", "[engine][dif]") {
    auto value = [](uint32_t id) {
        // Interpreted, and again as it is lowered: the same.
        uint64_t lowered = run({{ldgs(id, 1), ret(1)}}).value();
        uint64_t interpreted = run({{ldgs(id, 1), op3(DIF_OP_ADD, 1, 0, 1), ret(1)}}).value();
        CHECK(lowered == interpreted);
        return interpreted;
    };
    HostState h;
    CHECK(value(DIF_VAR_PID) == h.pid);
    CHECK(value(DIF_VAR_TID) == h.tid);
    CHECK(value(DIF_VAR_PPID) == h.ppid);
    CHECK(value(DIF_VAR_UID) == h.uid);
    CHECK(value(DIF_VAR_GID) == h.gid);
    CHECK(value(DIF_VAR_CURTHREAD) == h.curthread);
    CHECK(value(DIF_VAR_VTIMESTAMP) == h.vtimestamp);
    CHECK(value(DIF_VAR_WALLTIMESTAMP) == h.wall_ns);
    CHECK(value(DIF_VAR_IPL) == 0);
    CHECK(value(DIF_VAR_EPID) == 1);
    CHECK(value(DIF_VAR_ID) == 4);
    CHECK(value(DIF_VAR_CALLER) == h.caller);
    CHECK(value(DIF_VAR_UCALLER) == h.ucaller);
    CHECK(value(DIF_VAR_STACKDEPTH) == 2);
    CHECK(value(DIF_VAR_USTACKDEPTH) == 1);
    CHECK(value(DIF_VAR_ERRNO) == 0);
    CHECK(value(DIF_VAR_CPU) == 0);
    CHECK(value(DIF_VAR_TIMESTAMP) > h.mono_ns);
    CHECK(value(DIF_VAR_ARG9) == 9009); // beyond the probe's six: the host is asked
    auto text = [](uint32_t id) {
        return run({{ldgs(id, 1), mov(1, 2), ret(2)}, string_type()}).text();
    };
    CHECK(text(DIF_VAR_EXECNAME) == "tester");
    CHECK(text(DIF_VAR_PROBEPROV) == "test");
    CHECK(text(DIF_VAR_PROBEMOD) == "mod");
    CHECK(text(DIF_VAR_PROBEFUNC) == "func");
    CHECK(text(DIF_VAR_PROBENAME) == "entry");
    CHECK(text(DIF_VAR_ZONENAME) == "global");
}

TEST_CASE("args[] and uregs[]", "[engine][dif]") {
    auto element = [](uint32_t array, uint64_t index) {
        return run(
            {{setx(0, 1), DIF_INSTR_FMT(DIF_OP_LDGA, array, 1, 2), ret(2)}, int_type(), {index}},
            {10, 11, 12});
    };
    CHECK(element(DIF_VAR_ARGS, 1).value() == 11);
    CHECK(element(DIF_VAR_ARGS, 7).value() == 9007);
    CHECK(element(DIF_VAR_ARGS, 1ull << 32).errors == 1);
    CHECK(element(DIF_VAR_UREGS, 3).value() == 1003);
    CHECK(element(DIF_VAR_UREGS, 16).errors == 1);
}

TEST_CASE("string subroutines", "[engine][dif]") {
    CHECK(number_of(DIF_SUBR_STRLEN, "hello") == 5);
    CHECK(number_of(DIF_SUBR_STRLEN, std::string(300, 'x')) == 256);
    CHECK(text_of(DIF_SUBR_STRJOIN, "foo", "bar") == "foobar");
    CHECK(text_of(DIF_SUBR_STRJOIN, std::string(200, 'a'), std::string(200, 'b').c_str()) ==
          std::string(200, 'a') + std::string(56, 'b'));
    CHECK(text_of(DIF_SUBR_BASENAME, "/usr/lib/") == "lib");
    CHECK(text_of(DIF_SUBR_BASENAME, "//") == "/");
    CHECK(text_of(DIF_SUBR_BASENAME, "") == ".");
    CHECK(text_of(DIF_SUBR_BASENAME, "x") == "x");
    CHECK(text_of(DIF_SUBR_DIRNAME, "/usr/lib/") == "/usr");
    CHECK(text_of(DIF_SUBR_DIRNAME, "/usr") == "/");
    CHECK(text_of(DIF_SUBR_DIRNAME, "usr") == ".");
    CHECK(text_of(DIF_SUBR_DIRNAME, "") == ".");
    CHECK(text_of(DIF_SUBR_DIRNAME, "/") == "/");
    CHECK(text_of(DIF_SUBR_CLEANPATH, "/a//b/./c/../d") == "/a/b/d");
    CHECK(text_of(DIF_SUBR_CLEANPATH, "/..") == "/.."); // no slash ends it
    CHECK(text_of(DIF_SUBR_CLEANPATH, "/../") == "/");
    CHECK(text_of(DIF_SUBR_CLEANPATH, "/a/./") == "/a/");
    CHECK(text_of(DIF_SUBR_CLEANPATH, "a/../../b") == "/b");
    CHECK(text_of(DIF_SUBR_STRCHR, "a/b/c", nullptr, {'/'}) == "/b/c");
    CHECK(number_of(DIF_SUBR_STRCHR, "abc", nullptr, {'x'}) == 0);
    CHECK(text_of(DIF_SUBR_STRRCHR, "a/b/c", nullptr, {'/'}) == "/c");
    CHECK(text_of(DIF_SUBR_STRSTR, "one two", "tw") == "two");
    CHECK(number_of(DIF_SUBR_STRSTR, "one two", "three") == 0);
    CHECK(text_of(DIF_SUBR_STRTOK, "::a:b", ":") == "a");
    CHECK(number_of(DIF_SUBR_STRTOK, ":::", ":") == 0);
    CHECK(number_of(DIF_SUBR_INDEX, "canal", "a") == 1);
    CHECK(number_of(DIF_SUBR_INDEX, "canal", "a", {2}) == 3);
    CHECK(number_of(DIF_SUBR_INDEX, "canal", "x") == -1);
    CHECK(number_of(DIF_SUBR_INDEX, "canal", "", {9}) == 5);
    CHECK(number_of(DIF_SUBR_RINDEX, "canal", "a") == 3);
    CHECK(number_of(DIF_SUBR_RINDEX, "canal", "a", {2}) == 1);
    CHECK(number_of(DIF_SUBR_RINDEX, "canal", "a", {0 - 1ull}) == -1);
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {1, 3}) == "ell");
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {1}) == "ello");
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {0 - 3ull}) == "llo");
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {0 - 7ull, 4}) == "he");
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {1, 0 - 1ull}) == "ell");
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {5, 1}) == "");
    CHECK(text_of(DIF_SUBR_SUBSTR, "hello", nullptr, {99, 0 - 1ull}) == "");
}

TEST_CASE("a search finds what a simple one finds", "[engine][dif]") {
    std::mt19937 random(11);
    auto word = [&](size_t most) {
        std::string text;
        for (size_t left = random() % (most + 1); left > 0; left--)
            text += "ab\xff"[random() % 8 / 3];
        return text;
    };
    for (int round = 0; round < 100; round++) {
        std::string text = word(24), part = word(4);
        size_t from = random() % 28;
        INFO('"' << text << "\" \"" << part << "\" " << from);
        auto first = static_cast<int64_t>(text.find(part, std::min(from, text.size())));
        auto last = static_cast<int64_t>(text.rfind(part, from));
        if (!part.empty()) {
            CHECK(number_of(DIF_SUBR_INDEX, text, part.c_str(), {from}) == first);
            CHECK(number_of(DIF_SUBR_INDEX, text, part.c_str()) ==
                  static_cast<int64_t>(text.find(part)));
        }
        CHECK(number_of(DIF_SUBR_RINDEX, text, part.c_str(), {from}) == last);
        CHECK((number_of(DIF_SUBR_STRSTR, text, part.c_str()) != 0) ==
              (text.find(part) != std::string::npos));
    }
}

TEST_CASE("strtok() goes on within a clause", "[engine][dif]") {
    Difo d{{sets(1, 1), push_string(1), sets(8, 2), push_string(2), call(DIF_SUBR_STRTOK, 3),
            flushts(), push_string(0), push_string(2), call(DIF_SUBR_STRTOK, 3), flushts(), ret(3)},
           string_type(),
           {},
           {"\0aa bb c\0 \0", 11}};
    d.strings = std::string("\0aa b c\0 \0", 10);
    CHECK(run(d).text() == "b");
}

namespace {

/// A program of moves, sums, comparisons and branches, and what it returns where all begins as zeros.
struct Wander {
    std::vector<uint32_t> code;
    uint64_t result = 0;

    explicit Wander(std::mt19937& random) {
        constexpr uint32_t kCount = 12;
        const auto any = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
        std::array<uint64_t, 8> regs{};
        uint64_t a = 0, b = 0;
        uint32_t next = 0; // that is executed
        for (uint32_t pc = 0; pc < kCount; pc++) {
            const uint32_t what = any(5), r1 = any(8), r2 = any(8), rd = 1 + any(7);
            const bool here = pc == next;
            next += here;
            if (what == 0) {
                code.push_back(setx(any(2), rd));
                regs[rd] = here ? 5 + (code.back() >> 8 & 1) : regs[rd];
            } else if (what == 1) {
                code.push_back(mov(r1, rd));
                regs[rd] = here ? regs[r1] : regs[rd];
            } else if (what == 2) {
                code.push_back(op3(DIF_OP_ADD, r1, r2, rd));
                regs[rd] = here ? regs[r1] + regs[r2] : regs[rd];
            } else if (what == 3) {
                code.push_back(cmp(r1, r2));
                a = here ? regs[r1] : a;
                b = here ? regs[r2] : b;
            } else {
                const uint32_t target = pc + 1 + any(kCount - pc), op = DIF_OP_BA + any(3);
                code.push_back(branch(op, target));
                const bool taken = op == DIF_OP_BA || (op == DIF_OP_BE) == (a == b);
                next = here && taken ? target : next;
            }
        }
        const uint32_t last = any(8); // and what nothing lowers
        code.push_back(load(DIF_OP_NOT, last, 1));
        code.push_back(ret(1));
        result = ~regs[last];
    }
};

} // namespace

TEST_CASE("what nothing was stored into is 0, whichever way led there", "[engine][dif]") {
    std::mt19937 random(14);
    for (int i = 0; i < 300; i++) {
        INFO("program " << i);
        Wander wander(random);
        CHECK(run({wander.code, int_type(), {5, 6}}).value() == wander.result);
    }
}

TEST_CASE("only what is read before it is stored is zeroed", "[engine][dif]") {
    const auto zeroed = [](std::vector<uint32_t> code) {
        Dof dof;
        const uint32_t section = dof.difo({std::move(code), int_type(), {1}});
        dof.ecb("test:::go", {{DTRACEACT_DIFEXPR, section, 0, 0, 1}});
        const Loaded loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
        bool zeroed = false;
        for (uint32_t i = 0; i < loaded.program->section_count; i++)
            zeroed |= loaded.program->difos[i] != nullptr && loaded.program->difos[i]->reads_unset;
        dbk_program_destroy(loaded.program);
        return zeroed;
    };
    CHECK_FALSE(zeroed({setx(0, 1), ret(1)}));
    CHECK_FALSE(zeroed({ret(0)}));
    CHECK_FALSE(zeroed({op3(DIF_OP_ADD, 0, 0, 2), ret(2)}));
    CHECK(zeroed({ret(1)}));
    CHECK(zeroed({op3(DIF_OP_ADD, 1, 0, 1), ret(1)}));
    CHECK(zeroed({op3(DIF_OP_ADD, 0, 1, 1), ret(1)}));
    // Stored on one of two ways, and on both; a comparison that is there, and one that is not.
    CHECK(zeroed({tst(0), branch(DIF_OP_BE, 3), setx(0, 1), ret(1)}));
    CHECK_FALSE(zeroed({tst(0), branch(DIF_OP_BE, 4), setx(0, 1), branch(DIF_OP_BA, 5), setx(0, 1), ret(1)}));
    CHECK(zeroed({branch(DIF_OP_BE, 1), ret(0)}));
    CHECK(zeroed({branch(DIF_OP_BA, 2), tst(0), branch(DIF_OP_BE, 3), ret(0)}));
    CHECK(zeroed({push_value(3), flushts(), ret(0)}));
    CHECK(zeroed({op3(DIF_OP_COPYS, 0, 0, 2), ret(0)}));
    CHECK_FALSE(zeroed({branch(DIF_OP_BA, 2), ret(1), ret(0)})); // never reached
}

TEST_CASE("numbers as text", "[engine][dif]") {
    auto number = [](std::vector<uint64_t> integers) {
        std::vector<uint32_t> code;
        for (uint32_t i = 0; i < integers.size(); i++) {
            code.push_back(setx(i, 1));
            code.push_back(push_value(1));
        }
        return run(subr(DIF_SUBR_LLTOSTR, code, integers, "", string_type()));
    };
    CHECK(number({0}).text() == "0");
    CHECK(number({0 - 12ull}).text() == "-12");
    CHECK(number({1ull << 63}).text() == "-9223372036854775808");
    CHECK(number({255, 16}).text() == "0xff");
    CHECK(number({8, 8}).text() == "010");
    CHECK(number({0, 8}).text() == "0");
    CHECK(number({~0ull, 2}).text() == std::string(64, '1'));
    CHECK(number({1, 1}).errors == 1);
    CHECK(number({1, 37}).errors == 1);
}

TEST_CASE("a page that is not there costs copyinargs() as much as a fault", "[engine][dif]") {
    host = HostState{};
    host.kernel_memory[0xffff888000000000] = std::string("kernel text\0", 12);
    auto errors_of = [&](int calls) {
        Difo d{{}, string_type(), {0x9000, 1, 0xffff888000000000}};
        for (int i = 0; i < calls; i++)
            d.code.insert(d.code.end(),
                          {setx(0, 1), push_value(1), setx(1, 2), push_value(2), setx(2, 3),
                           push_value(3), call(DIF_SUBR_COPYINARGS, 1), flushts()});
        d.code.push_back(ret(1));
        return run(d).errors;
    };
    CHECK(errors_of(50) == 0);
    CHECK(errors_of(250) == 1);
}

TEST_CASE("memory subroutines", "[engine][dif]") {
    host = HostState{};
    host.user_memory[0x5000] = std::string("user text\0", 10);
    host.kernel_memory[0xffff888000000000] = std::string("kernel text\0", 12);
    auto push2 = std::vector<uint32_t>{setx(0, 1), push_value(1), setx(1, 2), push_value(2)};
    CHECK(run(subr(DIF_SUBR_COPYIN, push2, {0x5000, 10}, "", string_type())).text() == "user text");
    CHECK(run(subr(DIF_SUBR_COPYIN, push2, {0x5000, 11}, "", string_type())).errors == 1);
    CHECK(run(subr(DIF_SUBR_COPYIN, push2, {0x5000, 40000}, "", string_type())).errors == 1);
    CHECK(run(subr(DIF_SUBR_COPYINSTR, push2, {0x5000, 5}, "", string_type())).text() == "user");
    CHECK(run(subr(DIF_SUBR_COPYINSTR, {setx(0, 1), push_value(1)}, {0x5000}, "", string_type()))
              .text() == "user text");
    CHECK(run(subr(DIF_SUBR_COPYINSTR, {setx(0, 1), push_value(1)}, {0x6000}, "", string_type()))
              .errors == 1);
    CHECK(run({{setx(0, 1), ret(1)}, string_type(), {0xffff888000000000}}).text() == "kernel text");
    SECTION("copyinargs() has blanks between, and another text where nothing is") {
        host.user_memory[0x5ffc] = std::string("ls\0-l\0/", 7);
        auto push3 = push2;
        push3.insert(push3.end(), {setx(2, 3), push_value(3)});
        auto text = [&](uint64_t from, uint64_t bytes) {
            return run(subr(DIF_SUBR_COPYINARGS, push3, {from, bytes, 0xffff888000000000}, "",
                            string_type()))
                .text();
        };
        CHECK(text(0x5ffc, 7) == "ls -l /");
        CHECK(text(0x5ffc, 6) == "ls -l");
        CHECK(text(0x5ffc, 8) == "ls -"); // a byte more than is there: the first page's
        CHECK(text(0x6003, 1) == "kernel text");
        CHECK(text(0x5ffc, 0) == "kernel text");
    }
    SECTION("copyinto() and bcopy() write scratch only") {
        Difo d{{setx(0, 1), load(DIF_OP_ALLOCS, 1, 5), setx(1, 2), push_value(2), setx(0, 1),
                push_value(1), push_value(5), call(DIF_SUBR_COPYINTO, 3), flushts(), ret(5)},
               string_type(),
               {16, 0x5000}};
        d.integers[0] = 10;
        CHECK(run(d).text() == "user text");
        d.code[1] = mov(1, 5);
        CHECK(run(d).errors == 1);
        Difo b{{setx(0, 1), load(DIF_OP_ALLOCS, 1, 5), setx(1, 2), push_value(2), push_value(5),
                push_value(1), call(DIF_SUBR_BCOPY, 3), flushts(), ret(5)},
               string_type(),
               {12, 0xffff888000000000}};
        CHECK(run(b).text() == "kernel text");
        b.integers[0] = 13;
        CHECK(run(b).errors == 1);
    }
    auto one = [](uint32_t id, uint64_t value) {
        return run(subr(id, {setx(0, 1), push_value(1)}, {value}, "", int_type())).value();
    };
    CHECK(one(DIF_SUBR_GETMAJOR, 0x00800123) == 8);
    CHECK(one(DIF_SUBR_GETMINOR, 0x00800123) == 0x123);
    CHECK(one(DIF_SUBR_HTONS, 0x11223344) == 0x4433);
    CHECK(one(DIF_SUBR_NTOHL, 0x11223344) == 0x44332211);
    CHECK(one(DIF_SUBR_HTONLL, 0x1122334455667788) == 0x8877665544332211);
    CHECK(one(DIF_SUBR_PROGENYOF, 1) == 1);
    CHECK(one(DIF_SUBR_PROGENYOF, 2) == 0);
    CHECK(one(DIF_SUBR_RAND, 0) == 42);
    SECTION("too few arguments are a fault") {
        CHECK(run(subr(DIF_SUBR_STRJOIN, {push_value(0)}, {}, "", int_type())).errors == 1);
    }
}

TEST_CASE("network addresses as text", "[engine][dif]") {
    auto v6 = [](std::vector<uint8_t> bytes) {
        host = HostState{};
        host.kernel_memory[0x9000] = std::string(bytes.begin(), bytes.end());
        return run(subr(DIF_SUBR_INET_NTOP, {setx(0, 1), push_value(1), setx(1, 2), push_value(2)},
                        {10, 0x9000}, "", string_type()))
            .text();
    };
    CHECK(v6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) == "2001:db8::1");
    CHECK(v6(std::vector<uint8_t>(16)) == "::");
    CHECK(v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) == "::1");
    CHECK(v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 200}) == "::ffff:10.0.0.200");
    CHECK(v6({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}) == "fe80::1:0:0:0");
    CHECK(v6({0, 1, 0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}) == "1:0:2:3:4:5:6:7");
    host.kernel_memory[0x9100] = std::string("\x7f\0\0\1", 4);
    CHECK(run(subr(DIF_SUBR_INET_NTOA, {setx(0, 1), push_value(1)}, {0x9100}, "", string_type()))
              .text() == "127.0.0.1");
    host.kernel_memory[0x9200] = std::string("\0\x1b\x44\x11\x3a\xb7", 6);
    CHECK(run(subr(DIF_SUBR_LINK_NTOP, {setx(0, 1), push_value(1), setx(1, 2), push_value(2)},
                   {1, 0x9200}, "", string_type()))
              .text() == "00:1b:44:11:3a:b7");
}

TEST_CASE("global and clause-local variables", "[engine][dif]") {
    auto vars = [](dif_type type) {
        return std::vector<dif_var_entry>{variable(kVar, DIFV_SCOPE_GLOBAL, type),
                                          variable(kVar, DIFV_SCOPE_LOCAL, type)};
    };
    for (auto [put, get] : {std::pair{DIF_OP_STGS, DIF_OP_LDGS}, {DIF_OP_STLS, DIF_OP_LDLS}}) {
        Difo integer{{setx(0, 1), var_op(put, kVar, 1), var_op(get, kVar, 2), ret(2)},
                     int_type(),
                     {99},
                     "",
                     vars(int_type())};
        CHECK(run(integer).value() == 99);
        Difo string{{sets(1, 1), var_op(put, kVar, 1), var_op(get, kVar, 2), ret(2)},
                    string_type(),
                    {},
                    {"\0kept", 6},
                    vars(string_type())};
        CHECK(run(string).text() == "kept");
        Difo unset{{var_op(get, kVar, 2), ret(2)}, string_type(), {}, "", vars(string_type())};
        CHECK(run(unset).text() == "");
        Difo null{{var_op(put, kVar, 0), var_op(get, kVar, 2), ret(2)},
                  int_type(),
                  {},
                  "",
                  vars(string_type())};
        CHECK(run(null).value() == 0);
        Difo structure{{setx(0, 1), load(DIF_OP_ALLOCS, 1, 2), setx(1, 3), load(DIF_OP_STX, 3, 2),
                        var_op(put, kVar, 2), var_op(get, kVar, 4), load(DIF_OP_STB, 0, 4), ret(4)},
                       bytes_type(16),
                       {16, 0x1122334455667788},
                       "",
                       vars(bytes_type(16))};
        auto outcome = run(structure);
        REQUIRE(outcome.record);
        CHECK(outcome.record->u64(8) == 0x1122334455667700);
        Difo bad{{setx(0, 1), var_op(put, kVar, 1), ret(0)},
                 int_type(),
                 {0x30},
                 "",
                 vars(bytes_type(16))};
        CHECK(run(bad).errors == 1);
    }
}
