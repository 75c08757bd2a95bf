// SPDX-License-Identifier: Apache-2.0
//
// The protocol of sd_notify(3); libsystemd has no static form.
#include "cmd/notify.hpp"

#include "base/file.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace daybreak::cmd {

bool notify_manager(const std::string& assignments) {
    const char* path = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    size_t length = path ? std::strlen(path) : 0;
    // A path, or a name in the abstract namespace, where '@' stands for the NUL.
    if (length < 2 || length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
        return false;
    std::memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    base::ScopedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    return socket.valid() && ::sendto(socket.get(), assignments.data(), assignments.size(),
                                      MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                                      size) == static_cast<ssize_t>(assignments.size());
}

} // namespace daybreak::cmd
