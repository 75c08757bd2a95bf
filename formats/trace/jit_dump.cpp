// SPDX-License-Identifier: Apache-2.0
//
// Records of jit-PID.dump.
#include "formats/trace/jit_dump.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <map>

namespace daybreak::formats {

namespace {

constexpr uint32_t kMagic = 0x4a695444, kOtherOrder = 0x4454694a; // "JiTD"
constexpr uint32_t kVersion = 1, kMachine = 62;                   // EM_X86_64
constexpr size_t kHeaderBytes = 40, kRecordHeaderBytes = 16, kNameBytesMax = 4096;
constexpr uint32_t kLoad = 0, kMove = 1, kClose = 3;
constexpr size_t kLoadBytes = 56, kMoveBytes = 64; // what comes before the name; the whole record

template <typename Number>
Number number_at(const uint8_t* bytes) {
    Number number;
    std::memcpy(&number, bytes, sizeof(number));
    return number;
}

class Lines {
public:
    explicit Lines(size_t bytes_max) : bytes_max_(bytes_max) {}

    /// Adds a function; returns whether there was room.
    bool add(uint64_t address, uint64_t bytes, uint64_t index, std::string name) {
        for (char& letter : name)
            if (static_cast<unsigned char>(letter) < ' ')
                letter = '?';
        std::string line = base::strprintf("%" PRIx64 " %" PRIx64 " ", address, bytes);
        if (line.size() + name.size() + 1 > bytes_max_ - text.size())
            return false;
        names_[index] = {text.size() + line.size(), name.size()};
        text += line + name + "\n";
        return true;
    }
    /// Returns the name that the function of that number had; "": it is not known.
    std::string name(uint64_t index) const {
        auto known = names_.find(index);
        return known == names_.end() ? "" : text.substr(known->second.first, known->second.second);
    }

    std::string text;
    base::LeftOut left_out;

private:
    std::map<uint64_t, std::pair<size_t, size_t>> names_; // where in the text, by number
    size_t bytes_max_;
};

const char* why_not(const uint8_t* header, size_t bytes) {
    if (bytes < kHeaderBytes ||
        (number_at<uint32_t>(header) != kMagic && number_at<uint32_t>(header) != kOtherOrder))
        return "not a jitdump";
    if (number_at<uint32_t>(header) == kOtherOrder || number_at<uint32_t>(header + 12) != kMachine)
        return "a jitdump of another kind of machine";
    if (number_at<uint32_t>(header + 4) != kVersion)
        return "a jitdump of a version that is not known";
    if (number_at<uint32_t>(header + 8) < kHeaderBytes)
        return "a jitdump whose header is too short";
    return nullptr;
}

/// Adds what a record at offset `at` says, of which `bytes` are here; returns whether there was
/// room.
bool add_record(uint64_t at, const uint8_t* record, size_t bytes, Lines& lines) {
    auto field = [record](size_t offset) { return number_at<uint64_t>(record + offset); };
    const auto id = number_at<uint32_t>(record);
    const bool is_load = id == kLoad;
    if (!is_load && id != kMove)
        return true;
    auto leave_out = [&](const std::string& why) {
        lines.left_out.add(
            base::strprintf("byte %" PRIu64 ": a %s ", at, is_load ? "load" : "move") + why);
        return true;
    };
    const size_t least = is_load ? kLoadBytes + 1 : kMoveBytes;
    if (bytes < least)
        return leave_out(base::strprintf("of %zu bytes, expected at least %zu", bytes, least));
    const uint64_t address = field(is_load ? 32 : 40), code_bytes = field(is_load ? 40 : 48),
                   index = field(is_load ? 48 : 56);
    const char* begin = reinterpret_cast<const char*>(record + kLoadBytes);
    std::string name =
        is_load ? std::string(begin, ::strnlen(begin, bytes - kLoadBytes)) : lines.name(index);
    if (name.find_first_not_of(' ') == std::string::npos)
        return leave_out(is_load ? "of no name, expected that of a function"
                                 : base::strprintf("of function %" PRIu64
                                                   ", expected one that was loaded before",
                                                   index));
    if (address + code_bytes < address)
        return leave_out(base::strprintf("of %" PRIu64 " bytes to 0x%" PRIx64
                                         ", expected an end within 64 bits",
                                         code_bytes, address));
    return lines.add(address, code_bytes, index, std::move(name));
}

} // namespace

JitDumpText text_of_jit_dump(const JitDumpRead& read, size_t text_bytes_max, size_t& records_left) {
    std::array<uint8_t, kLoadBytes + kNameBytesMax> record;
    if (const char* why = why_not(record.data(), read(0, record.data(), kHeaderBytes)))
        return {"", why};
    Lines lines(text_bytes_max);
    auto ended = [&lines](const char* problem = nullptr) {
        return JitDumpText{std::move(lines.text), problem, std::move(lines.left_out)};
    };
    uint64_t at = number_at<uint32_t>(record.data() + 8);
    for (;;) {
        size_t bytes = read(at, record.data(), record.size());
        if (bytes < kRecordHeaderBytes || number_at<uint32_t>(record.data()) == kClose)
            return ended();
        const auto record_bytes = number_at<uint32_t>(record.data() + 4);
        if (record_bytes < kRecordHeaderBytes) {
            lines.left_out.add(
                base::strprintf("byte %" PRIu64 ": a record of %" PRIu32
                                " bytes, expected at least %zu; what follows it, too",
                                at, record_bytes, kRecordHeaderBytes));
            return ended();
        }
        if (records_left == 0)
            return ended("more records than are taken: only its beginning is");
        if (bytes < std::min<size_t>(record_bytes, record.size()))
            return ended();
        if (!add_record(at, record.data(), std::min<size_t>(bytes, record_bytes), lines))
            return ended("more bytes than are taken: only its beginning is");
        records_left--;
        at += record_bytes;
    }
}

} // namespace daybreak::formats
