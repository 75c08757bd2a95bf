// SPDX-License-Identifier: Apache-2.0
//
// Arguments of marks as their notes describe them.
#include "tests/unit/engine/test_host.hpp"

extern "C" {
#include "engine/arch/operands.h"
#include "engine/load/program.h"
}

#include <catch2/catch.hpp>

#include <random>

namespace {

std::string shown(const dbk_operand& one) {
    std::string size = (one.is_signed ? "-" : "") + std::to_string(one.bytes);
    std::string value = std::to_string(one.value);
    switch (one.kind) {
    case DBK_OPERAND_NONE:
        return "none";
    case DBK_OPERAND_REGISTER:
        return size + " r" + std::to_string(one.base);
    case DBK_OPERAND_CONSTANT:
        return size + " " + value;
    case DBK_OPERAND_MEMORY:
        return size + " [r" + std::to_string(one.base) + "+r" + std::to_string(one.index) + "*" +
               std::to_string(one.scale) + "+" + value + "]";
    default:
        return "?";
    }
}

std::string read(const std::string& text) {
    dbk_operand operands[DBK_PLACE_OPERANDS_MAX];
    uint32_t count = dbk_operands_read(text.c_str(), operands);
    std::string all;
    for (uint32_t i = 0; i < count; i++)
        all += (i == 0 ? "" : ", ") + shown(operands[i]);
    return all;
}

bool is_register_or_none(uint8_t number) {
    return number < dbk_operand_registers || number == DBK_OPERAND_NO_REGISTER;
}

} // namespace

TEST_CASE("operands are registers, constants and memory", "[engine][dof]") {
    CHECK(read("").empty());
    CHECK(read("8@%rbp 8@%r12 -4@%eax") == "8 r6, 8 r12, -4 r0");
    CHECK(read("8@%rax 8@%rbx 8@%rcx 8@%rdx 8@%rsi 8@%rdi 8@%rbp 8@%rsp 8@%r8 8@%r15") ==
          "8 r0, 8 r1, 8 r2, 8 r3, 8 r4, 8 r5, 8 r6, 8 r7, 8 r8, 8 r15");
    CHECK(read("1@%al 1@%sil 2@%ax 4@%r9d 2@%r10w 1@%r11b") ==
          "1 r0, 1 r4, 2 r0, 4 r9, 2 r10, 1 r11");
    CHECK(read("-4@$5 4@$-1 8@$0x10 8@$18446744073709551615") == "-4 5, 4 -1, 8 16, 8 -1");
    CHECK(read("-4@112(%rsp) 8@-8(%rbp) 8@(%rax)") ==
          "-4 [r7+r255*1+112], 8 [r6+r255*1+-8], 8 [r0+r255*1+0]");
    CHECK(read("4@16(%rsp,%rax,8) 1@(,%rcx,2) 8@(%rdi,%rsi)") ==
          "4 [r7+r0*8+16], 1 [r255+r2*2+0], 8 [r5+r4*1+0]");
    CHECK(read("-4@-4096(%rip)") == "-4 [r16+r255*1+-4096]");
}

TEST_CASE("what cannot be read is an operand in its place", "[engine][dof]") {
    CHECK(read("8@%xmm0 8@%rax") == "none, 8 r0");
    CHECK(read("8f@%xmm0 8@foo(%rip) 8@%rax") == "none, none, 8 r0");
    CHECK(read("3@%rax 16@%rax @%rax 8%rax 8@ x") == "none, none, none, none, none, none");
    CHECK(read("8@%r16 8@%r7 8@%r8x 8@%rr 8@% 8@%r 8@%ah") ==
          "none, none, none, none, none, none, none");
    CHECK(read("8@(%rax 8@(%rax,%rbx,3) 8@(%rax,) 8@() 8@5 8@%rax)") ==
          "none, none, none, none, none, none");
    CHECK(read("  8@%rax   8@%rbx ") == "8 r0, 8 r1");
    std::string many;
    for (int i = 0; i < 11; i++)
        many += "8@$1 ";
    dbk_operand operands[DBK_PLACE_OPERANDS_MAX];
    CHECK(dbk_operands_read(many.c_str(), operands) == DBK_PLACE_OPERANDS_MAX);
}

TEST_CASE("any text is read without harm", "[engine][dof][hostile]") {
    constexpr char kLetters[] = "-0189@%$(),rabcdxespilw fx+";
    std::mt19937 random(1);
    for (int round = 0; round < 200000; round++) {
        std::string text(random() % 40, ' ');
        for (char& c : text)
            c = kLetters[random() % (sizeof(kLetters) - 1)];
        dbk_operand operands[DBK_PLACE_OPERANDS_MAX];
        uint32_t count = dbk_operands_read(text.c_str(), operands);
        REQUIRE(count <= DBK_PLACE_OPERANDS_MAX);
        for (uint32_t i = 0; i < count; i++) {
            const dbk_operand& one = operands[i];
            INFO(text);
            REQUIRE(one.kind <= DBK_OPERAND_MEMORY);
            if (one.kind == DBK_OPERAND_REGISTER)
                REQUIRE(one.base < dbk_operand_registers);
            if (one.kind == DBK_OPERAND_MEMORY) {
                REQUIRE(is_register_or_none(one.base));
                REQUIRE(is_register_or_none(one.index));
            }
            REQUIRE((one.kind == DBK_OPERAND_NONE) == (one.bytes == 0));
        }
    }
}
