// SPDX-License-Identifier: Apache-2.0
#include "analyze/symbols/address_names.hpp"
#include "analyze/symbols/demangle.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;

TEST_CASE("names of C++ and of both Rusts are demangled, others stay", "[analyze][symbols]") {
    CHECK(demangled("_ZNSt6vectorIiSaIiEE9push_backEOi") ==
          "std::vector<int, std::allocator<int> >::push_back(int&&)");
    CHECK(demangled("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE") ==
          "core::fmt::Formatter::write_str");
    CHECK(demangled("_RNvNtCs1234_7mycrate3foo3bar") == "mycrate::foo::bar");
    CHECK(demangled("_RINvNtC3std3mem8align_ofjdE") == "std::mem::align_of::<usize, f64>");
    for (const char* name : {"main", "_start", "_Zonk", "_R", "_Z", ""})
        CHECK(demangled(name) == name);
}

/// Names what stood before: in base 36, from S0_.
std::string substitution(size_t number) {
    static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    number--;
    std::string high = number < 36 ? "" : std::string(1, kDigits[number / 36]);
    return "S" + high + kDigits[number % 36] + "_";
}

/// A function of pointers to functions, each of which takes the one before it twice.
std::string doubling_name(size_t levels) {
    std::string name = "_Z1fPFviiE";
    for (size_t level = 0; level < levels; level++) {
        std::string before = substitution(2 * level + 1);
        name += "PFv" + before + before + "E";
    }
    return name;
}

TEST_CASE("a short name that stands for gigabytes stays what it is", "[analyze][symbols]") {
    CHECK(demangled(doubling_name(1)) == "f(void (*)(int, int), void (*)(void (*)(int, int), "
                                         "void (*)(int, int)))");
    CHECK(demangled(doubling_name(40)) == doubling_name(40));
}

/// Returns a pack expansion over a<a<..., ...>, a<..., ...>>.
std::string expansion_of_doubles(size_t levels) {
    std::string name = "_Z1fI1aIiiE";
    for (size_t level = 0; level < levels; level++)
        name += "S0_I" + substitution(level + 2) + substitution(level + 2) + "E";
    return name + "EDp" + substitution(levels + 2) + "v";
}

/// Conversion operators of which each has the next one among its arguments.
std::string conversions(size_t levels) {
    std::string name = "i";
    for (size_t level = 0; level < levels; level++)
        name = "N1acvT_I" + name + "EE";
    return "_Z" + name + "v";
}

TEST_CASE("a name on which the demangler works for years stays what it is", "[analyze][symbols]") {
    CHECK(demangled(expansion_of_doubles(1)) == "(a<a<int, int>, a<int, int> >)... f<a<int, int>, "
                                                "a<a<int, int>, a<int, int> > >()");
    CHECK(demangled(expansion_of_doubles(60)) == expansion_of_doubles(60));
    CHECK(demangled(conversions(1)) != conversions(1));
    CHECK(demangled(conversions(60)) == conversions(60));
    std::string one_conversion = "_Zcv"; // to T_<T_<T_< ...
    for (int level = 0; level < 60; level++)
        one_conversion += "T_I";
    one_conversion += "iv";
    CHECK(demangled(one_conversion) == one_conversion);
}

namespace {

/// One process: a function of C++ at 0x401000, 0x20 long, in a program that begins at 0x400000.
class OneProcess : public UserNames {
public:
    std::optional<UserPlace> find(uint64_t pid, uint64_t address,
                                  std::optional<uint64_t> mono_ns) override {
        asked_ns = mono_ns;
        if (pid == 8 && address == 0x1000)
            return UserPlace{"pro\ng", 0, "f\n0x1\033[2J", 1, 0x1000};
        if (pid != 7 || address < 0x400000)
            return std::nullopt;
        UserPlace place{"prog", address - 0x400000, "", 0, 0x400000};
        if (address >= 0x401000 && address < 0x401020) {
            place.symbol = "_ZN1a1bEv";
            place.symbol_offset = address - 0x401000;
        }
        return place;
    }
    std::optional<uint64_t> asked_ns;
};

} // namespace

TEST_CASE("addresses of a process are named and have a beginning", "[analyze][symbols]") {
    OneProcess processes;
    AddressNames names(nullptr, &processes);
    CHECK(names.user_location(7, 0x401004) == "prog`a::b()+0x4");
    CHECK(names.user_location(7, 0x401004, true) == "prog`a::b()+0x4");
    // Where its last call returns to lies after it; before it there is nothing to call from.
    CHECK(names.user_location(7, 0x401020, true) == "prog`a::b()+0x20");
    CHECK(names.user_location(7, 0x401020) == "prog`0x401020");
    CHECK(names.user_location(7, 0x401000, true) == "prog`a::b()");
    AddressNames raw(nullptr, &processes, {.mangled = true});
    CHECK(raw.user_location(7, 0x401004) == "prog`_ZN1a1bEv+0x4");
    CHECK(names.user_symbol(7, 0x401004) == "prog`a::b()");
    KeyTimes keys;
    CHECK(names.user_symbol_start(7, 0x401004, keys) == 0x401000);
    CHECK(names.user_symbol_start(7, 0x402004, keys) == 0x402004);
    CHECK(names.user_module_start(7, 0x402004, keys) == 0x400000);
    CHECK(names.user_module_start(8, 0x402004, keys) == 0x402004);
    CHECK(keys.find(7, 0x401000) == nullptr); // it was of no known time
    CHECK(!names.unnamed());
    CHECK(names.unnamed().unmapped); // 0x402004 of process 8
    CHECK(!raw.unnamed().unmapped);
    CHECK_FALSE(processes.asked_ns);
    formats::ClockModel clock; // of nanoseconds
    {
        AddressNames::Moment then(names, &clock, 1234);
        names.user_symbol(7, 0x401004);
        CHECK(processes.asked_ns == 1234);
        AddressNames::Moment any_time(names, nullptr, 0);
        names.user_symbol(7, 0x401004);
        CHECK_FALSE(processes.asked_ns);
    }
    // What is in a name is not another line, nor does it drive a terminal.
    CHECK(names.user_location(8, 0x1000) == "pro\\012g`f\\0120x1\\033[2J+0x1");
    CHECK(names.user_module(8, 0x1000) == "pro\\012g");
    CHECK(names.user_unresolved(8, 0x1000) == "pro\\012g:0x0");
    AddressNames none(nullptr);
    CHECK(none.user_symbol(7, 0x401004) == "0x401004");
    CHECK(none.unnamed().user);
    CHECK(!none.unnamed().kernel);
    CHECK(none.location(0x401004) == "0x401004");
    CHECK(none.unnamed().kernel);
}
