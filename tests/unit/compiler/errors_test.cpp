// SPDX-License-Identifier: Apache-2.0
//
// Wrong programs and the tag of the error that each must give.
#include "formats/abi/limits.h"
#include "tests/unit/compiler/compile_helpers.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

struct Wrong {
    const char* tag;
    const char* text;
};

void check(std::initializer_list<Wrong> programs) {
    for (const Wrong& wrong : programs) {
        INFO(wrong.text);
        CHECK(first_tag(wrong.text) == wrong.tag);
    }
}

/// A statement in BEGIN.
void check_statements(std::initializer_list<Wrong> statements) {
    for (const Wrong& wrong : statements) {
        std::string text = "struct s { int a; int b:3; char c[8]; };\nstruct unknown;\n"
                           "enum e { ONE = 1 }; int list2[3];\n"
                           "BEGIN { @a[pid] = count(); @n = count(); v = 1; arr[1] = 1; " +
                           std::string(wrong.text) + " }";
        INFO(wrong.text);
        CHECK(first_tag(text) == wrong.tag);
    }
}

} // namespace

TEST_CASE("names that are not there", "[compiler][errors]") {
    check_statements({
        {"D_IDENT_UNDEF", "trace(nosuch);"},
        {"D_IDENT_UNDEF", "trace(nosuch[1]);"},
        {"D_VAR_UNDEF", "trace(self->nosuch);"},
        {"D_VAR_UNDEF", "trace(this->nosuch);"},
        {"D_IDENT_UNDEF", "trace(!nosuch);"},
        {"", "trace(!nosuch[1]); trace(-self->nosuch); trace(~this->nosuch);"},
        {"D_ARR_LOCAL", "trace(!this->nosuch[1]);"},
        {"D_FUNC_UNDEF", "nosuch();"},
        {"D_FUNC_IDKIND", "v(1);"},
        {"D_FUNC_IDENT", "(v + 1)(2);"},
        {"D_IDENT_BADREF", "trace(arr);"},
        {"D_IDENT_BADREF", "trace(v[1]);"},
        {"D_SYM_NOTYPES", "trace(`jiffies);"},
        {"D_TYPE_MEMBER", "trace(((struct s *)arg0)->nosuch);"},
        {"D_OP_INCOMPAT", "trace(1 + exit(0));"},
        {"D_CG_EXPR", "trace((exit(0), 1));"},
        {"D_IDENT_UNDEF", "trace(@nosuch + 1);"},
        {"D_OP_DYN", "trace(1 + @a);"},
        {"D_TRACE_DYN", "trace(@a);"},
    });
    CHECK(first_tag("BEGIN { trace(strlen); }") == "D_IDENT_UNDEF");
}

