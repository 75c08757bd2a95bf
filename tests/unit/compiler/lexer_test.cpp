// SPDX-License-Identifier: Apache-2.0
#include "compiler/syntax/lexer.hpp"
#include "tests/unit/compiler/parse_helpers.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::compiler;
using daybreak::compiler::test::canonical;
using daybreak::compiler::test::Parsed;

namespace {

/// Returns the tokens of a text, each as its kind's spelling or its text.
std::vector<Token> tokens(const std::string& text, ParseOptions options = {}) {
    static std::deque<SourceManager> managers; // the sources that the tokens' spans are of
    SourceManager& sources = managers.emplace_back();
    DiagnosticSink sink;
    Lexer lexer(sources.add("test.d", text), options, sources, sink);
    std::vector<Token> all;
    do
        all.push_back(lexer.next());
    while (!all.back().is(TokenKind::end));
    all.pop_back();
    return all;
}

Token token(const std::string& text, ParseOptions options = {}) {
    auto all = tokens(text, std::move(options));
    REQUIRE(all.size() == 1);
    return all[0];
}

std::string tag(const std::string& text, const ParseOptions& options = {}) {
    std::string shown = canonical(text, options);
    return shown.substr(0, shown.find(':'));
}

} // namespace

TEST_CASE("every keyword and every punctuator is its own token", "[compiler][lexer]") {
#define CHECK_KEYWORD(word) CHECK(token(#word).kind == TokenKind::kw_##word);
    DBK_KEYWORDS(CHECK_KEYWORD)
#define CHECK_PUNCTUATOR(name, spelling) CHECK(token(spelling).kind == TokenKind::name);
    DBK_PUNCTUATORS(CHECK_PUNCTUATOR)
    CHECK(tokens("a>>=b").size() == 3);
    CHECK(tokens("a---b").size() == 4); // -- -
}

