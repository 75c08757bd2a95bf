// SPDX-License-Identifier: Apache-2.0
//
// What code the compiler makes of expressions.
#include "tests/unit/compiler/compile_helpers.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

TEST_CASE("simple values are two instructions", "[compiler][codegen]") {
    CHECK(trace_code("arg0") == "ldgs arg0, %r1\nret %r1\n");
    CHECK(trace_code("execname") == "ldgs execname, %r1\nret %r1\n");
    CHECK(trace_code("0") == "ret %r0\n");
    CHECK(trace_code("42") == "setx 0x2a, %r1\nret %r1\n");
    CHECK(trace_code("\"x\"") == "sets \"x\", %r1\nret %r1\n");
    CHECK(trace_code("uregs[R_RDI]") == "setx 0xe, %r1\nldga uregs, %r1, %r1\nret %r1\n");
}

TEST_CASE("published encodings", "[compiler][codegen]") {
    CompileOutput output = compile_text("BEGIN { trace(42); trace(arg1 < 3 ? arg0 : 1); }");
    REQUIRE(output.dof);
    CHECK(output.program.difos[0].text[0] == 0x25000001);
    CHECK(output.program.difos[0].text[1] == 0x23000001);
    CompileOutput variable = compile_text("BEGIN { x = 1; trace(x); }");
    REQUIRE(variable.dof);
    CHECK(variable.program.difos[1].text[0] == 0x29050001);
    CompileOutput compare = compile_text("BEGIN { trace(arg0 < arg1); }");
    REQUIRE(compare.dof);
    CHECK(compare.program.difos[0].text[2] == 0x0f010200);
    const formats::Difo& listed = output.program.difos[1];
    REQUIRE(listed.variables.size() == 2);
    CHECK(listed.variables[0].name == "arg1");
    CHECK(listed.variables[0].id == 0x107);
    CHECK(listed.variables[0].kind == DIFV_KIND_SCALAR);
    CHECK(listed.variables[0].scope == DIFV_SCOPE_GLOBAL);
    CHECK(listed.variables[0].flags == DIFV_F_REF);
}

TEST_CASE("constants are folded", "[compiler][codegen]") {
    CHECK(trace_code("1 + 2 * 3 - (4 << 1)") == "setx 0xffffffffffffffff, %r1\nret %r1\n");
    CHECK(trace_code("(char)300") == "setx 0x2c, %r1\nret %r1\n");
    CHECK(trace_code("(unsigned char)-1") == "setx 0xff, %r1\nret %r1\n");
    CHECK(trace_code("(short)0x8000") == "setx 0xffffffffffff8000, %r1\nret %r1\n");
    CHECK(trace_code("1 ? arg0 : arg1") == "ldgs arg0, %r1\nret %r1\n");
    CHECK(trace_code("\"a\" < \"b\"") == "setx 0x1, %r1\nret %r1\n");
    CHECK(trace_code("-7 / 2") == "setx 0xfffffffffffffffd, %r1\nret %r1\n");
    CHECK(trace_code("-7 % 2") == "setx 0xffffffffffffffff, %r1\nret %r1\n");
    CHECK(trace_code("4294967295u + 1u") == "ret %r0\n");
    CHECK(trace_code("-1 > 0u") == "setx 0x1, %r1\nret %r1\n");
    CHECK(trace_code("!5 || 2 ^^ 0") == "setx 0x1, %r1\nret %r1\n");
    CHECK(trace_code("sizeof(int) + sizeof(uint64_t *)") == "setx 0xc, %r1\nret %r1\n");
}

