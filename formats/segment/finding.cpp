// SPDX-License-Identifier: Apache-2.0
//
// The words of findings, and the list that cannot be flooded.
#include "formats/segment/finding.hpp"

#include <iterator>

namespace daybreak::formats {

namespace {

struct KindFacts {
    const char* name;
    bool loss;
    const char* text;
};

constexpr KindFacts kKinds[] = {
#define DBK_FINDING_FACTS(name, loss, text) {#name, loss, text},
    DBK_FINDING_KINDS(DBK_FINDING_FACTS)
#undef DBK_FINDING_FACTS
};

const KindFacts& facts_of(FindingKind kind) {
    DBK_ASSERT(static_cast<size_t>(kind) < std::size(kKinds));
    return kKinds[static_cast<size_t>(kind)];
}

} // namespace

const char* finding_name(FindingKind kind) {
    return facts_of(kind).name;
}
const char* finding_text(FindingKind kind) {
    return facts_of(kind).text;
}
bool finding_is_loss(FindingKind kind) {
    return facts_of(kind).loss;
}

std::optional<FindingKind> finding_kind(std::string_view name) {
    for (size_t i = 0; i < std::size(kKinds); i++)
        if (name == kKinds[i].name)
            return static_cast<FindingKind>(i);
    return std::nullopt;
}

void Findings::add(FindingKind kind, std::string where, std::string text) {
    count_++;
    any_loss_ |= finding_is_loss(kind);
    if (list_.size() < kFindingsMax)
        list_.push_back({kind, std::move(where), std::move(text)});
}

void Findings::append(const Findings& other) {
    for (const Finding& finding : other.list_)
        add(finding.kind, finding.where, finding.text);
    add_unlisted(other.count_ - other.list_.size(), other.any_loss_);
}

void Findings::add_unlisted(uint64_t count, bool any_loss) {
    count_ += count;
    any_loss_ |= any_loss;
}

} // namespace daybreak::formats
