// SPDX-License-Identifier: Apache-2.0
//
// Properties of parser and printer over random programs: printing and parsing are inverse, and no
// text, however damaged, makes the parser do more than complain.
#include "tests/unit/compiler/parse_helpers.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace daybreak::compiler;
using daybreak::compiler::test::Parsed;

namespace {

/// Writes random D that is right by syntax.
class Writer {
public:
    explicit Writer(uint64_t seed) : random_(seed) {}

    std::string program() {
        std::string text;
        for (uint64_t items = 1 + pick(4); items > 0; items--)
            text += item();
        return text;
    }

private:
    uint64_t pick(uint64_t bound) { return random_() % bound; }
    template <size_t N>
    std::string one_of(const char* const (&choices)[N]) {
        return choices[pick(N)];
    }

    std::string name() {
        return one_of({"a", "foo", "execname", "arg0", "x_1", "curthread", "timestamp"});
    }
    std::string type() {
        return one_of({"int", "unsigned long", "struct foo *", "char **", "foo_t *", "const char *",
                       "string", "union u", "enum e", "vmlinux`struct page *", "int (*)(void)",
                       "uint64_t *", "char [16]", "long long unsigned int", "int (*)[3]"});
    }
    std::string literal() {
        return one_of({"0", "42", "0xffffffff", "1ULL", "017", "'a'", "'\\n'", "\"s\"",
                       "\"a\\tb\\\"\\\\\"", "1.5", "2e3f", "'ab\\0c'", "18446744073709551615"});
    }
    std::string list(unsigned depth) {
        std::string text = expression(depth);
        while (pick(3) == 0)
            text += ", " + expression(depth);
        return text;
    }
    std::string paren(unsigned depth) { return "(" + comma(depth) + ")"; }
    std::string comma(unsigned depth) {
        return pick(8) ? expression(depth) : expression(depth) + ", " + expression(depth);
    }

    std::string expression(unsigned depth) {
        if (depth == 0)
            return pick(2) ? name() : literal();
        depth--;
        switch (pick(18)) {
        case 0:
            return literal();
        case 1:
            return name();
        case 2:
            return one_of({"self->", "this->"}) + name();
        case 3:
            return "vmlinux`" + name();
        case 4:
            return "@" + name() + "[" + list(depth) + "]";
        case 5:
            return name() + "[" + list(depth) + "]";
        case 6:
            return name() + "(" + (pick(3) ? list(depth) : "") + ")";
        case 7:
            return paren(depth) + one_of({".", "->"}) + name();
        case 8:
            return one_of({"-", "+", "~", "!", "*", "&"}) + paren(depth);
        case 9:
            return one_of({"-", "!", "~"}) + one_of({" -", " !", " ~"}) + name();
        case 10:
            return one_of({"++", "--"}) + name();
        case 11:
            return paren(depth) + one_of({"++", "--"});
        case 12:
            return paren(depth) + " ? " + comma(depth) + " : " + paren(depth);
        case 13:
            return "(" + type() + ")" + name();
        case 14:
            return pick(2) ? "sizeof(" + type() + ")" : "sizeof(" + expression(depth) + " + 1)";
        case 15:
            return "stringof(" + expression(depth) + ")";
        case 16:
            return paren(depth) + one_of({" = ", " += ", " <<= ", " ^= "}) + expression(depth);
        default:
            return paren(depth) +
                   one_of({" + ", " - ", " * ", " / ", " % ", " << ", " >> ", " < ", " <= ", " > ",
                           " >= ", " == ", " != ", " & ", " ^ ", " | ", " && ", " ^^ ", " || "}) +
                   paren(depth);
        }
    }

    std::string item() {
        switch (pick(8)) {
        case 0:
            return one_of({"self ", "this ", "", "extern "}) + "int " + name() + "[3];\n";
        case 1:
            return "int " + name() + "[string, struct foo *];\n";
        case 2:
            return "inline int " + name() + " = " + expression(2) + ";\n";
        case 3:
            return "#pragma D option quiet\n";
        case 4:
            return "struct foo { int a : 3, *b; struct { char c[2]; }; union u *(*f)(int); };\n";
        default: {
            std::string text = one_of({"BEGIN", "syscall::*read*:entry,\ntick-1s", "fbt:::return"});
            if (pick(2))
                text += "\n/" + paren(3) + "/";
            text += "\n{\n";
            for (uint64_t count = pick(4); count > 0; count--)
                text += "\t" + comma(4) + ";\n";
            return text + "}\n";
        }
        }
    }

    std::mt19937_64 random_;
};

} // namespace

TEST_CASE("printed programs parse to the same program", "[compiler][parser][property]") {
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        std::string text = Writer(seed).program();
        INFO("seed " << seed << "\n" << text);
        ParseOptions options;
        options.empty_allowed = true;
        Parsed first(text, options);
        REQUIRE(first.error() == "");
        std::string once = first.text();
        Parsed second(once, options);
        INFO(once);
        REQUIRE(second.error() == "");
        REQUIRE(second.text() == once);
        REQUIRE(second.program.node_count == first.program.node_count);
    }
}

TEST_CASE("truncated and mutated D is an error or a program", "[compiler][parser][property]") {
    static constexpr std::string_view kPieces[] = {"{",
                                                   "}",
                                                   "/",
                                                   "\"",
                                                   "'",
                                                   "(",
                                                   ")",
                                                   "[",
                                                   "]",
                                                   "@",
                                                   "$1",
                                                   "$$",
                                                   "`",
                                                   "/*",
                                                   "*/",
                                                   "#",
                                                   "\n#",
                                                   "\n# 5 \"x\"\n",
                                                   "#pragma D option ",
                                                   "\\\n",
                                                   ";",
                                                   ",",
                                                   "->",
                                                   "struct",
                                                   "enum {",
                                                   "inline",
                                                   "self",
                                                   "0x",
                                                   "sizeof(",
                                                   "(int)",
                                                   "\0",
                                                   "\xff",
                                                   "translator",
                                                   "xlate<"};
    std::mt19937_64 random(3);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        std::string text = Writer(seed).program();
        for (size_t length = 0; length < text.size(); length += 1 + length / 40)
            Parsed cut(text.substr(0, length));
        for (int round = 0; round < 40; round++) {
            std::string mutated = text;
            for (uint64_t changes = 1 + random() % 4; changes > 0; changes--) {
                size_t at = random() % (mutated.size() + 1);
                if (random() % 2)
                    mutated.insert(at, kPieces[random() % std::size(kPieces)]);
                else
                    mutated.erase(at, random() % 12);
            }
            INFO("seed " << seed << " round " << round << "\n" << mutated);
            Parsed parsed(mutated);
            // Whatever was understood can be printed, and every error can be shown.
            parsed.text();
            render_all(parsed.sink, parsed.sources, {}, {});
            for (const Diagnostic& diagnostic : parsed.sink.diagnostics())
                render_classic(diagnostic, parsed.sources, {});
        }
    }
    SUCCEED();
}
