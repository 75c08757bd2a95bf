// SPDX-License-Identifier: Apache-2.0
#include "tests/support/spec_example.hpp"
#include "tests/unit/formats/aggstate/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::formats;
using namespace std::string_view_literals;

namespace {

Bytes copy(ByteView bytes) {
    return Bytes(bytes.begin(), bytes.end());
}

/// The key of the worked example in aggstate.md.
Bytes example() {
    CanonicalKey key;
    key.append(KeyTag::string, base::as_bytes("a\tb"sv));
    uint32_t pid = 300;
    key.append(KeyTag::integer, std::as_bytes(std::span(&pid, 1)));
    key.begin_frames(KeyTag::stack, 0);
    key.add_frame(base::as_bytes("\xab\xcd"sv), 0x1230);
    key.add_address(0xffffffff81000010);
    return copy(key.bytes());
}

} // namespace

TEST_CASE("the worked example of the specification is this key", "[aggstate][spec]") {
    CHECK(test::file_of({}).size() > 0);
    CHECK(test::spec_example("formats/aggstate/aggstate.md", "## Worked example") == example());
}

TEST_CASE("a key comes apart as it was put together", "[aggstate]") {
    Bytes key = example();
    std::vector<KeyMember> members = split_key(key).value();
    REQUIRE(members.size() == 3);
    CHECK(copy(members[0].bytes) == copy(base::as_bytes("a\tb"sv)));
    CHECK(members[1].tag == KeyTag::integer);
    CHECK(members[1].bytes.size() == 4);
    KeyFrames frames = frames_of(members[2]).value();
    REQUIRE(frames.frames.size() == 2);
    CHECK(copy(frames.frames[0].build_id) == copy(base::as_bytes("\xab\xcd"sv)));
    CHECK(frames.frames[0].offset == 0x1230);
    CHECK(frames.frames[1].build_id.empty());
    CHECK(frames.frames[1].offset == 0xffffffff81000010);
}

TEST_CASE("keys with NUL, tab and bytes that are no UTF-8 stay apart", "[aggstate]") {
    std::set<Bytes> keys;
    for (std::string_view text : {""sv, "\0"sv, "a"sv, "a\0"sv, "a\0b"sv, "a\tb"sv, "\xff\xfe"sv,
                                  "\xc3"sv, "\xc3\x28"sv, "a\nb"sv}) {
        Bytes key = test::string_key(text);
        CHECK(keys.insert(key).second);
        CHECK(copy(split_key(key).value().at(0).bytes) == copy(base::as_bytes(text)));
    }
    // Where one member ends and the next begins is part of the key.
    CanonicalKey one, other;
    one.append(KeyTag::string, base::as_bytes("ab"sv));
    one.append(KeyTag::string, base::as_bytes("c"sv));
    other.append(KeyTag::string, base::as_bytes("a"sv));
    other.append(KeyTag::string, base::as_bytes("bc"sv));
    CHECK(copy(one.bytes()) != copy(other.bytes()));
}

TEST_CASE("a process comes before the frames of its stack", "[aggstate]") {
    CanonicalKey key;
    key.begin_frames(KeyTag::ustack, 4711);
    key.add_address(0x400123);
    key.add_frame(base::as_bytes("\xab\xcd"sv), 0x123, 0x7f0000000123);
    KeyFrames frames = frames_of(split_key(key.bytes()).value().at(0)).value();
    CHECK(frames.process_id == 4711);
    REQUIRE(frames.frames.size() == 2);
    CHECK(frames.frames[0].offset == 0x400123);
    CHECK(frames.frames[1].offset == 0x123);
    CHECK(frames.frames[1].address == 0x7f0000000123);
}

TEST_CASE("every beginning of a key is a shorter key or refused", "[aggstate]") {
    Bytes key = example();
    for (size_t length = 0; length < key.size(); length++) {
        auto members = split_key(ByteView(key).first(length));
        CHECK((!members.ok() || members->size() < 3));
    }
    Bytes unknown = key;
    unknown[0] = std::byte{kKeyTagMax + 1};
    CHECK(split_key(unknown).error().code() == ErrorCode::unsupported);
    Bytes members;
    for (size_t i = 0; i <= kKeyMembersMax; i++) {
        if (i == kKeyMembersMax)
            CHECK(split_key(members).ok());
        Bytes one = test::string_key("");
        members.insert(members.end(), one.begin(), one.end());
    }
    CHECK(split_key(members).error().code() == ErrorCode::corrupt);
}

TEST_CASE("frames that do not fill their member are refused", "[aggstate]") {
    Bytes bytes(9);
    CHECK(frames_of({KeyTag::stack, bytes}).ok());
    bytes.push_back(std::byte{0});
    CHECK(!frames_of({KeyTag::stack, bytes}).ok());
    bytes.assign(1 + kBuildIdBytesMax + 1 + 8, std::byte{kBuildIdBytesMax + 1});
    CHECK(!frames_of({KeyTag::stack, bytes}).ok());
    CHECK(!frames_of({KeyTag::ustack, Bytes(7)}).ok());
}
