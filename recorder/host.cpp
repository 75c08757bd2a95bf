// SPDX-License-Identifier: Apache-2.0
//
// uname, clocks, /proc/cmdline, /proc/sys/kernel/random/boot_id.
#include "recorder/host.hpp"

#include "base/file.hpp"

#include <cctype>
#include <ctime>
#include <sys/utsname.h>
#include <unistd.h>

namespace daybreak::recorder {

namespace {

uint64_t clock_ns(clockid_t clock) {
    timespec now = {};
    if (::clock_gettime(clock, &now) != 0)
        return 0;
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Returns the file's first line, empty when it cannot be read.
std::string first_line(const char* path) {
    base::Result<base::Bytes> read = base::read_file(path);
    if (!read.ok())
        return {};
    std::string text(reinterpret_cast<const char*>(read.value().data()), read.value().size());
    return text.substr(0, text.find('\n'));
}

/// The 16 bytes of a UUID's text; zeros when it is none.
std::array<uint8_t, 16> parse_uuid(const std::string& text) {
    std::array<uint8_t, 16> uuid{};
    size_t digits = 0;
    for (char c : text) {
        if (c == '-')
            continue;
        if (!std::isxdigit(static_cast<unsigned char>(c)) || digits == 32)
            return {};
        int value = std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : (c | 0x20) - 'a' + 10;
        uuid[digits / 2] = static_cast<uint8_t>(uuid[digits / 2] << 4 | value);
        digits++;
    }
    return digits == 32 ? uuid : std::array<uint8_t, 16>{};
}

} // namespace

formats::HostClocks read_clocks() {
    return {clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_BOOTTIME), clock_ns(CLOCK_REALTIME)};
}

formats::TraceHeader read_host_facts(const std::string& tool_version) {
    formats::TraceHeader header;
    header.tool_version = tool_version;
    header.clocks = read_clocks();
    utsname names = {};
    if (::uname(&names) == 0) {
        header.hostname = names.nodename;
        header.release = names.release;
        header.version = names.version;
        header.machine = names.machine;
    }
    header.boot_uuid = parse_uuid(first_line("/proc/sys/kernel/random/boot_id"));
    header.command_line = first_line("/proc/cmdline");
    long cpus = ::sysconf(_SC_NPROCESSORS_ONLN), pages = ::sysconf(_SC_PHYS_PAGES),
         page_bytes = ::sysconf(_SC_PAGESIZE);
    header.cpus_online = cpus > 0 ? static_cast<uint32_t>(cpus) : 0;
    if (pages > 0 && page_bytes > 0)
        header.memory_bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
    return header;
}

} // namespace daybreak::recorder
