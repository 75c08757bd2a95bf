// SPDX-License-Identifier: Apache-2.0
//
// The loader and the verifier: what is refused, with which words, and each limit at limit and
// limit + 1.
#include "tests/unit/engine/test_host.hpp"

#include "engine/types/lowered.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

/// The reason why a program with this DIFO is refused; "" when it is not.
std::string refusal(const Difo& d) {
    Dof dof;
    dof.ecb("a:b:c:d", {dof.trace(d)});
    Loaded loaded = load(dof.build());
    dbk_program_destroy(loaded.program);
    return loaded.error == 0 ? "" : loaded.reason;
}

std::string image_refusal(const std::vector<uint8_t>& image) {
    Loaded loaded = load(image);
    dbk_program_destroy(loaded.program);
    return loaded.error == 0 ? "" : loaded.reason;
}

bool says(const std::string& reason, const std::string& part) {
    INFO(reason);
    CHECK(reason.find(part) != std::string::npos);
    return reason.find(part) != std::string::npos;
}

Difo trivial() {
    return {{ret(0)}};
}

std::vector<uint8_t> valid_image() {
    Dof dof;
    dof.ecb("a:b:c:d", {dof.trace(trivial())});
    return dof.build();
}

template <typename T>
std::string with_header(size_t offset, T value) {
    auto image = valid_image();
    std::memcpy(image.data() + offset, &value, sizeof(value));
    return image_refusal(image);
}

} // namespace

TEST_CASE("registers are checked", "[engine][verify]") {
    says(refusal({{mov(9, 1), ret(0)}}),
         "DIF object in section 2: instruction 0: register %r9 does not exist");
    says(refusal({{mov(8, 1), ret(0)}}), "register %r8 does not exist");
    CHECK(refusal({{mov(7, 7), ret(7)}}).empty());
    says(refusal({{mov(1, 0), ret(0)}}), "instruction 0 (mov): %r0 cannot be written");
    says(refusal({{cmp(1, 8), ret(0)}}), "%r8");
    says(refusal({{ret(8)}}), "%r8");
    says(refusal({{op3(DIF_OP_COPYS, 1, 2, 8), ret(0)}}), "%r8");
    says(refusal({{push_bytes(8, 1), ret(0)}}), "%r8");
    says(refusal({{DIF_INSTR_FMT(DIF_OP_MOV, 1, 1, 1), ret(0)}}), "unused bits are not 0");
    says(refusal({{DIF_INSTR_FMT(DIF_OP_FLUSHTS, 0, 0, 1), ret(0)}}), "unused bits");
}

TEST_CASE("control flow is checked", "[engine][verify]") {
    CHECK(refusal({{branch(DIF_OP_BA, 1), ret(0)}}).empty());
    says(refusal({{branch(DIF_OP_BA, 0), ret(0)}}), "branches may only go forward");
    says(refusal({{branch(DIF_OP_BA, 2), ret(0)}}), "branches past the last instruction");
    says(refusal({{nop()}}), "the last instruction is not ret");
    says(refusal({{ret(0), nop()}}), "the last instruction is not ret");
    says(refusal({{}}), "has no whole instructions");
}

TEST_CASE("every opcode is known or refused", "[engine][verify]") {
    for (uint32_t op = 0; op < 256; op++) {
        Difo d{{DIF_INSTR_FMT(op, 0, 0, 0), ret(0)}};
        bool known = op >= 1 && op <= 77;
        std::string reason = refusal(d);
        if (op == 0 || op > 79)
            says(reason, "opcode " + std::to_string(op) + " does not exist");
        else if (!known)
            says(reason, "translators must be resolved");
    }
}

TEST_CASE("table indices are checked", "[engine][verify]") {
    CHECK(refusal({{setx(1, 1), ret(1)}, int_type(), {1, 2}}).empty());
    says(refusal({{setx(2, 1), ret(1)}, int_type(), {1, 2}}), "integer table index out of range");
    CHECK(refusal({{sets(1, 1), ret(1)}, string_type(), {}, {"\0", 2}}).empty());
    says(refusal({{sets(2, 1), ret(1)}, string_type(), {}, {"\0", 2}}),
         "string table index out of range");
    says(refusal({{sets(0, 1), ret(1)}, string_type(), {}, "abc"}), "does not end in a NUL");
    says(refusal({{sets(0, 1), ret(1)}, string_type()}), "string table index");
}

