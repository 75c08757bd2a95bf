// SPDX-License-Identifier: Apache-2.0
//
// capture() and option context: which values become actions of which clause, under which text.
#include "tests/unit/compiler/compile_helpers.hpp"
#include "tests/unit/compiler/sample_btf.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

/// The values that each ECB of the compiled image records, as its CAPTURE section has them:
/// "1:pid:pid_t" of statement 1, "0:..." of option context; one ECB a line.
std::string captures_of(const CompileOutput& output) {
    INFO(errors_of(output));
    REQUIRE(output.dof);
    auto image = formats::parse_dof(*output.dof);
    REQUIRE(image.ok());
    const formats::DofProgram& program = image->program;
    std::string text;
    for (const formats::DofEcb& ecb : program.ecbs) {
        for (const formats::DofCapture& capture : program.captures) {
            if (!ecb.actions || capture.action_list != *ecb.actions)
                continue;
            const formats::DofAction& action =
                program.action_lists[*ecb.actions].actions[capture.action];
            if (!DBK_ACT_IS_CAPTURE(action.kind))
                continue;
            text += base::strprintf("%d:%s:%s ", static_cast<int>(action.uarg),
                                    capture.expression.c_str(), capture.type.c_str());
        }
        text += "\n";
    }
    return text;
}
std::string captures_of(const std::string& text, KernelTypes* kernel = nullptr) {
    return captures_of(compile_text(text, kernel));
}

CompileOutput with_option(const std::string& context, const std::string& text) {
    CompileOptions options;
    options.sources = {{"test.d", text}};
    options.options = {{"context", context}};
    options.error_clause = false;
    return compile(options);
}

const std::string kThread = "1:pid:pid_t 1:tid:id_t 1:ppid:pid_t 1:uid:uint_t 1:execname:string ";

std::string arguments(size_t count) {
    std::string text;
    for (size_t i = 0; i < count; i++)
        text += base::strprintf("1:arg%zu:int64_t ", i);
    return text;
}

} // namespace

TEST_CASE("capture() records as trace() does", "[compiler][capture]") {
    CHECK(actions_of("BEGIN { capture(arg0, (char)1); capture(execname, stack(), stack(5), ustack(3, 64)); }") ==
          "capture 1 int8\ncapture 1 int1\ncapture 2 string256\ncapture_stack 2\ncapture_stack 2 arg=5\n"
          "capture_ustack 2 arg=4000000003\n");
    CHECK(actions_of("BEGIN { capture(\"%d\", 1); }") == "capture 1 string256\ncapture 1 int4\n");
    CHECK(captures_of("BEGIN { capture(arg0+1, (int)arg0, stack(5), self->x = 1); capture(curthread); }") ==
          "1:arg0 + 1:long 1:(int)arg0:int 1:stack(5):stack 1:self->x = 1:int 2:curthread:struct task_struct * \n");
    CHECK(code_of("BEGIN { capture(arg0); }") == trace_code("arg0"));
}

TEST_CASE("capture() without arguments is thread and arguments", "[compiler][capture]") {
    CHECK(captures_of("BEGIN { capture(); }") == kThread + "\n");
    CHECK(captures_of("ERROR { capture(); }") == kThread + arguments(6) + "\n");
    CHECK(captures_of("syscall::openat:entry { capture(); }") == kThread + arguments(6) + "\n");
    CHECK(captures_of("syscall:::return, fbt::*:return { capture(); }") ==
          kThread + arguments(2) + "\n" + kThread + arguments(2) + "\n");
    CHECK(captures_of("tick-1s, profile:::profile-97, proc:::exit, proc:::start, io:::start { capture(); }") ==
          kThread + arguments(2) + "\n" + kThread + arguments(2) + "\n" + kThread + arguments(1) + "\n" + kThread + "\n" + kThread +
              arguments(2) + "\n");
    // What is not known of them has all that a probe can bring along.
    for (const char* probe : {"sdt:::sched_switch", "fbt::vfs_read:entry", ":::*", "proc:::e*", "17"})
        CHECK(captures_of(std::string(probe) + " { capture(); }") == kThread + arguments(6) + "\n");
}

TEST_CASE("a kernel's prototypes say how many arguments, and bind nothing", "[compiler][capture]") {
    SampleKernel kernel;
    CompileOutput output = compile_text("sdt:::sched_switch, fbt::vfs_read:entry { capture(); }", &kernel);
    CHECK(captures_of(output) == kThread + arguments(3) + "\n" + kThread + arguments(3) + "\n");
    CHECK_FALSE(output.program.target->typed);
}

