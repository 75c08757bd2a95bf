// SPDX-License-Identifier: Apache-2.0
//
// What formats/abi/dif.md says under "At the edges", as far as exec_test and dynvar_test have not.
#include "tests/unit/engine/test_host.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

constexpr uint32_t kStrsize = 256; // the default

/// 1 when the branch is taken after `compare`, which has integer 0 in %r1, string 1 in %r2 and the
/// one after it in %r3.
uint64_t taken(uint32_t compare, uint32_t op, uint64_t value, const std::string& a = "",
               const std::string& b = "") {
    std::string strings = std::string("\0", 1) + a + '\0';
    auto second = static_cast<uint32_t>(strings.size());
    strings += b + '\0';
    return run({{setx(0, 1), sets(1, 2), sets(second, 3), compare, branch(op, 7), setx(1, 4),
                 ret(4), setx(2, 4), ret(4)},
                int_type(),
                {value, 0, 1},
                strings})
        .value();
}

/// x[put] = 99; x[get].  Integer 0 is 99, %r6 and %r7 are in use.
Outcome element(std::vector<uint32_t> put, const std::vector<uint32_t>& get,
                std::vector<uint64_t> integers = {}, const std::string& strings = {"\0", 1}) {
    integers.insert(integers.begin(), 99);
    put.insert(put.end(), {setx(0, 7), var_op(DIF_OP_STGAA, kVar, 7), flushts()});
    put.insert(put.end(), get.begin(), get.end());
    put.insert(put.end(), {var_op(DIF_OP_LDGAA, kVar, 6), flushts(), ret(6)});
    return run({std::move(put),
                int_type(),
                std::move(integers),
                strings,
                {variable(kVar, DIFV_SCOPE_GLOBAL, int_type(), DIFV_KIND_ARRAY)}});
}

constexpr uint32_t push_sized_string(uint32_t size, uint32_t rs) {
    return DIF_INSTR_FMT(DIF_OP_PUSHTR, DIF_TYPE_STRING, size, rs);
}

} // namespace

TEST_CASE("tst compares with 0, signed or not", "[engine][dif]") {
    for (uint64_t value : {0ull, 1ull, ~0ull, 1ull << 63}) {
        auto after = [&](uint32_t op) { return taken(tst(1), op, value) == 1; };
        auto number = static_cast<int64_t>(value);
        INFO(number);
        CHECK(after(DIF_OP_BE) == (number == 0));
        CHECK(after(DIF_OP_BNE) == (number != 0));
        CHECK(after(DIF_OP_BL) == (number < 0));
        CHECK(after(DIF_OP_BLE) == (number <= 0));
        CHECK(after(DIF_OP_BG) == (number > 0));
        CHECK(after(DIF_OP_BGE) == (number >= 0));
        CHECK(after(DIF_OP_BGU) == (number != 0));
        CHECK(after(DIF_OP_BLEU) == (number == 0));
        CHECK(after(DIF_OP_BGEU));
        CHECK_FALSE(after(DIF_OP_BLU));
    }
}

TEST_CASE("scmp is for signed branches, and ends at strsize", "[engine][dif]") {
    const uint32_t scmp = DIF_INSTR_FMT(DIF_OP_SCMP, 2, 3, 0),
                   with_null = DIF_INSTR_FMT(DIF_OP_SCMP, 0, 3, 0);
    CHECK(taken(scmp, DIF_OP_BL, 0, "a", "b") == 1);
    CHECK(taken(scmp, DIF_OP_BLU, 0, "a", "b") == 0);
    CHECK(taken(scmp, DIF_OP_BGU, 0, "a", "b") == 1); // the difference is not 0
    CHECK(taken(with_null, DIF_OP_BE, 0, "", "") == 1);
    CHECK(taken(with_null, DIF_OP_BL, 0, "", "a") == 1);
    const std::string same(kStrsize, 'x');
    CHECK(taken(scmp, DIF_OP_BE, 0, same + "a", same + "b") == 1);
    CHECK(taken(scmp, DIF_OP_BE, 0, same.substr(1) + "a", same.substr(1) + "b") == 0);
}

