// SPDX-License-Identifier: Apache-2.0
#include "compiler/types/declare.hpp"
#include "tests/unit/compiler/parse_helpers.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::compiler;
using daybreak::compiler::test::Parsed;

namespace {

/// A text whose declarations were made into types.
struct Declared {
    Parsed parsed;
    TypeTable types;
    std::vector<DeclaredName> names;

    explicit Declared(const std::string& text, const ParseOptions& options = {})
        : parsed(text, options) {
        Declarer declarer(types, parsed.sink);
        for (const Item& item : parsed.program.items) {
            if (const auto* declaration = std::get_if<Declaration>(&item))
                for (DeclaredName& name : declarer.declare(*declaration))
                    names.push_back(std::move(name));
            if (const auto* definition = std::get_if<Inline>(&item))
                names.push_back(declarer.declare(*definition));
        }
    }

    std::string error() const { return parsed.error(); }
    /// Returns the first declared name with its type, as C text.
    std::string text() const {
        return names.empty() ? error() : types.declaration(names[0].type, names[0].name);
    }
};

std::string tag(const std::string& text) {
    Declared declared(text);
    const Diagnostic* first = declared.parsed.sink.first_error();
    return first ? std::string(tag_name(first->tag)) : "no error";
}

} // namespace

TEST_CASE("declarators make C's types", "[compiler][types]") {
    const std::pair<const char*, const char*> rows[] = {
        {"int x;", "int x"},
        {"unsigned x;", "unsigned int x"},
        {"long long unsigned x;", "unsigned long long x"},
        {"signed char x;", "signed char x"},
        {"long double x;", "long double x"},
        {"_Bool x;", "_Bool x"},
        {"string x;", "string x"},
        {"self x;", "int x"},
        {"extern x;", "int x"},
        {"uint64_t x;", "uint64_t x"},
        {"D`uint64_t x;", "uint64_t x"},
        {"char *x[3];", "char *x[3]"},
        {"char (*x)[3];", "char (*x)[3]"},
        {"int x[2][3];", "int x[2][3]"},
        {"int (*x)(char *, int);", "int (*x)(char *, int)"},
        {"int f(int a[3], int g(void));", "int f(int *, int (*)(void))"},
        {"const char *const x;", "const char * const x"},
        {"volatile struct s *x;", "volatile struct s *x"},
        {"int x[sizeof(long) * 2];", "int x[16]"},
        {"enum e { A = 3 }; int x[A + 1];", "int x[4]"},
        {"typedef int t[5]; t x;", "t x"},
        {"inline int x = 3;", "int x"},
        {"extern int x[];", "int x[]"},
        {"extern struct nothing x;", "struct nothing x"},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        Declared declared(text);
        CHECK(declared.error() == "");
        CHECK(declared.text() == expected);
    }
}

TEST_CASE("associative arrays have keys and elements", "[compiler][types]") {
    Declared declared("int *x[string, struct s *]; self string y[int]; inline int f[int a] = a;");
    REQUIRE(declared.error().empty());
    REQUIRE(declared.names.size() == 3);
    CHECK(declared.names[0].associative);
    CHECK(declared.types.name(declared.names[0].type) == "int *");
    REQUIRE(declared.names[0].keys.size() == 2);
    CHECK(declared.types.name(declared.names[0].keys[1].type) == "struct s *");
    CHECK(declared.names[1].storage == StorageClass::self);
    CHECK(declared.names[2].keys[0].name == "a");
}