TEST_CASE("variables are checked", "[engine][verify]") {
    auto with = [](uint32_t word, std::vector<dif_var_entry> vars) {
        return refusal(Difo{{word, ret(0)}, int_type(), {}, "", std::move(vars)});
    };
    auto global = variable(kVar, DIFV_SCOPE_GLOBAL);
    CHECK(with(ldgs(kVar, 1), {global}).empty());
    says(with(ldgs(kVar, 1), {}), "variable 0x500 is not declared with this scope");
    says(with(var_op(DIF_OP_LDTS, kVar, 1), {global}), "not declared with this scope");
    says(with(var_op(DIF_OP_LDLS, kVar, 1), {global}), "not declared with this scope");
    says(with(var_op(DIF_OP_LDGAA, kVar, 1), {global}), "the other of scalar and array");
    CHECK(with(ldgs(DIF_VAR_PID, 1), {}).empty());
    says(with(var_op(DIF_OP_STGS, DIF_VAR_PID, 1), {}), "a built-in variable cannot be written");
    CHECK(with(ldgs(DIF_VAR_CURCPU, 1), {}).empty());
    says(with(ldgs(0x130, 1), {}), "is not offered here");
    says(with(nop(), {variable(kVar, 3)}), "do not exist");
    says(with(nop(), {variable(kVar, DIFV_SCOPE_LOCAL, int_type(), DIFV_KIND_ARRAY)}),
         "clause-local array");
    says(with(nop(), {variable(0x10000, DIFV_SCOPE_GLOBAL)}), "beyond 0xffff");
    says(with(nop(), {global, variable(kVar, DIFV_SCOPE_GLOBAL, string_type())}),
         "declared with another type");
    SECTION("a variable's size") {
        auto sized = [](uint32_t bytes) {
            return variable(kVar, DIFV_SCOPE_GLOBAL, bytes_type(bytes));
        };
        CHECK(with(nop(), {sized(16384)}).empty());
        says(with(nop(), {sized(16385)}), "at most 16384 are kept");
    }
    SECTION("how many variables") {
        std::vector<dif_var_entry> many;
        for (uint32_t i = 0; i < 4096; i++)
            many.push_back(variable(kVar + i, DIFV_SCOPE_GLOBAL));
        CHECK(with(nop(), many).empty());
        many.push_back(variable(kVar + 4096, DIFV_SCOPE_GLOBAL));
        CHECK_FALSE(with(nop(), many).empty());
    }
    says(with(DIF_INSTR_FMT(DIF_OP_LDGA, DIF_VAR_REGS, 1, 1), {}),
         "only the arrays args and uregs");
    says(with(DIF_INSTR_FMT(DIF_OP_LDTA, 0, 1, 1), {}), "no thread-local arrays");
}

TEST_CASE("subroutines are checked", "[engine][verify]") {
    CHECK(refusal({{call(DIF_SUBR_RAND, 1), ret(1)}}).empty());
    says(refusal({{call(DIF_SUBR_MAX + 1, 1), ret(1)}}), "subroutine 51 does not exist");
    says(refusal({{call(DIF_SUBR_MSGSIZE, 1), ret(1)}}),
         "subroutine msgsize() is not offered here");
    CHECK(refusal({{call(DIF_SUBR_SPECULATION, 1), ret(1)}}).empty());
    says(refusal({{DIF_INSTR_FMT(DIF_OP_PUSHTV, 2, 0, 0), ret(0)}}), "neither an integer nor");
}

TEST_CASE("return types are checked", "[engine][verify]") {
    CHECK(refusal({{ret(0)}, int_type(8)}).empty());
    says(refusal({{ret(0)}, int_type(9)}), "returns 9 bytes by value");
    says(refusal({{ret(0)}, int_type(3)}), "a value of 3 bytes cannot be stored");
    CHECK(refusal({{ret(0)}, bytes_type(65528)}).empty());
    says(refusal({{ret(0)}, bytes_type(65529)}), "at most 65528 are stored");
    says(refusal({{ret(0)}, {DIF_TYPE_STRING, 0, 0, 0, 256}}), "returns a string by value");
    says(refusal({{ret(0)}, {2, 0, 0, 0, 8}}), "returns unknown kind 2");
    says(refusal({{ret(0)}, {0, 0, 2, 0, 8}}), "unknown flags");
}

