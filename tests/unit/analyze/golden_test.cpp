// SPDX-License-Identifier: Apache-2.0
//
// A recording of everything against the files in tests/golden/analyze.
//
// DAYBREAK_UPDATE_GOLDEN=1 writes them anew; the commit then explains each changed line.
#include "analyze/info.hpp"
#include "analyze/report.hpp"
#include "base/file.hpp"
#include "tests/unit/analyze/program_builder.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace daybreak::test;

namespace {

void check_golden(const std::string& name, const std::string& text) {
    std::string path = "tests/golden/analyze/" + name;
    if (std::getenv("DAYBREAK_UPDATE_GOLDEN")) {
        auto file = base::OutputFile::create(path);
        REQUIRE(file.ok());
        REQUIRE(file->write(base::as_bytes(text)).ok());
        REQUIRE(file->commit().ok());
    }
    std::ifstream in(path, std::ios::binary);
    REQUIRE(in);
    std::string expected(std::istreambuf_iterator<char>(in), {});
    CHECK(text == expected);
}

formats::SymbolTable kernel_symbols() {
    formats::SymbolTable table;
    table.add(0xffffffff81001000, 'T', "vfs_read", "vmlinux");
    table.add(0xffffffff81002000, 'T', "ksys_read", "vmlinux");
    table.add(0xffffffff81003000, 'T', "do_syscall_64", "vmlinux");
    table.add(0xffffffff81004000, 'T', "_etext", "vmlinux");
    table.add(0xffffffffc0000100, 't', "ext4_file_read_iter", "ext4");
    table.finish();
    return table;
}

const Frames kDeep = {0xffffffffc0000110, 0xffffffff81001020, 0xffffffff81002000,
                      0xffffffff81003044};
const Frames kShallow = {0xffffffff81002000, 0x1234};

/// Every action and aggregating function, fired a few times on two CPUs.
struct Everything {
    ProgramBuilder program;
    size_t begin, read, aggregate, show;

    Everything() {
        begin = program.clause("dtrace", "", "", "BEGIN");
        program.printf(begin, "begin %s %5d|%-6x|",
                       {Member::text(), Member::integer(4), Member::integer(8)});
        read = program.clause("syscall", "vmlinux", "read", "entry");
        program.trace(read, Member::integer(8));
        program.trace(read, Member::integer(4));
        program.trace(read, Member::integer(2));
        program.trace(read, Member::integer(1));
        program.trace(read, Member::text());
        program.trace(read, Member::stack());
        program.act(read, DTRACEACT_SYM, Member::integer(8));
        program.act(read, DTRACEACT_MOD, Member::integer(8));
        program.act(read, DTRACEACT_TRACEMEM, Member{DBK_FIELD_FIXED, 20}, 1);
        aggregate = program.clause("syscall", "vmlinux", "read", "return");
        AggregationFunction functions[] = {
            {DTRACEAGG_COUNT, 0},
            {DTRACEAGG_SUM, 0},
            {DTRACEAGG_MIN, 0},
            {DTRACEAGG_MAX, 0},
            {DTRACEAGG_AVG, 0},
            {DTRACEAGG_STDDEV, 0},
            {DTRACEAGG_QUANTIZE, 0},
            {DTRACEAGG_LQUANTIZE, 100ull << 48 | 5ull << 32},
            {DTRACEAGG_LLQUANTIZE, 5ull << 48 | 3ull << 32 | 1ull << 16 | 10}};
        uint32_t variable = 0;
        for (const AggregationFunction& function : functions)
            program.aggregate(aggregate, ++variable, function, {Member::text()});
        program.aggregate(aggregate, ++variable, functions[0],
                          {Member::stack(), Member::integer(4)});
        show = program.clause("dtrace", "", "", "END");
        program.printa(show, {2});
        program.printa(show, {1, 3, 9}, "%-8s %@8d %@8d %@d\n");
    }

    void fire(RecordingOf& recording) {
        recording.fire(0, 1'000'000, begin, {"now", uint64_t{42}, uint64_t{0xbeef}});
        for (uint64_t i = 0; i < 8; i++) {
            auto cpu = static_cast<uint16_t>(i % 2);
            const char* name = i % 3 ? "cat" : "systemd";
            uint64_t value = i * i * 17;
            std::vector<FieldValue> values = {name};
            for (int function = 1; function < 9; function++) {
                values.push_back(name);
                values.push_back(value);
            }
            values.push_back(i % 4 ? kDeep : kShallow);
            values.push_back(i % 2);
            recording.fire(cpu, 2'000'000 + i * 1000, aggregate, values);
        }
        for (uint64_t i = 0; i < 2; i++)
            recording.fire(static_cast<uint16_t>(i), 3'000'000 - i, read,
                           {i - 1, i - 1, i - 1, i - 1, "a string", kDeep, kDeep[1], kDeep[0],
                            uint64_t{0x2164726177796144}});
        recording.fire(1, 4'000'000, show, {uint64_t{2}, uint64_t{1}, uint64_t{3}, uint64_t{9}});
    }
};

} // namespace

TEST_CASE("a recording of everything prints as it did", "[analyze][golden]") {
    Everything everything;
    RecordingOf recording(everything.program, {.cpu_count = 2, .name = "everything"});
    everything.fire(recording);
    formats::Recording built = recording.build();
    formats::SymbolTable symbols = kernel_symbols();
    ReportOptions options;
    options.symbols = &symbols;
    StringSink sink;
    Report report = render_report(built, options, sink);
    CHECK(report.problems == 0);
    CHECK(sink.messages.empty());
    check_golden("everything.out", sink.text);

    StringSink info;
    ::setenv("TZ", "UTC", 1);
    print_info(built, info);
    check_golden("everything.info", info.text);
}