TEST_CASE("predicates are branches", "[compiler][codegen]") {
    CHECK(predicate_code("execname == \"x\"") == "ldgs execname, %r1\n"
                                                 "sets \"x\", %r2\n"
                                                 "scmp %r1, %r2\n"
                                                 "bne 6\n"
                                                 "setx 0x1, %r1\n"
                                                 "ret %r1\n"
                                                 "ret %r0\n");
    CHECK(predicate_code("arg0") == "ldgs arg0, %r1\nret %r1\n");
    CHECK(predicate_code("arg0 == 0") == "ldgs arg0, %r1\n"
                                         "tst %r1\n"
                                         "bne 5\n"
                                         "setx 0x1, %r1\n"
                                         "ret %r1\n"
                                         "ret %r0\n");
    CHECK(predicate_code("pid == 3 && (arg0 > 1 || !arg1)") == "ldgs pid, %r1\n"
                                                               "setx 0x3, %r2\n"
                                                               "cmp %r1, %r2\n"
                                                               "bne 13\n"
                                                               "ldgs arg0, %r1\n"
                                                               "setx 0x1, %r2\n"
                                                               "cmp %r1, %r2\n"
                                                               "bg 11\n"
                                                               "ldgs arg1, %r1\n"
                                                               "tst %r1\n"
                                                               "bne 13\n"
                                                               "setx 0x1, %r1\n"
                                                               "ret %r1\n"
                                                               "ret %r0\n");
}

TEST_CASE("comparisons are signed or unsigned as C says", "[compiler][codegen]") {
    CHECK(predicate_code("arg0 < arg1").find("bge ") != std::string::npos);
    CHECK(predicate_code("timestamp < vtimestamp").find("bgeu ") != std::string::npos);
    CHECK(predicate_code("arg0 < timestamp").find("bgeu ") != std::string::npos);
    CHECK(predicate_code("pid <= uid").find("bgu ") != std::string::npos);
    CHECK(predicate_code("(void *)arg0 >= (void *)arg1").find("blu ") != std::string::npos);
}

TEST_CASE("arithmetic reuses registers", "[compiler][codegen]") {
    CHECK(trace_code("arg0 + arg1 * arg2") == "ldgs arg1, %r1\n"
                                              "ldgs arg2, %r2\n"
                                              "mul %r1, %r2, %r1\n"
                                              "ldgs arg0, %r2\n"
                                              "add %r2, %r1, %r2\n"
                                              "ret %r2\n");
    CHECK(trace_code("arg0 / timestamp") == "ldgs arg0, %r1\n"
                                            "ldgs timestamp, %r2\n"
                                            "udiv %r1, %r2, %r1\n"
                                            "ret %r1\n");
    CHECK(trace_code("-arg0 >> 3") == "ldgs arg0, %r1\n"
                                      "sub %r0, %r1, %r1\n"
                                      "setx 0x3, %r2\n"
                                      "sra %r1, %r2, %r1\n"
                                      "ret %r1\n");
    CHECK(trace_code("~arg0 % 5") == "ldgs arg0, %r1\n"
                                     "not %r1, %r1\n"
                                     "setx 0x5, %r2\n"
                                     "srem %r1, %r2, %r1\n"
                                     "ret %r1\n");
}

TEST_CASE("narrow values are extended where it matters only", "[compiler][codegen]") {
    CHECK(trace_code("(int)(signed char)arg0") == "ldgs arg0, %r1\n"
                                                  "setx 0x38, %r2\n"
                                                  "sll %r1, %r2, %r1\n"
                                                  "sra %r1, %r2, %r1\n"
                                                  "ret %r1\n");
    CHECK(trace_code("(int)arg0") == "ldgs arg0, %r1\nret %r1\n");
    CHECK(trace_code("(long)(int)arg0") == "ldgs arg0, %r1\n"
                                           "setx 0x20, %r2\n"
                                           "sll %r1, %r2, %r1\n"
                                           "sra %r1, %r2, %r1\n"
                                           "ret %r1\n");
    CHECK(trace_code("(uint64_t)(uint8_t)arg0") == "ldgs arg0, %r1\n"
                                                   "setx 0xff, %r2\n"
                                                   "and %r1, %r2, %r1\n"
                                                   "ret %r1\n");
    // Unsigned 32-bit sums wrap before they are compared, widened or divided.
    CHECK(trace_code("uid + gid") == "ldgs uid, %r1\n"
                                     "ldgs gid, %r2\n"
                                     "add %r1, %r2, %r1\n"
                                     "ret %r1\n");
    CHECK(trace_code("(uint64_t)(uid + gid)") == "ldgs uid, %r1\n"
                                                 "ldgs gid, %r2\n"
                                                 "add %r1, %r2, %r1\n"
                                                 "setx 0xffffffff, %r2\n"
                                                 "and %r1, %r2, %r1\n"
                                                 "ret %r1\n");
}

