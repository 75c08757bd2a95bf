// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/parse_helpers.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace daybreak::compiler;
using daybreak::compiler::test::canonical;
using daybreak::compiler::test::Parsed;

namespace {

ParseOptions with_types(std::set<std::string> names) {
    ParseOptions options;
    options.is_type_name = [names](std::string_view name) {
        return names.count(std::string(name)) != 0;
    };
    return options;
}

/// The same where a machine may be the first.
std::string parts_of_five(const std::string& text) {
    ProbeDescription d;
    if (!split_probe_description(text, ProbeSpec::name, d, true))
        return "too many";
    return d.machine + "|" + d.provider + "|" + d.module + "|" + d.function + "|" + d.name;
}

std::string parts(const std::string& text, ProbeSpec spec = ProbeSpec::name) {
    ProbeDescription d;
    if (!split_probe_description(text, spec, d))
        return "too many";
    return d.provider + "|" + d.module + "|" + d.function + "|" + d.name;
}

} // namespace

TEST_CASE("a probe description fills its parts from the right", "[compiler][parser]") {
    CHECK(parts("BEGIN") == "|||BEGIN");
    CHECK(parts("read:entry") == "||read|entry");
    CHECK(parts("syscall::read:entry") == "syscall||read|entry");
    CHECK(parts("a:b:c:d") == "a|b|c|d");
    CHECK(parts("syscall:::") == "syscall|||");
    CHECK(parts(":::BEGIN") == "|||BEGIN");
    CHECK(parts("a:b:c:d:e") == "too many");
    CHECK(parts("syscall", ProbeSpec::provider) == "syscall|||");
    CHECK(parts("ext4", ProbeSpec::module) == "|ext4||");
    CHECK(parts("fbt:ext4", ProbeSpec::module) == "fbt|ext4||");
    CHECK(parts("read", ProbeSpec::function) == "||read|");
    CHECK(parts("a:b:c", ProbeSpec::module) == "too many");
}

TEST_CASE("a machine's name is the first of five parts", "[compiler][parser]") {
    CHECK(parts_of_five("web-*:syscall::read:entry") == "web-*|syscall||read|entry");
    CHECK(parts_of_five("web-1.example::::BEGIN") == "web-1.example||||BEGIN");
    CHECK(parts_of_five(":syscall::read:entry") == "|syscall||read|entry");
    CHECK(parts_of_five("syscall::read:entry") == "|syscall||read|entry");
    CHECK(parts_of_five("tick-1s") == "||||tick-1s");
    CHECK(parts_of_five("a:b:c:d:e:f") == "too many");
}

TEST_CASE("every form of probe description is understood", "[compiler][parser]") {
    ParseOptions options;
    options.macros = {{"target", 77}};
    options.arguments = {"5"};
    Parsed parsed("syscall::*read*:entry, profile-997 , tick-1sec,\n"
                  "  /* c */ fbt:ext4:ext4_[a-m]?le:return, pid$target::f$1:entry, 42,\n"
                  "  sdt:vmlinux::sched!x { }",
                  options);
    REQUIRE(parsed.error().empty());
    const auto& probes = parsed.clause().probes;
    REQUIRE(probes.size() == 7);
    CHECK(probes[0].function == "*read*");
    CHECK(probes[1].name == "profile-997");
    CHECK(probes[2].name == "tick-1sec");
    CHECK(probes[3].function == "ext4_[a-m]?le");
    CHECK(probes[4].text == "pid77::f5:entry");
    CHECK(probes[5].id == 42);
    CHECK(probes[6].name == "sched!x");
    CHECK(parsed.clause().has_body);
    CHECK(parsed.clause().statements.empty());
}

