// SPDX-License-Identifier: Apache-2.0
//
// The worked examples of dof.md and dif.md are true, and so are the numbers of dof.md.
#include "base/file.hpp"
#include "formats/abi/places.h"
#include "formats/dof/dof_printer.hpp"
#include "tests/support/spec_example.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::formats;
using daybreak::base::Bytes;

namespace {

std::string read_text(const std::string& path) {
    auto bytes = daybreak::base::read_file(path);
    REQUIRE(bytes.ok());
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

/// The content of the first fenced block after a marker.
std::string block_after(const std::string& text, const std::string& marker) {
    size_t at = text.find(marker);
    REQUIRE(at != std::string::npos);
    size_t start = text.find("\n```", at);
    REQUIRE(start != std::string::npos);
    start = text.find('\n', start + 1) + 1;
    return text.substr(start, text.find("```", start) - start);
}

/// The bytes of "0000  7f 44 4f ..." rows.
Bytes hex_bytes(const std::string& rows) {
    Bytes bytes;
    size_t at = 0;
    while (at < rows.size()) {
        size_t end = rows.find('\n', at);
        std::string row = rows.substr(at, end - at);
        for (size_t i = 6; i + 1 < row.size() && row[i] != ' '; i += 3)
            bytes.push_back(static_cast<std::byte>(std::stoul(row.substr(i, 2), nullptr, 16)));
        at = end + 1;
    }
    return bytes;
}

} // namespace

TEST_CASE("the example image of dof.md is what it says", "[formats][dof][spec]") {
    std::string spec = read_text("formats/abi/dof.md");
    auto image = parse_dof(hex_bytes(block_after(spec, "## Worked example")));
    REQUIRE(image.ok());
    CHECK(print_dof(*image) == block_after(spec, "prints as"));
}

TEST_CASE("the example instructions of dif.md are what they say", "[formats][dif][spec]") {
    std::string rows = block_after(read_text("formats/abi/dif.md"), "## Worked example");
    Difo difo;
    difo.integers = {5};
    difo.strings = std::string("\0cat\0", 5);
    size_t at = 0, count = 0;
    while (at < rows.size()) {
        size_t end = rows.find('\n', at);
        std::string row = rows.substr(at, end - at);
        at = end + 1;
        uint32_t instruction = static_cast<uint32_t>(std::stoul(row.substr(0, 8), nullptr, 16));
        CHECK(print_instruction(difo, instruction) == row.substr(12));
        count++;
    }
    CHECK(count >= 10);
}

TEST_CASE("the numbers of dof.md are those of dof.h", "[formats][dof][spec]") {
    using Numbers = std::map<uint64_t, std::string>;
    auto numbers = [](const char* intro) {
        return daybreak::test::spec_numbers("formats/abi/dof.md", intro);
    };
    CHECK(numbers("Daybreak's own, not loadable") ==
          Numbers{{DBK_DOF_SECT_LINES, "LINES"},
                  {DBK_DOF_SECT_CAPTURE, "CAPTURE"},
                  {DBK_DOF_SECT_TARGET, "TARGET"},
                  {DBK_DOF_SECT_AGGNAMES, "AGGNAMES"},
                  {DBK_DOF_SECT_STRINGS, "STRINGS"},
                  {DBK_DOF_SECT_OPTIONS, "OPTIONS"},
                  {DBK_DOF_SECT_PLACES, "PLACES"},
                  {DBK_DOF_SECT_MORE_PLACES, "MORE_PLACES"}});
    Numbers actions{{DBK_ACT_SNAPSHOT, "SNAPSHOT"},
                    {DBK_ACT_CAPTURE, "CAPTURE"},
                    {DBK_ACT_CAPTURE_STACK, "CAPTURE_STACK"},
                    {DBK_ACT_CAPTURE_USTACK, "CAPTURE_USTACK"}};
#define NUMBER(name, value) actions[value] = std::string(#name).substr(sizeof("DTRACEACT_") - 1);
    DBK_DTRACE_ACTIONS(NUMBER)
#undef NUMBER
    CHECK(numbers("Actions") == actions);
#define NUMBER(name, value, text, cells) {value, text},
    CHECK(numbers("Aggregating functions") == Numbers{DBK_DTRACE_AGGS(NUMBER)});
#undef NUMBER
    static_assert(DT_ACT_BASE == 46);
#define NUMBER(name, value, text) {value, text},
    CHECK(numbers("Library actions") == Numbers{DBK_LIBRARY_ACTIONS(NUMBER)});
    CHECK(numbers("Options (") == Numbers{DBK_DTRACE_OPTIONS(NUMBER)});
#undef NUMBER
    CHECK(numbers("Options of Daybreak's own") == Numbers{{DBK_OPT_AGGREGATE, "aggregate"},
                                                          {DBK_OPT_SEGMENTSIZE, "segmentsize"},
                                                          {DBK_OPT_TEMPORAL, "temporal"},
                                                          {DBK_OPT_RINGTIME, "ringtime"},
                                                          {DBK_OPT_SNAPSHOTRATE, "snapshotrate"},
                                                          {DBK_OPT_RINGMAX, "ringmax"},
                                                          {DBK_OPT_USTACKBYTES, "ustackbytes"}});
}
