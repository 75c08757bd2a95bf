// SPDX-License-Identifier: Apache-2.0
//
// The places in files that a program brings along: what of them is refused.
#include "tests/unit/engine/test_host.hpp"

#include "formats/abi/places.h"

#include <catch2/catch.hpp>

using namespace daybreak::engine_test;

namespace {

struct Texts {
    std::string bytes = std::string(1, '\0');

    uint32_t add(const std::string& text) {
        auto at = static_cast<uint32_t>(bytes.size());
        bytes += text + '\0';
        return at;
    }
};

dbk_dof_place a_place(Texts& texts) {
    dbk_dof_place place{};
    place.provider = texts.add("pid7");
    place.module = texts.add("libc.so.6");
    place.function = texts.add("malloc");
    place.name = texts.add("entry");
    place.path = texts.add("/proc/7/map_files/1000-2000");
    place.pid = 7;
    place.offset = 0x1234;
    place.build_id_at = 0x300;
    place.build_id_bytes = 20;
    place.build_id[19] = 0x5a;
    return place;
}

Loaded load_places(const std::vector<dbk_dof_place>& places, const Texts& texts,
                   uint32_t entry = sizeof(dbk_dof_place), size_t cut_bytes = 0) {
    Dof dof;
    dof.ecb("a:b:c:d", {dof.trace({{ret(0)}})});
    dof.section(DBK_DOF_SECT_STRINGS, texts.bytes.data(), texts.bytes.size(), 1, 0, 0);
    dof.section(DBK_DOF_SECT_PLACES, places.data(),
                places.size() * sizeof(dbk_dof_place) - cut_bytes, 8, entry, 0);
    return load(dof.build());
}

Loaded load_more(const std::vector<dbk_dof_place>& places,
                 const std::vector<dbk_dof_more_place>& more, const Texts& texts,
                 uint32_t entry = sizeof(dbk_dof_more_place)) {
    Dof dof;
    dof.ecb("a:b:c:d", {dof.trace({{ret(0)}})});
    dof.section(DBK_DOF_SECT_STRINGS, texts.bytes.data(), texts.bytes.size(), 1, 0, 0);
    dof.section(DBK_DOF_SECT_PLACES, places.data(), places.size() * sizeof(dbk_dof_place), 8,
                sizeof(dbk_dof_place), 0);
    dof.section(DBK_DOF_SECT_MORE_PLACES, more.data(), more.size() * sizeof(dbk_dof_more_place), 8,
                entry, 0);
    return load(dof.build());
}

std::string refusal(const dbk_dof_place& place, const Texts& texts) {
    Loaded loaded = load_places({place}, texts);
    dbk_program_destroy(loaded.program);
    return loaded.error == 0 ? "" : loaded.reason;
}

void says(const std::string& reason, const std::string& part) {
    INFO(reason);
    CHECK(reason.find(part) != std::string::npos);
}

} // namespace

TEST_CASE("the places of a program are read as they were written", "[engine][dof]") {
    Texts texts;
    std::vector<dbk_dof_place> places(3, a_place(texts));
    places[1].kind = DBK_PLACE_INSTRUCTION;
    places[1].function_at = 0x1230;
    places[2].semaphore = 0x99;
    Loaded loaded = load_places(places, texts);
    REQUIRE(loaded.error == 0);
    REQUIRE(dbk_program_place_count(loaded.program) == 3);
    const dbk_place* place = dbk_program_place(loaded.program, 1);
    REQUIRE(place != nullptr);
    CHECK(std::string(place->provider) + place->module + place->function + place->name ==
          "pid7libc.so.6mallocentry");
    CHECK(std::string(place->path) == "/proc/7/map_files/1000-2000");
    CHECK(place->operand_count == 0);
    CHECK(place->kind == DBK_PLACE_INSTRUCTION);
    CHECK(place->pid == 7);
    CHECK(place->offset == 0x1234);
    CHECK(place->function_at == 0x1230);
    CHECK(place->build_id_at == 0x300);
    CHECK(place->build_id_bytes == 20);
    CHECK(place->build_id[19] == 0x5a);
    CHECK(dbk_program_place(loaded.program, 2)->semaphore == 0x99);
    CHECK(dbk_program_place(loaded.program, 3) == nullptr);
    dbk_program_destroy(loaded.program);
}

