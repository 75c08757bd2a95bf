// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the engine's fuzz target: programs that use most of what the engine does.
//
//   fuzz_engine_seeds PREFIX      makes PREFIX-0.dof, PREFIX-1.dof ...
#include "formats/abi/meta.h"
#include "tests/unit/engine/dof_builder.hpp"

#include <cstdio>
#include <fstream>
#include <string>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kVar = DIF_VAR_OTHER_UBASE;

Difo arg(uint32_t index) {
    return {{ldgs(DIF_VAR_ARG0 + index, 1), ret(1)}};
}
Difo name(uint32_t id) {
    return {{ldgs(id, 1), ret(1)}, string_type()};
}

/// Small buffers: a mutated size shows at once.
void options(Dof& dof, uint64_t aggregate) {
    dof.option(DTRACEOPT_BUFSIZE, 8192);
    dof.option(DBK_OPT_SEGMENTSIZE, 4096);
    dof.option(DTRACEOPT_BUFPOLICY, DBK_POLICY_RING);
    dof.option(DTRACEOPT_AGGSIZE, 8192);
    dof.option(DTRACEOPT_DYNVARSIZE, 8192);
    dof.option(DBK_OPT_AGGREGATE, aggregate);
}

std::vector<uint8_t> records() {
    Dof dof;
    options(dof, DBK_AGGREGATE_RECORD);
    uint32_t predicate = dof.difo({{ldgs(DIF_VAR_ARG0, 1), setx(0, 2), cmp(1, 2),
                                    branch(DIF_OP_BNE, 6), mov(0, 3), ret(3), setx(1, 3), ret(3)},
                                   int_type(4),
                                   {9, 1}});
    dof.ecb("test::f*:go",
            {dof.trace(arg(0)), dof.trace(name(DIF_VAR_EXECNAME)),
             Action{DTRACEACT_STACK, DOF_SECIDX_NONE, 5}, Action{DTRACEACT_USTACK},
             dof.trace({{setx(0, 1), ret(1)}, bytes_type(12), {0x7000}})},
            predicate);
    dof.ecb("dtrace:::BEGIN", {dof.trace(name(DIF_VAR_PROBENAME))});
    dof.ecb("dtrace:::ERROR", {dof.trace(arg(1)), dof.trace(arg(4))});
    dof.ecb("dtrace:::END", {Action{DTRACEACT_EXIT, dof.difo({{ret(0)}, int_type(4)})}});
    return dof.build();
}

std::vector<uint8_t> variables() {
    Dof dof;
    options(dof, DBK_AGGREGATE_RECORD);
    std::vector<dif_var_entry> vars{
        variable(kVar, DIFV_SCOPE_GLOBAL, string_type()), variable(kVar + 1, DIFV_SCOPE_GLOBAL),
        variable(kVar, DIFV_SCOPE_LOCAL, bytes_type(24)), variable(kVar, DIFV_SCOPE_THREAD),
        variable(kVar + 2, DIFV_SCOPE_GLOBAL, string_type(), DIFV_KIND_ARRAY)};
    dof.ecb("test:::",
            {dof.trace(
                 {{sets(1, 1), var_op(DIF_OP_STGS, kVar, 1), setx(0, 2), load(DIF_OP_ALLOCS, 2, 3),
                   load(DIF_OP_STX, 2, 3), var_op(DIF_OP_STLS, kVar, 3), ldgs(DIF_VAR_ARG1, 4),
                   var_op(DIF_OP_STTS, kVar, 4), ret(0)},
                  no_type(),
                  {24},
                  {"\0text/more", 11},
                  vars}),
             dof.trace({{sets(1, 1), push_string(1), push_value(0), sets(6, 2),
                         var_op(DIF_OP_STGAA, kVar + 2, 2), flushts(), push_string(1),
                         push_value(0), var_op(DIF_OP_LDGAA, kVar + 2, 3), flushts(), ret(3)},
                        string_type(),
                        {},
                        {"\0key\0\0value", 12},
                        vars})});
    for (uint32_t id : {DIF_SUBR_BASENAME, DIF_SUBR_DIRNAME, DIF_SUBR_CLEANPATH, DIF_SUBR_STRJOIN,
                        DIF_SUBR_STRTOK, DIF_SUBR_STRSTR})
        dof.ecb("test:::go", {dof.trace({{sets(1, 1), push_string(1), sets(9, 2), push_string(2),
                                          call(id, 3), flushts(), ret(3)},
                                         string_type(),
                                         {},
                                         {"\0/usr//x\0/\0", 12}})});
    dof.ecb("test:::go", {dof.trace({{setx(0, 1), push_value(1), setx(1, 2), push_value(2),
                                      call(DIF_SUBR_COPYIN, 3), flushts(), ret(3)},
                                     bytes_type(8),
                                     {0x5000, 8}})});
    return dof.build();
}

std::vector<uint8_t> aggregations() {
    Dof dof;
    options(dof, DBK_AGGREGATE_ENGINE);
    uint32_t id = 1;
    for (auto [kind, parameter] : {std::pair{DTRACEAGG_COUNT, 0ull},
                                   {DTRACEAGG_STDDEV, 0ull},
                                   {DTRACEAGG_QUANTIZE, 0ull},
                                   {DTRACEAGG_LQUANTIZE, 0x000a000a00000000ull},
                                   {DTRACEAGG_LLQUANTIZE, 0x001400060000000aull}}) {
        Difo increment{{ldgs(DIF_VAR_ARG2, 1), ret(1)}, no_type()};
        auto list = dof.aggregate(id++, kind, {name(DIF_VAR_EXECNAME), arg(0)},
                                  kind == DTRACEAGG_COUNT ? Difo{} : arg(1), parameter, &increment);
        list.push_back(dof.trace(name(DIF_VAR_PROBEFUNC)));
        dof.ecb("test:::", list);
    }
    return dof.build();
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_engine_seeds PREFIX\n");
        return 2;
    }
    int number = 0;
    for (const auto& image : {records(), variables(), aggregations()}) {
        std::ofstream out(std::string(argv[1]) + "-" + std::to_string(number++) + ".dof",
                          std::ios::binary);
        out.write(reinterpret_cast<const char*>(image.data()),
                  static_cast<std::streamsize>(image.size()));
        if (!out.flush())
            return 1;
    }
    return 0;
}