TEST_CASE("the size of a DIF object is limited", "[engine][verify]") {
    Difo d;
    d.code.assign(65536, nop());
    d.code.back() = ret(0);
    CHECK(refusal(d).empty());
    d.code.push_back(ret(0));
    says(refusal(d), "has 65537 instructions, at most 65536 run");
}

TEST_CASE("sections used twice count twice", "[engine][verify]") {
    Dof dof;
    std::vector<uint32_t> code(65536, nop());
    code.back() = ret(0);
    uint32_t dif = dof.section(DOF_SECT_DIF, code.data(), code.size() * 4, 4, 4);
    struct {
        dif_type type;
        uint32_t link;
    } header{int_type(), dif};
    for (int i = 0; i < 16; i++)
        dof.section(DOF_SECT_DIFOHDR, &header, sizeof(header), 4, 0);
    CHECK(image_refusal(dof.build()).empty());
    dof.section(DOF_SECT_DIFOHDR, &header, sizeof(header), 4, 0);
    says(image_refusal(dof.build()), "more than 1048576 instructions");
}

TEST_CASE("the header is checked", "[engine][dof]") {
    CHECK(image_refusal(valid_image()).empty());
    says(image_refusal(std::vector<uint8_t>{}), "DOF is cut: 0 bytes");
    says(with_header<uint8_t>(0, 0), "no DOF");
    says(with_header<uint8_t>(DOF_ID_MODEL, 1), "data model 1");
    says(with_header<uint8_t>(DOF_ID_ENCODING, 2), "encoding 2");
    CHECK(with_header<uint8_t>(DOF_ID_VERSION, 1).empty());
    says(with_header<uint8_t>(DOF_ID_VERSION, 3), "DOF version 3");
    says(with_header<uint8_t>(DOF_ID_DIFVERS, 3), "DIF version 3");
    says(with_header<uint8_t>(DOF_ID_DIFIREG, 9), "asks for 9 integer registers, there are 8");
    says(with_header<uint8_t>(DOF_ID_DIFTREG, 9), "asks for 9 tuple registers");
    says(with_header<uint8_t>(15, 1), "ident byte 15 is not 0");
    says(with_header<uint32_t>(16, 1), "flags 0x1");
    says(with_header<uint32_t>(20, 63), "header is 63");
    says(with_header<uint32_t>(28, 0x10000000), "at most 65536");
    says(with_header<uint32_t>(28, 60000), "section table");
    says(with_header<uint64_t>(32, ~0ull), "section table");
    says(with_header<uint64_t>(48, 1 << 20), "DOF is cut");
    says(with_header<uint64_t>(48, 0), "contradict");
    auto image = valid_image();
    dof_section section;
    size_t at = sizeof(dof_header) + sizeof(section);
    std::memcpy(&section, image.data() + at, sizeof(section));
    section.bytes = image.size();
    std::memcpy(image.data() + at, &section, sizeof(section));
    says(image_refusal(image), "ends past the end of the image");
    std::vector<uint8_t> large((8u << 20) + 1);
    says(image_refusal(large), "at most 8 MiB");
}

TEST_CASE("enablings are checked", "[engine][dof]") {
    SECTION("names") {
        for (const char* colons : {":::", "::", ":", ""}) {
            const std::string before(3 - std::strlen(colons), ':');
            Dof dof;
            dof.ecb(before + std::string(4095, 'x') + colons, {});
            CHECK(image_refusal(dof.build()).empty());
            dof.ecb(before + std::string(4096, 'x') + colons, {});
            says(image_refusal(dof.build()), "more than 4095 bytes");
        }
    }
    SECTION("a predicate that is not a DIF object") {
        Dof dof;
        dof.ecb("a:::", {}, 0);
        says(image_refusal(dof.build()),
             "a predicate refers to section 0, which is not a DIF object");
    }
    SECTION("an action without its expression") {
        Dof dof;
        dof.ecb("a:::", {Action{DTRACEACT_PRINTF}});
        says(image_refusal(dof.build()), "action 0: printf(): has no expression");
    }
    SECTION("how many actions") {
        Dof dof;
        uint32_t difo = dof.difo({{ret(0)}, no_type()});
        dof.ecb("a:::", std::vector<Action>(16384, Action{DTRACEACT_DIFEXPR, difo}));
        CHECK(image_refusal(dof.build()).empty());
        dof.ecb("a:::", std::vector<Action>(16385, Action{DTRACEACT_DIFEXPR, difo}));
        says(image_refusal(dof.build()), "16385 actions in one enabling, at most 16384");
    }
    SECTION("how many options") {
        Dof dof;
        for (int i = 0; i < 256; i++)
            dof.option(DTRACEOPT_QUIET, 1);
        CHECK(image_refusal(dof.build()).empty());
        dof.option(DTRACEOPT_QUIET, 1);
        says(image_refusal(dof.build()), "more than 256 options");
    }
}

