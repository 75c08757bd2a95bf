// SPDX-License-Identifier: Apache-2.0
//
// How D statements become actions.
#include "tests/unit/compiler/compile_helpers.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

TEST_CASE("recording actions", "[compiler][actions]") {
    CHECK(actions_of("BEGIN { trace(arg0); trace((char)1); trace(execname); }") ==
          "difexpr 1 int8\ndifexpr 2 int1\ndifexpr 3 string256\n");
    CHECK(actions_of("BEGIN { exit(0); }") == "exit 1 int4\n");
    CHECK(actions_of("BEGIN { exit(arg0); }") == "exit 1 int4\n");
    CHECK(actions_of("BEGIN { stack(); stack(5); ustack(); ustack(3, 64); }") ==
          "stack 1\nstack 2 arg=5\nustack 3\nustack 4 arg=4000000003\n");
    CHECK(actions_of("BEGIN { tracemem(arg0, 32); tracemem(curthread, 64, arg1); "
                     "tracemem(arg0, 8, uid); }") ==
          "tracemem 1 arg=1 bytes32\ntracemem 2 arg=2 bytes64\ntracemem 2 arg=4 int8\n"
          "tracemem 3 arg=2 bytes8\ntracemem 3 arg=3 int4\n");
    CHECK(actions_of("BEGIN { sym(caller); mod(caller); func(arg0); usym(arg0); umod(arg0); "
                     "uaddr(ucaller); }") ==
          "sym 1 int8\nmod 2 int8\nsym 3 int8\nusym 4 int8\numod 5 int8\nuaddr 6 int8\n");
    CHECK(actions_of("BEGIN { x = 1; self->y = x; strlen(execname); }") ==
          "difexpr 1 int0\ndifexpr 2 int0\ndifexpr 3 int0\n");
    CHECK(actions_of("BEGIN { }") == "none\n");
}

TEST_CASE("printf() is one action per argument", "[compiler][actions]") {
    CHECK(actions_of("BEGIN { printf(\"hello\\n\"); }") == "printf 1 \"hello\\n\" int8\n");
    CHECK(actions_of("BEGIN { printf(\"%d %s\\n\", pid, execname); }") ==
          "printf 1 \"%d %s\\n\" int4\nprintf 1 \"%d %s\\n\" string256\n");
    CHECK(actions_of("BEGIN { printf(\"%*d|%-8.*s\", 5, arg0, 3, execname); }") ==
          "printf 1 \"%*lld|%-8.*s\" int4\nprintf 1 \"%*lld|%-8.*s\" int8\n"
          "printf 1 \"%*lld|%-8.*s\" int4\nprintf 1 \"%*lld|%-8.*s\" string256\n");
    CHECK(actions_of("BEGIN { system(\"date %d\", pid); freopen(\"/tmp/x\"); freopen(\"\"); }") ==
          "system 1 \"date %d\" int4\nfreopen 2 \"/tmp/x\" int8\nfreopen 3 \".\" int8\n");
}

TEST_CASE("stored formats say size and sign", "[compiler][actions]") {
    auto stored = [](const std::string& format, const std::string& arguments) {
        CompileOutput output =
            compile_text("BEGIN { printf(\"" + format + "\", " + arguments + "); }");
        INFO(errors_of(output));
        REQUIRE(output.dof);
        return output.program.action_lists[0].actions[0].text.value();
    };
    CHECK(stored("%d", "arg0") == "%lld");
    CHECK(stored("%d", "pid") == "%d");
    CHECK(stored("%d", "uid") == "%u");
    CHECK(stored("%5i|%hd|%lld", "timestamp, (short)1, (int)2") == "%5llu|%d|%d");
    CHECK(stored("%#x %X %o", "arg0, pid, (char)1") == "%#llx %X %o");
    CHECK(stored("%p %a %?x", "arg0, caller, arg0") == "%p %a %16llx");
    CHECK(stored("%Y %c %%", "walltimestamp, 65") == "%Y %c %%");
    CHECK(stored("%lu", "arg0") == "%llu");
}

