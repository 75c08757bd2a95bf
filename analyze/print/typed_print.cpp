// SPDX-License-Identifier: Apache-2.0
//
// print(): values by their types.
#include "analyze/print/typed_print.hpp"

#include "analyze/print/text.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::analyze {

namespace {

constexpr size_t kIndent = 4;
constexpr size_t kOutputBytesMax = 4 << 20; // a hostile description may repeat without end

class TypedPrinter {
public:
    TypedPrinter(std::string& out, const TypeDescription& description, const AddressNames& names)
        : out_(out), start_(out.size()), nodes_(description.nodes), names_(names) {}

    void value(const TypeNode& node, base::ByteView data, size_t indent);

private:
    bool full() const { return out_.size() - start_ > kOutputBytesMax; }
    void new_line(size_t indent) {
        out_ += '\n';
        out_.append(indent, ' ');
    }
    void scalar(const TypeNode& node, uint64_t bits, size_t bytes);
    void floating(base::ByteView data);
    void character(uint64_t bits);
    void enumeration(const TypeNode& node, uint64_t bits, size_t bytes);
    void text(base::ByteView data);
    void members(const TypeNode& node, base::ByteView data, size_t indent);
    void elements(const TypeNode& node, base::ByteView data, size_t indent);

    std::string& out_;
    size_t start_;
    const std::vector<TypeNode>& nodes_;
    const AddressNames& names_;
};

/// The bytes from `offset` on, at most `bytes`; fewer when the value ends before.
base::ByteView part_of(base::ByteView data, uint64_t offset, uint64_t bytes) {
    offset = std::min<uint64_t>(offset, data.size());
    return data.subspan(offset, std::min<uint64_t>(bytes, data.size() - offset));
}

uint64_t bits_of(base::ByteView data) {
    uint64_t bits = 0;
    for (size_t i = 0; i < data.size() && i < sizeof(bits); i++)
        bits |= static_cast<uint64_t>(data[i]) << (8 * i);
    return bits;
}

int64_t sign_extended(uint64_t bits, size_t bytes) {
    unsigned shift = bytes < 8 ? static_cast<unsigned>(64 - 8 * bytes) : 0;
    return static_cast<int64_t>(bits << shift) >> shift;
}

void append_character(std::string& out, unsigned char c, char quote) {
    static constexpr std::string_view kNamed = "\a\b\t\n\v\f\r", kLetters = "abtnvfr";
    if (size_t at = kNamed.find(static_cast<char>(c)); at != std::string_view::npos) {
        out += '\\';
        out += kLetters[at];
    } else if (c == '\\' || c == static_cast<unsigned char>(quote)) {
        out += '\\';
        out += static_cast<char>(c);
    } else if (c < 0x20 || c >= 0x7f) {
        appendf(out, c == 0 ? "\\%o" : "\\%03o", unsigned{c});
    } else {
        out += static_cast<char>(c);
    }
}

void TypedPrinter::character(uint64_t bits) {
    out_ += '\'';
    append_character(out_, static_cast<unsigned char>(bits), '\'');
    out_ += '\'';
}

void TypedPrinter::enumeration(const TypeNode& node, uint64_t bits, size_t bytes) {
    int64_t value = node.kind == 'e' ? sign_extended(bits, bytes) : static_cast<int64_t>(bits);
    for (const auto& [name, known] : node.enumerators)
        if (known == value) {
            out_ += name;
            return;
        }
    appendf(out_, "%" PRId64, value);
}

void TypedPrinter::scalar(const TypeNode& node, uint64_t bits, size_t bytes) {
    switch (node.kind) {
    case 'c':
        if (bytes == 1)
            return character(bits);
        break;
    case 'e':
    case 'E':
        return enumeration(node, bits, bytes);
    case 'P':
        if (bits != 0) {
            out_ += names_.location(bits);
            return;
        }
        break;
    default:
        break;
    }
    appendf(out_, "%#" PRIx64, bits);
}

void TypedPrinter::floating(base::ByteView data) {
    if (data.size() == sizeof(float)) {
        float value;
        std::memcpy(&value, data.data(), sizeof(value));
        appendf(out_, "%g", static_cast<double>(value));
    } else if (data.size() == sizeof(double)) {
        double value;
        std::memcpy(&value, data.data(), sizeof(value));
        appendf(out_, "%g", value);
    } else {
        appendf(out_, "%#" PRIx64, bits_of(data));
    }
}

void TypedPrinter::text(base::ByteView data) {
    auto end = std::find(data.begin(), data.end(), std::byte{0});
    out_ += '"';
    for (auto at = data.begin(); at != end; ++at)
        append_character(out_, static_cast<unsigned char>(*at), '"');
    out_ += '"';
}

void TypedPrinter::members(const TypeNode& node, base::ByteView data, size_t indent) {
    out_ += '{';
    for (const MemberDescription& member : node.members) {
        if (full())
            break;
        const TypeNode& type = nodes_[member.type];
        new_line(indent + kIndent);
        out_ += type.name;
        if (!member.name.empty())
            out_ += ' ' + member.name;
        if (member.bits == 0) {
            out_ += " = ";
            uint64_t whole = type.kind == 'a' ? type.count * type.bytes : type.bytes;
            value(type, part_of(data, member.offset_bits / 8, whole), indent + kIndent);
            continue;
        }
        appendf(out_, " :%u = ", member.bits);
        unsigned low = static_cast<unsigned>(member.offset_bits % 8);
        base::ByteView bytes = part_of(data, member.offset_bits / 8, (low + member.bits + 7) / 8);
        uint64_t bits = bits_of(bytes) >> low;
        if (bytes.size() > 8) // nine bytes are the most that 64 bits lie in
            bits |= static_cast<uint64_t>(bytes[8]) << (64 - low);
        if (member.bits < 64)
            bits &= (uint64_t{1} << member.bits) - 1;
        scalar(type, bits, 8);
    }
    new_line(indent);
    out_ += '}';
}

void TypedPrinter::elements(const TypeNode& node, base::ByteView data, size_t indent) {
    const TypeNode& element = nodes_[node.element];
    bool is_text = element.kind == 'c' && element.bytes == 1;
    bool is_deep = element.kind == 'S' || element.kind == 'U' || element.kind == 'a';
    out_ += '[';
    if (is_text) {
        out_ += ' ';
        text(data);
    }
    for (uint64_t i = 0; i < node.count && !is_text && !full(); i++) {
        if (i != 0)
            out_ += ',';
        if (is_deep) {
            new_line(indent + kIndent);
            out_ += element.name + ' ';
        } else {
            out_ += ' ';
        }
        value(element, part_of(data, i * node.bytes, node.bytes), indent + kIndent);
    }
    if (is_deep && node.count != 0)
        new_line(indent);
    else
        out_ += ' ';
    out_ += ']';
}

void TypedPrinter::value(const TypeNode& node, base::ByteView data, size_t indent) {
    switch (node.kind) {
    case 'S':
    case 'U':
        return members(node, data, indent);
    case 'a':
        return elements(node, data, indent);
    case 's':
        return text(data);
    case 'f':
        return floating(data);
    case 'x':
        out_ += "{ ... }";
        return;
    default:
        return scalar(node, bits_of(part_of(data, 0, node.bytes)), node.bytes);
    }
}

} // namespace

void print_typed(std::string& out, const TypeDescription& description, base::ByteView data,
                 const AddressNames& names) {
    const TypeNode& root = description.nodes.front();
    out += root.name + ' ';
    TypedPrinter(out, description, names).value(root, data, 0);
}

} // namespace daybreak::analyze
