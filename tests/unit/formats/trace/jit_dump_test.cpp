// SPDX-License-Identifier: Apache-2.0
#include "formats/trace/jit_dump.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

using namespace daybreak::formats;

namespace {

/// A file as a runtime of this machine writes it.
struct Dump {
    std::string bytes;

    explicit Dump(uint32_t machine = 62, uint32_t version = 1, uint32_t header_bytes = 40) {
        put32({0x4a695444, version, header_bytes, machine, 0, 7, 0, 0, 0, 0});
    }
    void put32(const std::vector<uint32_t>& numbers) {
        bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4);
    }
    void put64(const std::vector<uint64_t>& numbers) {
        bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8);
    }
    Dump& load(uint64_t address, uint64_t code_bytes, uint64_t index, const std::string& name) {
        put32({0, static_cast<uint32_t>(56 + name.size() + 1 + code_bytes), 0, 0, 7, 7});
        put64({address, address, code_bytes, index});
        bytes += name + '\0' + std::string(code_bytes, '\xcc');
        return *this;
    }
    Dump& move(uint64_t from, uint64_t to, uint64_t code_bytes, uint64_t index) {
        put32({1, 64, 0, 0, 7, 7});
        put64({from, from, to, code_bytes, index});
        return *this;
    }
    Dump& other(uint32_t id, uint32_t record_bytes) {
        put32({id, record_bytes, 0, 0});
        if (record_bytes > 16)
            bytes.append(record_bytes - 16, 'x');
        return *this;
    }
    JitDumpText text(size_t text_bytes_max = 1 << 20, size_t records = 100) const {
        return text_of_jit_dump(
            [this](uint64_t at, uint8_t* to, size_t count) {
                size_t there =
                    std::min<uint64_t>(count, bytes.size() - std::min<uint64_t>(at, bytes.size()));
                if (there != 0)
                    std::memcpy(to, bytes.data() + at, there);
                return there;
            },
            text_bytes_max, records);
    }
    std::string damage() const { return text().left_out.text("record"); }
    std::string problem() const {
        const char* why = text().problem;
        return why != nullptr ? why : "";
    }
};

} // namespace

TEST_CASE("a jitdump's functions are lines of a perf-PID.map", "[trace]") {
    Dump dump;
    dump.load(0x1000, 0x20, 1, "Main::run").other(2, 40).load(0x2000, 0x10, 2, "a line\nof two");
    dump.move(0x1000, 0x3000, 0x20, 1).move(0x1000, 0x4000, 0x20, 9).other(77, 16);
    CHECK(dump.text().text == "1000 20 Main::run\n2000 10 a line?of two\n3000 20 Main::run\n");
    CHECK(dump.problem().empty());
    CHECK(dump.damage() ==
          "1 record left out, byte 328: a move of function 9, expected one that was loaded before");
    // What the runtime has ended, nothing follows.
    dump.other(3, 16).load(0x5000, 0x10, 3, "later");
    CHECK(dump.text().text.find("later") == std::string::npos);
    CHECK(Dump(62, 1, 48).text().text.empty());
}

TEST_CASE("every prefix of a jitdump gives the lines of its whole records", "[trace]") {
    Dump dump;
    dump.load(0x1000, 0x20, 1, "one").load(0x2000, 0x20, 2, "two").move(0x1000, 0x3000, 0x20, 1);
    const std::string whole = dump.text().text;
    for (size_t bytes = dump.bytes.size(); bytes-- > 40;) {
        dump.bytes.resize(bytes);
        JitDumpText cut = dump.text();
        CHECK(cut.problem == nullptr);
        CHECK(whole.starts_with(cut.text));
        CHECK(cut.text.size() < whole.size());
    }
    dump.bytes.resize(39);
    CHECK(dump.problem() == "not a jitdump");
}

TEST_CASE("of records of a jitdump that are left out it is said where they are", "[trace]") {
    auto damage = [](Dump dump) { return dump.load(0x1000, 0x20, 1, "good").damage(); };
    CHECK(damage(Dump().load(0x1000, 0, 1, "of no bytes").other(9, 16)).empty());
    CHECK(damage(Dump().other(0, 56)) ==
          "1 record left out, byte 40: a load of 56 bytes, expected at least 57");
    CHECK(damage(Dump().other(1, 63)) ==
          "1 record left out, byte 40: a move of 63 bytes, expected at least 64");
    CHECK(damage(Dump().load(0x1000, 1, 1, " ").other(1, 17)) ==
          "2 records left out, the first: byte 40: a load of no name, expected that of a function");
    CHECK(damage(Dump().load(1, 1, 1, "f").move(1, UINT64_MAX - 7, 8, 1)) ==
          "1 record left out, byte 99: a move of 8 bytes to 0xfffffffffffffff8, expected an end "
          "within 64 bits");
}

TEST_CASE("what is not a jitdump of this machine is refused, and what is too much is cut",
          "[trace]") {
    Dump other_order;
    std::reverse(other_order.bytes.begin(), other_order.bytes.begin() + 4);
    CHECK(other_order.problem() == "a jitdump of another kind of machine");
    CHECK(Dump(183).problem() == "a jitdump of another kind of machine");
    CHECK(Dump(62, 2).problem() == "a jitdump of a version that is not known");
    CHECK(Dump(62, 1, 39).problem() == "a jitdump whose header is too short");
    Dump text;
    text.bytes = std::string(100, 'x');
    CHECK(text.problem() == "not a jitdump");

    Dump dump;
    dump.load(0x1000, 0x20, 1, "one").load(0x2000, 0x20, 2, "two");
    CHECK(dump.text(24).text == "1000 20 one\n2000 20 two\n");
    CHECK(dump.text(24).problem == nullptr);
    CHECK(dump.text(23).text == "1000 20 one\n");
    CHECK(std::string(dump.text(23).problem) == "more bytes than are taken: only its beginning is");
    CHECK(dump.text(99, 2).problem == nullptr);
    CHECK(dump.text(99, 1).text == "1000 20 one\n");
    CHECK(std::string(dump.text(99, 1).problem) ==
          "more records than are taken: only its beginning is");
    // A record without an end would be looked at for ever.
    dump.other(2, 15);
    CHECK(dump.text().text == "1000 20 one\n2000 20 two\n");
    CHECK(dump.problem().empty());
    CHECK(dump.damage() ==
          "1 record left out, byte 224: a record of 15 bytes, expected at least 16; "
          "what follows it, too");
    // A name without an end is that of its record, and a long one is cut.
    Dump unended;
    unended.put32({0, 60, 0, 0, 7, 7});
    unended.put64({0x1000, 0x1000, 16, 1});
    unended.bytes += "full";
    CHECK(unended.text().text == "1000 10 full\n");
    CHECK(Dump().load(0x1000, 16, 1, std::string(5000, 'n')).text().text ==
          "1000 10 " + std::string(4096, 'n') + "\n");
}
