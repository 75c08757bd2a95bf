// SPDX-License-Identifier: Apache-2.0
//
// Random programs of clauses with texts
#include "tests/prop/clauses/generate.hpp"

#include "tests/prop/programs.hpp"

namespace daybreak::prop {

namespace {

constexpr const char* kDeclarations =
    "int n0, n1; string s0, s1; this int tn; this string ts; self int sn; self string ss; self int "
    "spec;\n"
    "int an[string]; int an3[string, string, int]; string as[string]; string as3[string, string, "
    "int]; self int sa[string];\n";

/// Calls in braces are made in order, by every compiler.
std::string join(std::initializer_list<std::string> parts) {
    std::string all;
    for (const std::string& part : parts)
        all += part;
    return all;
}

class Generator {
public:
    explicit Generator(uint64_t seed) : random_(seed) {}

    std::string program();

private:
    uint64_t below(uint64_t limit) { return random_() % limit; }
    bool chance(unsigned percent) { return below(100) < percent; }
    std::string number(uint64_t limit) { return std::to_string(below(limit)); }
    template <typename T>
    T pick(std::initializer_list<T> from) {
        return from.begin()[below(from.size())];
    }
    std::string word(std::initializer_list<const char*> from) { return pick(from); }

    std::string literal();
    std::string text(int depth);
    std::string integer(int depth);
    std::string element(const std::string& array, int depth);
    std::string aggregate(int depth);
    std::string print(int depth);
    std::string statement(int depth);
    std::string body(int depth);
    std::string predicate();
    std::string options();

