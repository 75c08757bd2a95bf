// SPDX-License-Identifier: Apache-2.0
//
// Partial states made by hand, merged: sums that wrap, keys that no text has, parts that come
// twice.
#include "analyze/replay/merged.hpp"
#include "tests/support/sim_programs.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/formats/aggstate/sample.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace daybreak;
using namespace daybreak::analyze;
using namespace std::string_view_literals;
using daybreak::test::run;
using daybreak::test::string_key;
using formats::KeyTag;
using formats::StateAggregation;
using formats::StatePart;

namespace {

class TextSink : public Sink {
public:
    void write(std::string_view text) override { text_ += text; }
    void message(const Message& message) override { text_ += message.text + "\n"; }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// Counts in @a and @b, and says "end" in END.
base::Bytes program_dof(bool has_aggregations = true) {
    test::ProgramBuilder b;
    b.option(DTRACEOPT_QUIET, 1);
    b.clause("dtrace:::END", {b.trace(b.text("end\n"))});
    if (!has_aggregations)
        return b.dof();
    b.aggregation_name("a");
    b.aggregation_name("b");
    b.clause("merged:::none", b.aggregate(DTRACEAGG_COUNT, 1, {}, std::nullopt));
    return b.dof();
}

struct State {
    StateAggregation aggregation;
    base::Bytes key;
    std::vector<uint64_t> cells;
};

StateAggregation named(uint32_t function, KeyTag tag = KeyTag::string, uint32_t bytes = 256,
                       uint32_t action = DTRACEACT_DIFEXPR) {
    return {"a", function, 0, {{tag, bytes, action, false}}};
}

/// Files in a folder, and what their merge prints.
class Files {
public:
    std::string add(const StatePart& part, const std::vector<State>& states,
                    const std::vector<formats::StateSymbol>& symbols = {},
                    bool has_aggregations = true) {
        base::Bytes file;
        formats::StateWriter writer([&file](base::ByteView bytes) {
            file.insert(file.end(), bytes.begin(), bytes.end());
            return base::Result<void>();
        });
        StatePart with_dof = part;
        with_dof.dof = program_dof(has_aggregations);
        REQUIRE(writer.begin_part(with_dof).ok());
        if (!symbols.empty())
            REQUIRE(writer.add_symbols({symbols}).ok());
        for (const State& state : states)
            REQUIRE(writer.add(state.aggregation, state.key, state.cells).ok());
        REQUIRE(writer.finish().ok());
        std::string path = folder_.path / ("f" + std::to_string(files_++));
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(file.data()),
                  static_cast<std::streamsize>(file.size()));
        return path;
    }

    base::Result<std::string> merge(const std::vector<std::string>& paths) {
        MergedStates merged;
        for (const std::string& path : paths)
            DBK_TRY_VOID(merged.add(path));
        repeated_ = merged.repeated();
        DBK_TRY(auto coverage, merged.coverage());
        (void)coverage;
        TextSink sink;
        DBK_TRY(auto status, merged.run({}, sink, watch_));
        (void)status;
        unnamed_ = merged.unnamed();
        added_ = merged.added();
        return sink.text();
    }

    std::string printed(const std::vector<std::string>& paths) {
        auto text = merge(paths);
        INFO((text.ok() ? "" : text.error().message()));
        REQUIRE(text.ok());
        return *text;
    }

