// SPDX-License-Identifier: Apache-2.0
#include "base/visible.hpp"

#include <catch2/catch.hpp>

using daybreak::base::visible;
using daybreak::base::visible_bytes;
using namespace std::string_literals;

TEST_CASE("what drives a terminal is shown as octal digits", "[base][visible]") {
    CHECK(visible("plain text\twith a tab\n") == "plain text\twith a tab\n");
    CHECK(visible("\033[2J\033]0;x\a") == "\\033[2J\\033]0;x\\007");
    CHECK(visible("a\rb\bc\x7f") == "a\\015b\\010c\\177");
    CHECK(visible("\0"s) == "\\000");
    CHECK(visible("") == "");
}

TEST_CASE("UTF-8 stays and C1 does not, in either form", "[base][visible]") {
    const std::string good = "Grüße, 世界, 🙂, \u00a0\U0010ffff";
    CHECK(visible(good) == good);
    CHECK(visible("\x9b"
                  "31m") == "\\23331m");
    CHECK(visible("\u0080\u009b\u009f") == "\\302\\200\\302\\233\\302\\237");
}

TEST_CASE("invalid UTF-8 is not handed on", "[base][visible]") {
    CHECK(visible("\xc0\x9b") == "\\300\\233");                   // U+001B, too long
    CHECK(visible("\xe0\x82\x9b") == "\\340\\202\\233");          // U+009B, too long
    CHECK(visible("\xf0\x80\x80\x9b") == "\\360\\200\\200\\233"); // the same again
    CHECK(visible("\xed\xa0\x80") == "\\355\\240\\200");          // a surrogate
    CHECK(visible("\xf4\x90\x80\x80") == "\\364\\220\\200\\200"); // after U+10FFFF
    CHECK(visible("\xf8\x88\x80\x80\x80") == "\\370\\210\\200\\200\\200");
    CHECK(visible("\xc3") == "\\303"); // cut
    CHECK(visible("\xe4\xb8(") == "\\344\\270(");
    CHECK(visible("\xff\xfe") == "\\377\\376");
}

TEST_CASE("every byte but printable ASCII, newline and tab is refused alone", "[base][visible]") {
    for (unsigned byte = 0; byte < 256; byte++) {
        std::string text(1, static_cast<char>(byte));
        bool is_good = byte == '\n' || byte == '\t' || (byte >= 0x20 && byte < 0x7f);
        INFO(byte);
        CHECK(visible_bytes(text) == is_good);
    }
    CHECK(visible_bytes("") == 0);
}

TEST_CASE("a name stays on its line", "[base][visible]") {
    CHECK(daybreak::base::visible_name("std::vector<int>") == "std::vector<int>");
    CHECK(daybreak::base::visible_name("gr\303\274n") == "gr\303\274n");
    CHECK(daybreak::base::visible_name("a\nb\tc\033[2J\177") == "a\\012b\\011c\\033[2J\\177");
    CHECK(daybreak::base::visible_name("\xff\n") == "\\377\\012");
    CHECK(daybreak::base::visible_name("").empty());
}