TEST_CASE("a string without a NUL ends at strsize", "[engine][dif]") {
    host = HostState{};
    host.kernel_memory[0x1000] = std::string(kStrsize + 44, 'x');
    auto text = [](std::vector<uint32_t> code) {
        return run({std::move(code), string_type(), {0x1000}}).text();
    };
    CHECK(text({setx(0, 1), ret(1)}) == std::string(kStrsize, 'x'));
    CHECK(run({{setx(0, 1), push_string(1), call(DIF_SUBR_STRLEN, 2), flushts(), ret(2)},
               int_type(),
               {0x1000}})
              .value() == kStrsize);
    const std::string same(kStrsize, 'k'),
        strings = std::string("\0", 1) + same + "a" + '\0' + same + "b" + '\0';
    CHECK(
        element({sets(1, 1), push_string(1)}, {sets(kStrsize + 3, 1), push_string(1)}, {}, strings)
            .value() == 99);
}

TEST_CASE("strsize counts from the address", "[engine][dif]") {
    const std::string text = std::string(kStrsize - 1, 'x') + 'y' + std::string(kStrsize, 'z');
    host = HostState{};
    host.kernel_memory[0x1000] = text + '\0';
    auto length_from = [](char wanted) {
        return run(
            {{setx(0, 1), setx(1, 2), push_string(1), push_value(2), call(DIF_SUBR_STRCHR, 3),
              flushts(), push_string(3), call(DIF_SUBR_STRLEN, 4), flushts(), ret(4)},
             int_type(),
             {0x1000, static_cast<uint64_t>(wanted)}});
    };
    CHECK(length_from('x').value() == kStrsize);
    CHECK(length_from('y').value() == kStrsize); // which is the last of the string's
    CHECK(length_from('z').errors == 1);         // NULL: the string has none
}

TEST_CASE("a variable that was never set", "[engine][dif]") {
    auto loaded = [](uint32_t op, uint8_t scope, dif_type type, std::vector<uint32_t> code,
                     dif_type result) {
        code.insert(code.begin(), var_op(op, kVar, 1));
        return run({std::move(code), result, {}, "", {variable(kVar, scope, type)}});
    };
    for (auto [op, scope] :
         {std::pair{DIF_OP_LDGS, DIFV_SCOPE_GLOBAL}, {DIF_OP_LDLS, DIFV_SCOPE_LOCAL}}) {
        const auto of = static_cast<uint8_t>(scope);
        CHECK(loaded(op, of, int_type(), {ret(1)}, int_type()).value() == 0);
        CHECK(loaded(op, of, string_type(), {ret(1)}, string_type()).text().empty());
        CHECK(
            loaded(op, of, bytes_type(16), {load(DIF_OP_LDX, 1, 2), ret(2)}, int_type()).value() ==
            0);
    }
    // Of a thread, there is no such variable before: NULL.
    CHECK(loaded(DIF_OP_LDTS, DIFV_SCOPE_THREAD, int_type(), {ret(1)}, int_type()).value() == 0);
    CHECK(loaded(DIF_OP_LDTS, DIFV_SCOPE_THREAD, string_type(), {ret(1)}, int_type()).value() == 0);
    CHECK(loaded(DIF_OP_LDTS, DIFV_SCOPE_THREAD, string_type(), {ret(1)}, string_type()).errors ==
          1);
    // And where NULL was stored.
    CHECK(run({{var_op(DIF_OP_STGS, kVar, 0), var_op(DIF_OP_LDGS, kVar, 1), load(DIF_OP_LDX, 1, 2),
                ret(2)},
               int_type(),
               {},
               "",
               {variable(kVar, DIFV_SCOPE_GLOBAL, bytes_type(16))}})
              .errors == 1);
}