TEST_CASE("actions that are not done are refused by name", "[engine][dof]") {
    auto with = [](Action action, bool destructive) {
        Dof dof;
        if (action.difo == 0)
            action.difo = dof.difo(trivial());
        if (destructive)
            dof.option(DTRACEOPT_DESTRUCTIVE, 1);
        dof.ecb("a:::", {action});
        return image_refusal(dof.build());
    };
    says(with({DTRACEACT_SPECULATE, DOF_SECIDX_NONE}, true), "speculate(): has no expression");
    says(with({DTRACEACT_PCAP, 0}, true), "pcap(): not supported by this version");
    for (uint32_t kind : {DTRACEACT_STOP, DTRACEACT_RAISE, DTRACEACT_BREAKPOINT, DTRACEACT_PANIC,
                          DTRACEACT_CHILL}) {
        CHECK(with({kind, 0}, true).empty());
        says(with({kind, 0}, false), "is destructive, and option");
    }
    says(with({DTRACEACT_RAISE, DOF_SECIDX_NONE}, true), "raise(): has no expression");
    says(with({DTRACEACT_SYSTEM, 0}, false), "system(): is destructive, and option");
    CHECK(with({DTRACEACT_SYSTEM, 0}, true).empty());
    says(with({0x999, 0}, true), "kind 0x999 does not exist");
    CHECK(with({DTRACEACT_STACK, DOF_SECIDX_NONE, 512}, false).empty());
    says(with({DTRACEACT_STACK, DOF_SECIDX_NONE, 513}, false), "at most 512 frames");
    says(with({DTRACEAGG_COUNT, DOF_SECIDX_NONE, 0, 1}, false), "its tuple has 1 members");
    says(with({DTRACEAGG_COUNT, DOF_SECIDX_NONE, 0, 0}, false), "its tuple has 0 members");
}

TEST_CASE("aggregating actions are checked", "[engine][dof]") {
    auto with = [](uint32_t kind, std::vector<Difo> keys, Difo value, uint64_t arg, uint32_t id) {
        Dof dof;
        dof.ecb("a:::", dof.aggregate(id, kind, keys, value, arg));
        return image_refusal(dof.build());
    };
    Difo one = trivial();
    CHECK(with(DTRACEAGG_COUNT, {one}, {}, 0, 1).empty());
    says(with(DTRACEAGG_COUNT, {one}, {}, 0, 0), "does not start with an aggregation's id");
    says(with(DTRACEAGG_SUM, {one}, {}, 0, 1), "sum(): has no value");
    says(with(DTRACEAGG_SUM, {}, {{ret(0)}, string_type()}, 0, 1), "its value is not an integer");
    says(with(DTRACEAGG_SUM, {{{ret(0)}, no_type()}, one}, one, 0, 1), "has no size");
    CHECK(with(DTRACEAGG_LQUANTIZE, {}, one, 0x0001ffff00000000, 1).empty());
    says(with(DTRACEAGG_LQUANTIZE, {}, one, 0x0000000a00000000, 1), "make no buckets");
    CHECK(with(DTRACEAGG_LLQUANTIZE, {}, one, 0x001400060000000a, 1).empty());
    says(with(DTRACEAGG_LLQUANTIZE, {}, one, 0x0014000600000001, 1), "make no buckets");
    says(with(DTRACEAGG_LLQUANTIZE, {}, one, 0xffffffff0000ffff, 1), "make no buckets");
}

