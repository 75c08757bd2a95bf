// SPDX-License-Identifier: Apache-2.0
//
// Names of tokens, addresses of offsets.
#include "formats/kallsyms/kallsyms.hpp"

#include <algorithm>

namespace daybreak::formats {

using base::ErrorCode;
using base::errorf;

namespace {

/// KSYM_NAME_LEN is 512 since 6.1.
constexpr size_t kNameBytesMax = 1024;
/// Of all names together, unpacked: Debian's kernels have 4 MB and 8 MB.
constexpr size_t kTextBytesMax = 64 << 20;

} // namespace

base::Result<std::vector<std::string>> unpack_kallsyms(base::ByteView untrusted_names,
                                                       const KallsymsTokens& tokens,
                                                       size_t count) {
    // In a trace a newline ends a name: one inside would give all that follow a wrong address.
    std::array<bool, 256> has_blank{};
    std::ranges::transform(tokens, has_blank.begin(), [](std::string_view text) {
        return std::ranges::any_of(text, [](char c) { return c >= 0 && c <= ' '; });
    });
    std::vector<std::string> names;
    size_t text_bytes = 0;
    for (size_t at = 0; names.size() < count;) {
        size_t length = kallsyms_length(untrusted_names, at);
        if (length == 0 || length > untrusted_names.size() - at)
            return errorf(ErrorCode::corrupt, "name %zu of %zu does not end", names.size(), count);
        std::string name;
        for (; length != 0; length--) {
            auto token = std::to_integer<size_t>(untrusted_names[at++]);
            name += tokens[token];
            if (has_blank[token] || name.size() > kNameBytesMax)
                return errorf(ErrorCode::corrupt, "name %zu of %zu is none", names.size(), count);
        }
        text_bytes += name.size();
        if (name.empty() || text_bytes > kTextBytesMax)
            return errorf(name.empty() ? ErrorCode::corrupt : ErrorCode::limit,
                          "names are empty, or take more than %zu MiB", kTextBytesMax >> 20);
        names.push_back(std::move(name));
    }
    return names;
}

std::optional<uint64_t> kallsyms_address(KallsymsOffsets way, uint64_t base, int32_t offset) {
    if (way == KallsymsOffsets::relative)
        return base + static_cast<uint32_t>(offset);
    if (offset >= 0)
        return std::nullopt;
    return base - 1 - static_cast<uint64_t>(int64_t{offset});
}

} // namespace daybreak::formats
