// SPDX-License-Identifier: Apache-2.0
//
// What dtrace says on standard error.
#include "cmd/dtrace/messages.hpp"

namespace daybreak::cmd {

std::string system_reason(const std::string& path, const base::Error& error) {
    // "cannot open x.d: No such file or directory" -> what is after the name.
    std::string text = error.message();
    size_t at = text.rfind(path + ": ");
    return at == std::string::npos ? text : text.substr(at + path.size() + 2);
}

} // namespace daybreak::cmd
