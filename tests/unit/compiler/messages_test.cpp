// SPDX-License-Identifier: Apache-2.0
//
// The words of errors: numbers, plurals and columns of the texts that have them.
#include "compiler/diagnostics/messages/actions.hpp"
#include "compiler/diagnostics/messages/formats.hpp"
#include "compiler/diagnostics/messages/identifiers.hpp"
#include "compiler/diagnostics/messages/operators.hpp"
#include "compiler/diagnostics/messages/prototypes.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::compiler::messages;

TEST_CASE("a wrong number is reported with its bound", "[compiler][messages]") {
    CHECK(prototype_length({"f"}, 0, 1, 1) == "f( ) prototype mismatch: 0 args passed, 1 expected");
    CHECK(prototype_length({"f"}, 1, 2, 2) == "f( ) prototype mismatch: 1 arg passed, 2 expected");
    CHECK(prototype_length({"f"}, 1, 2, 3) ==
          "f( ) prototype mismatch: 1 arg passed, at least 2 expected");
    CHECK(prototype_length({"f"}, 4, 2, 3) ==
          "f( ) prototype mismatch: 4 args passed, at most 3 expected");
    CHECK(prototype_length({"f"}, 0, 1, kAnyNumber) ==
          "f( ) prototype mismatch: 0 args passed, at least 1 expected");
    CHECK(prototype_length({"x", true}, 1, 2, 2) ==
          "x[ ] prototype mismatch: 1 key passed, 2 expected");
    CHECK(prototype_length({"x", true}, 3, 2, 2) ==
          "x[ ] prototype mismatch: 3 keys passed, 2 expected");
    CHECK(action_length("trunc", 1, "2") ==
          "trunc( ) prototype mismatch: 1 args passed, 2 expected");
    CHECK_FALSE(wrong_length(2, 2, 3));
    CHECK(wrong_length(1, 2, 3));
    CHECK(wrong_length(4, 2, 3));
    CHECK_FALSE(wrong_length(1000, 2, kAnyNumber));
}

TEST_CASE("what is compared stands in columns", "[compiler][messages]") {
    CHECK(prototype_argument({"raise"}, 1, "int", "string") ==
          "raise( ) argument #1 is incompatible with prototype:\n"
          "\tprototype: int\n\t argument: string");
    CHECK(prototype_argument({"x", true}, 2, "int", "string") ==
          "x[ ] key #2 is incompatible with prototype:\n\tprototype: int\n\t      key: string");
    CHECK(key_types_differ("first", "int", "b", "string", 3) ==
          "printa( ): @b[ ] key #3 is incompatible with @first:\n"
          "    first key #3: int\n        b key #3: string");
    CHECK(value_type("printf", 2, {1, "lld"}, "string") ==
          "printf( ) argument #2 is incompatible with conversion #1 prototype:\n"
          "\tconversion: %lld\n\t prototype: char, short, int, long, or long long\n"
          "\t  argument: string");
    CHECK(redefined_inline("x", identifier_kind(IdentifierKind::array), true) ==
          "identifier redefined: x\n\t current: inline definition\n"
          "\tprevious: associative array inline");
    CHECK(redeclared("x", "int", "string") ==
          "identifier redeclared: x\n\t current: int\n\tprevious: string");
}

TEST_CASE("plurals of keys", "[compiler][messages]") {
    CHECK(key_counts_differ("a", 1, "b", 0) ==
          "printa( ): @a and @b do not have matching key signatures: @a has 1 key, @b has 0 keys");
}

TEST_CASE("operators are named as written", "[compiler][messages]") {
    CHECK(incompatible("int", "+=", "string") ==
          "operands have incompatible types: \"int\" += \"string\"");
    CHECK(requires_integral("<<=") == "operator <<= requires operands of integral type");
    CHECK(requires_integral_operand("~") == "operator ~ requires an operand of integral type");
    CHECK(may_not_follow("destructive actions", "speculate") ==
          "destructive actions may not follow speculate( )");
}
