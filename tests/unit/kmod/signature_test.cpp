// SPDX-License-Identifier: Apache-2.0
// Which programs a module takes that asks for signatures: docs/design/0050-signed-programs.md
#include "formats/abi/signature.h"
#include "tests/support/spec_example.hpp"
#include "tests/unit/kmod/access.h"

#include <catch2/catch.hpp>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

// What the kernel was asked, and what it answers: by keyring.
struct Asked {
    std::string data, signature;
    int keyring;
};
std::vector<Asked> asked;
int answers[3];

struct Checked {
    int result;
    std::string reason, left;
};

// From memory that ends where the image does: what is read past it is found.
Checked check(const std::string& image, bool required = true) {
    asked.clear();
    std::vector<char> exact(image.begin(), image.end());
    size_t bytes = exact.size();
    char reason[256];
    int result = test_signature(required, exact.data(), &bytes, reason);
    REQUIRE(bytes <= image.size());
    return {result, reason, image.substr(0, bytes)};
}

std::string trailer(uint32_t bytes, int field = -1) {
    std::string text(12, '\0');
    text[2] = DBK_SIGNATURE_PKCS7;
    for (unsigned i = 0; i < 4; i++)
        text[8 + i] = static_cast<char>(bytes >> (24 - 8 * i));
    if (field >= 0)
        text[static_cast<size_t>(field)] ^= 1;
    return text;
}

std::string signed_image(const std::string& dof, const std::string& signature) {
    return dof + signature + trailer(static_cast<uint32_t>(signature.size())) + DBK_SIGNATURE_MARK;
}

constexpr const char* kUnsigned = "it is not signed, as require_signed asks (daybreak sign)";
constexpr const char* kDamaged = "its signature is damaged";

} // namespace

int test_verify(const void* data, size_t bytes, const void* signature, size_t signature_bytes, int keyring) {
    asked.push_back({std::string(static_cast<const char*>(data), bytes),
                     std::string(static_cast<const char*>(signature), signature_bytes), keyring});
    return answers[keyring];
}

TEST_CASE("without require_signed a signature is passed over", "[kmod][signature]") {
    for (const std::string& image : {std::string("DOF"), std::string(), signed_image("DOF", "S")}) {
        Checked got = check(image, false);
        CHECK(got.result == 0);
        CHECK(got.left == image);
        CHECK(asked.empty());
    }
}

TEST_CASE("of a signed program what is signed is left, by a key of either keyring", "[kmod][signature]") {
    answers[1] = GENERATE(0, -ENOKEY);
    answers[2] = 0;
    const std::string dof(1000, 'D'), signature(GENERATE(1u, 256u, 65536u), 'S');
    Checked got = check(signed_image(dof, signature));
    CHECK(got.result == 0);
    CHECK(got.left == dof);
    REQUIRE(asked.size() == (answers[1] == 0 ? 1 : 2));
    CHECK(asked.back().data == dof);
    CHECK(asked.back().signature == signature);
    CHECK(asked[0].keyring == 1);
}

TEST_CASE("what the kernel does not trust is refused with the reason", "[kmod][signature]") {
    auto [error, reason] = GENERATE(table<int, std::string>({
        {ENOKEY, "it is signed by a key that this kernel does not trust"},
        {EKEYREJECTED, "its signature does not match it, or the key is revoked"},
        {EBADMSG, kDamaged},
        {EOPNOTSUPP, "this kernel cannot check signatures"},
        {ENOPKG, "its signature cannot be checked (error 65)"},
    }));
    answers[1] = -error;
    answers[2] = -ENOKEY;
    Checked got = check(signed_image("DOF", "S"));
    CHECK(got.result == -error);
    CHECK(got.reason == reason);
    CHECK(asked.size() == (error == ENOKEY ? 2 : 1));
}

TEST_CASE("the module refuses programs without a signature, or with a damaged one", "[kmod][signature]") {
    answers[1] = 0;
    const std::string mark = DBK_SIGNATURE_MARK, image = signed_image("DOF", "S");
    for (const std::string& none : {std::string(), std::string("DOF"), mark.substr(1), image + "x",
                                    image.substr(0, image.size() - 1)})
        CHECK(check(none).reason == kUnsigned);
    std::vector<std::string> damaged = {mark, trailer(0).substr(1) + mark, "DOFS" + trailer(0) + mark,
                                        "DOFS" + trailer(4) + mark, "DOFS" + trailer(5) + mark,
                                        "DOFS" + trailer(0xffffffff) + mark,
                                        std::string(70000, 'S') + trailer(65537) + mark};
    for (int field = 0; field < 8; field++)
        damaged.push_back("DOFS" + trailer(1, field) + mark);
    for (const std::string& one : damaged) {
        Checked got = check(one);
        CHECK(got.reason == kDamaged);
        CHECK(got.result == -EBADMSG);
        CHECK(asked.empty());
    }
}

TEST_CASE("whatever follows an image, nothing outside it is verified or loaded", "[kmod][signature]") {
    const uint32_t seed = GENERATE(take(20, random(0, 1 << 30)));
    INFO("seed " << seed);
    std::mt19937 random(seed);
    answers[1] = -ENOKEY;
    answers[2] = 0;
    for (int i = 0; i < 2000; i++) {
        std::string image = signed_image(std::string(random() % 50, 'D'), std::string(random() % 50, 'S'));
        size_t tail = image.size() - strlen(DBK_SIGNATURE_MARK);
        for (unsigned flips = random() % 4; flips != 0; flips--)
            image[random() % tail] = static_cast<char>(random() % 3 ? random() % 64 : random());
        if (random() % 8 == 0)
            image.erase(0, random() % image.size());
        Checked got = check(image);
        CHECK((got.result == 0 || got.result == -EBADMSG || got.result == -ENOKEY));
        for (const Asked& one : asked)
            CHECK(image.compare(0, one.data.size() + one.signature.size(), one.data + one.signature) == 0);
        if (got.result == 0)
            CHECK(got.left == asked.back().data);
    }
}

TEST_CASE("the example of signature.md is a signed image", "[kmod][signature]") {
    answers[1] = 0;
    auto bytes = daybreak::test::spec_example("formats/abi/signature.md", "## Worked example");
    Checked got = check(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    CHECK(got.result == 0);
    CHECK(got.left == "\x7f" "DOF");
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].signature == "0" + std::string(1, '\0'));
}