    uint64_t repeated_ = 0, unnamed_ = 0, added_ = 0;
    MergedStates::Watch watch_;

private:
    test::TempFolder folder_;
    int files_ = 0;
};

StatePart part(uint64_t number) {
    return daybreak::test::part_of({run(number, number, number * 10 - 10, 10)});
}

bool contains(const std::string& text, std::string_view what) {
    return text.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("sums wrap at 2^64, and one that cancels is 0, not absent", "[replay][merge]") {
    Files files;
    std::string one = files.add(part(1), {{named(DTRACEAGG_SUM), string_key("wrap"), {UINT64_MAX}},
                                          {named(DTRACEAGG_SUM), string_key("zero"), {5}}});
    std::string two =
        files.add(part(2), {{named(DTRACEAGG_SUM), string_key("wrap"), {3}},
                            {named(DTRACEAGG_SUM), string_key("zero"), {0 - uint64_t{5}}}});
    std::string text = files.printed({one, two});
    CHECK(text.starts_with("end\n"));
    CHECK(
        contains(text, "  zero                                                              0\n"));
    CHECK(
        contains(text, "  wrap                                                              2\n"));
    CHECK(files.printed({two, one}) == text);
    CHECK(files.printed({two, one, one, two, one}) == text);
    CHECK(files.repeated_ == 3);
}

TEST_CASE("squares carry between parts as in the engine", "[replay][merge]") {
    // Two times 0x7fffffff00000000 by two parts: the sum of squares passes 64 bits.
    uint64_t value = 0x7fffffff00000000;
    AggregationFunction function{DTRACEAGG_STDDEV, 0};
    std::vector<uint64_t> cells(4), both(4);
    function.update(cells, static_cast<int64_t>(value), 1);
    function.update(both, static_cast<int64_t>(value), 1);
    function.update(both, static_cast<int64_t>(value - 8), 1);
    std::vector<uint64_t> other(4);
    function.update(other, static_cast<int64_t>(value - 8), 1);
    Files files;
    std::string one = files.add(part(1), {{named(DTRACEAGG_STDDEV), string_key("x"), cells}});
    std::string two = files.add(part(2), {{named(DTRACEAGG_STDDEV), string_key("x"), other}});
    std::string all = files.add(part(3), {{named(DTRACEAGG_STDDEV), string_key("x"), both}});
    CHECK(files.printed({one, two}) == files.printed({all}));
}

TEST_CASE("of minima and maxima one stays", "[replay][merge]") {
    Files files;
    auto negative = [](int64_t value) { return static_cast<uint64_t>(value); };
    StateAggregation most = named(DTRACEAGG_MAX);
    most.name = "b";
    std::string one = files.add(part(1), {{named(DTRACEAGG_MIN), string_key("x"), {7}},
                                          {most, string_key("x"), {negative(-7)}}});
    std::string two = files.add(part(2), {{named(DTRACEAGG_MIN), string_key("x"), {negative(-9)}},
                                          {most, string_key("x"), {negative(-8)}}});
    std::string text = files.printed({two, one});
    CHECK(contains(text, "-9\n"));
    CHECK(contains(text, "-7\n"));
    CHECK(!contains(text, "-8\n"));
}

TEST_CASE("keys with NUL, tab and bytes that are no UTF-8 meet themselves", "[replay][merge]") {
    Files files;
    std::vector<State> states;
    for (std::string_view key : {""sv, "a"sv, "a\tb"sv, "\xff\xfe"sv, "\xc3"sv})
        states.push_back({named(DTRACEAGG_COUNT), string_key(key), {1}});
    StateAggregation bytes = named(DTRACEAGG_COUNT, KeyTag::bytes, 3);
    for (std::string_view key : {"\0\0\0"sv, "a\0b"sv, "a\0c"sv, "\xff\t\0"sv}) {
        formats::CanonicalKey canonical;
        canonical.append(KeyTag::bytes, base::as_bytes(key));
        states.push_back({bytes, {canonical.bytes().begin(), canonical.bytes().end()}, {1}});
    }
    std::string text = files.printed({files.add(part(1), states), files.add(part(2), states)});
    size_t twos = 0;
    for (size_t at = text.find(" 2\n"); at != std::string::npos; at = text.find(" 2\n", at + 1))
        twos++;
    CHECK(twos == states.size());
    CHECK(contains(text, "a\tb"));
}

TEST_CASE("a part of a machine that matched nothing may be the first", "[replay][merge]") {
    Files files;
    std::string none = files.add(part(1), {}, {}, false);
    std::string some = files.add(part(2), {{named(DTRACEAGG_SUM), string_key("x"), {7}}});
    std::string text = files.printed({none, some});
    CHECK(contains(text, " 7\n"));
    CHECK(files.printed({some, none}) == text);
}

TEST_CASE("a part with other states than before is refused", "[replay][merge]") {
    Files files;
    std::string one = files.add(part(1), {{named(DTRACEAGG_COUNT), string_key("x"), {1}}});
    std::string other = files.add(part(1), {{named(DTRACEAGG_COUNT), string_key("x"), {2}}});
    auto merged = files.merge({one, other});
    REQUIRE(!merged.ok());
    CHECK(contains(merged.error().message(), "came before with other states"));
}

TEST_CASE("states of two programs are not merged", "[replay][merge]") {
    Files files;
    StatePart other = part(2);
    other.identity.program[0] = 1;
    auto merged = files.merge({files.add(part(1), {}), files.add(other, {})});
    REQUIRE(!merged.ok());
    CHECK(contains(merged.error().message(), "its program is"));
}

TEST_CASE("states of what the program does not have are refused", "[replay][merge]") {
    Files files;
    State state{named(DTRACEAGG_COUNT), string_key("x"), {1}};
    state.aggregation.name = "c";
    CHECK(!files.merge({files.add(part(1), {state})}).ok());
    state = {named(DTRACEAGG_LQUANTIZE), string_key("x"), {0, 1}}; // of no levels
    CHECK(!files.merge({files.add(part(1), {state})}).ok());
    state = {named(DTRACEAGG_COUNT, KeyTag::integer, 8), {}, {1}};
    formats::CanonicalKey key;
    key.append(KeyTag::integer, base::as_bytes("1234"sv)); // four bytes for eight
    state.key.assign(key.bytes().begin(), key.bytes().end());
    CHECK(!files.merge({files.add(part(1), {state})}).ok());
}

TEST_CASE("a stack of two boots is one key where build ids are known", "[replay][merge]") {
    Files files;
    base::Bytes id(20, std::byte{7});
    StateAggregation by_stack = named(DTRACEAGG_COUNT, KeyTag::stack, 0, DTRACEACT_STACK);
    formats::CanonicalKey key;
    key.begin_frames(KeyTag::stack, 0);
    key.add_frame(id, 0x110);
    base::Bytes bytes(key.bytes().begin(), key.bytes().end());
    StatePart first = part(1), second = part(1);
    first.images = {{"vmlinux", 0xffffffff81000000, 0x100000, id}};
    second.images = {{"vmlinux", 0xffffffff92000000, 0x100000, id}};
    second.identity.boot_id++;
    std::vector<formats::StateSymbol> symbols{{{0, 0x100}, 'T', "do_it", "vmlinux"}};
    std::string one = files.add(first, {{by_stack, bytes, {1}}}, symbols);
    std::string two = files.add(second, {{by_stack, bytes, {2}}}, symbols);
    std::string text = files.printed({one, two});
    CHECK(contains(text, "vmlinux`do_it+0x10\n"));
    CHECK(contains(text, "                3\n"));
    CHECK(files.printed({two, one}) == text);
    CHECK(files.unnamed_ == 0);
}

TEST_CASE(
    "two kernels at one address are two keys, and so is an address in an image of another boot",
    "[replay][merge]") {
    Files files;
    StateAggregation by_stack = named(DTRACEAGG_COUNT, KeyTag::stack, 0, DTRACEACT_STACK);
    auto key_at = [](base::ByteView id) {
        formats::CanonicalKey key;
        key.begin_frames(KeyTag::stack, 0);
        if (id.empty())
            key.add_address(0xffffffff81000110);
        else
            key.add_frame(id, 0x110);
        return base::Bytes(key.bytes().begin(), key.bytes().end());
    };
    std::vector<std::string> paths;
    for (size_t i = 0; i < 3; i++) {
        StatePart one = part(1);
        one.identity.boot_id += i;
        base::Bytes id;
        if (i < 2) {
            id.assign(20, std::byte(i + 1));
            one.images = {{"vmlinux", 0xffffffff81000000, 0x100000, id}};
        }
        formats::Frame at =
            i < 2 ? formats::Frame{0, 0x100} : formats::Frame{std::nullopt, 0xffffffff81000100};
        std::string name = "f" + std::to_string(i);
        paths.push_back(files.add(one, {{by_stack, key_at(id), {i + 1}}}, {{at, 'T', name, "m"}}));
    }
    std::string text = files.printed(paths);
    for (int i = 0; i < 3; i++) {
        INFO(text);
        CHECK(contains(text, "m`f" + std::to_string(i) + "+0x10\n                " +
                                 std::to_string(i + 1) + "\n"));
    }
    CHECK(files.unnamed_ == 0);
    CHECK(files.printed({paths[2], paths[0], paths[1]}) == text);
}

TEST_CASE("a function of a library is one key in all boots, with its name", "[replay][merge]") {
    Files files;
    base::Bytes id(20, std::byte{8});
    StateAggregation by_stack = named(DTRACEAGG_COUNT, KeyTag::ustack, 0, DTRACEACT_USTACK);
    formats::CanonicalKey key;
    std::vector<std::string> paths;
    for (uint64_t i = 0; i < 2; i++) {
        key.clear();
        key.begin_frames(KeyTag::ustack, 711);
        key.add_frame(id, 0x110, 0x7f0000000110 + i * 0x1000);
        key.add_frame(id, 0x90, 0x7f0000000090 + i * 0x1000);
        key.add_address(0x401000);
        base::Bytes bytes(key.bytes().begin(), key.bytes().end());
        StatePart one = part(1);
        one.identity.boot_id += i;
        one.images = {{"vmlinux", 0xffffffff81000000, 0x100000, base::Bytes(20, std::byte{7})},
                      {"libc.so.6", 0, 0x111, id, true}};
        // One machine has the symbols, the other does not.
        std::vector<formats::StateSymbol> symbols;
        if (i == 0)
            symbols.push_back({{1, 0x100}, 'T', "_ZN1a1bEv", "libc.so.6", 0x11});
        paths.push_back(files.add(one, {{by_stack, bytes, {1}}}, symbols));
    }
    std::string text = files.printed(paths);
    CHECK(contains(text, "libc.so.6`a::b()+0x10\n"));
    CHECK(contains(text, "libc.so.6:0x90\n"));
    CHECK(contains(text, " 0x401000\n                2\n"));
    CHECK(files.printed({paths[1], paths[0]}) == text);
    CHECK(contains(files.printed({paths[1]}), "libc.so.6:0x110\n"));
    CHECK(files.unnamed_ == 0);
}

TEST_CASE("of one boot two addresses of one place in a file are two keys, as they were",
          "[replay][merge]") {
    Files files;
    base::Bytes id(20, std::byte{8});
    StateAggregation by_address = named(DTRACEAGG_COUNT, KeyTag::uaddress, 16, DTRACEACT_UADDR);
    StatePart one = part(1);
    one.images = {{"libc.so.6", 0, 0x1000, id, true}};
    std::vector<State> states;
    for (uint64_t address : {0x7f0000000110, 0x7e0000000110}) {
        formats::CanonicalKey key;
        key.begin_frames(KeyTag::uaddress, 711);
        key.add_frame(id, 0x110, address);
        states.push_back(
            {by_address, base::Bytes(key.bytes().begin(), key.bytes().end()), {states.size() + 2}});
    }
    std::vector<formats::StateSymbol> symbols{{{0, 0x100}, 'T', "read", "libc.so.6", 0x11}};
    std::string text = files.printed({files.add(one, states, symbols)});
    for (const char* value : {"2", "3"})
        CHECK(contains(text, std::string("libc.so.6`read+0x10") + std::string(47, ' ') + value));
    // One address that was two places has no name: it may be either.
    formats::CanonicalKey other;
    other.begin_frames(KeyTag::uaddress, 711);
    other.add_frame(id, 0x220, 0x7f0000000110);
    states.push_back({by_address, base::Bytes(other.bytes().begin(), other.bytes().end()), {5}});
    text = files.printed({files.add(one, states, symbols)});
    CHECK(contains(text, "0x7f0000000110"));
    CHECK(contains(text, " 7\n"));
}

TEST_CASE("a frame after the end of its image is refused", "[replay][merge]") {
    Files files;
    base::Bytes id(20, std::byte{7});
    StatePart one = part(1);
    one.images = {{"vmlinux", 0xffffffff81000000, 0x100, id}};
    formats::CanonicalKey key;
    key.begin_frames(KeyTag::stack, 0);
    key.add_frame(id, 0x100);
    State state{named(DTRACEAGG_COUNT, KeyTag::stack, 0, DTRACEACT_STACK),
                base::Bytes(key.bytes().begin(), key.bytes().end()),
                {1}};
    CHECK(!files.merge({files.add(one, {state})}).ok());
    CHECK(!files.merge({files.add(one, {}, {{{0, 0x100}, 'T', "late", "vmlinux"}})}).ok());
}

TEST_CASE("an address of no image is what each boot names it", "[replay][merge]") {
    Files files;
    StateAggregation by_stack = named(DTRACEAGG_COUNT, KeyTag::stack, 0, DTRACEACT_STACK);
    formats::CanonicalKey key;
    key.begin_frames(KeyTag::stack, 0);
    key.add_address(0xffffffff81000110);
    base::Bytes bytes(key.bytes().begin(), key.bytes().end());
    StatePart second = part(1);
    second.identity.boot_id++;
    auto symbol = [](const char* name) {
        return std::vector<formats::StateSymbol>{
            {{std::nullopt, 0xffffffff81000100}, 'T', name, "vmlinux"}};
    };
    std::string one = files.add(part(1), {{by_stack, bytes, {1}}}, symbol("read"));
    std::string two = files.add(second, {{by_stack, bytes, {1}}}, symbol("write"));
    CHECK(contains(files.printed({one}), "vmlinux`read+0x10\n"));
    std::string text = files.printed({one, two});
    CHECK(contains(text, "vmlinux`read+0x10\n                1\n"));
    CHECK(contains(text, "vmlinux`write+0x10\n                1\n"));
    CHECK(files.unnamed_ == 0);
    // One function at two addresses is one key.
    key.clear();
    key.begin_frames(KeyTag::stack, 0);
    key.add_address(0xffffffff82000110);
    base::Bytes moved(key.bytes().begin(), key.bytes().end());
    std::vector<formats::StateSymbol> there{
        {{std::nullopt, 0xffffffff82000100}, 'T', "read", "vmlinux"}};
    text = files.printed({one, files.add(second, {{by_stack, moved, {1}}}, there)});
    CHECK(contains(text, "vmlinux`read+0x10\n                2\n"));
    // Of one boot it can be only one of two.
    StatePart later = part(2);
    std::string other = files.add(later, {{by_stack, bytes, {1}}}, symbol("write"));
    CHECK(contains(files.printed({one, other}), "0xffffffff81000110\n"));
    CHECK(files.unnamed_ == 1);
}

TEST_CASE("an interrupted merge is that of the parts that were added", "[replay][merge]") {
    Files files;
    std::vector<std::string> paths;
    for (uint64_t i = 1; i <= 3; i++)
        paths.push_back(
            files.add(part(i), {{named(DTRACEAGG_SUM), string_key("sum"), {uint64_t{1} << i}}}));
    int asked = 0, read = 0;
    files.watch_ = {[&asked] { return ++asked > 2; }, [&read] { read++; }};
    CHECK(contains(files.printed(paths), " 6\n"));
    CHECK(files.added_ == 2);
    CHECK(read == 6); // the symbols of each, and the states
}