TEST_CASE("structs are laid out as the ABI says, bit-fields as D does", "[compiler][types]") {
    // What this test's own compiler makes of the same declarations.
    struct Mixed {
        char a;
        int b : 3;
        int c : 30;
        unsigned char d : 7;
        long e;
        short f[3];
        union {
            int g;
            char h[5];
        };
        char* i;
    };
    Declared declared(
        "struct mixed { char a; int b : 3; int c : 30; unsigned char d : 7; long e; "
        "short f[3]; union { int g; char h[5]; }; char *i; }; struct mixed m;"
        "struct tight { unsigned a : 1, b : 31; unsigned long c : 40, d : 24; char e; "
        "}; struct tight t;");
    REQUIRE(declared.error().empty());
    TypeTable& types = declared.types;
    TypeId mixed = types.find("struct mixed"), tight = types.find("struct tight");
    CHECK(types.size_of(mixed) == sizeof(Mixed));
    CHECK(types.size_of(tight) == 20);
    auto offset = [&](TypeId id, const char* name) {
        auto member = types.find_member(id, name);
        REQUIRE(member);
        return member->offset_bits;
    };
    CHECK(offset(mixed, "b") == 8);
    CHECK(offset(mixed, "c") == 32);
    CHECK(offset(mixed, "d") == 64);
    CHECK(offset(mixed, "e") == offsetof(Mixed, e) * 8);
    CHECK(offset(mixed, "f") == offsetof(Mixed, f) * 8);
    CHECK(offset(mixed, "g") == offsetof(Mixed, g) * 8);
    CHECK(offset(mixed, "h") == offsetof(Mixed, h) * 8);
    CHECK(offset(mixed, "i") == offsetof(Mixed, i) * 8);
    CHECK(offset(tight, "b") == 32);
    CHECK(offset(tight, "c") == 64);
    CHECK(offset(tight, "d") == 128);
    CHECK(offset(tight, "e") == 128 + 24);
    CHECK(types.find_member(mixed, "c")->bitfield_bits == 30);
}

TEST_CASE("a struct can point to itself and to what comes later", "[compiler][types]") {
    Declared declared(
        "struct a { struct a *next; struct b *other; }; struct b { int x; }; struct a v;");
    REQUIRE(declared.error().empty());
    TypeTable& types = declared.types;
    TypeId a = types.find("struct a");
    auto next = types.find_member(a, "next");
    CHECK(types.element_of(next->type) == a);
    TypeId b = types.element_of(types.find_member(a, "other")->type);
    CHECK(types.find_member(b, "x"));
}

TEST_CASE("enumerators count on and know those before them", "[compiler][types]") {
    Declared declared("enum c { RED, ORANGE = 5 + 5, YELLOW = 2, GREEN, BLUE = GREEN + ORANGE, "
                      "PINK = 5/4, INDIGO = -2, VIOLET };");
    REQUIRE(declared.error().empty());
    const std::pair<const char*, int64_t> rows[] = {{"RED", 0},     {"ORANGE", 10}, {"YELLOW", 2},
                                                    {"GREEN", 3},   {"BLUE", 13},   {"PINK", 1},
                                                    {"INDIGO", -2}, {"VIOLET", -1}};
    for (const auto& [name, value] : rows) {
        INFO(name);
        CHECK(declared.types.find_enumerator(name)->value == value);
    }
}

