// SPDX-License-Identifier: Apache-2.0
//
// Libraries: which names they define, in which order they are loaded, what a program sees of them.
#include "tests/unit/compiler/compile_helpers.hpp"

#include "compiler/dlib/libraries.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

using Names = std::vector<std::string_view>;

Library library(const std::string& name, const std::string& text) {
    return {name, "/lib/" + name, text + "\n"};
}

std::string order_of(const std::vector<Library>& libraries) {
    LibraryOrder sorted = load_order(libraries);
    std::string text = sorted.error.empty() ? "" : "error";
    for (size_t index : sorted.error.empty() ? sorted.order : std::vector<size_t>())
        text += libraries[index].name[0];
    return text;
}

CompileOutput compile_with(std::vector<Library> libraries, const std::string& text) {
    CompileOptions options;
    options.sources = {{"x.d", text}};
    options.libraries = std::move(libraries);
    return compile(options);
}

std::string first_tag_with(std::vector<Library> libraries, const std::string& text) {
    CompileOutput output = compile_with(std::move(libraries), text);
    const Diagnostic* first = output.diagnostics.first_error();
    return first ? std::string(tag_name(first->tag)) : "";
}

} // namespace

TEST_CASE("a library's names are found without parsing it", "[compiler][libraries]") {
    CHECK(defined_names("inline int a = 1; inline string b[int c] = \"x; inline d\";") ==
          Names{"a", "b"});
    CHECK(defined_names("typedef struct s { int x; } s_t; struct t { int y; };") ==
          Names{"s", "s_t", "t"});
    CHECK(defined_names("/* inline int no = 1; */\n#pragma D attributes Stable/Stable/Common no\n"
                        "translator s_t < int i > { x = i; }; provider p { probe q(int); };") ==
          Names{"p"});
    CHECK(defined_names("int v; self int w;") == Names{"v", "w"});
    CHECK(defined_names("inline int unfinished").empty());
    CHECK(defined_names("").empty());
    CHECK(defined_names("/*").empty());
    CHECK(defined_names("\"").empty());
}

TEST_CASE("libraries are loaded after those they depend on", "[compiler][libraries]") {
    CHECK(library_dependencies("#pragma D depends_on library a.d\n# pragma D depends_on library "
                               "b.d\n#pragma D depends_on module c\n") ==
          std::vector<std::string>{"a.d", "b.d"});
    std::string on = "#pragma D depends_on library ";
    CHECK(order_of({library("a.d", on + "d.d"), library("b.d", ""), library("c.d", on + "e.d"),
                    library("d.d", on + "b.d"), library("e.d", on + "a.d")}) == "bdaec");
    CHECK(order_of({library("a.d", on + "errno.d"), library("b.d", "")}) == "ab");
    CHECK(order_of({library("a.d", on + "b.d"), library("b.d", on + "a.d")}) == "error");
    CHECK(order_of({library("a.d", on + "a.d")}) == "error");
    CHECK(order_of({library("a.d", on + "nowhere.d")}) == "error");
}

TEST_CASE("a program sees its libraries", "[compiler][libraries]") {
    std::string on = "#pragma D depends_on library ";
    std::vector<Library> two = {library("a.d", on + "b.d\ninline int one = two - 1;"),
                                library("b.d", "inline int two = 2;")};
    CompileOutput output = compile_with(two, "BEGIN { trace(one); }");
    REQUIRE(output.dof);
    CHECK(output.libraries == std::vector<std::string>{"/lib/b.d", "/lib/a.d"});
    CHECK(compile_with({}, "BEGIN { trace(EPERM); }").libraries ==
          std::vector<std::string>{"errno.d"});
    CHECK(compile_with({}, "BEGIN { trace(1); }").libraries.empty());
    // A clause in a library enables nothing.
    CompileOutput clause = compile_with({library("a.d", "END { trace(1); }")}, "BEGIN { x = 1; }");
    REQUIRE(clause.dof);
    CHECK(clause.program.ecbs.size() == 2); // BEGIN and the ERROR clause
}

TEST_CASE("a library that needs what is not there defines nothing", "[compiler][libraries]") {
    std::string on = "#pragma D depends_on ";
    std::vector<Library> libraries = {
        library("a.d", on + "library b.d\ninline int one = two;"),
        library("b.d", on + "module never_there\ninline int two = 2;"),
        library("c.d", on + "provider never_there\ninline int three = nosuch;"),
    };
    CHECK(first_tag_with(libraries, "BEGIN { trace(1); }").empty());
    CHECK(first_tag_with(libraries, "BEGIN { trace(one); }") == "D_IDENT_UNDEF");
    CHECK(first_tag_with({library("a.d", "inline int one = nosuch;")}, "BEGIN { trace(1); }") ==
          "D_IDENT_UNDEF");
    CHECK(first_tag_with({library("a.d", on + "library nowhere.d")}, "BEGIN { trace(1); }") ==
          "D_PRAGMA_DEPEND");
}

TEST_CASE("what is wrong in an inline of the system's is reported where it is used",
          "[compiler][libraries]") {
    std::string text = "inline int bad[int n] = *n;\n";
    for (const char* path : {"a.d", "/lib/a.d"}) { // a user's own: where it stands
        CompileOutput output = compile_with({{"a.d", path, text}}, "BEGIN { trace(bad[1]); }");
        const Diagnostic* first = output.diagnostics.first_error();
        REQUIRE(first);
        CHECK(output.sources.name(first->span.source) == (path[0] == '/' ? path : "x.d"));
    }
}

TEST_CASE("each of the system's libraries compiles", "[compiler][libraries]") {
    for (const Library& one : system_libraries()) {
        INFO(one.name);
        for (std::string_view name : defined_names(one.text)) {
            INFO(name);
            CompileOptions options;
            // A name is a type or an inline; either way naming it loads the library.
            options.sources = {
                {"x.d", std::string(name) + " *p; BEGIN { trace(" + std::string(name) + "); }"}};
            CompileOutput output = compile(options);
            CHECK(std::count(output.libraries.begin(), output.libraries.end(), one.name) <= 1);
            for (const Diagnostic& diagnostic : output.diagnostics.diagnostics())
                CHECK(output.sources.name(diagnostic.span.source) != one.name);
        }
    }
}

TEST_CASE("a provider's header has two macros per probe", "[compiler][libraries]") {
    CompileOutput output =
        compile_with({}, "provider my_prov { probe none(void); probe two__parts(int, char *b); };");
    REQUIRE(output.providers.size() == 1);
    std::string header = provider_header(output.providers, "some/prov-1.h");
    for (const char* line :
         {"#ifndef _PROV_1_H\n", "#define MY_PROV_NONE() my_prov_none_probe()\n",
          "#define MY_PROV_TWO_PARTS(arg0, arg1) my_prov_two__parts_probe(arg0, arg1)\n",
          "#define MY_PROV_TWO_PARTS_ENABLED() \\\n",
          "my_prov_two__parts_probe(int32_t arg0, const volatile void *arg1)\n",
          "DAYBREAK_PROBE(my_prov, two__parts, \"-4@%0 8@%1\")\n", "my_prov_none_probe(void)\n",
          "DAYBREAK_PROBE(my_prov, none, \"\")\n"}) {
        INFO(header);
        CHECK(header.find(line) != std::string::npos);
    }
}