    std::mt19937_64 random_;
    uint64_t strsize_ = 256;
};

/// What C must not take for something else, lengths around words and strsize, bytes above 127.
std::string Generator::literal() {
    if (chance(45))
        return quoted(word({"",
                            "a",
                            "getppid, ns",
                            "read",
                            "write",
                            "eightchr",
                            "sixteencharacter",
                            "*/ int x; /*",
                            "\\",
                            "\\\\n",
                            "?\?/",
                            "%s %d%%",
                            "\xc3\xa9t\xc3\xa9",
                            "\xff\xfe\x01",
                            "tab\there",
                            "nl\nx",
                            "test",
                            "m",
                            "gone",
                            "\"q\"",
                            "//",
                            "{};"}));
    uint64_t length = pick<uint64_t>({0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      6,
                                      7,
                                      8,
                                      9,
                                      15,
                                      16,
                                      17,
                                      24,
                                      31,
                                      32,
                                      33,
                                      40,
                                      63,
                                      64,
                                      65,
                                      strsize_ - 1,
                                      strsize_,
                                      strsize_ + 1,
                                      strsize_ + 8,
                                      255,
                                      256,
                                      257,
                                      511,
                                      512,
                                      513,
                                      600});
    if (length > 700 || (length > 64 && chance(60)))
        length = below(20);
    std::string made;
    for (uint64_t i = 0; i < length; i++)
        made += static_cast<char>(chance(6) ? 128 + below(128) : 'a' + (i + below(2)) % 26);
    return quoted(made);
}

std::string Generator::text(int depth) {
    if (depth <= 0 || chance(55))
        return chance(60) ? literal()
                          : word({"probefunc", "probefunc", "probename", "probemod", "probeprov",
                                  "execname", "execname"});
    const int less = depth - 1;
    switch (below(12)) {
    case 0:
        return join({"strjoin(", text(less), ", ", text(less), ")"});
    case 1:
        return join(
            {"substr(", text(less), ", ", number(10), chance(50) ? ", " + number(12) : "", ")"});
    case 2:
        return join({word({"basename(", "dirname(", "stringof("}), text(less), ")"});
    case 3:
        return join({"lltostr(", integer(less), ")"});
    case 4:
    case 5:
        return join({"(", integer(less), " ? ", text(less), " : ", text(less), ")"});
    case 6:
    case 7:
        return element("as", less);
    default:
        return word({"s0", "s1", "this->ts", "self->ss", "stringof(arg4)", "copyinstr(arg5)"});
    }
}

std::string Generator::integer(int depth) {
    if (depth <= 0 || chance(40))
        return chance(10) ? number(100)
                          : word({"arg0", "arg1", "arg2", "arg3", "pid", "tid", "cpu", "n0",
                                  "self->sn", "timestamp"});
    const int less = depth - 1;
    switch (below(12)) {
    case 0:
        return join({"strlen(", text(less), ")"});
    case 1:
    case 2:
        return join({"(", text(less), word({" == ", " != ", " < ", " >= "}), text(less), ")"});
    case 3:
        return join({word({"index(", "rindex("}), text(less), ", ", text(less), ")"});
    case 4:
        return join(
            {"(", integer(less), word({" + ", " - ", " & ", " * ", " ^ "}), integer(less), ")"});
    case 5:
        return join({"(", integer(less), " ? ", integer(less), " : ", integer(less), ")"});
    case 6:
    case 7:
        return element("an", less);
    case 8:
        return join({"self->sa[", text(less), "]"});
    default:
        return word({"this->tn", "n1", "(arg0 / arg2)", "(arg7 >> 3)", "self->sn", "(arg3 / 1000)",
                     "((timestamp - self->sn) % 7)"});
    }
}

std::string Generator::element(const std::string& array, int depth) {
    return chance(50) ? join({array, "[", text(depth), "]"})
                      : join({array, "3[probefunc, ", literal(), ", ", integer(0), "]"});
}

/// Its name says function and keys, which are always the same then.
std::string Generator::aggregate(int depth) {
    const std::string sorts =
        word({"", "s", "s", "ss", "si", "is", "sis", "ssi", "ssss", "iss", "sssssss"});
    const auto [function, more] =
        pick<std::pair<const char*, const char*>>({{"count", ""},
                                                   {"sum", ""},
                                                   {"min", ""},
                                                   {"max", ""},
                                                   {"avg", ""},
                                                   {"stddev", ""},
                                                   {"quantize", ""},
                                                   {"lquantize", ", 0, 100, 7"},
                                                   {"llquantize", ", 10, 0, 6, 20"}});
    std::string keys;
    for (char sort : sorts)
        keys +=
            (keys.empty() ? "[" : ", ") + (sort == 's' ? text(depth) : "(int)" + integer(depth));
    const std::string value = std::string(function) == "count" ? "" : integer(depth);
    return join({"@", function, "_", sorts, keys, keys.empty() ? "" : "]", " = ", function, "(",
                 value, more, ");"});
}

std::string Generator::print(int depth) {
    std::string format, arguments;
    for (uint64_t i = 1 + below(4); i > 0; i--) {
        const bool is_text = chance(70);
        format += is_text ? "%s|" : "%d|";
        arguments += ", " + (is_text ? text(depth) : integer(depth));
    }
    return "printf(\"" + format + "\"" + arguments + ");";
}

std::string Generator::statement(int depth) {
    switch (below(14)) {
    case 0:
    case 1:
        return "trace(" + text(depth) + ");";
    case 2:
        return "trace(" + integer(depth) + ");";
    case 3:
    case 4:
        return print(depth);
    case 5:
        return join({word({"n0", "n1", "self->sn", "this->tn"}), " = ", integer(depth), ";"});
    case 6:
        return join({word({"s0", "s1", "self->ss", "this->ts"}), " = ", text(depth), ";"});
    case 7:
        return join({element("an", depth), " = ", integer(depth), ";"});
    case 8:
        return join({element("as", depth), " = ", text(depth), ";"});
    case 9:
        return join({"self->sa[", text(depth), "] = ", integer(depth), ";"});
    default:
        return aggregate(depth);
    }
}

std::string Generator::body(int depth) {
    const bool speculates = chance(8); // which an aggregation must not
    std::string all =
        speculates ? "self->spec = self->spec ? self->spec : speculation(); speculate(self->spec); "
                   : "";
    for (uint64_t i = 1 + below(4); i > 0; i--) {
        std::string one = statement(depth);
        while (speculates && one[0] == '@')
            one = statement(depth);
        if (!speculates && chance(depth == 0 ? 3 : 10))
            one = join({"if (", integer(depth), ") { ", one, " } else { ", statement(depth), " }"});
        all += one + " ";
    }
    return all;
}

std::string Generator::predicate() {
    switch (below(10)) {
    case 0:
    case 1:
        return join({"/", word({"execname", "probefunc"}), " == ", literal(), "/ "});
    case 2:
        return join({"/", text(2), " != ", text(2), "/ "});
    case 3:
        return join({"/arg0 == ", number(4), "/ "});
    case 4:
        return "/self->sn/ ";
    case 5:
        return join({"/", integer(2), "/ "});
    default:
        return "";
    }
}

std::string Generator::options() {
    std::string all;
    auto option = [&](const char* name, const std::string& value) {
        all += join({"#pragma D option ", name, "=", value, "\n"});
    };
    strsize_ = pick<uint64_t>({2,   3,   7,   8,   9,   15,  16,  17,  31,  32,   64,  255,
                               256, 256, 256, 256, 257, 510, 511, 512, 513, 1000, 8192});
    const uint64_t segment = strsize_ > 3000 ? 65536 : 4096 << pick({0, 0, 1, 2, 4});
    option("strsize", std::to_string(strsize_));
    option("aggregate", word({"engine", "record"}));
    option("bufpolicy", word({"ring", "ring", "fill", "switch"}));
    option("segmentsize", std::to_string(segment));
    option("bufsize", std::to_string(segment * (2 + below(6))));
    if (chance(50))
        option("aggsize", std::to_string(4096 * (1 + below(4))));
    if (chance(50))
        option("dynvarsize", std::to_string(4096 * (1 + below(4))));
    option("nspec", "2");
    return all;
}

std::string Generator::program() {
    std::string all = options() + kDeclarations;
    for (uint64_t i = 8 + below(12); i > 0; i--) {
        const int depth =
            chance(78) ? 0 : static_cast<int>(below(3)); // most are of what is native as a whole
        all += join({"test:::", chance(10) ? "" : "g" + number(8), " ", predicate(), "{ ",
                     body(depth), "}\n"});
    }
    if (chance(50))
        all += "test:::g7 /self->spec/ { commit(self->spec); self->spec = 0; }\n";
    if (chance(30))
        all += "test:::g6 /self->spec/ { discard(self->spec); self->spec = 0; }\n";
    if (chance(30))
        all += join({"END { ", body(1), "}\n"});
    return all;
}

} // namespace

std::string random_program(uint64_t seed) {
    return Generator(seed).program();
}

} // namespace daybreak::prop