TEST_CASE("aggregations", "[compiler][actions]") {
    CHECK(actions_of("BEGIN { @ = count(); }") == "difexpr 1 int8\ncount 1 tuple=1\n");
    CHECK(actions_of("BEGIN { @a = count(); @b[pid, execname] = sum(arg0); }") ==
          "difexpr 1 int8\ncount 1 tuple=1\n"
          "difexpr 2 int8\ndifexpr 2 int4\ndifexpr 2 string256\nsum 2 tuple=3 int8\n");
    CHECK(actions_of("BEGIN { @q[stack(4)] = quantize(arg0, arg1); }") ==
          "difexpr 1 int8\nstack 1 arg=4\ndifexpr 1 int0\nquantize 1 tuple=3 int8\n");
    CHECK(actions_of("BEGIN { @l = lquantize(5, 0, 100, 10); }") ==
          "difexpr 1 int8\nlquantize 1 arg=a000a00000000 tuple=1 int4\n");
    CHECK(actions_of("BEGIN { @l = lquantize(5, -10, 10); }") ==
          "difexpr 1 int8\nlquantize 1 arg=10014fffffff6 tuple=1 int4\n");
    CHECK(actions_of("BEGIN { @l = llquantize(5, 10, 0, 6, 20); }") ==
          "difexpr 1 int8\nllquantize 1 arg=1400060000000a tuple=1 int4\n");
    CHECK(actions_of("BEGIN { @[sym(caller)] = max(arg0); @x[ustack()] = stddev(arg0); }") ==
          "difexpr 1 int8\nsym 1 int8\nmax 1 tuple=2 int8\n"
          "difexpr 2 int8\nustack 2\nstddev 2 tuple=2 int8\n");
    CompileOutput output = compile_text("BEGIN { @b = count(); @ = avg(1); @a[1] = min(2); }"
                                        "END { @b = count(); }");
    REQUIRE(output.dof);
    CHECK(output.program.aggregation_names == std::vector<std::string>{"b", "", "a"});
    CHECK(code(output.program.difos[0]) == "setx 0x1, %r1\nret %r1\n");
}

TEST_CASE("the increment is evaluated just before and has size 0", "[compiler][actions]") {
    CompileOutput output = compile_text("BEGIN { @ = quantize(arg0, arg1 + 1); }");
    REQUIRE(output.dof);
    const auto& actions = output.program.action_lists[0].actions;
    REQUIRE(actions.size() == 3);
    const formats::Difo& weight = output.program.difos[*actions[1].difo];
    CHECK(weight.type.size == 0);
    CHECK(code(weight) == "ldgs arg1, %r1\nsetx 0x1, %r2\nadd %r1, %r2, %r1\nret %r1\n");
}

TEST_CASE("actions upon aggregations", "[compiler][actions]") {
    const std::string define = "BEGIN { @a[pid] = count(); @b[pid] = sum(1); }\n";
    CHECK(actions_of(define + "END { clear(@a); denormalize(@b); }") ==
          "clear 1 arg=3d int8\ndenormalize 2 arg=3f int8\n");
    CHECK(actions_of(define + "END { trunc(@a); trunc(@b, 5); normalize(@a, 10); }") ==
          "trunc 1 arg=40 int8\ntrunc 1 arg=40 int8\ntrunc 2 arg=40 int8\ntrunc 2 arg=40 int4\n"
          "normalize 3 arg=3e int8\nnormalize 3 arg=3e int4\n");
    CHECK(actions_of(define + "END { printa(@a); printa(\"%d: %@d %@d\\n\", @a, @b); }") ==
          "printa 1 int8\nprinta 2 \"%d: %@lld %@lld\\n\" int8\n"
          "printa 2 \"%d: %@lld %@lld\\n\" int8\n");
    CHECK(actions_of(define + "END { printa(\"%d %@10d\", @a); }") ==
          "printa 1 \"%d %@10lld\" int8\n");
    CHECK(actions_of("BEGIN { @[stack(), uid] = count(); } END { printa(\"%k %d %@u\", @); }") ==
          "printa 1 \"%k %u %@llu\" int8\n");
    CHECK(actions_of("BEGIN { setopt(\"quiet\"); setopt(\"aggrate\", \"1s\"); }") ==
          "setopt 1 arg=4a string256\nsetopt 1 arg=4a int8\n"
          "setopt 2 arg=4a string256\nsetopt 2 arg=4a string256\n");
}