TEST_CASE("?: needs no moves", "[compiler][codegen]") {
    CHECK(trace_code("arg0 ? arg1 : arg2") == "ldgs arg0, %r1\n"
                                              "tst %r1\n"
                                              "be 5\n"
                                              "ldgs arg1, %r1\n"
                                              "ret %r1\n"
                                              "ldgs arg2, %r1\n"
                                              "ret %r1\n");
    CHECK(trace_code("1 + (arg0 ? arg1 : arg2)") == "ldgs arg0, %r1\n"
                                                    "tst %r1\n"
                                                    "be 5\n"
                                                    "ldgs arg1, %r1\n"
                                                    "ba 6\n"
                                                    "ldgs arg2, %r1\n"
                                                    "setx 0x1, %r2\n"
                                                    "add %r2, %r1, %r2\n"
                                                    "ret %r2\n");
    CHECK(trace_code("(arg0 ? 0 : arg1) + 1").find("mov %r0, %r1") != std::string::npos);
}

TEST_CASE("truth as a value", "[compiler][codegen]") {
    CHECK(trace_code("(arg0 < 3) + 1") == "ldgs arg0, %r1\n"
                                          "setx 0x3, %r2\n"
                                          "cmp %r1, %r2\n"
                                          "bge 6\n"
                                          "setx 0x1, %r1\n"
                                          "ba 7\n"
                                          "mov %r0, %r1\n"
                                          "setx 0x1, %r2\n"
                                          "add %r1, %r2, %r1\n"
                                          "ret %r1\n");
}

TEST_CASE("variables of the three scopes", "[compiler][codegen]") {
    CHECK(code_of("BEGIN { self->t = timestamp; }") ==
          "ldgs timestamp, %r1\nstts %r1, self->t\nret %r1\n");
    CHECK(code_of("BEGIN { this->t = 1; this->t += arg0; }") == "ldls this->t, %r1\n"
                                                                "ldgs arg0, %r2\n"
                                                                "add %r1, %r2, %r1\n"
                                                                "setx 0x20, %r2\n"
                                                                "sll %r1, %r2, %r1\n"
                                                                "sra %r1, %r2, %r1\n"
                                                                "stls %r1, this->t\n"
                                                                "ret %r1\n");
    CHECK(code_of("BEGIN { n++; }") ==
          "ldgs n, %r1\nsetx 0x1, %r2\nadd %r1, %r2, %r1\nstgs %r1, n\nret %r1\n");
    CHECK(code_of("BEGIN { trace(n++); }") == "ldgs n, %r1\n"
                                              "setx 0x1, %r2\n"
                                              "add %r1, %r2, %r2\n"
                                              "stgs %r2, n\n"
                                              "ret %r1\n");
    CHECK(code_of("BEGIN { trace(--n); }") ==
          "ldgs n, %r1\nsetx 0x1, %r2\nsub %r1, %r2, %r1\nstgs %r1, n\nret %r1\n");
    CHECK(code_of("BEGIN { s = \"x\"; s = 0; }") == "stgs %r0, s\nret %r0\n");
}

