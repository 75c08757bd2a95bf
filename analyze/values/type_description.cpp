// SPDX-License-Identifier: Apache-2.0
//
// TypeDescription: reading it.
#include "analyze/values/type_description.hpp"

#include <charconv>

namespace daybreak::analyze {

namespace {

constexpr unsigned kDepthMax = 32;       // the compiler goes down 24
constexpr size_t kNodesMax = 100'000;    // struct task_struct has some 2 000
constexpr uint64_t kBytesMax = 16 << 20; // of one object

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    base::Result<TypeDescription> parse() {
        if (type(0) && at_ == text_.size())
            return std::move(description_);
        return base::errorf(base::ErrorCode::invalid,
                            "the type of a printed value cannot be read at byte %zu of its "
                            "description",
                            at_);
    }

private:
    bool take(char c) {
        if (at_ >= text_.size() || text_[at_] != c)
            return false;
        at_++;
        return true;
    }
    template <typename Number>
    bool number(Number& value) {
        auto [end, failure] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (failure != std::errc{})
            return false;
        at_ = static_cast<size_t>(end - text_.data());
        return true;
    }
    /// Everything up to `end`, which is taken too.
    bool until(char end, std::string& name) {
        size_t found = text_.find(end, at_);
        if (found == std::string_view::npos)
            return false;
        name = text_.substr(at_, found - at_);
        at_ = found + 1;
        return true;
    }
    bool type(unsigned depth, size_t* index_ret = nullptr);
    bool body(TypeNode& node, unsigned depth);
    bool members(TypeNode& node, unsigned depth);
    bool enumerators(TypeNode& node);
    bool array(TypeNode& node, unsigned depth);

    std::string_view text_;
    size_t at_ = 0;
    TypeDescription description_;
};

bool Parser::members(TypeNode& node, unsigned depth) {
    if (!take('{'))
        return false;
    while (!take('}')) {
        MemberDescription member;
        if (!number(member.offset_bits) || member.offset_bits > kBytesMax * 8)
            return false;
        if (take(':') && (!number(member.bits) || member.bits == 0 || member.bits > 64))
            return false;
        if (!take(' ') || !until(';', member.name) || !type(depth + 1, &member.type) ||
            !take(';'))
            return false;
        node.members.push_back(std::move(member));
    }
    return true;
}

bool Parser::enumerators(TypeNode& node) {
    if (!take('('))
        return false;
    while (!take(')')) {
        std::pair<std::string, int64_t> one;
        if (!until('=', one.first) || !number(one.second) || !take(','))
            return false;
        node.enumerators.push_back(std::move(one));
    }
    return true;
}

bool Parser::array(TypeNode& node, unsigned depth) {
    node.count = node.bytes;
    return take(',') && number(node.bytes) && node.count <= kBytesMax && node.bytes <= kBytesMax &&
           take('[') && type(depth + 1, &node.element) && take(']');
}

bool Parser::body(TypeNode& node, unsigned depth) {
    if (at_ >= text_.size())
        return false;
    node.kind = text_[at_++];
    if (!number(node.bytes) || node.bytes > kBytesMax)
        return false;
    switch (node.kind) {
    case 'i':
    case 'u':
    case 'c':
    case 'f':
    case 'p':
    case 'P':
    case 's':
    case 'x':
        return true;
    case 'e':
    case 'E':
        return enumerators(node);
    case 'a':
        return array(node, depth);
    case 'S':
    case 'U':
        return members(node, depth);
    default:
        at_--;
        return false;
    }
}

bool Parser::type(unsigned depth, size_t* index_ret) {
    if (depth > kDepthMax || description_.nodes.size() >= kNodesMax)
        return false;
    size_t index = description_.nodes.size();
    description_.nodes.emplace_back();
    if (index_ret)
        *index_ret = index;
    // Built aside: the nodes after it move the vector.
    TypeNode node;
    if (!until(';', node.name) || !body(node, depth))
        return false;
    description_.nodes[index] = std::move(node);
    return true;
}

} // namespace

base::Result<TypeDescription> parse_type_description(std::string_view text) {
    return Parser(text).parse();
}

} // namespace daybreak::analyze
