// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/dof_writer.hpp"
#include "tests/unit/formats/dof/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::formats;

TEST_CASE("published instructions are disassembled", "[formats][dif]") {
    Difo difo = sample_program().difos[0];
    CHECK(print_instruction(difo, 0x25000001) == "setx    DT_INTEGER[0], %r1       ! 0x1");
    CHECK(print_instruction(difo, 0x26000102) == "sets    DT_STRING[1], %r2        ! \"cat\"");
    CHECK(print_instruction(difo, 0x29011801) == "ldgs    DT_VAR(280), %r1         ! execname");
    CHECK(print_instruction(difo, 0x0f010200) == "cmp     %r1, %r2");
    CHECK(print_instruction(difo, 0x18000006) == "bl      6");
    CHECK(print_instruction(difo, 0x23000001) == "ret     %r1");
    CHECK(print_instruction(difo, 0x2f000901) == "call    DIF_SUBR(9), %r1         ! copyinstr");
    CHECK(print_instruction(difo, 0x22010002) == "ldx     [%r1], %r2");
    CHECK(print_instruction(difo, 0x3f010002) == "stx     %r1, [%r2]");
    CHECK(print_instruction(difo, 0x24000000) == "nop");
    CHECK(print_instruction(difo, 0x33000000) == "flushts");
    CHECK(print_instruction(difo, 0x30010002) == "pushtr  DT_TYPE(1), %r2, %r0     ! string");
    CHECK(print_instruction(difo, 0x28000102) == "ldga    DT_VAR(0), %r1, %r2      ! args");
    CHECK(print_instruction(difo, 0xff000000) == "??? (opcode 0xff)");
    CHECK(print_instruction(difo, 0) == "??? (opcode 0x00)");
    CHECK(print_instruction(difo, 0x25000901) ==
          "setx    DT_INTEGER[9], %r1       ! outside the integer table");
}

TEST_CASE("a DIF object is printed in the columns of dtrace -S", "[formats][dif]") {
    CHECK(print_difo(sample_program().difos[0]) ==
          R"(INS OFF  OPCODE      INSTRUCTION
000 000: 29011801    ldgs    DT_VAR(280), %r1         ! execname
001 004: 26000102    sets    DT_STRING[1], %r2        ! "cat"
002 008: 27010200    scmp    %r1, %r2
003 012: 12000006    be      6
004 016: 0e000001    mov     %r0, %r1
005 020: 11000007    ba      7
006 024: 25000001    setx    DT_INTEGER[0], %r1       ! 0x1
007 028: 23000001    ret     %r1

NAME             ID   KND SCP FLAG TYPE
execname         118  scl glb r    string (unknown) by ref (size 256)
)");
}

TEST_CASE("an image is printed whole", "[formats][dof]") {
    DofProgram program = sample_program();
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    auto image = parse_dof(*bytes);
    REQUIRE(image.ok());
    std::string text = print_dof(*image);
    for (const char* line : {
             "DOF version 2, DIF version 2, 8 integer and 8 tuple registers\n",
             "compiled from sample.d by daybreak 0.1.0\n",
             "for 6.1.0-56-amd64 only (uses its types), dialect oracle\n",
             "BTF ab000000000000000000000000000000\n"
             "$target 711\n",
             "  bufsize=1048576\n",
             "  cpu=unset\n",
             "  1 @r\n",
             "Disassembly of syscall::pread64:entry\n",
             "  action 2: quantize, statement 1, tuple of 2: arg2 (int64_t)\n",
             "  action 0: printf, statement 1, string \"%d\\n\": 5 (int)\n",
             "returns D type (integer) (size 8)\n",
         }) {
        INFO(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

TEST_CASE("actions are called by their D names", "[formats][dof]") {
    DofAction action;
    action.kind = DTRACEACT_LIBACT;
    action.arg = 0x3d;
    CHECK(print_action_kind(action) == "clear");
    action.arg = 0x40;
    CHECK(print_action_kind(action) == "trunc");
    action.arg = 7;
    CHECK(print_action_kind(action) == "libact");
    action.kind = DTRACEAGG_LQUANTIZE;
    CHECK(print_action_kind(action) == "lquantize");
    action.kind = DTRACEACT_DIFEXPR;
    CHECK(print_action_kind(action) == "difexpr");
    action.kind = 0x777777;
    CHECK(print_action_kind(action) == "action 0x777777");
}