TEST_CASE("associative arrays use the tuple stack", "[compiler][codegen]") {
    CHECK(code_of("BEGIN { a[pid, execname] = 1; }") == "setx 0x1, %r1\n"
                                                        "ldgs pid, %r2\n"
                                                        "ldgs execname, %r3\n"
                                                        "flushts\n"
                                                        "setx 0x4, %r4\n"
                                                        "pushtv D type, %r2, %r4\n"
                                                        "setx 0x100, %r2\n"
                                                        "pushtr string, %r3, %r2\n"
                                                        "stgaa %r1, a\n"
                                                        "ret %r1\n");
    CHECK(code_of("BEGIN { self->a[1] = 2; trace(self->a[self->a[1]]); }") ==
          "setx 0x1, %r1\n"
          "flushts\n"
          "setx 0x4, %r2\n"
          "pushtv D type, %r1, %r2\n"
          "ldtaa self->a, %r1\n"
          "flushts\n"
          "setx 0x4, %r2\n"
          "pushtv D type, %r1, %r2\n"
          "ldtaa self->a, %r1\n"
          "ret %r1\n");
    CHECK(code_of("BEGIN { a[1]++; }") == "setx 0x1, %r1\n"
                                          "flushts\n"
                                          "setx 0x4, %r2\n"
                                          "pushtv D type, %r1, %r2\n"
                                          "ldgaa a, %r1\n"
                                          "setx 0x1, %r2\n"
                                          "add %r1, %r2, %r1\n"
                                          "setx 0x1, %r2\n"
                                          "flushts\n"
                                          "setx 0x4, %r3\n"
                                          "pushtv D type, %r2, %r3\n"
                                          "stgaa %r1, a\n"
                                          "ret %r1\n");
}

TEST_CASE("arguments are computed before the first is pushed", "[compiler][codegen]") {
    CHECK(trace_code("strjoin(execname, strjoin(probefunc, \"x\"))") == "ldgs execname, %r1\n"
                                                                        "ldgs probefunc, %r2\n"
                                                                        "sets \"x\", %r3\n"
                                                                        "flushts\n"
                                                                        "setx 0x100, %r4\n"
                                                                        "pushtr string, %r2, %r4\n"
                                                                        "setx 0x100, %r2\n"
                                                                        "pushtr string, %r3, %r2\n"
                                                                        "call strjoin, %r2\n"
                                                                        "flushts\n"
                                                                        "setx 0x100, %r3\n"
                                                                        "pushtr string, %r1, %r3\n"
                                                                        "setx 0x100, %r1\n"
                                                                        "pushtr string, %r2, %r1\n"
                                                                        "call strjoin, %r1\n"
                                                                        "ret %r1\n");
    CHECK(trace_code("copyinstr(arg1)") == "ldgs arg1, %r1\n"
                                           "flushts\n"
                                           "setx 0x8, %r2\n"
                                           "pushtv D type, %r1, %r2\n"
                                           "call copyinstr, %r1\n"
                                           "ret %r1\n");
    // An int constant that is an address or a 64-bit argument is extended by code, as elsewhere.
    CHECK(trace_code("*(int *)NULL") == "mov %r0, %r1\n"
                                        "setx 0x20, %r2\n"
                                        "sll %r1, %r2, %r1\n"
                                        "sra %r1, %r2, %r1\n"
                                        "ldsw [%r1], %r1\n"
                                        "ret %r1\n");
}

TEST_CASE("memory is loaded at its size and sign", "[compiler][codegen]") {
    CHECK(trace_code("*(int *)arg0") == "ldgs arg0, %r1\nldsw [%r1], %r1\nret %r1\n");
    CHECK(trace_code("*(uint8_t *)arg0") == "ldgs arg0, %r1\nldub [%r1], %r1\nret %r1\n");
    CHECK(trace_code("((short *)arg0)[3]") ==
          "ldgs arg0, %r1\nsetx 0x6, %r2\nadd %r1, %r2, %r1\nldsh [%r1], %r1\nret %r1\n");
    CHECK(trace_code("((long *)arg0)[arg1]") == "ldgs arg1, %r1\n"
                                                "setx 0x8, %r2\n"
                                                "mul %r1, %r2, %r1\n"
                                                "ldgs arg0, %r2\n"
                                                "add %r2, %r1, %r2\n"
                                                "ldx [%r2], %r2\n"
                                                "ret %r2\n");
    CHECK(trace_code("(int *)arg0 - (int *)arg1") == "ldgs arg0, %r1\n"
                                                     "ldgs arg1, %r2\n"
                                                     "sub %r1, %r2, %r1\n"
                                                     "setx 0x4, %r2\n"
                                                     "sdiv %r1, %r2, %r1\n"
                                                     "ret %r1\n");
    CHECK(trace_code("stringof((char *)arg0)") == "ldgs arg0, %r1\nret %r1\n");
    CHECK(code_of("BEGIN { this->p = (int *)alloca(8); this->p[1] = 3; }") == "ldls this->p, %r1\n"
                                                                              "setx 0x4, %r2\n"
                                                                              "add %r1, %r2, %r1\n"
                                                                              "setx 0x3, %r2\n"
                                                                              "stw %r2, [%r1]\n"
                                                                              "ret %r2\n");
}