TEST_CASE("a place that cannot be is refused", "[engine][dof][hostile]") {
    Texts texts;
    const dbk_dof_place good = a_place(texts);
    const uint32_t long_name = texts.add(std::string(DBK_PROBE_NAME_BYTES_MAX + 1, 'x'));
    const uint32_t long_path = texts.add("/" + std::string(DBK_PLACE_PATH_BYTES_MAX, 'x'));
    CHECK(refusal(good, texts).empty());
    dbk_dof_place place = good;
    place.kind = DBK_PLACE_KINDS;
    says(refusal(place, texts), "a place is of kind 4, there are 4");
    place = good;
    place.path = place.name;
    says(refusal(place, texts), "does not begin with /");
    place.path = long_path;
    says(refusal(place, texts), "a place's text has more than 4095 bytes");
    for (uint32_t dbk_dof_place::*name : {&dbk_dof_place::provider, &dbk_dof_place::module,
                                          &dbk_dof_place::function, &dbk_dof_place::name}) {
        place = good;
        place.*name = long_name + 1;
        CHECK(refusal(place, texts).empty());
        place.*name = long_name;
        says(refusal(place, texts), "a place's text has more than 4095 bytes");
        place.*name = static_cast<uint32_t>(texts.bytes.size());
        says(refusal(place, texts), "a place's text is not a string");
    }
    for (uint64_t dbk_dof_place::*offset :
         {&dbk_dof_place::offset, &dbk_dof_place::semaphore, &dbk_dof_place::build_id_at}) {
        place = good;
        place.*offset = 1ull << 62;
        CHECK(refusal(place, texts).empty());
        place.*offset += 1;
        says(refusal(place, texts), "of its file");
    }
    place = good;
    place.build_id_bytes = DBK_PLACE_BUILD_ID_MAX + 1;
    says(refusal(place, texts), "a build id of 21 bytes, at most 20");
}

TEST_CASE("a place that is like another has its own function, name, kind and offset",
          "[engine][dof]") {
    Texts texts;
    dbk_dof_place mark = a_place(texts);
    mark.kind = DBK_PLACE_MARK;
    const dbk_dof_more_place good{
        1, texts.add("free"), texts.add("1f"), DBK_PLACE_INSTRUCTION, 0x2010, 0x2000};
    Loaded loaded = load_more({mark, a_place(texts)}, {good, good}, texts);
    REQUIRE(loaded.error == 0);
    REQUIRE(dbk_program_place_count(loaded.program) == 4);
    const dbk_place *place = dbk_program_place(loaded.program, 3),
                    *like = dbk_program_place(loaded.program, 1);
    CHECK(std::string(place->provider) + place->module + place->function + place->name ==
          "pid7libc.so.6free1f");
    CHECK(place->path == like->path);
    CHECK(place->kind == DBK_PLACE_INSTRUCTION);
    CHECK(place->pid == 7);
    CHECK(place->offset == 0x2010);
    CHECK(place->function_at == 0x2000);
    CHECK(place->build_id_at == 0x300);
    CHECK(place->build_id_bytes == 20);
    CHECK(place->build_id[19] == 0x5a);
    dbk_program_destroy(loaded.program);

    auto wrong = [&](auto&& change) {
        dbk_dof_more_place more = good;
        change(more);
        Loaded refused = load_more({mark, a_place(texts)}, {more}, texts);
        dbk_program_destroy(refused.program);
        return refused.error == 0 ? std::string() : refused.reason;
    };
    says(wrong([](auto& more) { more.like = 2; }), "is like place 2 of 2");
    says(wrong([](auto& more) { more.like = 0; }), "one of them is a mark");
    says(wrong([](auto& more) { more.kind = DBK_PLACE_MARK; }), "one of them is a mark");
    says(wrong([](auto& more) { more.kind = DBK_PLACE_KINDS; }), "a place is of kind 4");
    says(wrong([](auto& more) { more.offset = 0; }), "not within 1 MiB");
    says(wrong([](auto& more) { more.function = ~0u; }), "a place's text is not a string");
    says(wrong([](auto& more) { more.name = ~0u; }), "a place's text is not a string");
    says(load_more({}, {good}, texts).reason, "is like place 1 of 0");
    says(load_more({mark}, {good}, texts, 24).reason, "places are not 32 bytes each");
    says(load_more({mark}, std::vector<dbk_dof_more_place>(DBK_MORE_PLACES_MAX + 1, good), texts)
             .reason,
         "131073 places in one program, at most 131072");
}