TEST_CASE("operands of the wrong type", "[compiler][errors]") {
    check_statements({
        {"D_OP_INT", "trace(1 & execname);"},
        {"D_OP_INT", "trace(~execname);"},
        {"D_OP_INT", "trace(1.5);"},
        {"D_OP_ARITH", "trace(execname * 2);"},
        {"D_OP_ARITH", "trace(-execname);"},
        {"D_OP_SCALAR", "trace(!execname);"},
        {"D_OP_SCALAR", "trace(execname && 1);"},
        {"D_OP_SCALAR", "trace(execname ? 1 : 2);"},
        {"D_OP_INCOMPAT", "trace(execname + probename);"},
        {"D_OP_INCOMPAT", "trace(1 == execname);"},
        {"D_OP_INCOMPAT", "trace(v ? execname : 2);"},
        {"D_OP_INCOMPAT", "trace(v && 1 ? execname : 2);"},
        {"", "trace(1 ? execname : 2);"},
        {"D_OP_INCOMPAT", "v = execname;"},
        {"D_OP_INCOMPAT", "trace((int *)arg0 - (char *)arg1);"},
        {"D_OP_INCOMPAT", "trace((void *)arg0 + 1);"},
        {"D_OP_VFPTR", "self->vp = (void *)arg0; self->vp++;"},
        {"D_OP_PTR", "trace(v->a);"},
        {"D_OP_SOU", "trace(v.a);"},
        {"D_OP_SOU", "trace(((struct s *)arg0).a);"},
        {"D_OP_INCOMPLETE", "trace(((struct unknown *)arg0)->a);"},
        {"D_OP_INCOMPLETE", "trace(curthread->pid);"},
        {"D_OP_LVAL", "1 = 2;"},
        {"D_OP_LVAL", "ONE = 2;"},
        {"D_OP_LVAL", "(v + 1) = 2;"},
        {"D_OP_WRITE", "pid = 2;"},
        {"D_OP_WRITE", "arg0++;"},
        {"D_DIV_ZERO", "trace(v / 0);"},
        {"D_DIV_ZERO", "trace(v % (1 - 1));"},
        {"D_DEREF_NONPTR", "trace(*v);"},
        {"D_DEREF_VOID", "trace(*(void *)arg0);"},
        {"D_ADDROF_LVAL", "trace(&1);"},
        {"D_IDENT_UNDEF", "trace(&nosuch);"},
        {"D_PROTO_LEN", "ftruncate(1);"},
        {"D_ADDROF_VAR", "trace(&v);"},
        {"D_ADDROF_VAR", "trace(&pid);"},
        {"D_ADDROF_BITFIELD", "trace(&((struct s *)arg0)->b);"},
        {"D_SIZEOF_TYPE", "trace(sizeof(void));"},
        {"D_SIZEOF_TYPE", "trace(sizeof(struct unknown));"},
        {"D_SIZEOF_BITFIELD", "trace(sizeof(((struct s *)arg0)->b));"},
        {"D_OFFSETOF_TYPE", "trace(offsetof(int, a));"},
        {"D_OFFSETOF_BITFIELD", "trace(offsetof(struct s, b));"},
        {"D_UNKNOWN", "trace(offsetof(struct s, z));"},
        {"D_STRINGOF_TYPE", "trace(stringof(*(struct s *)arg0));"},
        {"D_CAST_INVAL", "trace((struct s)1);"},
        {"D_CAST_INVAL", "trace((int)execname);"},
        {"D_ARR_BOUNDS", "trace(((struct s *)arg0)->c[8]);"},
        {"D_ARR_LOCAL", "this->a[1] = 2;"},
        {"D_ARR_BADREF", "trace((1 + 2)[0]);"},
        {"D_ARR_BADREF", "self->q = (int *)arg0; trace(self->q[1, 2]);"},
        {"D_KEY_TYPE", "arr2[@a] = 1;"},
        {"", "arr2[*(struct s *)arg0] = 1; arr2[*(struct s *)arg1] = 2;"},
        {"D_PROTO_LEN", "trace(arr[1, 2]);"},
        {"D_PROTO_ARG", "trace(arr[execname]);"},
        {"D_XLATE_NONE", "trace(xlate <struct s> (arg0));"},
        {"", "trace(((struct s *)arg0)->c[7]); trace(execname == \"x\" ? 1 : 2); v = (char)3;"},
        {"", "self->p = (int *)arg0; self->p = 0; trace(self->p == 0); trace(NULL);"},
    });
    CHECK(first_tag("BEGIN /execname/ { trace(1); }") == "D_PRED_SCALAR");
    CHECK(first_tag("BEGIN /nosuch/ { trace(1); }") == "D_IDENT_UNDEF");
}

TEST_CASE("functions and actions called wrongly", "[compiler][errors]") {
    check_statements({
        {"D_PROTO_LEN", "strlen();"},
        {"D_PROTO_LEN", "strlen(execname, 1);"},
        {"D_PROTO_LEN", "substr(execname);"},
        {"D_PROTO_ARG", "strlen(1);"},
        {"D_PROTO_ARG", "copyinstr(execname);"},
        {"D_PROTO_ARG", "lltostr(execname);"},
        {"D_PROTO_LEN", "trace();"},
        {"D_PROTO_LEN", "trace(1, 2);"},
        {"D_TRACE_VOID", "trace((void)1);"},
        {"D_PROTO_LEN", "exit();"},
        {"D_PROTO_ARG", "exit(\"x\");"},
        {"D_STACK_PROTO", "stack(1, 2);"},
        {"D_STACK_SIZE", "stack(0);"},
        {"D_STACK_SIZE", "stack(v);"},
        {"D_USTACK_PROTO", "ustack(1, 2, 3);"},
        {"D_USTACK_FRAMES", "ustack(-1);"},
        {"D_USTACK_STRSIZE", "ustack(1, -2);"},
        {"D_TRACEMEM_ADDR", "tracemem(execname, 4);"},
        {"D_TRACEMEM_ADDR", "tracemem(*(struct s *)arg0, 4);"},
        {"D_TRACEMEM_SIZE", "tracemem(arg0, v);"},
        {"D_TRACEMEM_SIZE", "tracemem(arg0, 0);"},
        {"D_UNKNOWN", "pcap((void *)arg0, 1);"},
    });
}

