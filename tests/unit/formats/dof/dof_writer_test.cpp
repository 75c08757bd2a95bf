// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/dof_writer.hpp"
#include "tests/unit/formats/dof/sample.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::formats;
using daybreak::base::Bytes;
using daybreak::base::ErrorCode;

TEST_CASE("a program survives writing and reading", "[formats][dof]") {
    DofProgram program = sample_program();
    program.places.push_back({{"pid7", "libc.so.6", "malloc", "return", 0}, "/lib/libc.so.6", "8@%rax",
                              DBK_PLACE_RETURN, 7, 0x1000, 0xff0, 0x2000, 0x300, {1, 2, 3}});
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    auto image = parse_dof(*bytes);
    REQUIRE(image.ok());
    const DofProgram& read = image->program;
    REQUIRE(read.ecbs.size() == 3);
    CHECK(read.ecbs[0].probe.text() == "syscall::read:entry");
    CHECK(read.ecbs[1].probe.text() == "syscall::pread64:entry");
    CHECK(read.ecbs[0].actions == read.ecbs[1].actions);
    CHECK(read.ecbs[0].predicate == read.ecbs[1].predicate);
    const Difo& predicate = read.difos[*read.ecbs[0].predicate];
    CHECK(predicate.text == program.difos[0].text);
    CHECK(predicate.integers == std::vector<uint64_t>{1});
    CHECK(predicate.string_at(1) == "cat");
    CHECK(predicate.variable_name(DIF_VAR_EXECNAME, DIFV_SCOPE_GLOBAL) == "execname");
    const auto& actions = read.action_lists[*read.ecbs[0].actions].actions;
    REQUIRE(actions.size() == 3);
    CHECK(actions[2].kind == DTRACEAGG_QUANTIZE);
    CHECK(actions[2].tuple_count == 2);
    CHECK(actions[2].uarg == 1);
    CHECK(read.action_lists[*read.ecbs[2].actions].actions[0].text == "%d\n");
    REQUIRE(read.options.size() == 2);
    CHECK(read.options[1].value == DTRACEOPT_UNSET);
    REQUIRE(read.lines.size() == 3);
    CHECK(read.lines[1].file == "sample.d");
    CHECK(read.lines[1].column == 55);
    REQUIRE(read.captures.size() == 3);
    CHECK(read.captures[1].expression == "arg2");
    REQUIRE(read.target);
    CHECK(read.target->release == "6.1.0-56-amd64");
    CHECK(read.target->typed);
    CHECK(read.target->btf_id[0] == 0xab);
    CHECK(read.aggregation_name(1) == "r");
    CHECK(read.aggregation_name(2).empty());
    CHECK(read.source == "// the text\n");
    CHECK(image->ecb_at(program.ecbs[1].section)->probe.function == "pread64");
    CHECK(image->ecb_at(0) == nullptr);

    REQUIRE(read.places.size() == 1);
    CHECK(read.places[0].probe.text() == "pid7:libc.so.6:malloc:return");
    CHECK(read.places[0].path == "/lib/libc.so.6");
    CHECK(read.places[0].operands == "8@%rax");
    CHECK(read.places[0].kind == DBK_PLACE_RETURN);
    CHECK(read.places[0].pid == 7);
    CHECK(read.places[0].offset == 0x1000);
    CHECK(read.places[0].function_at == 0xff0);
    CHECK(read.places[0].semaphore == 0x2000);
    CHECK(read.places[0].build_id_at == 0x300);
    CHECK(read.places[0].build_id == std::vector<uint8_t>{1, 2, 3});

    DofProgram again = read;
    auto rewritten = write_dof(again);
    REQUIRE(rewritten.ok());
    auto reread = parse_dof(*rewritten);
    REQUIRE(reread.ok());
    DofProgram third = reread->program;
    CHECK(*write_dof(third) == *rewritten);
}

