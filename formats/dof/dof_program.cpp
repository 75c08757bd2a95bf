// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/dof_program.hpp"

namespace daybreak::formats {

std::string Difo::string_at(uint32_t offset) const {
    if (offset >= strings.size())
        return "";
    size_t end = strings.find('\0', offset);
    return strings.substr(offset, end == std::string::npos ? end : end - offset);
}

std::string Difo::variable_name(uint32_t id, uint8_t scope) const {
    for (const DifVariable& variable : variables)
        if (variable.id == id && variable.scope == scope)
            return variable.name;
    return "";
}

std::string DofProbeName::text() const {
    return provider + ":" + module + ":" + function + ":" + name;
}

std::string DofProgram::aggregation_name(uint64_t id) const {
    return id >= 1 && id <= aggregation_names.size() ? aggregation_names[id - 1] : "";
}

} // namespace daybreak::formats