TEST_CASE("structs declared in D", "[compiler][codegen]") {
    const std::string types = "struct s { int a; char name[12]; struct { long x; } in; "
                              "unsigned lo:3, hi:7; int sg:5; struct s *next; };\n";
    auto of = [&](const std::string& member) {
        return code_of(types + "BEGIN { trace(((struct s *)arg0)->" + member + "); }");
    };
    CHECK(of("a") == "ldgs arg0, %r1\nldsw [%r1], %r1\nret %r1\n");
    CHECK(of("name") == "ldgs arg0, %r1\nsetx 0x4, %r2\nadd %r1, %r2, %r1\nret %r1\n");
    CHECK(of("in.x") ==
          "ldgs arg0, %r1\nsetx 0x10, %r2\nadd %r1, %r2, %r1\nldx [%r1], %r1\nret %r1\n");
    CHECK(of("lo") == "ldgs arg0, %r1\n"
                      "setx 0x18, %r2\n"
                      "add %r1, %r2, %r1\n"
                      "ldub [%r1], %r1\n"
                      "setx 0x7, %r2\n"
                      "and %r1, %r2, %r1\n"
                      "ret %r1\n");
    CHECK(of("hi") == "ldgs arg0, %r1\n"
                      "setx 0x19, %r2\n"
                      "add %r1, %r2, %r1\n"
                      "ldub [%r1], %r1\n"
                      "setx 0x7f, %r2\n"
                      "and %r1, %r2, %r1\n"
                      "ret %r1\n");
    CHECK(of("sg").find("sra") != std::string::npos);
    CHECK(of("next->next->a") == "ldgs arg0, %r1\n"
                                 "setx 0x20, %r2\n"
                                 "add %r1, %r2, %r1\n"
                                 "ldx [%r1], %r1\n"
                                 "setx 0x20, %r2\n"
                                 "add %r1, %r2, %r1\n"
                                 "ldx [%r1], %r1\n"
                                 "ldsw [%r1], %r1\n"
                                 "ret %r1\n");
    CHECK(code_of(types + "BEGIN { trace(offsetof(struct s, next) + sizeof(struct s)); }") ==
          "setx 0x48, %r1\nret %r1\n");
}

TEST_CASE("an expression too deep for the registers is an error", "[compiler][codegen]") {
    // Calls have effects, so they stay in order, each holding what came before it.
    std::string deep = "rand()", flat = "arg0";
    for (int i = 0; i < 8; i++) {
        deep = "(rand() + " + deep + ")";
        flat = "(arg0 + " + flat + ")";
    }
    CHECK(first_tag("BEGIN { trace(" + flat + "); }").empty());
    CHECK(first_tag("BEGIN { trace(" + deep + "); }") == "D_NOREG");
    // A tree of 64 leaves needs seven registers, a chain two, however long: the tree comes first.
    std::string tree = "arg0";
    for (int i = 0; i < 6; i++)
        tree = "(" + tree + " + " + tree + ")";
    CHECK(first_tag("BEGIN { trace(" + flat + " - " + tree + "); }").empty());
    // One of 32 narrow leaves, which take a register more each: not beside a key that is held.
    std::string key = "(signed char)arg0";
    for (int i = 0; i < 5; i++)
        key = "(" + key + " + " + key + ")";
    CHECK(first_tag("BEGIN { m[1, 1] = 1; } BEGIN { trace(m[arg0, " + key + "]); }").empty());
}

