// SPDX-License-Identifier: Apache-2.0
//
// The witness is this program: backtrace(3) walks the same stack by the same tables.
#include "analyze/symbols/unwind.hpp"

#include "analyze/print/context.hpp"
#include "analyze/print/default_print.hpp"
#include "analyze/print/json_print.hpp"
#include "analyze/print/user_stack.hpp"
#include "analyze/symbols/address_names.hpp"
#include "formats/abi/meta.h"
#include "formats/segment/record.hpp"
#include "tests/support/stack_snapshot.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <memory>

using namespace daybreak;
using namespace daybreak::analyze;
using Snapshot = daybreak::test::StackSnapshot;

namespace {

__attribute__((noinline)) int middle(Snapshot& to, int more) {
    volatile char room[100] = {};
    room[0] = static_cast<char>(more > 0 ? middle(to, more - 1) : take_stack(to));
    return room[0] + 1;
}

/// Where the loader put what.
class Loaded {
public:
    UnwindPlace operator()(uint64_t address) {
        Dl_info info = {};
        void* map = nullptr;
        if (::dladdr1(reinterpret_cast<void*>(address), &info, &map, RTLD_DL_LINKMAP) == 0)
            return {};
        auto& frames = files_[info.dli_fname];
        if (!frames) {
            const char* path = std::strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
            frames = std::make_unique<ObjectFrames>(base::ScopedFd(::open(path, O_RDONLY)));
        }
        return {frames.get(), address - static_cast<const link_map*>(map)->l_addr, "object"};
    }

private:
    std::map<std::string, std::unique_ptr<ObjectFrames>> files_;
};

} // namespace

TEST_CASE("a recorded stack leads to the program's first function", "[analyze][symbols]") {
    Snapshot snapshot;
    middle(snapshot, 5);
    Loaded loaded;
    auto place_of = [&](uint64_t address) { return loaded(address); };
    UnwoundStack unwound = unwind(snapshot.thread(), place_of);
    CHECK(unwound.why_short.empty());
    REQUIRE(unwound.frames.size() > 10);
    // take() is at another instruction there, and a sanitizer's backtrace() may come before it.
    const std::vector callers(unwound.frames.begin() + 1, unwound.frames.end());
    REQUIRE(snapshot.callers.size() > callers.size());
    CHECK(snapshot.callers.size() <= callers.size() + 2);
    CHECK(callers == std::vector(snapshot.callers.end() - static_cast<ptrdiff_t>(callers.size()),
                                 snapshot.callers.end()));

    SECTION("as many as were asked for are enough") {
        UnwoundStack two = unwind(snapshot.thread(SIZE_MAX, 2), place_of);
        CHECK(two.frames.size() == 2);
        CHECK(two.why_short.empty());
    }
    SECTION("a piece that is too short leads as far as it does") {
        UnwoundStack piece = unwind(snapshot.thread(512), place_of);
        CHECK(piece.why_short == "the 512 bytes of stack end");
        REQUIRE(piece.frames.size() < unwound.frames.size());
        CHECK(std::equal(piece.frames.begin(), piece.frames.end(), unwound.frames.begin()));
    }
    SECTION("without the file it is said which is missing") {
        auto nothing = [](uint64_t) { return UnwindPlace{nullptr, 16, "libx.so"}; };
        UnwoundStack none = unwind(snapshot.thread(), nothing);
        CHECK(none.frames.size() == 1);
        CHECK(none.why_short == "no file of that build for libx.so");
        auto odd = [](uint64_t) { return UnwindPlace{nullptr, 16, "li\033[31m\nx"}; };
        CHECK(unwind(snapshot.thread(), odd).why_short ==
              "no file of that build for li\\033[31m\\012x");
    }
    SECTION("code without tables is followed by its frame pointer") {
        Snapshot made;
        made.stack = {0, 0, 0x7000, 0x401000, 0};
        made.registers[FrameState::kSp] = 0x1000;
        made.registers[6] = 0x1010;
        auto named = [](uint64_t) { return UnwindPlace{.is_named = true}; };
        UnwoundStack walked = unwind(made.thread(), named);
        CHECK(walked.frames == std::vector<uint64_t>{0, 0x401000});
        CHECK(walked.why_short == "the 40 bytes of stack end");
        const ObjectFrames empty{base::ScopedFd()};
        auto in_file = [&](uint64_t) { return UnwindPlace{&empty, 16, "libx.so"}; };
        CHECK(unwind(made.thread(), in_file).frames == walked.frames);
        // What the frame pointer leads to must be code, as that of no file may have none.
        auto only = [&](uint64_t begin, UnwindPlace place) {
            auto place_of = [&](uint64_t at) { return at - begin < 4096 ? place : UnwindPlace{}; };
            return unwind(made.thread(), place_of);
        };
        CHECK(only(0x400000, {.is_named = true}).frames == walked.frames);
        CHECK(only(0x400000, {&empty, 16, "libx.so"}).frames == walked.frames);
        UnwoundStack ended = only(0x401000, {.is_named = true});
        CHECK(ended.frames == std::vector<uint64_t>{0});
        CHECK(ended.why_short == "no .eh_frame for code of no file");
        ended = only(0, {&empty, 16, "libx.so"});
        CHECK(ended.frames == std::vector<uint64_t>{0});
        CHECK(ended.why_short == "no .eh_frame for libx.so`0x10");
    }
}

