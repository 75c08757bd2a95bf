// SPDX-License-Identifier: Apache-2.0
//
// Names and meanings of the error tags.
#include "compiler/diagnostics/tags.hpp"

#include <iterator>

namespace daybreak::compiler {

namespace {

#define DBK_TAG_NAME(tag, text) #tag,
constexpr std::string_view kTagNames[] = {DBK_ERROR_TAGS(DBK_TAG_NAME)};
#undef DBK_TAG_NAME
#define DBK_TAG_MEANING(tag, text) text,
constexpr std::string_view kMeanings[] = {DBK_ERROR_TAGS(DBK_TAG_MEANING)};
#undef DBK_TAG_MEANING

} // namespace

std::string_view tag_name(Tag tag) {
    auto index = static_cast<size_t>(tag);
    return index < std::size(kTagNames) ? kTagNames[index] : "D_UNKNOWN";
}

std::string_view tag_meaning(Tag tag) {
    auto index = static_cast<size_t>(tag);
    return index < std::size(kMeanings) ? kMeanings[index] : "";
}

} // namespace daybreak::compiler