TEST_CASE("a thread-local or an element of address 0", "[engine][dif]") {
    constexpr uint32_t kOther = kVar + 1, kKeyed = kVar + 2;
    const dif_type text = string_type(), number = int_type();
    for (bool is_element : {false, true})
        for (bool was_set : {false, true}) {
            const uint32_t store = is_element ? DIF_OP_STGAA : DIF_OP_STTS,
                           load_it = is_element ? DIF_OP_LDGAA : DIF_OP_LDTS;
            // %r1 is what it has, %r2 the empty string.
            auto after = [&](std::vector<uint32_t> code, dif_type result, dif_type type) {
                const uint8_t scope = is_element ? DIFV_SCOPE_GLOBAL : DIFV_SCOPE_THREAD,
                              kind = is_element ? DIFV_KIND_ARRAY : DIFV_KIND_SCALAR;
                std::vector<uint32_t> all = {sets(0, 2),
                                             push_value(0),
                                             was_set ? var_op(store, kVar, 2) : nop(),
                                             was_set ? var_op(store, kVar, 0) : nop(),
                                             var_op(load_it, kVar, 1),
                                             flushts()};
                all.insert(all.end(), code.begin(), code.end());
                return run(
                    {all,
                     result,
                     {},
                     std::string(16, '\0'),
                     {variable(kVar, scope, type, kind), variable(kOther, DIFV_SCOPE_GLOBAL, text),
                      variable(kKeyed, DIFV_SCOPE_GLOBAL, number, DIFV_KIND_ARRAY)}});
            };
            INFO(is_element << was_set);
            CHECK(after({ret(1)}, number, text).value() == 0);
            CHECK(after({ret(1)}, text, text).errors == 1);
            CHECK(after({push_string(1), var_op(DIF_OP_LDGAA, kKeyed, 3), flushts(), ret(0)},
                        number, text)
                      .errors == 1);
            CHECK(after({push_string(1), call(DIF_SUBR_STRLEN, 3), flushts(), ret(0)}, number, text)
                      .errors == 1);
            CHECK(after({load(DIF_OP_LDX, 1, 3), ret(0)}, number, bytes_type(16)).errors == 1);
            CHECK(after({DIF_INSTR_FMT(DIF_OP_SCMP, 1, 2, 0), branch(DIF_OP_BE, 9),
                         load(DIF_OP_LDX, 0, 3), ret(0)},
                        number, text)
                      .errors == 0);
            CHECK(after({var_op(DIF_OP_STGS, kOther, 1), var_op(DIF_OP_LDGS, kOther, 3), ret(3)},
                        number, text)
                      .value() == 0);
        }
}

TEST_CASE("a key is bytes, however they were pushed", "[engine][dif]") {
    CHECK(
        element({setx(1, 1), push_value(1)}, {setx(2, 1), push_value(1)}, {~0ull, 0xff}).value() ==
        0);
    CHECK(element({push_value(0)}, {sets(0, 1), push_string(1)}).value() == 99);
    CHECK(element({setx(1, 1), push_value(1)},
                  {setx(2, 2), load(DIF_OP_ALLOCS, 2, 3), load(DIF_OP_STX, 1, 3), push_bytes(2, 3)},
                  {5, 8})
              .value() == 99);
    // A string of eight characters fills two words, with its NUL.
    const std::string strings("\0seven77\0eightchr\0", 18);
    const uint64_t seven = 0x0037376e65766573, eight = 0x7268637468676965;
    CHECK(element({sets(1, 1), push_string(1)}, {setx(1, 1), push_value(1)}, {seven}, strings)
              .value() == 99);
    CHECK(element({sets(9, 1), push_string(1)}, {setx(1, 1), push_value(1)}, {eight}, strings)
              .value() == 0);
    CHECK(element({sets(9, 1), push_string(1)}, {setx(1, 1), push_value(1), push_value(0)}, {eight},
                  strings)
              .value() == 99);
    CHECK(element({push_value(0)}, {push_value(0), push_value(0)}).value() == 0);
    CHECK(element({push_value(0)}, {push_string(0)}).errors == 1); // NULL is not a key
}

TEST_CASE("a string is pushed whole, whatever its size register has", "[engine][dif]") {
    const std::string strings("\0abc\0abd\0", 9);
    CHECK(element({setx(1, 2), sets(1, 1), push_sized_string(2, 1)},
                  {sets(5, 1), push_sized_string(2, 1)}, {2}, strings)
              .value() == 0);
    CHECK(element({setx(1, 2), sets(1, 1), push_sized_string(2, 1)}, {sets(1, 1), push_string(1)},
                  {2}, strings)
              .value() == 99);
}

TEST_CASE("only popts and flushts empty the tuple stack", "[engine][dif]") {
    Difo twice{
        {sets(1, 1), push_string(1), call(DIF_SUBR_STRLEN, 2), call(DIF_SUBR_STRLEN, 3), ret(3)}};
    twice.strings = std::string("\0cat\0", 5);
    CHECK(run(twice).value() == 3);
    CHECK(element({push_value(0)}, {}).value() == 0); // flushed: no key at all
}
