// SPDX-License-Identifier: Apache-2.0
//
// Programs that use a kernel's types: curthread, args[] of tracepoints and functions.
#include "tests/unit/compiler/compile_helpers.hpp"
#include "tests/unit/compiler/sample_btf.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

TEST_CASE("curthread is looked into", "[compiler][kernel]") {
    SampleKernel kernel;
    CHECK(trace_code("curthread->pid", &kernel) == "ldgs curthread, %r1\n"
                                                   "setx 0x4, %r2\n"
                                                   "add %r1, %r2, %r1\n"
                                                   "ldsw [%r1], %r1\n"
                                                   "ret %r1\n");
    CHECK(trace_code("curthread->flags", &kernel) ==
          "ldgs curthread, %r1\nlduw [%r1], %r1\nret %r1\n");
    CHECK(trace_code("curthread->parent->comm", &kernel) == "ldgs curthread, %r1\n"
                                                            "setx 0x18, %r2\n"
                                                            "add %r1, %r2, %r1\n"
                                                            "ldx [%r1], %r1\n"
                                                            "setx 0x8, %r2\n"
                                                            "add %r1, %r2, %r1\n"
                                                            "ret %r1\n");
    CHECK(trace_code("curthread->depth", &kernel) == "ldgs curthread, %r1\n"
                                                     "setx 0x20, %r2\n"
                                                     "add %r1, %r2, %r1\n"
                                                     "ldub [%r1], %r1\n"
                                                     "setx 0x1, %r2\n"
                                                     "srl %r1, %r2, %r1\n"
                                                     "setx 0x1f, %r2\n"
                                                     "and %r1, %r2, %r1\n"
                                                     "ret %r1\n");
    CHECK(trace_code("curthread->comm[2]", &kernel) == "ldgs curthread, %r1\n"
                                                       "setx 0xa, %r2\n"
                                                       "add %r1, %r2, %r1\n"
                                                       "ldsb [%r1], %r1\n"
                                                       "ret %r1\n");
    CHECK(trace_code("&curthread->parent == 0", &kernel).find("tst") != std::string::npos);
    CHECK(trace_code("SLEEPING + sizeof(struct task_struct)", &kernel) ==
          "setx 0x2b, %r1\nret %r1\n");
    CHECK(trace_code("((struct task_struct *)arg0)->pid", &kernel).find("ldsw") !=
          std::string::npos);
    CHECK(actions_of("BEGIN { trace(curthread->comm); trace(stringof(curthread->comm)); "
                     "printf(\"%s\", curthread->comm); @[curthread->comm] = count(); "
                     "s = curthread->comm; trace(s); }",
                     &kernel) == "difexpr 1 bytes16\ndifexpr 2 string256\nprintf 3 \"%s\" bytes16\n"
                                 "difexpr 4 int8\ndifexpr 4 string256\ncount 4 tuple=2\n"
                                 "difexpr 5 int0\ndifexpr 6 string256\n");
    CHECK(predicate_code("curthread->comm == \"init\"", &kernel).find("scmp") != std::string::npos);
}

TEST_CASE("args[] of tracepoints have the prototype's types", "[compiler][kernel]") {
    SampleKernel kernel;
    auto of = [&](const std::string& probe, const std::string& expression) {
        return code_of(probe + " { trace(" + expression + "); }", &kernel);
    };
    CHECK(of("sdt:vmlinux::sched_switch", "(long)args[2]") == "setx 0x2, %r1\n"
                                                              "ldga args, %r1, %r1\n"
                                                              "setx 0x20, %r2\n"
                                                              "sll %r1, %r2, %r1\n"
                                                              "sra %r1, %r2, %r1\n"
                                                              "ret %r1\n");
    CHECK(of("sdt:::sched_switch", "args[0] + 0L") == "ldga args, %r0, %r1\n"
                                                      "setx 0xff, %r2\n"
                                                      "and %r1, %r2, %r1\n"
                                                      "add %r1, %r0, %r1\n"
                                                      "ret %r1\n");
    CHECK(of("sdt:::sched_switch", "args[1]->pid") == "setx 0x1, %r1\n"
                                                      "ldga args, %r1, %r1\n"
                                                      "setx 0x4, %r2\n"
                                                      "add %r1, %r2, %r1\n"
                                                      "ldsw [%r1], %r1\n"
                                                      "ret %r1\n");
    CHECK(of("fbt:vmlinux:vfs_read:entry", "args[2] + 0L").find("0xffff") != std::string::npos);
    CHECK(of("fbt::vfs_read:entry", "args[0]->comm").find("ldga") != std::string::npos);
    CHECK(of("fbt::vfs_read:return", "args[1]") == "setx 0x1, %r1\nldga args, %r1, %r1\nret %r1\n");
    const char* whole = "setx 0x1, %r1\nldga args, %r1, %r1\nret %r1\n";
    CHECK(of("syscall::read:entry", "args[1]") == whole);
    CHECK(of("syscall::read:return", "args[1]") == whole);
    // A descriptor is 32 bits of its register; of one of several calls all are taken.
    CHECK(of("syscall::dup2:entry", "args[1] + 0L").find("0xffffffff") != std::string::npos);
    CHECK(of("syscall::dup*:entry", "args[1]") == whole);
    CHECK(of("syscall:i386:dup2:entry", "args[1]") == whole);
}