TEST_CASE("the string size is limited", "[engine][dof]") {
    auto with = [](uint64_t strsize) {
        Dof dof;
        dof.option(DTRACEOPT_STRSIZE, strsize);
        return image_refusal(dof.build());
    };
    CHECK(with(2).empty());
    CHECK(with(8192).empty());
    says(with(1), "option strsize is 1, it must be 2 to 8192");
    says(with(8193), "option strsize is 8193");
}

TEST_CASE("a program's target is reported", "[engine][dof]") {
    Dof dof;
    const char strings[] = "\0006.1.0-56-amd64";
    dof.section(DBK_DOF_SECT_STRINGS, strings, sizeof(strings), 1, 0, 0);
    dbk_dof_target target{};
    target.release = 1;
    target.dialect = DBK_DOF_DIALECT_ORACLE;
    target.typed = 1;
    target.btf_id[3] = 9;
    auto with = [&] {
        Dof copy = dof;
        copy.section(DBK_DOF_SECT_TARGET, &target, sizeof(target), 8, 0, 0);
        return copy.build();
    };
    Loaded loaded = load(with());
    REQUIRE(loaded.error == 0);
    const char* release = nullptr;
    bool typed = false;
    uint8_t btf_id[16];
    REQUIRE(dbk_program_target(loaded.program, &release, &typed, btf_id));
    CHECK(std::string(release) == "6.1.0-56-amd64");
    CHECK(typed);
    CHECK(btf_id[3] == 9);
    dbk_program_destroy(loaded.program);
    target.dialect = 2;
    says(image_refusal(with()), "dialect 2");
    target.dialect = 1;
    target.release = 99;
    says(image_refusal(with()), "is not a string");
}

TEST_CASE("every prefix of an image is refused or loaded, never a crash", "[engine][dof]") {
    auto image = valid_image();
    for (size_t bytes = 0; bytes < image.size(); bytes++) {
        std::vector<uint8_t> prefix(image.begin(), image.begin() + static_cast<long>(bytes));
        CHECK_FALSE(image_refusal(prefix).empty());
    }
}

TEST_CASE("no memory is an error at every step", "[engine][dof]") {
    Dof dof;
    dof.ecb("a:b:c:d", {dof.trace({{sets(0, 1), var_op(DIF_OP_STTS, kVar, 1), ret(1)},
                                   string_type(),
                                   {},
                                   std::string("\0", 1),
                                   {variable(kVar, DIFV_SCOPE_THREAD, string_type())}})});
    dof.option(DTRACEOPT_BUFSIZE, 16384);
    dof.option(DTRACEOPT_DYNVARSIZE, 16384);
    auto image = dof.build();
    Engine engine;
    engine.probe("a", "b", "c", "d");
    bool made = false;
    for (int64_t allowed = 0; !made && allowed < 200; allowed++) {
        host.allocations_left = allowed;
        Loaded loaded = load(image);
        if (loaded.error != 0) {
            CHECK(loaded.error == -ENOMEM);
            CHECK_FALSE(loaded.reason.empty());
            continue;
        }
        dbk_reason reason{};
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, 1};
        int error = dbk_consumer_create(engine.get(), loaded.program, &config, &reason, &consumer);
        if (error != 0) {
            CHECK(error == -ENOMEM);
            CHECK(reason.text[0] != '\0');
            dbk_program_destroy(loaded.program);
            continue;
        }
        uint32_t matched = 0;
        made = dbk_consumer_enable(consumer, &reason, &matched) == 0;
        dbk_consumer_destroy(consumer);
        CHECK(host.enabled.empty());
    }
    host.allocations_left = -1;
    CHECK(made);
}

TEST_CASE("symbols become addresses where the program is loaded", "[engine][verify]") {
    Difo d{{setx(0, 1), setx(1, 2), op3(DIF_OP_ADD, 1, 2, 1), ret(1)}};
    d.integers = {7, 9};
    d.strings = std::string("\0jiffies\0ext4`ops\0", 18);
    d.symbols = {{1, DOF_RELO_SETX, 0, 0}, {9, DOF_RELO_SETX, 8, 0x10}};
    CHECK(run(d).value() == 0x3010); // HostState::symbols
    d.strings[9] = 'n';
    says(refusal(d), "this kernel has no symbol nxt4`ops");
}