TEST_CASE("the module of a program's provider may be a path, and a predicate is none",
          "[compiler][parser]") {
    auto first = [](const char* text) {
        Parsed parsed(text);
        REQUIRE(parsed.error().empty());
        const Clause& clause = parsed.clause();
        return clause.probes[0].text + (clause.predicate ? " if" : "");
    };
    CHECK(first("pid*:/usr/bin/c++-12:main:entry { }") == "pid*:/usr/bin/c++-12:main:entry");
    CHECK(first("pid*:/a:f: /x/ { }") == "pid*:/a:f: if");
    CHECK(first("pid*:/a:f:/x/ { }") == "pid*:/a:f: if");
    CHECK(first("postgresql*:/usr/bin/postgres::query-start { }") ==
          "postgresql*:/usr/bin/postgres::query-start");
    CHECK(first("pid12:/x/ { }") == "pid12: if");
    CHECK(first("entry:/x?a:b/ { }") == "entry: if");
    CHECK(first("entry:/x?y/2:b/ { }") == "entry: if");
    CHECK(first("pid12:::/x/ { }") == "pid12::: if");
    CHECK(first("syscall:/x/ { }") == "syscall: if");
    Parsed parsed("pid*:/usr/bin/cat:ma*n:return, pid:/lib/x.so:f:1f { }");
    REQUIRE(parsed.error().empty());
    REQUIRE(parsed.clause().probes.size() == 2);
    CHECK(parsed.clause().probes[0].module == "/usr/bin/cat");
    CHECK(parsed.clause().probes[0].function == "ma*n");
    CHECK(parsed.clause().probes[1].module == "/lib/x.so");
    CHECK(parsed.clause().probes[1].name == "1f");
}

TEST_CASE("a predicate ends at the slash before its body, others divide", "[compiler][parser]") {
    auto predicate = [](const char* text) {
        Parsed parsed(text);
        return parsed.error().empty() ? expression_text(*parsed.clause().predicate)
                                      : parsed.error();
    };
    CHECK(predicate("BEGIN /x/ {}") == "x");
    CHECK(predicate("BEGIN/x/{}") == "x");
    CHECK(predicate("BEGIN /a / b/ {}") == "a / b");
    CHECK(predicate("BEGIN /a/b/c/ {}") == "a / b / c");
    CHECK(predicate("BEGIN /(a / b) == 2/\n{}") == "a / b == 2");
    CHECK(predicate("BEGIN /a/ /* comment */ {}") == "a");
    CHECK(predicate("BEGIN /a / /* comment */ b/ {}") == "a / b");
    CHECK(predicate("BEGIN /a/;") == "a");
    CHECK(predicate("BEGIN /a/") == "a");
    CHECK(predicate("BEGIN /(a/ {}") ==
          "[D_SYNTAX] line 1: closing ) expected in predicate before /");
    CHECK(predicate("BEGIN /a[1/ {}") ==
          "[D_SYNTAX] line 1: closing ] expected in predicate before /");
    CHECK(predicate("BEGIN // {}").find("D_SYNTAX") != std::string::npos);
}

