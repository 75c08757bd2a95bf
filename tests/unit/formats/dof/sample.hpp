// SPDX-License-Identifier: Apache-2.0
//
// A small program, as the compiler would make it, for the tests of DOF:
//
//   syscall::read:entry, syscall::pread64:entry /execname == "cat"/ { @r[probefunc] =
//   quantize(arg2); } dtrace:::END { printf("%d\n", 5); }
#pragma once

#include "formats/dof/dof_program.hpp"

#include <string_view>

namespace daybreak::formats {

inline Difo sample_difo(uint32_t size, std::vector<uint32_t> text) {
    Difo difo;
    difo.type = {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, size};
    difo.text = std::move(text);
    return difo;
}

inline DofProgram sample_program() {
    DofProgram program;
    Difo predicate = sample_difo(8, {0x29011801, 0x26000102, 0x27010200, 0x12000006, 0x0e000001,
                                     0x11000007, 0x25000001, 0x23000001});
    predicate.integers = {1};
    predicate.strings = std::string("\0cat\0", 5);
    predicate.variables = {{"execname",
                            DIF_VAR_EXECNAME,
                            DIFV_KIND_SCALAR,
                            DIFV_SCOPE_GLOBAL,
                            DIFV_F_REF,
                            {DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 256}}};
    program.difos.push_back(predicate);
    Difo id = sample_difo(8, {0x25000001, 0x23000001});
    id.integers = {1};
    program.difos.push_back(id);
    Difo key = sample_difo(256, {0x29011401, 0x23000001});
    key.type = {DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 256};
    program.difos.push_back(key);
    program.difos.push_back(sample_difo(8, {0x29010801, 0x23000001}));
    Difo five = sample_difo(4, {0x25000001, 0x23000001});
    five.integers = {5};
    program.difos.push_back(five);

    DofActionList quantize;
    quantize.actions.push_back({1, DTRACEACT_DIFEXPR, 0, 0, std::nullopt, 1});
    quantize.actions.push_back({2, DTRACEACT_DIFEXPR, 0, 0, std::nullopt, 1});
    quantize.actions.push_back({3, DTRACEAGG_QUANTIZE, 2, 0, std::nullopt, 1});
    DofActionList print;
    print.actions.push_back({4, DTRACEACT_PRINTF, 0, 0, "%d\n", 1});
    program.action_lists = {quantize, print};

    DofEcb read;
    read.probe = {"syscall", "", "read", "entry", 0};
    read.predicate = 0;
    read.actions = 0;
    DofEcb pread = read;
    pread.probe.function = "pread64";
    DofEcb end;
    end.probe = {"dtrace", "", "", "END", 0};
    end.actions = 1;
    program.ecbs = {read, pread, end};
    program.options = {{DTRACEOPT_BUFSIZE, 1u << 20, std::nullopt},
                       {DTRACEOPT_CPU, DTRACEOPT_UNSET, std::nullopt}};

    program.lines = {
        {0, 0, "sample.d", 1, 46}, {0, 3, "sample.d", 1, 55}, {4, 0, "sample.d", 2, 29}};
    program.captures = {
        {0, 1, "probefunc", "string"}, {0, 2, "arg2", "int64_t"}, {1, 0, "5", "int"}};
    DofTarget target;
    target.release = "6.1.0-56-amd64";
    target.compiler = "daybreak 0.1.0";
    target.typed = true;
    target.btf_id[0] = 0xab;
    target.main_file = "sample.d";
    target.target_pid = 711;
    program.target = target;
    program.aggregation_names = {"r"};
    program.source = "// the text\n";
    return program;
}

} // namespace daybreak::formats