TEST_CASE("the standard context has no value twice", "[compiler][capture]") {
    CHECK(captures_of("BEGIN { printf(\"%d %s\", pid, execname); capture(tid); capture(); }") ==
          "2:tid:id_t 3:ppid:pid_t 3:uid:uint_t \n");
    // The bytes at arg0, a key and a width are not the value.
    CHECK(captures_of("proc:::exit { tracemem(arg0, 4); @[pid] = count(); printf(\"%*d\", arg0, tid); capture(); }") ==
          "4:pid:pid_t 4:ppid:pid_t 4:uid:uint_t 4:execname:string 4:arg0:int64_t \n");
    CHECK(captures_of("BEGIN { capture(pid, pid); }") == "1:pid:pid_t 1:pid:pid_t \n");
}

TEST_CASE("option context is added where something is recorded", "[compiler][capture]") {
    CHECK(captures_of(with_option("pid, tid,stack(3)", "BEGIN { } END { trace(tid); } ERROR { exit(1); }")) ==
          "0:pid:pid_t 0:tid:id_t 0:stack(3):stack \n0:pid:pid_t 0:stack(3):stack \n"
          "0:pid:pid_t 0:tid:id_t 0:stack(3):stack \n");
    CHECK(captures_of(with_option("pid", "BEGIN { x = 1; } END { @ = count(); } tick-1s { stop(); }"
                                         "tick-2s { commit(1); } tick-3s { discard(1); }")) == "\n\n\n\n\n");
    CHECK(captures_of(with_option("pid", "BEGIN { @[pid] = count(); x = 1; printa(@); }")) == "0:pid:pid_t \n");
    CHECK(captures_of(with_option("pid", "BEGIN { speculate(1); } END { speculate(1); trace(1); }")) ==
          "0:pid:pid_t \n0:pid:pid_t \n");
    CHECK(captures_of(with_option("pid", "BEGIN { if (pid) { trace(1); } else { y = 1; } }")) ==
          "0:pid:pid_t \n\n");
}

TEST_CASE("with aggregate=record what aggregates has a record, and the context in it", "[compiler][capture]") {
    CHECK(captures_of("#pragma D option context=pid\n#pragma D option aggregate=record\n"
                      "BEGIN { @[pid] = count(); }") == "0:pid:pid_t \n");
    CHECK(captures_of("#pragma D option context=pid\n#pragma D option aggregate=engine\n"
                      "BEGIN { @[pid] = count(); }") == "\n");
}

TEST_CASE("of several values of option context the last is it", "[compiler][capture]") {
    CHECK(captures_of(with_option("none", "#pragma D option context=uid\nBEGIN { }")) == "0:uid:uint_t \n");
}

TEST_CASE("an expression of option context sees the program's names", "[compiler][capture]") {
    CHECK(captures_of("#pragma D option context=self->t,twice\nself int t; inline int twice = 2 * arg0;\nBEGIN { }") ==
          "0:self->t:int 0:twice:int \n");
    // Each probe has its own args[].
    CHECK(captures_of("#pragma D option context=args[0]\nprovider p { probe a(int x); probe b(char *y); };\n"
                      "p:::a, p:::b { }") == "0:args[0]:int \n0:args[0]:char * \n");
}

TEST_CASE("what is wrong with option context is reported where it is set", "[compiler][capture]") {
    auto first = [](const std::string& value, const std::string& text) {
        CompileOutput output = compile_text("BEGIN { y = 1; }\n#pragma D option context=" + value + "\n" + text);
        REQUIRE(output.diagnostics.error_count() == 1);
        const Diagnostic* error = output.diagnostics.first_error();
        CHECK(error->tag == Tag::D_PRAGMA_OPTSET);
        CHECK(error->span.line == 2);
        return error->text;
    };
    const std::string failed = "failed to set option 'context' to ";
    CHECK(first("pid,none", "END { }").find(failed + "'pid,none': failed to resolve none") == 0);
    CHECK(first("pid,none", "").find(failed) == 0);
    CHECK(first("pid,", "END { }") == failed + "'pid,': an expression is missing");
    CHECK(first("pid+", "END { }").find(failed + "'pid+': syntax error") == 0);
    CHECK(first("(struct", "END { }").find(failed) == 0);
    CHECK(first("(struct_none)1", "END { }").find(failed) == 0);
    CHECK(first("@a", "END { @a = count(); trace(1); }").find("an aggregation") != std::string::npos);
    CHECK(first("args[0]", "BEGIN { trace(1); } END { trace(1); }").find(failed) == 0);
}