TEST_CASE("recorded values are captured as D text", "[compiler][actions]") {
    CompileOutput output = compile_text(
        "BEGIN { @[execname, arg0+1] = quantize(arg2, 2); printf(\"%d\", pid); trace((int)arg0); "
        "stack(); x = 1; }");
    REQUIRE(output.dof);
    std::string captures;
    for (const formats::DofCapture& capture : output.program.captures)
        captures += base::strprintf("%u:%s:%s ", capture.action, capture.expression.c_str(),
                                    capture.type.c_str());
    CHECK(captures == "1:execname:string 2:arg0 + 1:long 3:2:int 4:arg2:int64_t 5:pid:pid_t "
                      "6:(int)arg0:int 7:stack():stack ");
}

TEST_CASE("one ECB per probe description, sharing its clause's code", "[compiler][link]") {
    CompileOutput output =
        compile_text("syscall::read:entry, syscall::write:entry /pid/ { trace(arg0); } "
                     "profile:::tick-1s, profile-997, :::*-xyz { @ = count(); }");
    INFO(errors_of(output));
    REQUIRE(output.dof);
    auto image = formats::parse_dof(*output.dof);
    REQUIRE(image.ok());
    REQUIRE(image->program.ecbs.size() == 5);
    std::string probes;
    for (const formats::DofEcb& ecb : image->program.ecbs)
        probes += ecb.probe.text() + " ";
    CHECK(probes == "syscall::read:entry syscall::write:entry profile:::tick-1s :::profile-997 "
                    ":::*-xyz ");
    CHECK(image->program.ecbs[0].actions == image->program.ecbs[1].actions);
    CHECK(image->program.ecbs[0].predicate == image->program.ecbs[1].predicate);
    CHECK(image->program.ecbs[2].actions != image->program.ecbs[1].actions);
    CHECK(image->program.difos.size() == 3);
}

TEST_CASE("the target section says what the program is for", "[compiler][link]") {
    CompileOptions options;
    options.sources = {{"boot.d", "BEGIN { trace(1); }"}};
    options.release = "6.1.0";
    options.compiler_version = "daybreak 0.1.0";
    CompileOutput output = compile(options);
    REQUIRE(output.dof);
    auto image = formats::parse_dof(*output.dof);
    REQUIRE(image.ok());
    REQUIRE(image->program.target);
    CHECK(image->program.target->release == "6.1.0");
    CHECK(image->program.target->compiler == "daybreak 0.1.0");
    CHECK(image->program.target->main_file == "boot.d");
    CHECK_FALSE(image->program.target->typed);
    CHECK(image->program.source == "BEGIN { trace(1); }");
    CHECK(image->program.dof_version == 2);
}

TEST_CASE("several texts are one program", "[compiler][link]") {
    CompileOptions options;
    options.sources = {{"a.d", "BEGIN { x = 1; @a = count(); }"},
                       {"b.d", "END { trace(x); printa(@a); }"}};
    CompileOutput output = compile(options);
    INFO(errors_of(output));
    REQUIRE(output.dof);
    REQUIRE(output.program.ecbs.size() == 3);
    CHECK(output.program.lines.back().file == "b.d");
    const formats::DofEcb& error = output.program.ecbs[2];
    CHECK(error.probe.text() == "dtrace:::ERROR");
    CHECK(error.uarg == 1);
    const auto& reports = output.program.action_lists[*error.actions].actions;
    REQUIRE(reports.size() == 5);
    CHECK(code(output.program.difos[*reports[4].difo]) == "ldgs arg5, %r1\nret %r1\n");
}

