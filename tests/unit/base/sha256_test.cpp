// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace daybreak::base;

namespace {

std::string hex(const std::array<uint8_t, 32>& digest) {
    std::string text;
    char two[3];
    for (uint8_t byte : digest) {
        std::snprintf(two, sizeof(two), "%02x", byte);
        text += two;
    }
    return text;
}

} // namespace

TEST_CASE("SHA-256 gives the published digests", "[base]") {
    CHECK(hex(sha256({})) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hex(sha256(as_bytes("abc"))) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hex(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hex(sha256(as_bytes(std::string(1000000, 'a')))) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