TEST_CASE("a clause that uses args[] is compiled for each probe", "[compiler][kernel]") {
    SampleKernel kernel;
    CompileOutput output = compile_text(
        "sdt:::sched_switch, fbt::vfs_read:entry { trace(args[2]); @ = count(); n++; }", &kernel);
    INFO(errors_of(output));
    REQUIRE(output.dof);
    REQUIRE(output.program.ecbs.size() == 2);
    CHECK(output.program.ecbs[0].actions != output.program.ecbs[1].actions);
    auto size = [&](size_t ecb) {
        const auto& list = output.program.action_lists[*output.program.ecbs[ecb].actions];
        return output.program.difos[*list.actions[0].difo].type.size;
    };
    CHECK(size(0) == 4);
    CHECK(size(1) == 2);
    CHECK(output.program.aggregation_names.size() == 1);
}

TEST_CASE("a program is bound to a kernel only when it uses its types", "[compiler][kernel]") {
    SampleKernel kernel;
    CompileOutput free =
        compile_text("BEGIN { trace(curthread); trace((int)arg0); x = 1; }", &kernel);
    REQUIRE(free.dof);
    CHECK_FALSE(free.program.target->typed);
    CHECK(free.program.target->release.empty());
    CHECK(kernel.asked() == 0);
    CompileOutput bound = compile_text("BEGIN { trace(curthread->pid); }", &kernel);
    REQUIRE(bound.dof);
    CHECK(bound.program.target->typed);
    CHECK(bound.program.target->release == "6.1.0-test");
    CHECK(bound.program.target->btf_id[0] == 0x5a);
}

TEST_CASE("errors with a kernel's types", "[compiler][kernel]") {
    SampleKernel kernel;
    CHECK(first_tag("BEGIN { trace(curthread->nosuch); }", &kernel) == "D_TYPE_MEMBER");
    CHECK(first_tag("BEGIN { trace(curthread->comm[16]); }", &kernel) == "D_ARR_BOUNDS");
    CHECK(first_tag("BEGIN { trace(sizeof(curthread->depth)); }", &kernel) == "D_SIZEOF_BITFIELD");
    CHECK(first_tag("BEGIN { curthread->comm = \"x\"; }", &kernel) == "D_OP_ARRFUN");
    CHECK(first_tag("sdt:::sched_switch { trace(args[3]); }", &kernel) == "D_ARGS_IDX");
    CHECK(first_tag("sdt:::nosuch { trace(args[0]); }", &kernel) == "D_ARGS_TYPE");
    CHECK(first_tag("fbt::nosuch:entry { trace(args[0]); }", &kernel) == "D_ARGS_TYPE");
    CHECK(first_tag("sdt:::sched_switch { args[2] = 1; }", &kernel) == "D_OP_WRITE");
    CHECK(first_tag("sdt:::sched_switch { trace(&args[2]); }", &kernel) == "D_ADDROF_VAR");
    CompileOutput output = compile_text("BEGIN { trace(curthread->com); }", &kernel);
    CHECK(errors_of(output).find("did you mean comm?") != std::string::npos);
}

TEST_CASE("listings have the types that args[] has", "[compiler][kernel]") {
    SampleKernel kernel;
    auto types = [](ProbeArgumentTypes& known, const ProbeDescription& probe) {
        auto found = known.of(probe);
        std::string text = found ? "" : "unknown";
        for (size_t i = 0; found && i < found->size(); i++)
            text += (i == 0 ? "" : ", ") + (*found)[i];
        return text;
    };
    auto probe = [](const char* provider, const char* function, const char* name) {
        ProbeDescription description;
        description.provider = provider;
        description.function = function;
        description.name = name;
        return description;
    };
    ProbeArgumentTypes known(&kernel), without(nullptr);
    CHECK(types(known, probe("sdt", "", "sched_switch")) == "_Bool, struct task_struct *, int");
    CHECK(types(known, probe("fbt", "vfs_read", "entry")) ==
          "struct task_struct *, char *, unsigned short");
    CHECK(types(known, probe("fbt", "vfs_read", "return")) == "uint64_t, long");
    CHECK(types(known, probe("fbt", "no_such", "entry")) == "unknown");
    CHECK(types(without, probe("fbt", "vfs_read", "entry")) == "unknown");
    CHECK(types(without, probe("proc", "", "create")) == "psinfo_t *");
    CHECK(types(without, probe("sched", "", "off-cpu")) == "lwpsinfo_t *, psinfo_t *");
    CHECK(types(without, probe("io", "", "start")) == "bufinfo_t *, devinfo_t *, fileinfo_t *");
    CHECK(types(without, probe("syscall", "openat", "entry")) ==
          "int, const char *, int, unsigned short");
    CHECK(types(without, probe("syscall", "openat", "return")) == "long, long");
    CHECK(types(without, probe("syscall", "open*", "entry")).starts_with("int64_t, int64_t"));
    CHECK(types(without, probe("profile", "", "profile-97")).empty());
}