TEST_CASE("printf() formats that do not fit", "[compiler][errors]") {
    check_statements({
        {"D_PROTO_LEN", "printf();"},
        {"D_PRINTF_ARG_FMT", "printf(execname);"},
        {"D_PRINTF_FMT_EMPTY", "printf(\"\");"},
        {"D_PRINTF_ARG_PROTO", "printf(\"%d\");"},
        {"D_PRINTF_ARG_EXTRA", "printf(\"x\", 1);"},
        {"D_PRINTF_ARG_TYPE", "printf(\"%d\", execname);"},
        {"D_PRINTF_ARG_TYPE", "printf(\"%s\", 1);"},
        {"D_PRINTF_ARG_TYPE", "printf(\"%s\", (char *)arg0);"},
        {"D_PRINTF_ARG_TYPE", "printf(\"%f\", 1);"},
        {"D_OP_ACT", "trace(v ? trace(1) : trace(2));"},
        {"D_ADDROF_VAR", "trace(&@a);"},
        {"D_OP_VFPTR", "v -= alloca(8);"},
        {"D_OP_ARRFUN", "list2 = list2;"},
        {"D_PRINTF_AGG_CONV", "printf(\"%@d\", 1);"},
        {"D_PRINTF_DYN_PROTO", "printf(\"%*d\");"},
        {"D_PRINTF_DYN_TYPE", "printf(\"%*d\", execname, 1);"},
        {"D_PRINTF_DYN_TYPE", "@k[execname, pid] = count(); printa(\"%*d %@d\", @k);"},
        {"D_PRINTF_DYN_TYPE", "@k[stack(), pid] = count(); printa(\"%*d %@d\", @k);"},
        {"D_PRINTF_DYN_PROTO", "@k[pid] = count(); printa(\"%d %*@d\", @k);"},
        {"", "@k[pid, ppid] = count(); printa(\"%*d %@d\", @k);"},
        {"D_SYNTAX", "printf(\"%q\", 1);"},
        {"D_PROTO_LEN", "printa();"},
        {"D_PRINTA_PROTO", "printa(\"%d\\n\");"},
        {"D_PRINTA_PROTO", "printa(\"x\");"},
        {"D_PRINTA_PROTO", "printa(@a, @n);"},
        {"D_PRINTA_AGGARG", "printa(1);"},
        {"D_PRINTA_AGGARG", "printa(\"x\", 1);"},
        {"D_PRINTA_AGGBAD", "printa(@nosuch);"},
        {"D_PRINTA_AGGKEY", "printa(\"%@d\", @a, @n);"},
        {"D_PRINTA_AGGPROTO", "@s[execname] = count(); printa(\"%@d\", @a, @s);"},
        {"D_PRINTF_ARG_PROTO", "printa(\"%d %d\", @a);"},
        {"D_PRINTF_ARG_TYPE", "printa(\"%s\", @a);"},
    });
}

TEST_CASE("aggregations used wrongly", "[compiler][errors]") {
    check_statements({
        {"D_AGG_FUNC", "@x = 1;"},
        {"D_AGG_FUNC", "@x = strlen(execname);"},
        {"D_AGG_FUNC", "@a += count();"},
        {"D_AGG_NULL", "@a;"},
        {"D_IDENT_UNDEF", "@x;"},
        {"D_FUNC_UNDEF", "@x = nosuch();"},
        {"D_FUNC_IDENT", "@x = (v + 1)();"},
        {"D_CG_EXPR", "count();"},
        {"D_AGG_REDEF", "@n = sum(1);"},
        {"D_AGG_MDIM", "@x[1][2] = count();"},
        {"D_AGG_SCALAR", "@x = sum(execname);"},
        {"D_PROTO_LEN", "@x = count(1);"},
        {"D_PROTO_LEN", "@x = sum();"},
        {"D_PROTO_LEN", "@a[1, 2] = count();"},
        {"D_PROTO_ARG", "@a[execname] = count();"},
        {"D_KEY_TYPE", "@x[@a] = count();"},
        {"D_CLEAR_PROTO", "clear();"},
        {"D_CLEAR_AGGARG", "clear(1);"},
        {"D_CLEAR_AGGBAD", "clear(@nosuch);"},
        {"D_TRUNC_PROTO", "trunc(@a, 1, 2);"},
        {"D_TRUNC_SCALAR", "trunc(@a, execname);"},
        {"D_TRUNC_AGGARG", "trunc(1);"},
        {"D_TRUNC_AGGBAD", "trunc(@nosuch);"},
        {"D_NORMALIZE_PROTO", "normalize(@a);"},
        {"D_NORMALIZE_SCALAR", "normalize(@a, execname);"},
        {"D_NORMALIZE_AGGARG", "normalize(1, 1);"},
        {"D_NORMALIZE_AGGBAD", "denormalize(@nosuch);"},
    });
}

