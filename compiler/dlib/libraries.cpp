// SPDX-License-Identifier: Apache-2.0
//
// Which library defines what, and which comes before which.
#include "compiler/dlib/libraries.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace daybreak::compiler {

namespace {

enum class Kind : unsigned char { other, letter, blank, special };

/// What each character begins: all libraries are read for one name, so a character takes one look.
constexpr auto kKinds = [] {
    std::array<Kind, 256> kinds = {};
    for (unsigned c = 0; c < kinds.size(); c++)
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
            kinds[c] = Kind::letter;
    for (unsigned char c : {' ', '\t', '\n', '\r'})
        kinds[c] = Kind::blank;
    for (unsigned char c : {'/', '#', '"', '\''})
        kinds[c] = Kind::special;
    return kinds;
}();

Kind kind_of(char c) {
    return kKinds[static_cast<unsigned char>(c)];
}

bool is_letter(char c) {
    return kind_of(c) == Kind::letter;
}

/// Words and punctuation of a D text; comments, strings and control lines are left out.
class Words {
public:
    explicit Words(std::string_view text) : text_(text) {}

    /// Returns the next word or single character; empty at the end.
    std::string_view next() {
        skip();
        if (at_ >= text_.size())
            return {};
        size_t begin = at_++;
        if (is_letter(text_[begin]))
            while (at_ < text_.size() && is_letter(text_[at_]))
                at_++;
        return text_.substr(begin, at_ - begin);
    }

private:
    void skip() {
        for (; at_ < text_.size(); at_++) {
            char c = text_[at_];
            Kind kind = kind_of(c);
            if (kind == Kind::blank)
                continue;
            if (kind != Kind::special)
                return;
            if (text_.substr(at_, 2) == "/*")
                at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 1) + 1;
            else if (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n'))
                at_ = std::min(text_.find('\n', at_), text_.size());
            else if (c == '"' || c == '\'')
                skip_quoted(c);
            else
                return;
        }
    }

    void skip_quoted(char quote) {
        for (at_++; at_ < text_.size() && text_[at_] != quote; at_++)
            if (text_[at_] == '\\')
                at_++;
    }

    std::string_view text_;
    size_t at_ = 0;
};

} // namespace

std::vector<std::string_view> defined_names(std::string_view text) {
    std::vector<std::string_view> names;
    Words words(text);
    std::string_view word, name, tag;
    unsigned depth = 0;
    // An item's name is the last word before its body, index, value or end; a tag is a name too.
    bool named = false, is_translator = false;
    for (std::string_view before; !(word = words.next()).empty(); before = word) {
        if (depth == 0 && before.empty())
            is_translator = word == "translator";
        if (word == "{") {
            if (depth++ == 0 && !name.empty() && !is_translator)
                names.push_back(name);
            name = {};
        } else if (word == "}") {
            depth -= depth > 0;
        } else if (depth == 0 && word == ";") {
            if (!named && !name.empty() && !is_translator)
                names.push_back(name);
            name = word = {};
            named = false;
        } else if (depth == 0 && (word == "=" || word == "[")) {
            if (!named && !name.empty())
                names.push_back(name);
            named = true;
        } else if (depth == 0 && is_letter(word[0]) && !named) {
            name = word;
        }
    }
    return names;
}

std::vector<std::string> library_dependencies(std::string_view text) {
    std::vector<std::string> found;
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        std::vector<std::string_view> words;
        for (size_t at = 0; at < line.size();) {
            size_t stop = std::min(line.find_first_of(" \t\r", at), line.size());
            if (stop > at)
                words.push_back(line.substr(at, stop - at));
            at = stop + 1;
        }
        if (!words.empty() && words[0] == "#" && words.size() > 1 && words[1] == "pragma")
            words.erase(words.begin());
        else if (words.empty() || words[0] != "#pragma")
            continue;
        if (words.size() >= 5 && words[1] == "D" && words[2] == "depends_on" &&
            words[3] == "library")
            found.emplace_back(words[4]);
    }
    return found;
}

namespace {

enum class Mark : unsigned char { none, open, done };

class Sorter {
public:
    explicit Sorter(const std::vector<Library>& libraries)
        : libraries_(libraries), marks_(libraries.size()) {}

    LibraryOrder run() {
        for (size_t i = 0; i < libraries_.size() && result_.error.empty(); i++)
            visit(i);
        return std::move(result_);
    }

private:
    // Recursion is as deep as the longest chain of libraries, each a file of its own.
    void visit(size_t index) {
        if (marks_[index] == Mark::done || !result_.error.empty())
            return;
        marks_[index] = Mark::open;
        for (const std::string& name : library_dependencies(libraries_[index].text)) {
            auto same = [&](const Library& library) { return library.name == name; };
            auto own = std::find_if(libraries_.begin(), libraries_.end(), same);
            if (own == libraries_.end()) {
                std::span<const Library> system = system_libraries();
                if (std::none_of(system.begin(), system.end(), same))
                    return fail("library " + libraries_[index].path + " depends on " + name +
                                ", which is not there");
                continue;
            }
            auto next = static_cast<size_t>(own - libraries_.begin());
            if (marks_[next] == Mark::open)
                return fail("Cyclic dependency detected: " + libraries_[index].path + " => " +
                            own->path);
            visit(next);
            if (!result_.error.empty())
                return;
        }
        marks_[index] = Mark::done;
        result_.order.push_back(index);
    }

    void fail(std::string error) { result_.error = std::move(error); }

    const std::vector<Library>& libraries_;
    std::vector<Mark> marks_;
    LibraryOrder result_;
};

} // namespace

LibraryOrder load_order(const std::vector<Library>& libraries) {
    return Sorter(libraries).run();
}

} // namespace daybreak::compiler