TEST_CASE("functions of a file are small in an image, and read as they were written",
          "[formats][dof]") {
    DofProgram program = sample_program();
    DofPlace place{
        {"pid", "/bin/large", "", "", 0}, "/bin/large", "", DBK_PLACE_ENTRY, 0, 0, 0, 0, 0x300,
        std::vector<uint8_t>(20, 7)};
    const auto empty = write_dof(program)->size();
    size_t name_bytes = 0;
    constexpr uint64_t kFunctions = 50000;
    for (uint64_t i = 0; i < kFunctions; i++)
        for (uint32_t kind : {DBK_PLACE_ENTRY, DBK_PLACE_RETURN}) {
            place.kind = kind;
            place.probe.function = "function_" + std::to_string(i);
            place.probe.name = kind == DBK_PLACE_ENTRY ? "entry" : "return";
            place.offset = place.function_at = 0x1000 + 16 * i;
            program.places.push_back(place);
            name_bytes += kind == DBK_PLACE_ENTRY ? place.probe.function.size() + 1 : 0;
        }
    place.probe.provider = "large";
    place.kind = DBK_PLACE_MARK;
    place.operands = "8@%rax";
    program.places.insert(program.places.begin() + 1, 2, place);
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    CHECK(bytes->size() - empty < 32 * 2 * kFunctions + name_bytes + 1000);
    auto read = parse_dof(*bytes);
    REQUIRE(read.ok());
    const auto& places = read->program.places;
    REQUIRE(places.size() == program.places.size());
    // The first of its kind, marks, and then those that are like it.
    auto is_same = [](const DofPlace& a, const DofPlace& b) {
        return a.probe.text() == b.probe.text() && a.path == b.path && a.operands == b.operands &&
               a.kind == b.kind && a.pid == b.pid && a.offset == b.offset &&
               a.function_at == b.function_at && a.build_id_at == b.build_id_at &&
               a.build_id == b.build_id;
    };
    CHECK(std::equal(places.begin(), places.end(), program.places.begin(), is_same));
    CHECK(*write_dof(read->program) == *bytes);

    place.probe.function = std::string(4000, 'x');
    for (int i = 0; i < 3000; i++) {
        place.probe.function += 'x';
        program.places.push_back(place);
    }
    auto refused = write_dof(program);
    REQUIRE(!refused.ok());
    CHECK(refused.error().message().find("103002 probes of functions are too many for one "
                                         "program") != std::string::npos);
}

TEST_CASE("sections have the published alignments and entry sizes", "[formats][dof]") {
    DofProgram program = sample_program();
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    auto image = parse_dof(*bytes);
    REQUIRE(image.ok());
    CHECK(image->header.header_bytes == 64);
    CHECK(image->header.section_bytes == 32);
    CHECK(image->header.section_offset == 64);
    CHECK(image->header.ident[DOF_ID_VERSION] == 2);
    CHECK(image->header.ident[DOF_ID_DIFVERS] == 2);
    CHECK(image->sections[0].header.type == DOF_SECT_STRTAB);
    uint64_t last_loadable = 0;
    for (const DofSection& section : image->sections) {
        const dof_section& h = section.header;
        INFO(section.type_name());
        bool load = h.flags & DOF_SECF_LOAD;
        if (load)
            last_loadable = std::max(last_loadable, h.offset + h.bytes);
        switch (h.type) {
        case DOF_SECT_DIF:
            CHECK((h.align == 4 && h.entry_bytes == 4 && load));
            break;
        case DOF_SECT_INTTAB:
            CHECK((h.align == 8 && h.entry_bytes == 8 && load));
            break;
        case DOF_SECT_STRTAB:
            CHECK((h.align == 1 && h.entry_bytes == 0 && load));
            break;
        case DOF_SECT_VARTAB:
            CHECK((h.align == 4 && h.entry_bytes == 20 && load));
            break;
        case DOF_SECT_DIFOHDR:
            CHECK((h.align == 4 && h.entry_bytes == 0 && load));
            break;
        case DOF_SECT_PROBEDESC:
            CHECK((h.align == 4 && h.entry_bytes == 24 && load));
            break;
        case DOF_SECT_ACTDESC:
            CHECK((h.align == 8 && h.entry_bytes == 32 && load));
            break;
        case DOF_SECT_ECBDESC:
            CHECK((h.align == 8 && h.entry_bytes == 0 && load));
            break;
        case DOF_SECT_OPTDESC:
            CHECK((h.align == 8 && h.entry_bytes == 16 && load));
            break;
        default:
            CHECK_FALSE(load);
        }
    }
    CHECK(image->header.load_bytes == last_loadable);
    CHECK(image->header.file_bytes == bytes->size());
    const dof_section& strings = image->sections[0].header;
    CHECK(strings.offset + strings.bytes == last_loadable);
}

