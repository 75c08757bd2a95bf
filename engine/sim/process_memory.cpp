// SPDX-License-Identifier: Apache-2.0
//
// Memory of a real process, for a simulated machine that looks at one.
#include "engine/sim/process_memory.hpp"

#include "base/page.hpp"

#include <algorithm>
#include <cstring>
#include <sys/uio.h>

namespace daybreak::sim {

using base::kPageBytes;

bool load_process(uint32_t pid, void* to, uint64_t address, size_t bytes) {
    iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};
    ssize_t got = ::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0);
    return got >= 0 && static_cast<size_t>(got) == bytes;
}

int32_t load_process_string(uint32_t pid, char* to, uint64_t address, uint32_t bytes) {
    // Page by page: the string may end right before memory that is not there.
    uint32_t done = 0;
    while (done < bytes) {
        uint64_t in_page = kPageBytes - (address + done) % kPageBytes;
        auto piece = static_cast<uint32_t>(std::min<uint64_t>(in_page, bytes - done));
        if (!load_process(pid, to + done, address + done, piece))
            return -1;
        if (const void* end = std::memchr(to + done, '\0', piece))
            return static_cast<int32_t>(static_cast<const char*>(end) - to);
        done += piece;
    }
    to[bytes - 1] = '\0';
    return static_cast<int32_t>(bytes - 1);
}

} // namespace daybreak::sim
