// SPDX-License-Identifier: Apache-2.0
#include "base/elf_notes.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::base;
using namespace std::string_view_literals;

namespace {

/// As /sys/kernel/notes begins: a note of another owner with the same type, then the build id.
constexpr std::string_view kNotes = "\x06\0\0\0\x02\0\0\0\x03\0\0\0Linux\0\0\0\x01\x02\0\0"
                                    "\x04\0\0\0\x03\0\0\0\x03\0\0\0GNU\0\xab\xcd\xef"sv;

} // namespace

TEST_CASE("the build id is found among other notes", "[base]") {
    ElfNotes notes(as_bytes(kNotes));
    ElfNote note;
    REQUIRE(notes.next(note));
    CHECK(note.name == "Linux");
    CHECK(note.content.size() == 2);
    REQUIRE(notes.next(note)); // which ends without its padding
    CHECK(note.name == "GNU");
    CHECK(!notes.next(note));
    ByteView id = build_id_of(as_bytes(kNotes));
    REQUIRE(id.size() == 3);
    CHECK(id[0] == std::byte{0xab});
}

TEST_CASE("notes that are cut or lie have no build id", "[base]") {
    for (size_t size = 0; size < kNotes.size(); size++)
        CHECK(build_id_of(as_bytes(kNotes.substr(0, size))).empty());
    std::string lies(kNotes);
    lies[24 + 4] = '\xff'; // longer than the rest
    CHECK(build_id_of(as_bytes(lies)).empty());
    std::string longest("\x04\0\0\0\x41\0\0\0\x03\0\0\0GNU\0"sv);
    CHECK(build_id_of(as_bytes(longest + std::string(65, 'x'))).empty());
}
