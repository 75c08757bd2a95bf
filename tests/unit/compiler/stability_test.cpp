// SPDX-License-Identifier: Apache-2.0
//
// Stability attributes: their words, their order, and what clauses have.
#include "compiler/sema/stability.hpp"

#include "compile_helpers.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::compiler;

namespace {

/// "DESCRIPTION STATEMENTS" of a program's first clause.
std::string stability_of(const std::string& text) {
    CompileOutput output = compile_text(text);
    INFO(errors_of(output));
    REQUIRE(!output.stability.empty());
    return attributes_text(output.stability[0].description) + " " +
           attributes_text(output.stability[0].statements);
}

} // namespace

TEST_CASE("attributes are three words with slashes", "[compiler][stability]") {
    for (const char* text : {"Stable/Evolving/Common", "Internal/Standard/Unknown",
                             "Private/Obsolete/CPU", "External/Unstable/ISA"}) {
        auto attributes = parse_attributes(text);
        REQUIRE(attributes);
        CHECK(attributes_text(*attributes) == text);
    }
    for (const char* text : {"", "Stable", "Stable/Stable", "Stable/Stable/Stable", "/Stable/ISA",
                             "stable/Stable/ISA", "Stable/Stable/ISA/", "Stable/Stable/"})
        CHECK_FALSE(parse_attributes(text));
}

TEST_CASE("the least of each counts", "[compiler][stability]") {
    auto of = [](const char* text) { return *parse_attributes(text); };
    CHECK(attributes_text(minimum(of("Stable/Private/ISA"), of("Evolving/Stable/Common"))) ==
          "Evolving/Private/ISA");
    CHECK(is_below(of("Stable/Stable/ISA"), of("Stable/Stable/Common")));
    CHECK(is_below(of("Stable/Unstable/Common"), of("Evolving/Evolving/Common")));
    CHECK_FALSE(is_below(of("Standard/Stable/Common"), of("Stable/Stable/Common")));
}

TEST_CASE("versions have two or three parts and grow", "[compiler][stability]") {
    CHECK(*parse_version("1.2") < *parse_version("1.2.1"));
    CHECK(*parse_version("1.9") < *parse_version("1.10"));
    CHECK(*parse_version("1.6.3") < *parse_version("2.0"));
    for (const char* text : {"", "1", "1.", ".1", "1.2.3.4", "1.2.", "x.y", "1.5000", "300.1"})
        CHECK_FALSE(parse_version(text));
}

TEST_CASE("a description has what its provider says of the parts it names",
          "[compiler][stability]") {
    const std::string stable = " Stable/Stable/Common";
    CHECK(stability_of("BEGIN { trace(1); }") == "Unstable/Unstable/Common" + stable);
    CHECK(stability_of("dtr*:::BEGIN { trace(1); }") == "Unstable/Unstable/Common" + stable);
    CHECK(stability_of("dtrace:::BEGIN { trace(1); }") == "Stable/Stable/Common" + stable);
    CHECK(stability_of("dtrace::: { trace(1); }") == "Stable/Stable/Common" + stable);
    CHECK(stability_of("syscall::open:entry { trace(1); }") == "Evolving/Evolving/ISA" + stable);
    CHECK(stability_of("syscall::open*:entry { trace(1); }") ==
          "Evolving/Evolving/Common" + stable);
    CHECK(stability_of("fbt:vmlinux:f:entry { trace(1); }") == "Private/Private/Unknown" + stable);
    CHECK(stability_of("#pragma D attributes Stable/Stable/Group provider mine name\n"
                       "mine:::thing { trace(1); }") == "Unstable/Unstable/Group" + stable);
}

TEST_CASE("statements have the least of what they use", "[compiler][stability]") {
    auto statements = [](const std::string& body) {
        std::string both = stability_of("dtrace:::BEGIN { " + body + " }");
        return both.substr(both.find(' ') + 1);
    };
    CHECK(statements("trace(pid);") == "Stable/Stable/Common");
    CHECK(statements("trace(htons(1));") == "Evolving/Evolving/Common");
    CHECK(statements("trace(curthread);") == "Stable/Private/Common");
    CHECK(statements("@a[curthread] = count();") == "Stable/Private/Common");
    CHECK(statements("x = curthread; trace(1);") == "Stable/Private/Common");
    CHECK(stability_of("dtrace:::BEGIN /htons(1) > 0/ { trace(1); }") ==
          "Stable/Stable/Common Evolving/Evolving/Common");
    // What was assigned from something is no more stable than that.
    CompileOutput output = compile_text("dtrace:::BEGIN { self->t = curthread; }\n"
                                        "dtrace:::END { trace(self->t); }");
    REQUIRE(output.stability.size() == 2);
    CHECK(attributes_text(output.stability[1].statements) == "Stable/Private/Common");
    CHECK(stability_of("#pragma D attributes Internal/Stable/CPU one\ninline int one = 1;\n"
                       "dtrace:::BEGIN { trace(one); }") ==
          "Stable/Stable/Common Internal/Stable/CPU");
}
