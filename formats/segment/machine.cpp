// SPDX-License-Identifier: Apache-2.0
//
// Reading the blocks LOG, CRASH and TRIGGERS.
#include "formats/segment/machine.hpp"

#include "base/result.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::formats {

using base::ByteReader;
using base::ByteView;
using base::Result;
using base::strprintf;

namespace {

/// Control characters would move a terminal's cursor.
char printable(char c) {
    bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    return control ? '?' : c;
}

template <size_t N>
std::string line_of(const char (&text)[N]) {
    std::string line(text, strnlen(text, N));
    std::transform(line.begin(), line.end(), line.begin(), printable);
    return line;
}

uint32_t rank_of(enum dbk_crash_state state) {
    return state == DBK_CRASH_PANIC ? 3 : state == DBK_CRASH_RESTART ? 2 : 1;
}

/// Byte by byte, oldest first; NULs lie where nothing was written yet, or where a page was lost.
void append_text(ByteView text, std::string& log) {
    for (std::byte byte : text) {
        char c = static_cast<char>(byte);
        if (c != '\0')
            log += c == '\n' || c == '\t' ? c : printable(c);
    }
}

} // namespace

const CrashInfo* MachineInfo::end() const {
    auto most =
        std::max_element(ends.begin(), ends.end(), [](const CrashInfo& a, const CrashInfo& b) {
            return rank_of(a.state) < rank_of(b.state);
        });
    return most == ends.end() ? nullptr : &*most;
}

std::string MachineInfo::end_text() const {
    const CrashInfo* last = end();
    if (!last)
        return {};
    std::string text = crash_state_text(last->state);
    return last->reason.empty() ? text : text + ": " + last->reason;
}

std::string trigger_kind_text(uint16_t kind) {
    switch (kind) {
#define DBK_TRIGGER_TEXT(name, value, word)                                                        \
    case value:                                                                                    \
        return word;
        DBK_TRIGGER_KINDS(DBK_TRIGGER_TEXT)
#undef DBK_TRIGGER_TEXT
    default:
        return strprintf("kind %u", kind);
    }
}

const char* crash_state_text(enum dbk_crash_state state) {
    switch (state) {
    case DBK_CRASH_OOPS:
        return "oops";
    case DBK_CRASH_PANIC:
        return "panic";
    case DBK_CRASH_RESTART:
        return "shut down in order";
    case DBK_CRASH_NONE:
        break;
    }
    return "none";
}

std::string read_log_block(ByteView untrusted, MachineInfo& machine) {
    ByteReader reader(untrusted, "log");
    Result<dbk_meta_log> head = reader.read<dbk_meta_log>();
    if (!head.ok())
        return head.error().message();
    uint64_t written = head.value().written_bytes, room = head.value().room_bytes;
    ByteView text = untrusted.subspan(sizeof(dbk_meta_log));
    if (room == 0)
        return "it has no room for text";
    machine.has_log = true;
    machine.log.clear();
    machine.log_bytes_before = written > room ? written - room : 0;
    uint64_t start = written > room ? written % room : 0;
    uint64_t have = std::min<uint64_t>(text.size(), room);
    if (start < have)
        append_text(text.subspan(start, std::min(written, have) - start), machine.log);
    append_text(text.first(std::min(start, have)), machine.log);
    if (written > room) {
        size_t newline = machine.log.find('\n');
        machine.log.erase(0, newline == std::string::npos ? 0 : newline + 1);
    }
    if (room > text.size())
        return strprintf("room for %" PRIu64 " bytes of text, %zu are there", room, text.size());
    return "";
}

std::string read_crash_block(ByteView untrusted, MachineInfo& machine) {
    ByteReader reader(untrusted, "crash");
    std::string wrong;
    machine.ends.clear();
    for (uint32_t state = 1; state <= DBK_CRASH_ENTRIES; state++) {
        Result<dbk_meta_crash> read = reader.read<dbk_meta_crash>();
        if (!read.ok())
            return read.error().message();
        const dbk_meta_crash& entry = read.value();
        if (entry.state != state) {
            if (entry.state != DBK_CRASH_NONE)
                wrong = strprintf("entry %u says that it is of state %u", state, entry.state);
            continue;
        }
        CrashInfo info;
        info.state = static_cast<enum dbk_crash_state>(state);
        info.cpu = entry.cpu;
        info.ticks = entry.ticks;
        info.mono_ns = entry.mono_ns;
        info.wall_ns = entry.wall_ns;
        info.sealed = entry.sealed;
        info.count = entry.count;
        info.reason = line_of(entry.reason);
        machine.ends.push_back(std::move(info));
    }
    return wrong;
}

std::string read_triggers_block(ByteView untrusted, MachineInfo& machine) {
    ByteReader reader(untrusted, "triggers");
    Result<dbk_meta_triggers> head = reader.read<dbk_meta_triggers>();
    if (!head.ok())
        return head.error().message();
    uint64_t entered = head.value().entered, slots = head.value().slots;
    machine.triggers.clear();
    machine.triggers_entered = entered;
    std::string wrong;
    uint64_t slot = 0;
    for (; slot < slots && reader.remaining() >= sizeof(dbk_meta_trigger); slot++) {
        dbk_meta_trigger entry = reader.read<dbk_meta_trigger>().value();
        if (entry.sequence == 0)
            continue;
        if ((entry.sequence - 1) % slots != slot) {
            wrong = strprintf("slot %" PRIu64 " holds sequence %" PRIu64, slot, entry.sequence);
            continue;
        }
        if (entry.sequence > entered)
            continue; // entered while the copy was made; the next copy has it
        TriggerInfo info;
        info.sequence = entry.sequence;
        info.ticks = entry.ticks;
        info.mono_ns = entry.mono_ns;
        info.wall_ns = entry.wall_ns;
        info.cpu = entry.cpu;
        info.ring_id = entry.ring_id;
        info.kind = entry.kind;
        info.epid = entry.epid;
        info.suppressed = entry.suppressed;
        info.name = line_of(entry.name);
        machine.triggers.push_back(std::move(info));
    }
    std::sort(machine.triggers.begin(), machine.triggers.end(),
              [](const TriggerInfo& a, const TriggerInfo& b) { return a.sequence < b.sequence; });
    if (slot < slots)
        return strprintf("%" PRIu64 " slots, %" PRIu64 " are there", slots, slot);
    return wrong;
}

uint64_t machine_block_knowledge(uint16_t kind, ByteView untrusted) {
    MachineInfo machine;
    if (kind == DBK_META_LOG) {
        Result<dbk_meta_log> head = ByteReader(untrusted).read<dbk_meta_log>();
        return head.ok() ? head.value().written_bytes : 0;
    }
    if (kind == DBK_META_CRASH) {
        read_crash_block(untrusted, machine);
        uint64_t knowledge = 0;
        for (const CrashInfo& end : machine.ends)
            knowledge += (uint64_t{1} << 40) + end.sealed + end.count;
        return knowledge;
    }
    read_triggers_block(untrusted, machine);
    // An entry weighs more than all that it suppresses.
    uint64_t suppressed = 0;
    for (const TriggerInfo& trigger : machine.triggers)
        suppressed += trigger.suppressed;
    return (std::min<uint64_t>(machine.triggers_entered, UINT32_MAX) << 32) +
           std::min<uint64_t>(suppressed, UINT32_MAX);
}

} // namespace daybreak::formats
