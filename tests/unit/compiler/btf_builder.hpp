// SPDX-License-Identifier: Apache-2.0
//
// Small BTF for tests, written type by type.
#pragma once

#include "base/byte_reader.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace daybreak::compiler::test {

class BtfBuilder {
public:
    struct Entry {
        std::string name;
        uint32_t first; ///< member, parameter: type; enumerator: value
        uint32_t second = 0;
    };

    /// Builds split BTF when `first_type` is above 1: numbers and string offsets go on from there.
    explicit BtfBuilder(uint32_t first_type = 1, uint32_t first_string = 0)
        : next_(first_type), string_begin_(first_string) {
        if (first_string == 0)
            strings_.push_back('\0');
    }

    uint32_t integer(const std::string& name, uint32_t bytes, uint32_t encoding) {
        start(name, 1, 0, false, bytes);
        word(encoding << 24 | bytes * 8);
        return next_++;
    }
    /// pointer 2, typedef 8, volatile 9, const 10, restrict 11, function 12, type tag 18
    uint32_t reference(uint32_t kind, const std::string& name, uint32_t type) {
        start(name, kind, 0, false, type);
        return next_++;
    }
    uint32_t array(uint32_t element, uint32_t index, uint32_t count) {
        start("", 3, 0, false, 0);
        word(element);
        word(index);
        word(count);
        return next_++;
    }
    /// struct 4 or union 5; an entry's second is its offset word
    uint32_t structure(uint32_t kind, const std::string& name, uint32_t bytes,
                       const std::vector<Entry>& members, bool bitfields = false) {
        start(name, kind, static_cast<uint32_t>(members.size()), bitfields, bytes);
        for (const Entry& member : members) {
            word(string(member.name));
            word(member.first);
            word(member.second);
        }
        return next_++;
    }
    uint32_t enumeration(const std::string& name, const std::vector<Entry>& entries) {
        start(name, 6, static_cast<uint32_t>(entries.size()), true, 4);
        for (const Entry& entry : entries) {
            word(string(entry.name));
            word(entry.first);
        }
        return next_++;
    }
    /// An entry's first and second are the low and high word of the value.
    uint32_t enumeration64(const std::string& name, const std::vector<Entry>& entries) {
        start(name, 19, static_cast<uint32_t>(entries.size()), false, 8);
        for (const Entry& entry : entries) {
            word(string(entry.name));
            word(entry.first);
            word(entry.second);
        }
        return next_++;
    }
    uint32_t forward(const std::string& name, bool is_union) {
        start(name, 7, 0, is_union, 0);
        return next_++;
    }
    uint32_t prototype(uint32_t result, const std::vector<Entry>& parameters) {
        start("", 13, static_cast<uint32_t>(parameters.size()), false, result);
        for (const Entry& parameter : parameters) {
            word(string(parameter.name));
            word(parameter.first);
        }
        return next_++;
    }
    uint32_t variable(const std::string& name, uint32_t type) {
        start(name, 14, 0, false, type);
        word(1);
        return next_++;
    }
    uint32_t data_section(const std::string& name, const std::vector<Entry>& entries) {
        start(name, 15, static_cast<uint32_t>(entries.size()), false, 8);
        for (const Entry& entry : entries) {
            word(entry.first);
            word(0);
            word(8);
        }
        return next_++;
    }
    uint32_t floating(const std::string& name, uint32_t bytes) {
        start(name, 16, 0, false, bytes);
        return next_++;
    }
    uint32_t declaration_tag(const std::string& name, uint32_t type) {
        start(name, 17, 0, false, type);
        word(0xffffffff);
        return next_++;
    }

    uint32_t type_end() const { return next_; }
    uint32_t string_end() const { return string_begin_ + static_cast<uint32_t>(strings_.size()); }