namespace {

struct Canned : UserNames {
    UnwoundStack answer;
    /// A function of one byte, and after it one that goes on.
    std::optional<UserPlace> find(uint64_t, uint64_t address, std::optional<uint64_t>) override {
        if (address < 0x3f)
            return std::nullopt;
        return address == 0x3f ? UserPlace{"code", address, "before", 0}
                               : UserPlace{"code", address, "after", address - 0x40};
    }
    UnwoundStack unwind(uint64_t, const RecordedThread&, std::optional<uint64_t>) override {
        return answer;
    }
};

std::string printed(std::vector<uint64_t> pointers, UnwoundStack answer, bool is_key = false) {
    Canned users;
    users.answer = std::move(answer);
    AddressNames names(nullptr, &users);
    OutputOptions options;
    options.set(DBK_OPT_USTACKBYTES, 4096);
    PrintContext context{options, names};
    pointers.insert(pointers.begin(), 42);
    Value value;
    value.type.kind = ValueKind::ustack;
    value.data = std::as_bytes(std::span(pointers));
    value.is_key = is_key;
    if (!is_key)
        value.registers = value.data; // there are some
    value.depth = 3;
    std::string out;
    print_stack(out, value, context, {.indent = 1});
    return out;
}

} // namespace

TEST_CASE("a key is what a stack's bytes lead to, and says how", "[analyze][print]") {
    Canned users;
    AddressNames names(nullptr, &users);
    OutputOptions options;
    options.set(DBK_OPT_USTACKBYTES, 4096);
    UnwoundKeys keys;
    PrintContext context{options, names, nullptr, &keys};
    auto key_of = [&](std::vector<uint64_t> words, UnwoundStack answer) {
        users.answer = std::move(answer);
        Value value{{ValueKind::ustack}, std::as_bytes(std::span(words))};
        value.registers = value.data;
        value.depth = 3;
        base::ByteView key = keys.key_of(value, names);
        return std::vector<std::byte>(key.begin(), key.end());
    };
    auto text_of = [&](const std::vector<std::byte>& key) {
        std::string out;
        print_stack(out, {.type = {ValueKind::ustack}, .data = key, .is_key = true}, context,
                    {.indent = 1});
        return out;
    };
    auto whole = key_of({42, 1, 2}, {{1, 0x40, 0x41, 5}, "", {0x40}});
    CHECK(whole == key_of({42, 1}, {{1, 0x40, 0x41}, "", {0x40}})); // however far pointers led
    CHECK(whole != key_of({43, 1}, {{1, 0x40, 0x41}, ""}));
    CHECK(text_of(whole) == "\n 0x1\n code`after\n code`after+0x1\n (by .eh_frame)\n");
    CHECK(text_of(key_of({42, 1, 2}, {{1, 2}, ""})) == "\n 0x1\n 0x2\n");
    CHECK(text_of(key_of({42, 7}, {{7}, "why"})) == "\n 0x7\n (why)\n");
    CHECK(text_of(key_of({42, 1, 2, 3}, {{1}, "why"})) ==
          "\n 0x1\n 0x2\n 0x3\n (by frame pointers; why)\n");
    auto json_of = [&](const std::vector<std::byte>& key) {
        std::string out;
        base::JsonObject object(out);
        JsonValues values;
        values.append({{ValueKind::integer}, {}}, context);
        values.append({.type = {ValueKind::ustack}, .data = key, .is_key = true}, context);
        values.put_into(object, "key");
        object.end();
        return out;
    };
    CHECK(json_of(whole) ==
          R"({"key":[0,["0x1","code`after","code`after+0x1"]],"notes":[null,"by .eh_frame"]})");
    CHECK(json_of(key_of({42, 1, 2}, {{1, 2}, ""})) == R"({"key":[0,["0x1","0x2"]]})");
}