TEST_CASE("quantize parameters", "[compiler][errors]") {
    check_statements({
        {"D_PROTO_LEN", "@x = lquantize(1, 2);"},
        {"D_LQUANT_BASETYPE", "@x = lquantize(1, v, 10);"},
        {"D_LQUANT_BASEVAL", "@x = lquantize(1, 0x100000000, 10);"},
        {"D_LQUANT_LIMTYPE", "@x = lquantize(1, 0, v);"},
        {"D_LQUANT_LIMVAL", "@x = lquantize(1, 0, 0x100000000);"},
        {"D_LQUANT_MISMATCH", "@x = lquantize(1, 10, 10);"},
        {"D_LQUANT_STEPTYPE", "@x = lquantize(1, 0, 10, v);"},
        {"D_LQUANT_STEPVAL", "@x = lquantize(1, 0, 100000, 65536);"},
        {"D_LQUANT_STEPTYPE", "@x = lquantize(1, 0, 100, -1);"},
        {"D_PROTO_ARG", "@x = lquantize(1, execname, 100);"},
        {"D_LQUANT_STEPLARGE", "@x = lquantize(1, 0, 10, 11);"},
        {"D_LQUANT_STEPSMALL", "@x = lquantize(1, 0, 65536, 1);"},
        {"", "@x = lquantize(1, 0, 65535, 1);"},
        {"", "@x = lquantize(1, 0, 10, 10); @x = lquantize(2, 0, 10, 10);"},
        {"D_LQUANT_MATCHBASE", "@x = lquantize(1, 0, 10); @x = lquantize(1, 1, 10);"},
        {"D_LQUANT_MATCHLIM", "@x = lquantize(1, 0, 10); @x = lquantize(1, 0, 11);"},
        {"D_LQUANT_MATCHSTEP", "@x = lquantize(1, 0, 10, 1); @x = lquantize(1, 0, 10, 2);"},
        {"D_LLQUANT_FACTORTYPE", "@x = llquantize(1, v, 0, 6, 20);"},
        {"D_LLQUANT_FACTORVAL", "@x = llquantize(1, 1, 0, 6, 20);"},
        {"D_LLQUANT_LMAGTYPE", "@x = llquantize(1, 10, v, 6, 20);"},
        {"D_LLQUANT_LMAGVAL", "@x = llquantize(1, 10, -1, 6, 20);"},
        {"D_LLQUANT_HMAGTYPE", "@x = llquantize(1, 10, 0, v, 20);"},
        {"D_LLQUANT_HMAGVAL", "@x = llquantize(1, 10, 0, 20, 20);"},
        {"D_LLQUANT_HMAGVAL", "@x = llquantize(1, 10, 3, 2, 20);"},
        {"D_LLQUANT_STEPTYPE", "@x = llquantize(1, 10, 0, 6, v);"},
        {"", "@x = llquantize(1, 10, 0, 6, 5);"},
        {"D_LLQUANT_FACTORVAL", "@x = llquantize(1, 10, 0, 6, 25);"},
        {"D_LLQUANT_STEPVAL", "@x = llquantize(1, 10, 0, 6, 30);"},
        {"D_LLQUANT_MATCHFACTOR", "@x = llquantize(1,10,0,6,20); @x = llquantize(1,20,0,6,20);"},
        {"D_LLQUANT_MATCHLMAG", "@x = llquantize(1,10,0,6,20); @x = llquantize(1,10,1,6,20);"},
        {"D_LLQUANT_MATCHHMAG", "@x = llquantize(1,10,0,6,20); @x = llquantize(1,10,0,5,20);"},
        {"D_LLQUANT_MATCHSTEPS", "@x = llquantize(1,10,0,6,20); @x = llquantize(1,10,0,6,10);"},
        {"", "@x = llquantize(1, 2, 0, 62, 2);"},
    });
}

