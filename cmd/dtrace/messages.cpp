// SPDX-License-Identifier: Apache-2.0
//
// What dtrace says on standard error.
#include "cmd/dtrace/messages.hpp"

#include <sstream>

namespace daybreak::cmd {

std::string system_reason(const std::string& path, const base::Error& error) {
    // "cannot open x.d: No such file or directory" -> what is after the name.
    std::string text = error.message();
    size_t at = text.rfind(path + ": ");
    return at == std::string::npos ? text : text.substr(at + path.size() + 2);
}

void say_remarks(const std::string& name, const live::Session& session, bool quiet) {
    std::istringstream remarks(session.remark());
    for (std::string remark; std::getline(remarks, remark);)
        if (!quiet || remark.find(" lowered to ") == std::string::npos)
            say(name, remark);
}

} // namespace daybreak::cmd
