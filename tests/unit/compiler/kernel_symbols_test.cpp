// SPDX-License-Identifier: Apache-2.0
//
// The functions of a kernel image, by tables made here as scripts/kallsyms.c makes them.
#include "compiler/types/kernel_symbols.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

constexpr uint64_t kText = 0xffffffff81000000;

class Image {
public:
    /// An image of 1200 functions of 16 bytes, of which every second can be patched.
    /// `aliases` are more names of the first function; `noise` is put before the tokens.
    /// Each 'x' stands for `token_bytes` of them.
    explicit Image(bool addresses_first, size_t aliases = 0, const std::string& alias = "a",
                   const std::string& noise = {}, size_t token_bytes = 1, bool relative = false)
        : token_bytes_(token_bytes), relative_(relative) {
        add("_stext", kText);
        for (size_t i = 0; i < aliases; i++)
            add(alias, kText + 64);
        for (int i = 0; i < 1200; i++)
            add("fn_" + std::to_string(i), kText + 64 + i * 16);
        add("_etext", kText + 64 + 1200 * 16);
        add("__start_mcount_loc", kText + 0x100000);
        add("__stop_mcount_loc", kText + 0x100000 + 600 * 8);
        put<uint32_t>(0x464c457f);
        pad_to(32);
        put<uint64_t>(64); // e_phoff
        pad_to(56);
        put<uint64_t>(1); // e_phnum
        // The one segment has the calls of ftrace, 4 bytes after the start of their functions.
        for (uint64_t word : {uint64_t{1}, uint64_t{128}, kText + 0x100000, uint64_t{0},
                              uint64_t{600 * 8}, uint64_t{600 * 8}, uint64_t{8}})
            put(word);
        pad_to(128);
        for (int i = 0; i < 1200; i += 2)
            put<uint64_t>(kText + 64 + i * 16 + 4);
        if (addresses_first)
            put_addresses();
        put_names();
        bytes_ += noise;
        put_tokens();
        if (!addresses_first)
            put_addresses();
    }

    base::ByteView bytes() const { return base::as_bytes(bytes_); }

private:
    void add(const std::string& name, uint64_t address) {
        symbols_.emplace_back("T" + name, address);
    }

    template <typename T>
    void put(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    void pad_to(size_t size) { bytes_.resize(size, '\0'); }
    void align() { bytes_.resize((bytes_.size() + 7) / 8 * 8, '\0'); }

    void put_addresses() {
        for (const auto& [name, address] : symbols_)
            put<int32_t>(static_cast<int32_t>(relative_ ? address - kText : kText - 1 - address));
        align();
        put(kText);
    }
    void put_names() {
        put<uint64_t>(symbols_.size());
        std::vector<uint32_t> markers;
        size_t start = bytes_.size();
        for (size_t i = 0; i < symbols_.size(); i++) {
            if (i % 256 == 0)
                markers.push_back(static_cast<uint32_t>(bytes_.size() - start));
            size_t length = symbols_[i].first.size();
            if (length >= 0x80)
                put(static_cast<uint8_t>(length | 0x80));
            put(static_cast<uint8_t>(length >= 0x80 ? length >> 7 : length));
            bytes_ += symbols_[i].first;
        }
        align();
        for (uint32_t marker : markers)
            put(marker);
        align();
    }
    /// Each letter is its own token, and the others are empty.
    void put_tokens() {
        std::string text, index;
        for (int letter = 0; letter < 256; letter++) {
            auto at = static_cast<uint16_t>(text.size());
            index.append(reinterpret_cast<const char*>(&at), sizeof(at));
            if (letter > ' ' && letter < 0x7f)
                text += std::string(letter == 'x' ? token_bytes_ : 1, static_cast<char>(letter));
            text += '\0';
        }
        bytes_ += text;
        align();
        bytes_ += index;
    }

    std::vector<std::pair<std::string, uint64_t>> symbols_;
    std::string bytes_;
    size_t token_bytes_;
    bool relative_; // as since 6.15
};

} // namespace

TEST_CASE("functions that can be patched are found in an image", "[compiler][kernel]") {
    for (auto [addresses_first, relative] : {std::pair{true, false}, {false, false}, {false, true}}) {
        Image image(addresses_first, 0, "", "", 1, relative);
        auto functions = traceable_functions(image.bytes(), "vmlinux");
        REQUIRE(functions.ok());
        REQUIRE(functions->size() == 600);
        CHECK(functions->front().name == "fn_0");
        CHECK(functions->at(1).name == "fn_2");
        CHECK(functions->back().name == "fn_1198");
    }
}

TEST_CASE("a name may have 128 tokens and more", "[compiler][kernel]") {
    std::string name(400, 'n');
    auto functions = traceable_functions(Image(true, 1, name).bytes(), "vmlinux");
    REQUIRE(functions.ok());
    CHECK(functions->at(0).name == name);
    CHECK(functions->at(1).is_alias);
}

TEST_CASE("an image that is cut or damaged is refused, or read within its bounds",
          "[compiler][kernel]") {
    Image image(false);
    for (size_t bytes = 0; bytes < image.bytes().size(); bytes += 97)
        CHECK_FALSE(traceable_functions(image.bytes().first(bytes), "vmlinux").ok());
    for (size_t at = 0; at < image.bytes().size(); at += 211) {
        base::Bytes damaged(image.bytes().begin(), image.bytes().end());
        damaged[at] ^= std::byte{0xff};
        auto functions = traceable_functions(damaged, "vmlinux");
        CHECK((!functions.ok() || functions->size() <= 1300));
    }
}

TEST_CASE("images made to take hours or gigabytes are read in seconds", "[compiler][kernel]") {
    // Compared one by one, names of one address take their number squared.
    CHECK(traceable_functions(Image(true, 400'000).bytes(), "vmlinux").ok());
    // Each word is a number of names, and has at its start the length of one that ends where the
    // next word begins.
    std::string words;
    for (size_t i = 0; i < 600'000; i++)
        words += std::string("\7\0\x3f\0\0\0\0\0", 8);
    CHECK_FALSE(traceable_functions(Image(true, 0, "", words).bytes(), "vmlinux").ok());
    CHECK(
        traceable_functions(Image(true, 0, "", words.substr(0, 1 << 15)).bytes(), "vmlinux").ok());
    // 2 MB for 128 MB.
    Image dense(true, 2000, std::string(1000, 'x'), "", 63);
    CHECK_FALSE(traceable_functions(dense.bytes(), "vmlinux").ok());
}