TEST_CASE("declarations, pragmas and what is not there yet", "[compiler][errors]") {
    check({
        {"D_DECL_IDRED", "int x; string x;"},
        {"", "int x; int x; BEGIN { x = 1; }"},
        {"D_DECL_IDRED", "int pid;"},
        {"D_DECL_IDRED", "inline int x = 1; inline int x = 2; BEGIN {}"},
        {"D_DECL_LOCASSC", "this int x[int];"},
        {"D_OP_INCOMPAT", "string x; BEGIN { x = 1; }"},
        {"D_PRAGMA_OPTSET", "#pragma D option nosuch\nBEGIN {}"},
        {"D_PRAGMA_OPTSET", "#pragma D option bufsize=-1\nBEGIN {}"},
        {"D_PRAGMA_OPTSET", "#pragma D option strsize=8193\nBEGIN {}"},
        {"", "#pragma D option strsize=8192\nBEGIN {}"},
        {"D_PRAGMA_DEPEND", "#pragma D depends_on library nosuch.d\nBEGIN {}"},
        {"", "struct s { int a; }; translator struct s < int x > { a = x; };"},
        {"", "provider p { probe one(int); };"},
        {"D_PROTO_LEN", "inline int f[int a] = a; BEGIN { trace(f[1, 2]); }"},
        {"D_PROTO_ARG", "inline int f[int a] = a; BEGIN { trace(f[execname]); }"},
        {"D_IDENT_BADREF", "inline int f[int a] = a; BEGIN { trace(f); }"},
        {"D_ARGS_IDX", "BEGIN { trace(args[0]); }"},
        {"D_ARGS_MULTI", "sdt:::sched_* { trace(args[0]); }"},
        {"D_ARGS_TYPE", "sdt:::sched_switch { trace(args[0]); }"},
        {"D_ARGS_IDX", "syscall::read:entry { trace(args[3]); }"},
        {"D_ARGS_IDX", "syscall::read:return { trace(args[2]); }"},
        {"D_ARGS_IDX", "syscall::read*:entry { trace(args[10]); }"},
        {"D_PROTO_ARG", "syscall::read:entry { trace(args[arg0]); }"},
        {"", "syscall::read:entry { trace(args[2]); }"},
    });
    std::string long_part(DBK_PROBE_NAME_BYTES_MAX + 1, 'x');
    CHECK(first_tag("sdt:::" + long_part + " { trace(1); }") == "D_PDESC_INVAL");
    CHECK(first_tag("sdt:::" + long_part.substr(1) + " { trace(1); }").empty());
}

TEST_CASE("errors say where, what and what to do", "[compiler][errors]") {
    CompileOutput output = compile_text("BEGIN\n{\n\ttrace(exename);\n}\n");
    CHECK(errors_of(output).find("line 3: failed to resolve exename: Unknown variable name\n"
                                 "test.d:3:8: [D_IDENT_UNDEF]\n") != std::string::npos);
    CHECK(errors_of(output).find("did you mean execname?") != std::string::npos);
    CompileOutput kernel = compile_text("BEGIN { trace(curthread->comm); }");
    CHECK(errors_of(kernel).find("--kernel RELEASE") != std::string::npos);
    CompileOutput args = compile_text("sdt:::sched_switch { trace(args[1]); }");
    CHECK(errors_of(args).find("--btf FILE") != std::string::npos);
    CompileOutput many = compile_text("BEGIN { trace(a); trace(b); trace(c); }");
    CHECK(many.diagnostics.error_count() == 3);
}

TEST_CASE("what has no value is called void, not an aggregation", "[compiler][errors]") {
    CompileOutput output = compile_text("BEGIN { x = exit(0) + 1; }");
    REQUIRE(output.diagnostics.first_error());
    CHECK(output.diagnostics.first_error()->text ==
          "operands have incompatible types: \"void\" + \"int\"");
}