TEST_CASE("NULL stands for no string", "[compiler][sema]") {
    CHECK(trace_code("strchr(execname, 'x') == NULL").find("tst %r1\n") != std::string::npos);
    CHECK(trace_code("strtok(NULL, \"/\")").find("mov %r0, %r1\n") == 0);
    CHECK(code_of("BEGIN { s = pid ? execname : NULL; }").find("stgs") != std::string::npos);
}

TEST_CASE("inlines, enumerators and library constants are put in place", "[compiler][sema]") {
    CHECK(code_of("inline int N = 3; enum e { A = 5, B }; BEGIN { trace(N + B + ENOENT); }") ==
          "setx 0xb, %r1\nret %r1\n");
    CHECK(code_of("inline string who = execname; BEGIN { trace(who); }") ==
          "ldgs execname, %r1\nret %r1\n");
    CHECK(code_of("inline int add[int a, int b] = a + b; BEGIN { trace(add[1, 2]); }") ==
          "setx 0x3, %r1\nret %r1\n");
    CHECK(code_of("inline long twice[long a] = a * 2; BEGIN { trace(twice[arg0]); }") ==
          "ldgs arg0, %r1\nsetx 0x2, %r2\nmul %r1, %r2, %r1\nret %r1\n");
    CHECK(trace_code("DTRACEFLT_DIVZERO") == "setx 0x4, %r1\nret %r1\n");
}

TEST_CASE("options go into the image", "[compiler][options]") {
    CompileOutput output = compile_text("#pragma D option quiet\n"
                                        "#pragma D option bufsize=4m\n"
                                        "#pragma D option bufpolicy=ring\n"
                                        "#pragma D option aggrate=10ms\n"
                                        "#pragma D option strsize=64\n"
                                        "#pragma D option aggregate=record\n"
                                        "#pragma D option segmentsize=0x4000\n"
                                        "#pragma D option bufsize=8m\n"
                                        "#pragma D option flowindent=no\n"
                                        "BEGIN { trace(execname); }");
    INFO(errors_of(output));
    REQUIRE(output.dof);
    std::string options;
    for (const formats::DofOption& option : output.program.options)
        options += base::strprintf("%x=%llx ", option.option,
                                   static_cast<unsigned long long>(option.value));
    CHECK(options == "c=1 0=800000 1=0 f=989680 6=40 44420001=0 44420002=4000 "
                     "b=fffffffffffffffe ");
    CHECK(output.program.difos[0].type.size == 64);
    CompileOptions command_line;
    command_line.sources = {{"x.d", "BEGIN {}"}};
    command_line.options = {{"switchrate", "5hz"}, {"zdefs", std::nullopt}};
    CompileOutput switched = compile(command_line);
    REQUIRE(switched.dof);
    REQUIRE(switched.program.options.size() == 1);
    CHECK(switched.program.options[0].value == 200000000);
}

TEST_CASE("a probe checker refuses what matches nothing", "[compiler][probes]") {
    CompileOptions options;
    options.sources = {{"x.d", "BEGIN, nosuch:::probe { trace(1); }"}};
    options.probe_exists = [](const ProbeDescription& probe) { return probe.provider.empty(); };
    CompileOutput output = compile(options);
    REQUIRE(output.diagnostics.first_error());
    CHECK(output.diagnostics.first_error()->tag == Tag::D_PDESC_ZERO);
    CHECK(output.diagnostics.first_error()->text ==
          "probe description nosuch:::probe does not match any probes");
    options.zero_probes_allowed = true;
    CHECK(compile(options).dof);
}