TEST_CASE("an expression too large for an object is an error", "[compiler][codegen]") {
    std::string text = "inline int f0[int x] = x + arg0;\n";
    for (int i = 1; i < 20; i++)
        text += "inline int f" + std::to_string(i) + "[int x] = f" + std::to_string(i - 1) +
                "[x] * f" + std::to_string(i - 1) + "[x + 1];\n";
    CHECK(first_tag(text + "BEGIN { trace(f19[1]); }") == "D_UNKNOWN");
}

TEST_CASE("the line table points at the source", "[compiler][codegen]") {
    CompileOutput output = compile_text("BEGIN\n{\n\ttrace(arg0 +\n\t    arg1);\n}\n");
    REQUIRE(output.dof);
    auto image = formats::parse_dof(*output.dof);
    REQUIRE(image.ok());
    std::string lines;
    for (const formats::DofLine& line : image->program.lines)
        lines += base::strprintf("%u=%s:%u:%u ", line.instruction, line.file.c_str(), line.line,
                                 line.column);
    CHECK(lines == "0=test.d:3:8 1=test.d:4:6 2=test.d:3:8 ");
    REQUIRE(image->program.captures.size() == 1);
    CHECK(image->program.captures[0].expression == "arg0 + arg1");
    CHECK(image->program.captures[0].type == "long");
}

TEST_CASE("what lies in a variable is changed in place and stored back", "[compiler][codegen]") {
    const std::string types =
        "struct s { int a; string text; int b:3; };\nstruct s g; struct s m[int];"
        "\nint list[4];\n";
    CHECK(code_of(types + "BEGIN { list[2] = 7; }") == "setx 0x7, %r1\n"
                                                       "ldgs list, %r2\n"
                                                       "tst %r2\n"
                                                       "bne 6\n"
                                                       "setx 0x10, %r2\n"
                                                       "allocs %r2, %r2\n"
                                                       "setx 0x8, %r3\n"
                                                       "add %r2, %r3, %r3\n"
                                                       "stw %r1, [%r3]\n"
                                                       "stgs %r2, list\n"
                                                       "ret %r1\n");
    std::string element = code_of(types + "BEGIN { m[3].a = 1; }");
    CHECK(element.find("ldgaa m, %r2\ntst %r2\n") != std::string::npos);
    CHECK(element.find("stw %r1, [%r2]\n") != std::string::npos);
    CHECK(element.find("stgaa %r2, m\n") != std::string::npos);
    std::string text = code_of(types + "BEGIN { g.text = execname; }");
    CHECK(text.find("call strlen, %r4\n") != std::string::npos);
    CHECK(text.find("copys %r1, %r4, %r3\n") != std::string::npos);
    std::string bits = code_of(types + "BEGIN { g.b = 5; }");
    CHECK(bits.find("and ") != std::string::npos);
    CHECK(bits.find("stb ") != std::string::npos);
}

TEST_CASE("signed constants are computed with 64 bits", "[compiler][codegen]") {
    CHECK(trace_code("(1 << 63) - 1") == "setx 0x7fffffffffffffff, %r1\nret %r1\n");
    CHECK(trace_code("0L - (1 << 31)") == "setx 0xffffffff80000000, %r1\nret %r1\n");
    CHECK(trace_code("sizeof(\"hi\")") == "setx 0x3, %r1\nret %r1\n");
    CHECK(code_of("BEGIN { i = 1; x = 0L; x = 1 << i; }").find("sra") == std::string::npos);
}

TEST_CASE("a predicate may define what the clause uses, and the other way round",
          "[compiler][sema]") {
    CHECK(first_tag("BEGIN /x++ == 0/ { trace(x); }").empty());
    CHECK(first_tag("BEGIN /x == 0/ { trace(x++); }").empty());
    CHECK(first_tag("BEGIN /x == 0/ { trace(x); }") == "D_IDENT_UNDEF");
}