    base::Bytes bytes() const {
        auto types_bytes = static_cast<uint32_t>(types_.size());
        auto strings_bytes = static_cast<uint32_t>(strings_.size());
        const uint32_t header[6] = {0x0001eb9f, 24, 0, types_bytes, types_bytes, strings_bytes};
        base::Bytes all(sizeof(header));
        std::memcpy(all.data(), header, sizeof(header));
        all.insert(all.end(), types_.begin(), types_.end());
        auto strings = base::as_bytes(strings_);
        all.insert(all.end(), strings.begin(), strings.end());
        return all;
    }

private:
    void word(uint32_t value) {
        const auto* start = reinterpret_cast<const std::byte*>(&value);
        types_.insert(types_.end(), start, start + sizeof(value));
    }
    uint32_t string(const std::string& text) {
        if (text.empty())
            return 0;
        uint32_t offset = string_end();
        strings_ += text;
        strings_.push_back('\0');
        return offset;
    }
    void start(const std::string& name, uint32_t kind, uint32_t entries, bool flag,
               uint32_t third) {
        word(string(name));
        word(static_cast<uint32_t>(flag) << 31 | kind << 24 | entries);
        word(third);
    }

    uint32_t next_, string_begin_;
    base::Bytes types_;
    std::string strings_;
};

/// A little kernel that has one of every kind of type.
inline BtfBuilder small_kernel() {
    BtfBuilder b;
    uint32_t int_ = b.integer("int", 4, 1), char_ = b.integer("char", 1, 0);
    uint32_t ulong = b.integer("long unsigned int", 8, 0), uint_ = b.integer("unsigned int", 4, 0);
    uint32_t bool_ = b.integer("_Bool", 1, 4);
    uint32_t comm = b.array(char_, ulong, 16);
    uint32_t pid_t_ = b.reference(8, "__kernel_pid_t", int_);
    uint32_t pid = b.reference(8, "pid_t", pid_t_);
    uint32_t u64_ = b.reference(8, "u64", ulong);
    // task_struct refers to itself through the next but one
    uint32_t task = b.type_end() + 3;
    uint32_t anonymous = b.structure(5, "", 8, {{"tgid", pid, 0}, {"stack_canary", u64_, 0}});
    uint32_t task_pointer = b.reference(2, "", task);
    uint32_t tagged = b.reference(18, "rcu", task);
    b.structure(4, "task_struct", 64,
                {{"state", uint_, 0},
                 {"flag_a", uint_, 3u << 24 | 32},
                 {"flag_b", uint_, 29u << 24 | 35},
                 {"", anonymous, 64},
                 {"parent", task_pointer, 128},
                 {"comm", comm, 192},
                 {"mm", b.type_end() + 1, 320}},
                true);
    b.reference(2, "", b.type_end() + 1);
    b.forward("mm_struct", false);
    uint32_t rcu_pointer = b.reference(2, "", tagged);
    b.enumeration("pid_type",
                  {{"PIDTYPE_PID", 0}, {"PIDTYPE_MAX", 4}, {"PIDTYPE_BAD", 0xffffffff}});
    b.enumeration64("big", {{"BIG", 1, 1}});
    uint32_t const_char = b.reference(10, "", char_);
    uint32_t format = b.reference(2, "", const_char);
    uint32_t printk = b.prototype(int_, {{"fmt", format}, {"", 0}});
    b.reference(12, "_printk", printk);
    uint32_t void_pointer = b.reference(2, "", 0);
    uint32_t probe = b.prototype(0, {{"", void_pointer}, {"", bool_}, {"", task_pointer}});
    uint32_t probe_pointer = b.reference(2, "", probe);
    b.reference(8, "btf_trace_sched_switch", probe_pointer);
    uint32_t iterator =
        b.prototype(int_, {{"__data", void_pointer}, {"preempt", bool_}, {"prev", task_pointer}});
    b.reference(12, "__traceiter_sched_switch", iterator);
    uint32_t current = b.variable("current_task", rcu_pointer);
    b.data_section(".data..percpu", {{"", current}});
    b.floating("double", 8);
    b.declaration_tag("a tag", task);
    b.reference(9, "", int_);
    b.reference(11, "", void_pointer);
    return b;
}

} // namespace daybreak::compiler::test