TEST_CASE("operators have C's precedence and association", "[compiler][parser]") {
    const std::pair<const char*, const char*> rows[] = {
        {"a||b^^c&&d|e^f&g==h<i<<j+k*l", "a || b ^^ c && d | e ^ f & g == h < i << j + k * l"},
        {"((((a*b)+c)<<d)<e)==f", "a * b + c << d < e == f"},
        {"(a||b)&&c", "(a || b) && c"},
        {"a-(b-c)", "a - (b - c)"},
        {"(a-b)-c", "a - b - c"},
        {"a=b=c", "a = b = c"},
        {"a+=b<<=c", "a += b <<= c"},
        {"a?b:c?d:e", "a ? b : c ? d : e"},
        {"(a?b:c)?d:e", "(a ? b : c) ? d : e"},
        {"a?b,c:d", "a ? b, c : d"},
        {"a?(b=1):0", "a ? b = 1 : 0"},
        {"-a+!b*~c", "-a + !b * ~c"},
        {"- -a", "- -a"},
        {"-(-5)", "- -5"},
        {"+ +a", "+ +a"},
        {"- --a", "- --a"},
        {"*p++", "*p++"},
        {"(*p)++", "(*p)++"},
        {"&a[1]", "&a[1]"},
        {"a.b->c[d].e++", "a.b->c[d].e++"},
        {"*a.b", "*a.b"},
        {"(*a).b", "(*a).b"},
        {"(int)a.b", "(int)a.b"},
        {"((int)a).b", "((int)a).b"},
        {"sizeof(int)*2", "sizeof(int) * 2"},
        {"sizeof x", "sizeof x"},
        {"sizeof(x+1)", "sizeof(x + 1)"},
        {"stringof x", "stringof(x)"},
        {"stringof(x)+1", "stringof(x) + 1"},
        {"stringof(x.y)", "stringof(x.y)"},
        {"x[1,\"a\",b=2]", "x[1, \"a\", b = 2]"},
        {"f()", "f()"},
        {"f((a,b),c)", "f((a, b), c)"},
        {"a,b", "a, b"},
        {"(5).x", "(5).x"},
        {"++(int)a", "D_SYNTAX: syntax error near \"int\""},
        {"offsetof(struct foo,bar)", "offsetof(struct foo, bar)"},
        {"xlate<struct psinfo*>(x)->pr_pid", "xlate <struct psinfo *>(x)->pr_pid"},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        CHECK(canonical(text) == expected);
    }
}

TEST_CASE("D's own operands are understood", "[compiler][parser]") {
    CHECK(canonical("self->ts") == "self->ts");
    CHECK(canonical("this->x.y") == "this->x.y");
    CHECK(canonical("self") == "self");
    CHECK(canonical("@") == "@");
    CHECK(canonical("@a[pid,execname]=quantize(x,2)") == "@a[pid, execname] = quantize(x, 2)");
    CHECK(canonical("vmlinux`jiffies+`x") == "vmlinux`jiffies + `x");
    CHECK(canonical("a->probe->string.self") == "a->probe->string.self");
    Parsed parsed("BEGIN { @a[1][2] = count(); }");
    const auto* assign = parsed.expression().get_if<Assign>();
    REQUIRE(assign);
    CHECK(assign->left->get_if<Aggregation>()->dimensions == 2);
}

TEST_CASE("casts are distinguished from parentheses by what follows", "[compiler][parser]") {
    auto is_cast = [](const char* text, const ParseOptions& options = {}) {
        SourceManager sources;
        DiagnosticSink sink;
        ExprPtr parsed = parse_expression(sources.add("t.d", text), options, sources, sink);
        INFO(text);
        REQUIRE(parsed);
        return parsed->get_if<Cast>() != nullptr;
    };
    for (const char* text :
         {"(int)x", "(foo_t)x", "(foo_t *)x", "(foo_t **)(x)", "(struct foo *)x", "(foo_t)1",
          "(foo_t)\"s\"", "(foo_t)self->x", "(foo_t)!x", "(foo_t const *)x", "(int (*)(void))x",
          "(vmlinux`foo_t *)x", "(string)x", "(foo_t (*)(int))x"})
        CHECK(is_cast(text));
    for (const char* text : {"(x)", "(x) + 1", "(x)[1]", "(x).y", "(x) == 1", "(x * y)", "(x)++"})
        CHECK_FALSE(is_cast(text));
    CHECK(is_cast("(foo_t)-1", with_types({"foo_t"})));
    CHECK(is_cast("(foo_t)*p", with_types({"foo_t"})));
    CHECK(is_cast("(foo_t)(x)", with_types({"foo_t"})));
    CHECK_FALSE(is_cast("(bar)-1", with_types({"foo_t"})));
}