TEST_CASE("integer constants have the value and type that C gives them", "[compiler][lexer]") {
    struct Row {
        const char* text;
        uint64_t value;
        IntegerType type;
        const char* spelling;
    };
    const Row rows[] = {
        {"0", 0, IntegerType::int_, "0"},
        {"2147483647", 2147483647, IntegerType::int_, "2147483647"},
        {"2147483648", 2147483648, IntegerType::long_, "2147483648"},
        {"0x7fffffff", 0x7fffffff, IntegerType::int_, "2147483647"},
        {"0xffffffff", 0xffffffff, IntegerType::unsigned_int, "4294967295U"},
        {"037777777777", 0xffffffff, IntegerType::unsigned_int, "4294967295U"},
        {"0x100000000", 0x100000000, IntegerType::long_, "4294967296"},
        {"9223372036854775807", INT64_MAX, IntegerType::long_, "9223372036854775807"},
        {"9223372036854775808", 1ull << 63, IntegerType::unsigned_long, "9223372036854775808"},
        {"18446744073709551615", UINT64_MAX, IntegerType::unsigned_long, "18446744073709551615"},
        {"1u", 1, IntegerType::unsigned_int, "1U"},
        {"1L", 1, IntegerType::long_, "1L"},
        {"1ul", 1, IntegerType::unsigned_long, "1UL"},
        {"1LU", 1, IntegerType::unsigned_long, "1UL"},
        {"1ll", 1, IntegerType::long_long, "1LL"},
        {"1ULL", 1, IntegerType::unsigned_long_long, "1ULL"},
        {"0b101", 5, IntegerType::int_, "5"},
        {"00", 0, IntegerType::int_, "0"},
        {"017", 15, IntegerType::int_, "15"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        Token found = token(row.text);
        CHECK(found.value == row.value);
        CHECK(found.integer_type == row.type);
        CHECK(found.text == row.spelling);
    }
}

TEST_CASE("integer constants that are none are refused with their tags", "[compiler][lexer]") {
    CHECK(canonical("0128") == "D_INT_DIGIT: constant 0128 contains invalid digit 8");
    CHECK(canonical("09") == "D_INT_DIGIT: constant 09 contains invalid digit 9");
    CHECK(tag("0x") == "D_INT_DIGIT");
    CHECK(tag("18446744073709551616") == "D_INT_OFLOW");
    CHECK(tag("0x10000000000000000") == "D_INT_OFLOW");
    CHECK(tag("02000000000000000000000") == "D_INT_OFLOW");
    CHECK(tag("12ab") == "D_SYNTAX");
}

TEST_CASE("characters are integers, the first one the highest byte", "[compiler][lexer]") {
    CHECK(token("'a'").value == 'a');
    CHECK(token("'ab'").value == 0x6162);
    CHECK(token("'abcdefgh'").value == 0x6162636465666768);
    CHECK(token("'\\n'").value == '\n');
    CHECK(token("'\\''").value == 0x5c27);
    CHECK(token("'\\047'").value == '\'');
    CHECK(token("'\\c'").value == 0x5c63);
    CHECK(token("'\\\\'").value == '\\');
    CHECK(token("'\\0103'").value == 0x0833);
    CHECK(token("'\"\\ba'").value == 0x220861);
    CHECK(token("'\\0'").value == 0);
    CHECK(token("'\\377'").value == 255);
    CHECK(token("'\\x41'").value == 'A');
    CHECK(token("'\"'").value == '"');
    CHECK(token("'a'").integer_type == IntegerType::int_);
    CHECK(token("'abcdefgh'").integer_type == IntegerType::long_);
    CHECK(tag("''") == "D_CHR_NULL");
    CHECK(tag("'abcdefghi'") == "D_CHR_OFLOW");
    CHECK(tag("'a\n'") == "D_CHR_NL");
    CHECK(tag("'a") == "D_CHR_NL");
    CHECK(canonical("'\\0' + 'a\\0b' + '\\n' + '\\47'") == "'\\000' + 'a\\000b' + '\\n' + '\\047'");
}

TEST_CASE("strings resolve escapes and end in their line", "[compiler][lexer]") {
    CHECK(token(R"("a\tb\\\"c\?\'")").text == "a\tb\\\"c\\?\\'");
    CHECK(token(R"("\101\x42\0103")").text == "AB\b3");
    CHECK(token("\"\"").text.empty());
    CHECK(token("\"\xc3\xa9\"").text == "\xc3\xa9");
    CHECK(tag("\"abc") == "D_STR_NL");
    CHECK(tag("\"abc\n\"") == "D_STR_NL");
    CHECK(tag("\"abc\\") == "D_STR_NL");
    CHECK(canonical(R"("\a\b\f\n\r\t\v\\\"\001é")") == R"("\a\b\f\n\r\t\v\\\"\001é")");
}

TEST_CASE("floating constants keep their spelling", "[compiler][lexer]") {
    for (const char* text : {"1.5", "2.", ".5", "1e9", "1.5e-3", "1e+5f", "2.5L"}) {
        INFO(text);
        CHECK(token(text).kind == TokenKind::floating);
    }
    CHECK(token("1.5e-3").floating_value == Approx(0.0015));
    CHECK(token("1e5f").suffix == 'f');
    CHECK(tag("1.5x") == "D_SYNTAX");
}

TEST_CASE("names may have a kernel scope", "[compiler][lexer]") {
    Token plain = token("ext4`inode_cache");
    CHECK(plain.module == "ext4");
    CHECK(plain.text == "inode_cache");
    CHECK(token("`jiffies").has_module);
    CHECK(token("vmlinux`struct").kind == TokenKind::kw_struct);
    CHECK(token("LM0`libc`free").module == "LM0`libc");
    CHECK(tag("`") == "D_SYNTAX");
    CHECK(tag("a`1") == "D_SYNTAX");
}

TEST_CASE("comments do not nest and must end", "[compiler][lexer]") {
    CHECK(canonical("1 /* two */ + /* three * / */ 4") == "1 + 4");
    CHECK(tag("1 /* a /* b */") == "D_SYNTAX");
    CHECK(tag("1 /* a") == "D_SYNTAX");
}

TEST_CASE("macro arguments stand for what they hold", "[compiler][lexer]") {
    ParseOptions options;
    options.script_name = "/tmp/x.d";
    options.arguments = {"42", "-7", "foo", "\"quoted\"", "0x10", "a/b", "99999999999999999999"};
    options.macros = {{"target", 1234}};
    CHECK(canonical("$1 + $2 + $3", options) == "42 + -7 + foo");
    CHECK(canonical("a - $2", options) == "a - -7");
    CHECK(canonical("$4", options) == "\"quoted\"");
    CHECK(canonical("$5", options) == "16");
    CHECK(canonical("$6", options) == "\"a/b\"");
    CHECK(canonical("$$1", options) == "\"42\"");
    CHECK(canonical("$0", options) == "\"/tmp/x.d\"");
    CHECK(canonical("$target", options) == "1234");
    CHECK(canonical("$$target", options) == "\"1234\"");
    CHECK(canonical("$8", options) == "D_MACRO_UNDEF: macro argument $8 is not defined");
    CHECK(canonical("$pid", options) == "D_MACRO_UNDEF: macro variable $pid is not defined");
    CHECK(tag("$7", options) == "D_MACRO_OFLOW");
    CHECK(tag("$", options) == "D_SYNTAX");
    options.default_arguments = true;
    CHECK(canonical("$8", options) == "0");
    CHECK(canonical("$$8", options) == "\"\"");
}

TEST_CASE("an argument that nothing uses is an error when asked for", "[compiler][lexer]") {
    ParseOptions options;
    options.arguments = {"1", "2"};
    options.unused_arguments_allowed = false;
    CHECK(Parsed("BEGIN { trace($1); }", options).sink.has(Tag::D_MACRO_UNUSED));
    CHECK(Parsed("BEGIN { trace($1 + $2); }", options).error().empty());
    CHECK(Parsed("profile-$1 { trace($$2); }", options).error().empty());
}

TEST_CASE("control lines move positions", "[compiler][lexer]") {
    Parsed parsed(
        "#!/usr/sbin/dtrace -s\n# 1 \"<built-in>\"\n# 10 \"boot.d\" 2\nBEGIN\n{ x = ; }\n");
    REQUIRE(parsed.sink.first_error());
    const Span& span = parsed.sink.first_error()->span;
    CHECK(span.line == 11);
    CHECK(parsed.sources.file_name(span.file) == "boot.d");
    CHECK(parsed.sources.line_text(span) == "{ x = ; }");
    CHECK(parsed.error() == "[D_SYNTAX] \"boot.d\", line 11: syntax error near \";\"");
    CHECK(Parsed("#line x\nBEGIN{}").sink.has(Tag::D_PRAGCTL_INVAL));
    CHECK(Parsed("#define X 1\nBEGIN{}").sink.has(Tag::D_PRAGCTL_INVAL));
    CHECK(Parsed("#\n#ident \"x\"\n#pragma ident \"y\"\nBEGIN{}").error().empty());
    CHECK(Parsed("#error no luck\nBEGIN{}").error() == "[D_PRAGERR] line 1: #error: no luck ");
}

TEST_CASE("pragmas are taken apart, and wrong ones refused", "[compiler][lexer]") {
    Parsed parsed("#pragma D option bufsize=4m\n"
                  "#pragma D attributes Stable/Evolving/Common provider fbt module\n"
                  "#pragma D depends_on library x.d\n"
                  "BEGIN\n{\n#pragma D option quiet\n\ttrace(1); }\n"
                  "#pragma D binding \"1.2\" foo\n");
    CHECK(parsed.error().empty());
    std::vector<Pragma> pragmas;
    for (Item& item : parsed.program.items)
        if (auto* pragma = std::get_if<Pragma>(&item))
            pragmas.push_back(std::move(*pragma));
    REQUIRE(pragmas.size() == 5);
    CHECK(pragmas[0].arguments == std::vector<std::string>{"bufsize=4m"});
    CHECK(pragmas[1].arguments.size() == 4);
    CHECK(pragmas[3].arguments[0] == "quiet");
    CHECK(pragmas[4].arguments == std::vector<std::string>{"1.2", "foo"});

    auto first_tag = [](const char* pragma) {
        Parsed wrong(std::string(pragma) + "\nBEGIN{}");
        return wrong.sink.first_error() ? tag_name(wrong.sink.first_error()->tag) : "";
    };
    CHECK(first_tag("#pragma D option") == "D_PRAGMA_MALFORM");
    CHECK(first_tag("#pragma D option nspec = 4") == "D_PRAGMA_MALFORM");
    CHECK(first_tag("#pragma D attributes Stable/Stable/Common") == "D_PRAGMA_MALFORM");
    CHECK(first_tag("#pragma D attributes Stable/Wrong/Common x") == "D_PRAGMA_INVAL");
    CHECK(first_tag("#pragma D binding 1 x") == "D_PRAGMA_INVAL");
    CHECK(first_tag("#pragma D binding \"1.0\"") == "D_PRAGMA_MALFORM");
    CHECK(first_tag("#pragma D depends_on planet mars") == "D_PRAGMA_INVAL");
    CHECK(first_tag("#pragma D nonsense") == "D_PRAGMA_INVAL");
    CHECK(first_tag("#pragma D") == "D_PRAGMA_MALFORM");
    CHECK(Parsed("#pragma D error \"not today\"\nBEGIN{}").error() ==
          "[D_PRAGERR] line 1: #error: not today ");
}
