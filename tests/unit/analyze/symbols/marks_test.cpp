// SPDX-License-Identifier: Apache-2.0
#include "analyze/symbols/object_marks.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <elf.h>

using namespace daybreak::analyze;
using daybreak::base::Bytes;
using daybreak::base::ByteView;

namespace {

void put(Bytes& bytes, const void* data, size_t count) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + count);
}

void put_note(Bytes& bytes, uint64_t address, uint64_t base, uint64_t semaphore,
              const std::string& texts, const std::string& owner = "stapsdt", uint32_t type = 3) {
    const uint64_t addresses[] = {address, base, semaphore};
    Elf64_Nhdr header{static_cast<uint32_t>(owner.size() + 1),
                      static_cast<uint32_t>(sizeof(addresses) + texts.size()), type};
    put(bytes, &header, sizeof(header));
    put(bytes, owner.c_str(), owner.size() + 1);
    bytes.resize((bytes.size() + 3) / 4 * 4);
    put(bytes, addresses, sizeof(addresses));
    put(bytes, texts.data(), texts.size());
    bytes.resize((bytes.size() + 3) / 4 * 4);
}

std::vector<ObjectMark> read(const Bytes& bytes, uint64_t base = 0,
                             daybreak::base::LeftOut* left_out = nullptr) {
    std::vector<ObjectMark> marks;
    daybreak::base::LeftOut any;
    read_object_marks(ByteView(bytes), base, marks, left_out ? *left_out : any);
    return marks;
}

std::string damage_of(const Bytes& bytes) {
    daybreak::base::LeftOut left_out;
    read(bytes, 0, &left_out);
    return left_out.text("note");
}

const std::string kGc("python\0gc__start\0-4@112(%rsp)\0", 30);
const std::string kPlain("p\0n\0\0", 5);

} // namespace

TEST_CASE("marks are read with their addresses moved as the file was", "[analyze]") {
    Bytes bytes;
    put_note(bytes, 0x1000, 0x8000, 0x9000, kGc);
    put_note(bytes, 0x2000, 0x8000, 0, kPlain);
    auto marks = read(bytes, 0x8100);
    REQUIRE(marks.size() == 2);
    CHECK(marks[0].provider == "python");
    CHECK(marks[0].name == "gc__start");
    CHECK(marks[0].operands == "-4@112(%rsp)");
    CHECK(marks[0].address == 0x1100);
    CHECK(marks[0].semaphore == 0x9100);
    CHECK(marks[1].address == 0x2100);
    CHECK(marks[1].semaphore == 0);
    CHECK(marks[1].operands.empty());
    CHECK(read(bytes)[0].address == 0x1000);
}

TEST_CASE("notes of others, and those that do not hold together, are left out", "[analyze]") {
    Bytes bytes;
    put_note(bytes, 1, 0, 0, kPlain, "GNU");
    put_note(bytes, 1, 0, 0, kPlain, "stapsdt", 4);
    put_note(bytes, 1, 0, 0, "p");
    put_note(bytes, 1, 0, 0, std::string("\0n\0\0", 4));
    put_note(bytes, 1, 0, 0, std::string("p\0n", 3));
    put_note(bytes, 1, 0, 0, std::string(4096, 'p') + kPlain);
    CHECK(read(bytes).empty());
    put_note(bytes, 7, 0, 0, kPlain);
    CHECK(read(bytes).size() == 1);
    // The first two are of others, and nothing of them is missing.
    CHECK(damage_of(bytes) == "4 notes left out, the first: byte 100: a provider without an "
                              "end, expected a NUL in 1 bytes");
}

TEST_CASE("of a note that is left out it is said where it is and what is wrong", "[analyze]") {
    auto damage = [](const std::string& texts) {
        Bytes bytes;
        put_note(bytes, 7, 0, 0, kPlain);
        put_note(bytes, 7, 0, 0, texts);
        return damage_of(bytes);
    };
    const std::string begin = "1 note left out, byte 52: ";
    CHECK(damage(kPlain).empty());
    CHECK(damage("p") == begin + "a provider without an end, expected a NUL in 1 bytes");
    CHECK(damage(std::string("\0n\0\0", 4)) == begin + "a provider of 0 bytes, expected a name");
    CHECK(damage(std::string("p\0\0\0", 4)) == begin + "a name of 0 bytes, expected one");
    CHECK(damage(std::string("p\0n\0o", 5)) ==
          begin + "operands without an end, expected a NUL in 1 bytes");
    CHECK(damage(std::string("p\0", 2) + std::string(4095, 'n') + std::string(2, '\0')).empty());
    CHECK(damage(std::string("p\0", 2) + std::string(4096, 'n') + std::string(2, '\0')) ==
          begin + "a name of 4096 bytes, expected at most 4095");
    Bytes bytes;
    put_note(bytes, 7, 0, 0, kPlain);
    bytes.resize(bytes.size() + 8); // a section's end may be filled up
    CHECK(damage_of(bytes).empty());
    bytes.back() = std::byte{1};
    CHECK(damage_of(bytes) == begin + "a note of 8 bytes, expected at least 12");
    bytes[4] = std::byte{64}; // its contents go on past the end
    CHECK(damage_of(bytes) == "1 note left out, byte 0: a note of 84 bytes, expected at most 60");
    bytes[4] = std::byte{23};
    CHECK(damage_of(bytes).starts_with("2 notes left out, the first: byte 0: contents of 23 bytes, "
                                       "expected at least 24"));
}

TEST_CASE("variables that operands name are their distance from the mark", "[analyze]") {
    using Names = std::vector<std::string>;
    CHECK(variables_named("8@%rax -4@NBuffers(%rip) 4@40+Stats.a(%rip)") ==
          Names{"NBuffers", "Stats.a"});
    CHECK(variables_named("8@Stats+40-8(%rip) 8@-4+Stats(%rip)") == Names{"Stats", "Stats"});
    CHECK(variables_named("8@16(%rip) 8@(%rip) 8@a+b(%rip) 8@-a(%rip) a(%rip) 8@a(%rax) 8@+(%rip)")
              .empty());
    auto operands_of = [](const char* operands) {
        ObjectMark mark{"p", "n", operands, 0x2000, 0};
        return with_distances(mark, [](const std::string& name) {
            return name == "far" ? std::optional<uint64_t>(0x1000) : std::nullopt;
        });
    };
    CHECK(operands_of("8@%rax  -4@40+far(%rip) 4@far-8(%rip)") ==
          "8@%rax -4@-4056(%rip) 4@-4104(%rip)");
    CHECK(operands_of("4@other+4(%rip) 8@$1") == "4@other(%rip) 8@$1");
}

TEST_CASE("every beginning of a section of notes is read without harm", "[analyze]") {
    Bytes bytes;
    put_note(bytes, 0x1000, 0x8000, 0x9000, kGc);
    put_note(bytes, 0x2000, 0x8000, 0, kPlain);
    for (size_t length = 0; length < bytes.size(); length++)
        CHECK(read(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length))).size() <=
              2);
    for (size_t at = 0; at < bytes.size(); at++) { // lengths that lie
        Bytes wrong = bytes;
        wrong[at] = std::byte{0xff};
        CHECK(read(wrong).size() <= 2);
    }
    Bytes many;
    for (size_t i = 0; i < kObjectMarksMax + 1; i++)
        put_note(many, i, 0, 0, kPlain);
    CHECK(read(many).size() == kObjectMarksMax);
    CHECK(damage_of(many) == "1 note left out, byte 851968: one mark more than 16384");
}