TEST_CASE("types are asked for only when syntax cannot tell", "[compiler][parser]") {
    unsigned asked = 0;
    ParseOptions options;
    options.is_type_name = [&](std::string_view) {
        asked++;
        return true;
    };
    Parsed parsed("typedef int foo_t;\nfoo_t x;\n"
                  "syscall::read:entry /execname == \"x\"/ { self->a = (foo_t)-arg0; "
                  "trace((int)x + sizeof(foo_t)); @[pid] = sum((foo_t *)x); b = (x); c = (int)-1; "
                  "d = sizeof(struct foo); }\nBEGIN,END { }",
                  options);
    CHECK(parsed.error().empty());
    CHECK(asked == 0);
    Parsed ambiguous("BEGIN { a = (y) - 1; }", options);
    CHECK(asked > 0);
}

TEST_CASE("declarations keep every declarator", "[compiler][parser]") {
    const std::pair<const char*, const char*> rows[] = {
        {"int x;", "int x;\n"},
        {"self string *x, y[3];", "self string *x, y[3];\n"},
        {"this unsigned long int x;", "this unsigned long x;\n"},
        {"long unsigned long x;", "unsigned long long x;\n"},
        {"int x[string, int];", "int x[string, int];\n"},
        {"int *x[3];", "int *x[3];\n"},
        {"int (*x)[3];", "int (*x)[3];\n"},
        {"int (*f)(int a, char *);", "int (*f)(int a, char *);\n"},
        {"int f(void);", "int f(void);\n"},
        {"extern int printf(const char *, ...);", "extern int printf(const char *, ...);\n"},
        {"typedef struct foo { int a : 3; struct { int b; }; char *c[2]; } foo_t;",
         "typedef struct foo { int a : 3; struct { int b; }; char *c[2]; } foo_t;\n"},
        {"enum e { A, B = 2, C = B + 1 };", "enum e { A, B = 2, C = B + 1 };\n"},
        {"union u;", "union u;\n"},
        {"vmlinux`struct task_struct *t;", "vmlinux`struct task_struct *t;\n"},
        {"struct vmlinux`page *t;", "vmlinux`struct page *t;\n"},
        {"char *const p;", "char * const p;\n"},
        {"self x;", "self x;\n"},
        {"inline int f[int a] = a + 1;", "inline int f[int a] = a + 1;\n"},
        {"inline string name = \"x\";", "inline string name = \"x\";\n"},
        {"translator struct out < struct in *p > { a = p->b; probe = 1; };",
         "translator struct out < struct in *p > {\n\ta = p->b;\n\tprobe = 1;\n};\n"},
        {"provider p { probe return(int); };", "provider p {\n\tprobe return(int);\n};\n"},
        {"provider p { probe a(int); probe b__c(int x, char *y) : (char *y, int x); };",
         "provider p {\n\tprobe a(int);\n\tprobe b__c(int x, char *y) : (char *y, int x);\n};\n"},
        {"#pragma D option quiet\nint x;", "#pragma D option quiet\nint x;\n"},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        Parsed parsed(text);
        CHECK(parsed.error() == "");
        CHECK(parsed.text() == expected);
    }
}

TEST_CASE("if divides a clause by its conditions", "[compiler][parser]") {
    const std::pair<const char*, size_t> rows[] = {
        {"BEGIN { trace(1); trace(2); }", 1},
        {"BEGIN { if (x) trace(1); }", 1},
        {"BEGIN { if (x) trace(1); else trace(2); }", 2},
        {"BEGIN { trace(0); if (x) { trace(1); } else if (y) { trace(2); } trace(3); }", 4},
        {"BEGIN { if (x) { } else { } trace(1); }", 1}, // the condition is a statement
        {"BEGIN /z/ { if (x) if (y) trace(1); else trace(2); }", 2},
    };
    for (const auto& [text, parts] : rows) {
        INFO(text);
        // A clause that follows is read as one: nothing of it was looked at before.
        Parsed parsed(std::string(text) + " tick-1s { exit(0); }");
        CHECK_FALSE(parsed.sink.has_errors());
        REQUIRE(parsed.program.items.size() == parts + 1);
        for (size_t i = 0; i < parts; i++) {
            const auto* part = std::get_if<Clause>(&parsed.program.items[i]);
            REQUIRE(part);
            CHECK(part->is_continued == (i != 0));
            CHECK(part->probes.at(0).name == "BEGIN");
            CHECK_FALSE(part->statements.empty());
        }
    }
}