TEST_CASE("a table of symbols is not trusted", "[engine][verify]") {
    Engine engine;
    host.symbols = {{"x", 0x1000}};
    Difo good{{setx(0, 1), ret(1)}};
    good.integers = {7};
    good.strings = std::string("\0x\0", 3);
    good.symbols = {{1, DOF_RELO_SETX, 0, 0}};
    CHECK(refusal(good).empty());
    auto with = [&](dof_relodesc entry) {
        Difo bad = good;
        bad.symbols = {entry};
        return refusal(bad);
    };
    says(with({1, DOF_RELO_SETX, 8, 0}), "type 1 for byte 8 of 1 integers");
    says(with({1, DOF_RELO_SETX, 4, 0}), "type 1 for byte 4 of 1 integers");
    says(with({1, DOF_RELO_SETX, UINT64_MAX - 7, 0}), "integers");
    says(with({1, 2, 0, 0}), "type 2 for byte 0 of 1 integers");
    says(with({0, DOF_RELO_SETX, 0, 0}), "a symbol's name is not a string");
    says(with({3, DOF_RELO_SETX, 0, 0}), "a symbol's name is not a string");
    Difo more = good;
    more.symbols = {good.symbols[0], good.symbols[0]};
    says(refusal(more), "its symbol table has 48 bytes for 1 integers");
    Difo elsewhere = good;
    elsewhere.symbol_target = 1;
    says(refusal(elsewhere), "not for its integers");
    Difo none = good;
    none.integers.clear();
    none.code = {ret(0)};
    says(refusal(none), "not for its integers");
    for (size_t bytes : {size_t{DBK_SYMBOL_BYTES_MAX}, size_t{DBK_SYMBOL_BYTES_MAX} + 1}) {
        Difo named = good;
        named.strings = '\0' + std::string(bytes, 'y') + '\0';
        host.symbols[std::string(bytes, 'y')] = 1;
        CHECK(refusal(named).empty() == (bytes == DBK_SYMBOL_BYTES_MAX));
    }
}

namespace {

/// Why a program is refused, or nothing.
std::string reason_of(Dof& dof) {
    Loaded loaded = load(dof.build());
    dbk_program_destroy(loaded.program);
    return loaded.reason;
}

} // namespace

TEST_CASE("what a program's tables come to is bounded", "[engine][verify]") {
    Engine engine;
    // Every object has the same sections, so that a small image asks for much.
    auto repeat = [](Dof& dof, std::vector<uint32_t> links, uint32_t count) {
        std::vector<uint8_t> header(sizeof(dif_type) + links.size() * 4);
        dif_type type = int_type();
        std::memcpy(header.data(), &type, sizeof(type));
        std::memcpy(header.data() + sizeof(type), links.data(), links.size() * 4);
        for (uint32_t i = 0; i < count; i++)
            dof.section(DOF_SECT_DIFOHDR, header.data(), header.size(), 4, 0);
    };
    auto code = [](Dof& dof) {
        uint32_t word = ret(0);
        return dof.section(DOF_SECT_DIF, &word, 4, 4, 4);
    };
    SECTION("integers, by the memory that they take") {
        std::vector<uint64_t> integers(0x10000);
        for (uint32_t count : {90u, 100u}) { // half a megabyte each, of 48
            Dof dof;
            uint32_t table =
                dof.section(DOF_SECT_INTTAB, integers.data(), integers.size() * 8, 8, 8);
            repeat(dof, {code(dof), table}, count);
            if (count == 90)
                CHECK(reason_of(dof).empty());
            else
                says(reason_of(dof), "the program needs more than 50331648 bytes of memory");
        }
    }
    SECTION("entries of variable tables") {
        std::vector<dif_var_entry> vars(DBK_VARS_MAX,
                                        variable(DIF_VAR_OTHER_UBASE, DIFV_SCOPE_GLOBAL));
        for (uint32_t more : {0u, 1u}) {
            Dof dof;
            uint32_t table = dof.section(DOF_SECT_VARTAB, vars.data(),
                                         vars.size() * sizeof(vars[0]), 4, sizeof(vars[0]));
            repeat(dof, {code(dof), table}, DBK_PROGRAM_VARS / DBK_VARS_MAX + more);
            if (more == 0)
                CHECK(reason_of(dof).empty());
            else
                says(reason_of(dof), "more than 262144 entries in the variable tables");
        }
    }
}

