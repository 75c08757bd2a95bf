// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::base;

TEST_CASE("JSON strings hold any bytes", "[base][json]") {
    std::string out;
    append_json_string(out, "a\"b\\c\n\t\x01\x7f \xc3\xa4 \xff\xc3");
    CHECK(out == "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u007f \xc3\xa4 \\ufffd\\ufffd\"");
}

TEST_CASE("JSON objects and arrays have commas between their members", "[base][json]") {
    std::string out;
    JsonObject object(out);
    object.put("name", "x");
    object.put("yes", true);
    object.put("least", INT64_MIN);
    object.put("most", UINT64_MAX);
    JsonArray array(object.key("list"));
    array.next() += "1";
    append_json_string(array.next(), "two");
    array.end();
    JsonArray none(object.key("none"));
    none.end();
    object.end();
    CHECK(out == R"({"name":"x","yes":true,"least":-9223372036854775808,)"
                 R"("most":18446744073709551615,"list":[1,"two"],"none":[]})");
}