TEST_CASE("constant expressions have C's values", "[compiler][types]") {
#define IS(expression)                                                                             \
    { #expression, static_cast < int>(expression) }
    const std::pair<const char*, int> kCases[] = {IS(7 * -3),
                                                  IS(7 - 9),
                                                  IS(-7 / 2),
                                                  IS(-7 % 3),
                                                  IS(1 << 10),
                                                  IS(-9 >> 1),
                                                  IS(2 < 3),
                                                  IS(3 < 3),
                                                  IS(3 <= 3),
                                                  IS(4 <= 3),
                                                  IS(4 > 3),
                                                  IS(3 > 3),
                                                  IS(3 >= 3),
                                                  IS(2 >= 3),
                                                  IS(3 == 3),
                                                  IS(3 == 4),
                                                  IS(3 != 3),
                                                  IS(3 != 4),
                                                  IS(12 & 10),
                                                  IS(12 ^ 10),
                                                  IS(12 | 10),
                                                  IS(2 && 4),
                                                  IS(2 && 0),
                                                  IS(0 || 8),
                                                  IS(0 || 0),
                                                  IS(+5),
                                                  IS(-(5)),
                                                  IS(~5),
                                                  IS(!5),
                                                  IS(!0),
                                                  IS(1 ? 5 : 6),
                                                  IS(0 ? 5 : 6),
                                                  IS((char)300),
                                                  IS((short)-1),
                                                  IS((unsigned char)-1),
                                                  IS(sizeof(short)),
                                                  IS(2 + 3 * 4 - 5)};
#undef IS
    for (const auto& [expression, value] : kCases) {
        INFO(expression);
        Declared declared("enum c { A = " + std::string(expression) + " };");
        REQUIRE(declared.types.find_enumerator("A"));
        CHECK(declared.types.find_enumerator("A")->value == value);
    }
    for (const auto& [expression, value] : {std::pair("2 ^^ 4", 0), {"2 ^^ 0", 1}, {"0 ^^ 0", 0}})
        CHECK(Declared("enum c { A = " + std::string(expression) + " };")
                  .types.find_enumerator("A")
                  ->value == value);
}

TEST_CASE("each mistake in specifiers has its tag", "[compiler][types]") {
    const std::pair<const char*, const char*> rows[] = {
        {"short char x;", "D_DECL_CHARATTR"},
        {"unsigned void x;", "D_DECL_VOIDATTR"},
        {"unsigned struct s x;", "D_DECL_SIGNINT"},
        {"signed float x;", "D_DECL_SIGNINT"},
        {"long struct s x;", "D_DECL_LONGINT"},
        {"short double x;", "D_DECL_LONGINT"},
        {"long string x;", "D_DECL_LONGINT"},
        {"int char x;", "D_DECL_COMBO"},
        {"signed unsigned x;", "D_DECL_COMBO"},
        {"struct a { int x; } struct b { int y; };", "D_DECL_COMBO"},
        {"short long x;", "D_UNKNOWN"},
        {"long long long x;", "D_UNKNOWN"},
        {"nosuch_t x;", "D_DECL_IDENT"},
        {"self this int x;", "D_DECL_CLASS"},
        {"register int x;", "D_DECL_BADCLASS"},
        {"struct s { static int x; };", "D_DECL_BADCLASS"},
        {"int f(static int x);", "D_DECL_PARMCLASS"},
        {"int x[self int];", "D_DECL_PARMCLASS"},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        CHECK(tag(text) == expected);
    }
}

TEST_CASE("each mistake in a declarator or body has its tag", "[compiler][types]") {
    const std::pair<const char*, const char*> rows[] = {
        {"int x[-1];", "D_DECL_ARRSUB"},
        {"int x[0];", "D_DECL_ARRSUB"},
        {"int x[y];", "D_DECL_ARRSUB"},
        {"int x[1/0];", "D_DECL_ARRSUB"},
        {"int x[];", "D_DECL_ARRNULL"},
        {"int x[2147483648];", "D_DECL_ARRBIG"},
        {"int x[65536][65536];", "D_DECL_ARRBIG"},
        {"int `x;", "D_DECL_SCOPE"},
        {"struct s { int x : 0; };", "D_DECL_BFCONST"},
        {"struct s { int x : -1; };", "D_DECL_BFCONST"},
        {"struct s { int x : y; };", "D_DECL_BFCONST"},
        {"struct s { int x : 33; };", "D_DECL_BFSIZE"},
        {"struct s { float x : 3; };", "D_DECL_BFTYPE"},
        {"struct s { int *x : 3; };", "D_DECL_BFTYPE"},
        {"struct s { int; };", "D_DECL_MNAME"},
        {"struct s { void x; };", "D_DECL_VOIDOBJ"},
        {"struct s { int x; int x; };", "D_UNKNOWN"},
        {"struct s { struct s x; };", "D_DECL_INCOMPLETE"},
        {"struct s { struct t x; };", "D_DECL_INCOMPLETE"},
        {"struct t x;", "D_DECL_INCOMPLETE"},
        {"struct t x[3];", "D_DECL_INCOMPLETE"},
        {"struct s { int x; }; struct s { int x; };", "D_DECL_TYPERED"},
        {"enum e { A }; enum e { B };", "D_DECL_TYPERED"},
        {"enum e { A = x };", "D_DECL_ENCONST"},
        {"enum e { A = 2147483648 };", "D_DECL_ENOFLOW"},
        {"enum e { A = 2147483647, B };", "D_DECL_ENOFLOW"},
        {"enum e { A = -2147483649 };", "D_DECL_ENOFLOW"},
        {"enum e { A, A };", "D_UNKNOWN"},
        {"enum e { A }; enum f { A };", "D_DECL_IDRED"},
        {"typedef int t; typedef char t;", "D_DECL_IDRED"},
        {"int;", "D_DECL_USELESS"},
        {"struct { int x; };", "D_DECL_USELESS"},
        {"this int x[int];", "D_DECL_LOCASSC"},
        {"void x;", "D_DECL_VOIDOBJ"},
        {"void x[3];", "D_DECL_VOIDOBJ"},
        {"int x[3][int];", "D_DECL_DYNOBJ"},
        {"struct s { int x[int]; };", "D_DECL_DYNOBJ"},
        {"int x[int, ...];", "D_DECL_PROTO_VARARGS"},
        {"int x[void, int];", "D_DECL_PROTO_TYPE"},
        {"int f(int x[int]);", "D_DECL_PROTO_TYPE"},
        {"int f(int, void);", "D_DECL_PROTO_VOID"},
        {"int f(void x);", "D_DECL_PROTO_NAME"},
        {"inline int f[int] = 1;", "D_DECL_PROTO_FORM"},
        {"inline void x = 1;", "D_DECL_VOIDOBJ"},
        {"int f(void)[3];", "D_DECL_COMBO"},
    };
    for (const auto& [text, expected] : rows) {
        INFO(text);
        CHECK(tag(text) == expected);
    }
}

TEST_CASE("limits hold at the limit and one beyond", "[compiler][types]") {
    CHECK(tag("char x[2147483647];") == "no error");
    CHECK(tag("char x[2147483648];") == "D_DECL_ARRBIG");
    CHECK(tag("struct s { long x : 64; };") == "no error");
    CHECK(tag("struct s { long x : 65; };") == "D_DECL_BFSIZE");
    CHECK(tag("enum e { A = 2147483647, B = -2147483648 };") == "no error");
}

TEST_CASE("arithmetic conversions are C's", "[compiler][types]") {
    TypeTable types;
    auto common = [&](const char* a, const char* b) {
        return types.name(types.usual_arithmetic(types.find(a), types.find(b)));
    };
    CHECK(common("char", "short") == "int");
    CHECK(common("unsigned char", "unsigned short") == "int");
    CHECK(common("int", "unsigned") == "unsigned int");
    CHECK(common("unsigned", "long") == "long");
    CHECK(common("long", "unsigned long") == "unsigned long");
    CHECK(common("long long", "unsigned long") == "unsigned long long");
    CHECK(common("long", "long long") == "long long");
    CHECK(common("uint64_t", "int") == "unsigned long");
    CHECK(common("float", "long") == "float");
    CHECK(common("double", "float") == "double");
    CHECK(types.name(types.promoted(types.find("uint8_t"))) == "int");
    CHECK(types.promoted(types.find("_Bool")) == types.int_type());
}

TEST_CASE("compatibility looks through names, not through sizes", "[compiler][types]") {
    TypeTable types;
    auto compatible = [&](const char* a, const char* b) {
        return types.compatible(types.find(a), types.find(b));
    };
    CHECK(compatible("int", "int32_t"));
    CHECK(compatible("long", "long long"));
    CHECK(compatible("const int", "int"));
    CHECK(compatible("uint64_t *", "unsigned long *"));
    CHECK_FALSE(compatible("int", "unsigned"));
    CHECK_FALSE(compatible("int", "long"));
    CHECK_FALSE(compatible("int *", "long *"));
    CHECK_FALSE(compatible("string", "char *"));
    auto assignable = [&](const char* to, const char* from) {
        return types.assignable(types.find(to), types.find(from));
    };
    CHECK(assignable("char", "unsigned long"));
    CHECK(assignable("string", "char *"));
    CHECK(assignable("void *", "int *"));
    CHECK(assignable("int *", "void *"));
    CHECK_FALSE(assignable("int *", "long *"));
    CHECK_FALSE(assignable("int", "string"));
    CHECK_FALSE(assignable("char *", "string"));
    TypeId array = types.array_of(types.char_type(), 16);
    CHECK(types.assignable(types.string_type(), array));
    CHECK(types.assignable(types.find("char *"), array));
    CHECK(types.is_by_reference(array));
    CHECK(types.is_by_reference(types.string_type()));
    CHECK_FALSE(types.is_by_reference(types.find("char *")));
}

TEST_CASE("derived types are interned", "[compiler][types]") {
    TypeTable types;
    CHECK(types.find("int *") == types.pointer_to(types.int_type()));
    CHECK(types.find("const int *") == types.find("int const *"));
    TypeId function = types.function_of(types.int_type(), {{"a", types.char_type()}}, false);
    CHECK(function == types.function_of(types.int_type(), {{"a", types.char_type()}}, false));
    CHECK(types.name(types.pointer_to(function)) == "int (*)(char)");
    CHECK(types.find("no such thing") == TypeId::none);
    CHECK(types.find("int )") == TypeId::none);
    CHECK(types.find("") == TypeId::none);
    CHECK(types.integer_type(2, false) == types.find("unsigned short"));
}