TEST_CASE("a program's symbols of the kernel are bounded", "[engine][verify]") {
    Engine engine;
    for (uint32_t symbols : {DBK_PROGRAM_SYMBOLS, DBK_PROGRAM_SYMBOLS + 1}) {
        Dof dof;
        Difo d{{ret(0)}};
        d.strings = std::string(1, '\0');
        host.symbols_asked = 0;
        for (uint32_t i = 0; i < symbols; i++) {
            std::string name = "s" + std::to_string(i);
            host.symbols[name] = 1 + i;
            d.symbols.push_back({static_cast<uint32_t>(d.strings.size()), DOF_RELO_SETX, 8 * i, 0});
            d.integers.push_back(0);
            d.strings += name + '\0';
        }
        dof.difo(d);
        dof.difo(d); // the same symbols again are not asked for again
        if (symbols == DBK_PROGRAM_SYMBOLS)
            CHECK(reason_of(dof).empty());
        else
            says(reason_of(dof), "more than 256 symbols of the kernel in one program");
        CHECK(host.symbols_asked == DBK_PROGRAM_SYMBOLS);
    }
    for (uint32_t more : {0u, 1u}) {
        Dof dof;
        Difo d{{ret(0)}};
        d.strings = std::string("\0jiffies\0", 9);
        d.symbols.assign(DBK_PROGRAM_RELOCS / 2, {1, DOF_RELO_SETX, 0, 0});
        d.integers.assign(d.symbols.size(), 0);
        dof.difo(d);
        d.symbols.resize(d.symbols.size() + more, d.symbols[0]);
        d.integers.assign(d.symbols.size(), 0);
        dof.difo(d);
        if (more == 0)
            CHECK(reason_of(dof).empty());
        else
            says(reason_of(dof), "more than 16384 references to symbols in one program");
    }
}

TEST_CASE("what all programs come to is bounded by the machine's memory", "[engine][verify]") {
    Engine engine;
    Difo d{{setx(0, 1), ret(1)}, int_type(), std::vector<uint64_t>(0x10000)};
    Dof dof;
    dof.option(DTRACEOPT_BUFSIZE, 65536);
    dof.ecb("dtrace:::BEGIN", {dof.trace(d)});
    auto make = [&](dbk_reason* reason) {
        Loaded loaded = load(dof.build());
        REQUIRE(loaded.error == 0);
        dbk_consumer* consumer = nullptr;
        dbk_consumer_config config{"test", 1, false, false, DBK_AGGREGATE_RECORD};
        if (dbk_consumer_create(engine.get(), loaded.program, &config, reason, &consumer) != 0)
            dbk_program_destroy(loaded.program);
        return consumer;
    };
    host.alloc_max = 4u << 20; // for programs: they take a megabyte each
    dbk_reason reason{};
    std::vector<dbk_consumer*> consumers;
    while (auto* consumer = make(&reason))
        consumers.push_back(consumer);
    CHECK(consumers.size() == 3);
    says(reason.text, "bytes of memory, at most 4194304 may");
    // What ends makes room.
    dbk_consumer_destroy(consumers.back());
    consumers.back() = make(&reason);
    CHECK(consumers.back() != nullptr);
    for (auto* consumer : consumers)
        dbk_consumer_destroy(consumer);
}

TEST_CASE("a key has room for what is pushed between two flushts", "[engine][verify]") {
    const uint32_t fetch = var_op(DIF_OP_LDGAA, kVar, 1);
    Dof dof;
    dof.difo({{push_value(0), fetch, flushts(), push_value(0), push_value(0), fetch, flushts(), ret(1)},
              int_type(),
              {},
              "",
              {variable(kVar, DIFV_SCOPE_GLOBAL, int_type(), DIFV_KIND_ARRAY)}});
    Loaded loaded = load(dof.build());
    INFO(loaded.reason);
    REQUIRE(loaded.error == 0);
    CHECK(loaded.program->dynamic_key_bytes == 16);
    dbk_program_destroy(loaded.program);
}