std::string repeated(const std::string& text, size_t count) {
    std::string all;
    while (count-- > 0)
        all += text;
    return all;
}

TEST_CASE("if lies in if, and divides a program, up to a limit that is named",
          "[compiler][parser]") {
    const char* deep = "[D_SYNTAX] line 1: more than 200 `if` in each other; an `else if` lies in "
                       "the `else` before it";
    const char* far = "[D_SYNTAX] line 1: `if` divides the program too far: more than 100000 "
                      "conditions and probe descriptions in all parts";
    auto chain = [](size_t links) {
        return "BEGIN { if (x) trace(1); " + repeated("else if (x) trace(1); ", links - 1) + "}";
    };
    auto nest = [](size_t depth) {
        return "BEGIN { " + repeated("if (x) { trace(1); ", depth) + repeated("} ", depth) + "}";
    };
    CHECK(Parsed(chain(200)).error() == "");
    CHECK(Parsed(chain(201)).error() == deep);
    CHECK(Parsed(nest(200)).error() == "");
    CHECK(Parsed(nest(201)).error() == deep);
    // Of each `if` a part, of two conditions (the predicate is the first) and a description.
    std::string one = "if (x) trace(1); trace(2); "; // 3, and 2 of what follows
    CHECK(Parsed("BEGIN { " + repeated(one, 20'000) + "}").error() == "");
    CHECK(Parsed("BEGIN { " + repeated(one, 20'000) + "if (x) trace(1); }").error() == far);
    Parsed chains(repeated(chain(190) + "\n", 42));
    CHECK(chains.error().find(far + 19) != std::string::npos);
    CHECK(chains.sink.error_count() == 1);
    std::string many = "BEGIN" + repeated(", BEGIN", 999);
    CHECK(Parsed(many + " { " + repeated(one, 60) + "}").error() == far);
}

TEST_CASE("what is not D is a D_SYNTAX that says where", "[compiler][parser]") {
    const std::pair<const char*, const char*> rows[] = {
        {"BEGIN { trace(1) trace(2); }", "line 1: syntax error near \"trace\""},
        {"BEGIN {\n x = 3 +;\n}", "line 2: syntax error near \";\""},
        {"BEGIN { a + b = c; }", "line 1: syntax error near \"=\""},
        {"BEGIN { int x; }", "line 1: syntax error near \"int\""},
        {"BEGIN { for (;;) ; }", "line 1: syntax error near \"for\""},
        {"BEGIN { else trace(1); }", "line 1: syntax error near \"else\""},
        {"BEGIN { if x; }", "line 1: syntax error near \"x\""},
        {"BEGIN { x = if (1) 2; }", "line 1: syntax error near \"if\""},
        {"BEGIN { trace(1)); }", "line 1: extra ) in input stream"},
        {"BEGIN { x]; }", "line 1: extra ] in input stream"},
        {"BEGIN { trace((1); }", "line 1: syntax error near \";\""},
        {"BEGIN { trace(1);", "line 1: syntax error near end of input"},
        {"BEGIN { } }", "line 1: syntax error near \"}\""},
        {"BEGIN", "line 1: expected predicate and/or actions following probe description"},
        {"BEGIN, { }", "line 1: syntax error near \"{\""},
        {"x = 3;", "line 1: expected predicate and/or actions following probe description"},
        {"int x = 3;", "line 1: syntax error near \"=\""},
        {"struct s { };", "line 1: syntax error near \"}\""},
        {"enum e { };", "line 1: syntax error near \"}\""},
        {"int 0x;", "line 1: constant 0x has no digits"},
        {"BEGIN { x[]; }", "line 1: syntax error near \"]\""},
        {"BEGIN { @a[] = count(); }", "line 1: syntax error near \"]\""},
        {"BEGIN { sizeof(); }", "line 1: syntax error near \")\""},
        {"BEGIN { trace(\x01); }", "line 1: syntax error near \"\\x01\""},
        {"translator int < int x > { }", "line 1: syntax error near end of input"},
        {"12x { }", "line 1: expected predicate and/or actions following probe description"},
        {"99999999999 { }", "line 1: probe identifier 99999999999 exceeds maximum probe id"},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        std::string error = Parsed(text).error();
        CHECK(error.substr(error.find(']') + 2) == expected);
    }
    CHECK(Parsed("a:b:c:d:e {}").sink.has(Tag::D_PDESC_INVAL));
    CHECK(Parsed("").sink.has(Tag::D_EMPTY));
    CHECK(Parsed("#pragma D option quiet\n").sink.has(Tag::D_EMPTY));
    ParseOptions options;
    options.empty_allowed = true;
    CHECK(Parsed("", options).error().empty());
    CHECK(Parsed("foo bar;", with_types({})).sink.has(Tag::D_SYNTAX));
}

TEST_CASE("one broken item does not hide the next one's error", "[compiler][parser]") {
    Parsed parsed("BEGIN { x = ; }\nEND { y = 1; }\nint = 3;\ntick-1s { z = ); }\n");
    CHECK(parsed.sink.error_count() == 3);
    CHECK(parsed.clause().probes[0].name == "END");
}

TEST_CASE("a description alone is a clause only in -n", "[compiler][parser]") {
    CHECK(Parsed("BEGIN", {}, SourceKind::string).error().empty());
    CHECK(Parsed("BEGIN,END", {}, SourceKind::string).clause().probes.size() == 2);
    Parsed wrong("BEGIN{trace(}", {}, SourceKind::string);
    ClassicStyle style;
    CHECK(render_classic(*wrong.sink.first_error(), wrong.sources, style) ==
          "daybreak: invalid probe specifier BEGIN{trace(}: syntax error near \"}\"");
}

TEST_CASE("nesting is bounded, length is not", "[compiler][parser]") {
    auto repeat = [](const std::string& text, int count) {
        std::string all;
        while (count-- > 0)
            all += text;
        return all;
    };
    for (const char* open :
         {"(", "-", "x[", "f(", "(int)", "*", "sizeof ", "x=", "x?", "!(", "{"}) {
        INFO(open);
        CHECK(Parsed("BEGIN { " + repeat(open, 100000)).sink.has(Tag::D_SYNTAX));
    }
    for (const char* open : {"struct {", "int (*", "int f(int (*", "int x["}) {
        INFO(open);
        CHECK(Parsed(repeat(open, 50000)).sink.has(Tag::D_SYNTAX));
    }
    CHECK(Parsed("BEGIN { x = 1" + repeat("+1", 300) + "; }").error().empty());
    CHECK(Parsed("BEGIN { x = 1" + repeat("+1", 100000) + "; }").sink.has(Tag::D_SYNTAX));
    CHECK(Parsed("int x" + repeat("[1]", 1000) + ";").sink.has(Tag::D_SYNTAX));
    CHECK(Parsed("BEGIN { " + repeat("x = 1; ", 20000) + "}").error().empty());
}

TEST_CASE("spans cover what was written", "[compiler][parser]") {
    Parsed parsed("BEGIN\n/pid == 1/\n{\n\ttrace(arg0 + 1);\n}\n");
    REQUIRE(parsed.error().empty());
    const Clause& clause = parsed.clause();
    CHECK(parsed.sources.text(clause.span).starts_with("BEGIN"));
    CHECK(parsed.sources.text(clause.span).ends_with("}"));
    CHECK(parsed.sources.text(clause.predicate->span) == "pid == 1");
    const Expr& call = parsed.expression();
    CHECK(parsed.sources.text(call.span) == "trace(arg0 + 1)");
    CHECK(call.span.line == 4);
    CHECK(call.span.column == 2);
    CHECK(parsed.sources.text(call.get_if<Call>()->arguments[0]->span) == "arg0 + 1");
}
