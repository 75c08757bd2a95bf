// SPDX-License-Identifier: Apache-2.0
//
// A type as text.
#include "compiler/sema/describe_type.hpp"

#include "base/result.hpp"

#include <cinttypes>

namespace daybreak::compiler {

namespace {

constexpr unsigned kDepthMax = 24;          // formats/abi/dof.md: a reader goes no deeper than 32
constexpr size_t kTextBytesMax = 512 << 10; // struct task_struct takes some 100 KiB

class Describer {
public:
    explicit Describer(TypeTable& types) : types_(types) {}

    void type(TypeId id, unsigned depth) {
        text_ += types_.name(types_.unqualified(id));
        text_ += ';';
        body(id, depth);
    }
    std::string take() { return std::move(text_); }

private:
    void number(const char* kind, uint64_t value) {
        text_ += base::strprintf("%s%" PRIu64, kind, value);
    }
    void body(TypeId id, unsigned depth);
    void enumeration(const Type& type);
    void members(const Type& type, unsigned depth);

    TypeTable& types_;
    std::string text_;
};

void Describer::enumeration(const Type& type) {
    number(types_.is_signed(type.target) || type.is_signed ? "e" : "E", type.bytes);
    text_ += '(';
    for (const TypeEnumerator& one : type.enumerators)
        text_ += base::strprintf("%s=%" PRId64 ",", one.name.c_str(), one.value);
    text_ += ')';
}

void Describer::members(const Type& type, unsigned depth) {
    number(type.kind == TypeKind::struct_ ? "S" : "U", type.bytes);
    text_ += '{';
    // By index: describing one may convert types and move what a reference points to.
    for (const TypeMember& member : type.members) {
        text_ += base::strprintf("%" PRIu64, member.offset_bits);
        if (member.bitfield_bits != 0)
            text_ += base::strprintf(":%u", member.bitfield_bits);
        text_ += ' ' + member.name + ';';
        this->type(member.type, depth + 1);
        text_ += ';'; // a number may be the end of it, and of the next member the beginning
    }
    text_ += '}';
}

void Describer::body(TypeId id, unsigned depth) {
    const Type& type = types_.resolved(types_.complete(types_.resolve(id)));
    uint64_t bytes = types_.size_of(id).value_or(type.bytes);
    if (depth > kDepthMax || text_.size() > kTextBytesMax)
        return number("x", bytes);
    switch (type.kind) {
    case TypeKind::integer:
        return number(type.is_char ? "c" : type.is_signed ? "i" : "u", bytes);
    case TypeKind::floating:
        return number("f", bytes);
    case TypeKind::pointer:
        return number(types_.is_function(type.target) ? "P" : "p", bytes);
    case TypeKind::enum_:
        return enumeration(type);
    case TypeKind::string:
        return number("s", bytes);
    case TypeKind::array:
        number("a", type.count);
        number(",", types_.size_of(type.target).value_or(0));
        text_ += '[';
        this->type(type.target, depth + 1);
        text_ += ']';
        return;
    case TypeKind::struct_:
    case TypeKind::union_:
        return members(type, depth);
    default:
        return number("x", bytes);
    }
}

} // namespace

std::string describe_type(TypeTable& types, TypeId type) {
    Describer describer(types);
    describer.type(type, 0);
    return describer.take();
}

} // namespace daybreak::compiler