TEST_CASE("a stack says how it was found where that makes a difference", "[analyze][print]") {
    CHECK(printed({1, 2}, {{1, 2}, ""}) == "\n 0x1\n 0x2\n");
    CHECK(printed({1, 2}, {}) == "\n 0x1\n 0x2\n");
    CHECK(printed({1, 2}, {{1, 3, 4, 5}, ""}) ==
          "\n 0x1\n 0x3\n 0x4\n (by .eh_frame; frame pointers: 2)\n");
    CHECK(printed({1, 2}, {{1, 3, 4}, "why"}) ==
          "\n 0x1\n 0x3\n 0x4\n (by .eh_frame; frame pointers: 2; why)\n");
    CHECK(printed({1, 2, 3}, {{1}, "why"}) ==
          "\n 0x1\n 0x2\n 0x3\n (by frame pointers; .eh_frame: 1; why)\n");
    CHECK(printed({1}, {{1}, "why"}) == "\n 0x1\n (why)\n");
    CHECK(printed({1}, {{1, 2}, ""}, true) ==
          "\n 0x1\n (by frame pointers: option aggregate=record makes keys of whole stacks)\n");
    // A frame that a signal interrupted is not where a call returns to.
    CHECK(printed({1, 2}, {{1, 0x40, 0x41}, ""}) ==
          "\n 0x1\n code`before+0x1\n code`after+0x1\n (by .eh_frame; frame pointers: 2)\n");
    CHECK(printed({1, 2}, {{1, 0x40, 0x41}, "", {0x40}}) ==
          "\n 0x1\n code`after\n code`after+0x1\n (by .eh_frame; frame pointers: 2)\n");
    // The function that has returned stays before the one that it returned to.
    CHECK(printed({9, 1}, {{1, 3}, ""}) ==
          "\n 0x9\n 0x1\n 0x3\n (by .eh_frame; frame pointers: 2)\n");
}

TEST_CASE("the tail of a user stack is taken apart as it holds", "[analyze][symbols]") {
    std::vector<uint64_t> words = {42, 1, 2, 0};
    words.resize(words.size() + DBK_USER_REGISTERS, 7);
    words.insert(words.end(), {8, 8});
    auto with_end = [&](uint16_t registers, uint32_t bytes) {
        const dbk_user_memory end = {registers, 5, bytes};
        auto copy = words;
        copy.push_back(0);
        std::memcpy(&copy.back(), &end, sizeof(end));
        auto parts = formats::split_user_stack(std::as_bytes(std::span(copy)));
        return std::array{parts.frames.size(), parts.registers.size(), parts.stack.size(),
                          size_t{parts.depth}};
    };
    const size_t all = (words.size() + 1) * 8;
    CHECK(with_end(DBK_USER_REGISTERS, 16) ==
          std::array<size_t, 4>{24, DBK_USER_REGISTERS * 8, 16, 5});
    CHECK(with_end(0, 0) == std::array<size_t, 4>{all - 8, 0, 0, 0});
    CHECK(with_end(DBK_USER_REGISTERS, 1000) == std::array<size_t, 4>{all, 0, 0, 0});
    CHECK(with_end(DBK_USER_REGISTERS, UINT32_MAX) == std::array<size_t, 4>{all, 0, 0, 0});
    CHECK(with_end(16, 16) == std::array<size_t, 4>{all, 0, 0, 0});
    CHECK(formats::split_user_stack({}).frames.empty());
}