TEST_CASE("the names of a program's places have a bound together", "[engine][dof][hostile]") {
    Texts texts;
    constexpr uint32_t kTextMax = DBK_PROBE_NAME_BYTES_MAX;
    dbk_dof_place place = a_place(texts);
    const uint32_t none = 0, longest = texts.add("/" + std::string(kTextMax - 1, '/'));
    place.provider = place.module = place.name = none;
    place.function = longest;
    std::vector<dbk_dof_place> places(DBK_PLACES_TEXT_BYTES_MAX / kTextMax - 1, place);
    Loaded loaded = load_places(places, texts);
    CHECK(loaded.error == 0);
    dbk_program_destroy(loaded.program);
    places.insert(places.end(), 2, place);
    const std::string refused = "names and paths of places have more than 16777216 bytes";
    says(load_places(places, texts).reason, refused);
    // What a place has in common with the one before is copied once.
    for (uint32_t dbk_dof_place::*shared :
         {&dbk_dof_place::provider, &dbk_dof_place::module, &dbk_dof_place::path}) {
        place.function = none;
        place.*shared = longest;
        places.assign(DBK_PLACES_MAX, place);
        loaded = load_places(places, texts);
        CHECK(loaded.error == 0);
        dbk_program_destroy(loaded.program);
        for (size_t i = 0; i < places.size(); i += 2)
            places[i].*shared = longest + 1;
        says(load_places(places, texts).reason, refused);
    }
}

TEST_CASE("an instruction lies within 1 MiB of its function's beginning",
          "[engine][dof][hostile]") {
    Texts texts;
    dbk_dof_place place = a_place(texts);
    place.kind = DBK_PLACE_INSTRUCTION;
    place.function_at = place.offset + 1;
    says(refusal(place, texts), "not within 1 MiB");
    place.function_at = place.offset;
    CHECK(refusal(place, texts).empty());
    place.offset = place.function_at + DBK_PLACE_FUNCTION_BYTES_MAX;
    CHECK(refusal(place, texts).empty());
    place.offset++;
    says(refusal(place, texts), "not within 1 MiB");
}

TEST_CASE("a table of places that is none is refused", "[engine][dof][hostile]") {
    Texts texts;
    const dbk_dof_place place = a_place(texts);
    says(load_places({place}, texts, 80).reason, "places are not 88 bytes each");
    says(load_places({place, place}, texts, sizeof(place), 1).reason,
         "places are not 88 bytes each");
    says(load_places(std::vector<dbk_dof_place>(DBK_PLACES_MAX + 1, place), texts).reason,
         "65537 places in one program, at most 65536");
    Loaded most = load_places(std::vector<dbk_dof_place>(DBK_PLACES_MAX, place), texts);
    CHECK(most.error == 0);
    dbk_program_destroy(most.program);
    Dof twice;
    twice.section(DBK_DOF_SECT_STRINGS, texts.bytes.data(), texts.bytes.size(), 1, 0, 0);
    for (int i = 0; i < 2; i++)
        twice.section(DBK_DOF_SECT_PLACES, &place, sizeof(place), 8, sizeof(place), 0);
    says(load(twice.build()).reason, "sections 2 and 3 are both of type 0x44420007");
    Dof nowhere;
    nowhere.section(DBK_DOF_SECT_PLACES, &place, sizeof(place), 8, sizeof(place), 0);
    says(load(nowhere.build()).reason, "a place's text is not a string");
}