TEST_CASE("an image cut to its loadable part still reads", "[formats][dof]") {
    DofProgram program = sample_program();
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    auto image = parse_dof(*bytes);
    REQUIRE(image.ok());
    auto stripped = parse_dof(daybreak::base::ByteView(*bytes).first(image->header.load_bytes));
    REQUIRE(stripped.ok());
    CHECK(stripped->program.ecbs.size() == 3);
    CHECK(stripped->program.lines.empty());
    CHECK_FALSE(stripped->program.source);
}

TEST_CASE("the writer refuses what the format cannot hold", "[formats][dof]") {
    DofProgram dangling = sample_program();
    dangling.ecbs[0].predicate = 99;
    CHECK(write_dof(dangling).error().code() == ErrorCode::invalid);
    DofProgram relocated = sample_program();
    relocated.relocations.push_back({"x", 1, 0, 0, 0, false});
    CHECK(write_dof(relocated).error().code() == ErrorCode::invalid);
    DofProgram huge = sample_program();
    huge.difos[3].text.assign(kDifoBytesMax / 4 + 1, 0x24000000);
    CHECK(write_dof(huge).error().code() == ErrorCode::limit);
    DofProgram at_limit = sample_program();
    at_limit.difos[3].text.assign(kDifoBytesMax / 4, 0x24000000);
    auto bytes = write_dof(at_limit);
    REQUIRE(bytes.ok());
    CHECK(parse_dof(*bytes).ok());
    DofProgram busy = sample_program();
    busy.action_lists[1].actions.resize(kEcbActionsMax + 1, busy.action_lists[1].actions[0]);
    CHECK(write_dof(busy).error().code() == ErrorCode::limit);
}

TEST_CASE("symbols of a DIF object are written and read", "[formats][dof]") {
    DofProgram program = sample_program();
    program.difos[1].integers = {1, 0, 0};
    program.difos[1].symbols = {{"jiffies", 1, 0}, {"ext4`ops", 2, 24}};
    auto bytes = write_dof(program);
    REQUIRE(bytes.ok());
    auto image = parse_dof(*bytes);
    REQUIRE(image.ok());
    CHECK(image->program.relocations.empty());
    const Difo* found = nullptr;
    for (const Difo& difo : image->program.difos)
        if (!difo.symbols.empty())
            found = &difo;
    REQUIRE(found);
    REQUIRE(found->symbols.size() == 2);
    CHECK(found->symbols[0].name == "jiffies");
    CHECK(found->symbols[1].name == "ext4`ops");
    CHECK(found->symbols[1].integer == 2);
    CHECK(found->symbols[1].addend == 24);
    auto again = write_dof(image->program);
    REQUIRE(again.ok());
    CHECK(parse_dof(*again).ok());

    DofProgram outside = sample_program();
    outside.difos[1].symbols = {{"jiffies", 1, 0}}; // of one integer
    auto wrong = write_dof(outside);
    REQUIRE(wrong.ok());
    CHECK(parse_dof(*wrong).error().code() == ErrorCode::corrupt);
}

TEST_CASE("the strings of a DIF object end in a NUL", "[formats][dof]") {
    DofProgram program = sample_program();
    for (const auto& [strings, holds] :
         {std::pair{std::string("text\0", 5), true}, {std::string("text"), false}}) {
        program.difos[1].strings = strings;
        program.difos[1].variables.clear();
        auto bytes = write_dof(program);
        REQUIRE(bytes.ok());
        auto image = parse_dof(*bytes);
        CHECK(image.ok() == holds);
        CHECK((holds || image.error().code() == ErrorCode::corrupt));
    }
}
