// SPDX-License-Identifier: Apache-2.0
//
// The engine's verifier accepts what the compiler makes.
#include "compiler/sema/builtins.hpp"
#include "engine/sim/sim_host.hpp"
#include "tests/unit/compiler/compile_helpers.hpp"
#include "tests/unit/compiler/sample_btf.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

void check_loads(const std::string& text) {
    SampleKernel kernel;
    CompileOutput output = compile_text("#pragma D option destructive\n" + text, &kernel);
    INFO(text);
    INFO(errors_of(output));
    REQUIRE(output.dof);
    auto host = sim::SimHost::create({});
    REQUIRE(host.ok());
    sim::HostScope scope(**host);
    dbk_reason reason{};
    dbk_program* program = nullptr;
    int error = dbk_program_load(output.dof->data(), output.dof->size(), &reason, &program);
    INFO(reason.text);
    CHECK(error == 0);
    dbk_program_destroy(program);
}

void check_expressions(std::initializer_list<const char*> expressions) {
    for (const char* expression : expressions) {
        check_loads("syscall::read:entry { trace(" + std::string(expression) + "); }");
        check_loads("syscall::read:entry { @[stringof(0) == \"\" ? 1 : 2, execname] = "
                    "quantize((" +
                    std::string(expression) + ") == 0 ? 1 : 2, 3); }");
    }
}

} // namespace

TEST_CASE("the engine loads every kind of expression", "[compiler][engine]") {
    check_expressions({
        "0",
        "1",
        "-1",
        "arg0",
        "(char)arg0",
        "(uint64_t)(uint8_t)arg0",
        "arg0 + arg1 * arg2 - 3",
        "arg0 / 3 % 5",
        "timestamp / 3 % 5",
        "arg0 << 2 >> 1",
        "~arg0 & 7 | 3 ^ 1",
        "-arg0",
        "!arg0",
        "arg0 && arg1 || !arg2 ^^ arg3",
        "arg0 < 1 ? arg1 : arg2",
        "(arg0 < 1) + (arg1 >= 2u)",
        "execname == \"x\" ? 1 : 2",
        "self->nothing = 3",
        "x = arg0",
        "x += 2",
        "x++ + --x",
        "a[pid, execname] = 3",
        "self->a[1, \"x\"]++",
        "this->t = timestamp",
        "*(int *)arg0",
        "((char *)arg0)[arg1]",
        "curthread->pid",
        "curthread->parent->depth",
        "args[2]",
        "uregs[R_RSP]",
        "strlen(execname)",
        "strlen(strjoin(probefunc, copyinstr(arg0)))",
        "*(int *)copyin(arg0, 4)",
        "(*(long *)alloca(8) = 3)",
        "index(execname, \"a\", strlen(basename(probefunc)))",
        "rand() + (rand() + rand())",
        "(arg0, arg1)",
        "sizeof(struct task_struct)",
    });
}

TEST_CASE("the engine loads every action", "[compiler][engine]") {
    for (const char* statement : {
             "",
             "trace(execname); trace(curthread->comm); trace(*curthread);",
             "printf(\"%d %s %p %Y %c\", pid, execname, arg0, walltimestamp, 65);",
             "printf(\"%*d %-.*s\", 5, pid, 3, execname); printf(\"x\");",
             "exit(0); exit(pid);",
             "stack(); stack(7); ustack(); ustack(5, 100); jstack(3);",
             "tracemem(arg0, 16); tracemem(arg0, 64, arg1); tracemem(arg0, 64, uid);",
             "sym(arg0); mod(arg0); usym(arg0); umod(arg0); uaddr(arg0);",
             "@ = count(); @a[pid] = sum(arg0); @b[execname, probefunc] = avg(pid);",
             "@c[stack()] = min(arg0); @d[ustack(), sym(caller)] = max((char)arg0);",
             "@e = stddev(arg0); @f = quantize(arg0); @g = quantize(arg0, arg1 + 1);",
             "@h = lquantize(arg0, 0, 100, 10); @i[pid] = lquantize(arg0, -5, 5, 1, 2);",
             "@j = llquantize(arg0, 10, 0, 6, 20); @k = llquantize(arg0, 10, 0, 6, 20, arg1);",
             "@a = count(); clear(@a); trunc(@a); trunc(@a, 5); normalize(@a, 10); "
             "denormalize(@a);",
             "@a = count(); printa(@a); printa(\"%@d\", @a);",
             "setopt(\"quiet\"); setopt(\"aggrate\", \"1s\");",
             "system(\"date %d\", pid); freopen(\"/tmp/x\"); freopen(\"\");",
             "self->s = \"text\"; self->s = 0; this->s = execname; s = strjoin(this->s, \"x\");",
             "g[1] = execname; trace(g[1]); self->t[execname] = probefunc;",
         }) {
        check_loads("BEGIN { " + std::string(statement) + " }");
        check_loads("BEGIN /pid == 3 && execname != \"x\"/ { " + std::string(statement) + " }");
    }
}

TEST_CASE("the engine has every variable and subroutine that is not refused",
          "[compiler][engine]") {
    for (const BuiltinVariable& variable : builtin_variables())
        if (!variable.is_array && variable.id != kReplayVariable)
            check_loads("BEGIN { trace(" + std::string(variable.name) + "); }");
    for (const char* call : {"alloca(8)",
                             "basename(execname)",
                             "cleanpath(execname)",
                             "copyin(arg0, 8)",
                             "copyinstr(arg0)",
                             "copyinstr(arg0, 8)",
                             "dirname(execname)",
                             "getmajor(arg0)",
                             "getminor(arg0)",
                             "htonl(pid)",
                             "htonll(arg0)",
                             "htons(pid)",
                             "index(execname, \"x\")",
                             "inet_ntoa(alloca(4))",
                             "inet_ntoa6(alloca(16))",
                             "inet_ntop(2, alloca(4))",
                             "link_ntop(1, alloca(6))",
                             "lltostr(arg0)",
                             "ntohl(pid)",
                             "ntohll(arg0)",
                             "ntohs(pid)",
                             "progenyof(pid)",
                             "rand()",
                             "rindex(execname, \"x\", 3)",
                             "strchr(execname, 'x')",
                             "strjoin(execname, \"x\")",
                             "strlen(execname)",
                             "strrchr(execname, 'x')",
                             "strstr(execname, \"x\")",
                             "strtok(execname, \"x\")",
                             "substr(execname, 1, 2)"})
        check_loads("BEGIN { trace(" + std::string(call) + "); }");
    check_loads(
        "struct s { int a; string t; int b:3; }; struct s g; struct s m[int]; self struct s u;"
        "BEGIN { g.a = 1; g.t = execname; g.b = 2; m[1].a = 3; m[2].b = 4; self->u.a = 5; }");
    check_loads("BEGIN { this->p = alloca(8); bcopy(alloca(8), this->p, 8); "
                "copyinto(arg0, 8, this->p); }");
}

TEST_CASE("the engine loads programs with many probes and options", "[compiler][engine]") {
    check_loads("#pragma D option bufsize=1m\n#pragma D option bufpolicy=ring\n"
                "#pragma D option aggregate=record\n#pragma D option strsize=64\n"
                "#pragma D option nspec=3\n"
                "sdt:::sched_switch, fbt::vfs_read:entry { trace(args[2]); n++; }\n"
                "syscall:::entry, syscall:::return /n > 3/ { @[probefunc] = count(); }\n"
                "profile:::profile-97, profile:::tick-1s, tick-5hz { trace(n); }\n"
                "dtrace:::ERROR { printf(\"%d\", arg4); } END { trace(n); exit(1); }\n");
}
