// SPDX-License-Identifier: Apache-2.0
//
// A tiny kernel for tests: BTF made here, with a task_struct, a function and a tracepoint.
//
//   struct task_struct { unsigned int flags; int pid; char comm[16]; struct task_struct *parent;
//                        unsigned int in_exec:1, depth:5; };
//   enum state { RUNNING, SLEEPING = 3 };
//   long vfs_read(struct task_struct *file, char *buffer, unsigned short count);
//   tracepoint sched_switch(bool preempt, struct task_struct *previous, int cpu)
#pragma once

#include "compiler/types/kernel_types.hpp"

#include <cstring>

namespace daybreak::compiler {

class BtfBuilder {
public:
    using Words = std::initializer_list<uint32_t>;

    uint32_t string(const std::string& text) {
        auto offset = static_cast<uint32_t>(strings_.size());
        strings_ += text;
        strings_ += '\0';
        return offset;
    }
    /// Adds a type; `words` follow the common 12 bytes.  Returns its number.
    uint32_t type(const char* name, uint32_t kind, uint32_t entries, uint32_t size_or_type,
                  Words words = {}, bool flag = false) {
        append(*name ? string(name) : 0);
        append(static_cast<uint32_t>(flag) << 31 | kind << 24 | entries);
        append(size_or_type);
        for (uint32_t word : words)
            append(word);
        return ++count_;
    }
    uint32_t integer(const char* name, uint32_t bytes, bool is_signed, bool is_bool = false) {
        uint32_t encoding = (is_signed ? 1u : 0u) | (is_bool ? 4u : 0u);
        return type(name, 1, 0, bytes, {encoding << 24 | bytes * 8});
    }

    base::Bytes bytes() const {
        std::string header;
        auto put = [&](uint32_t word) {
            header.append(reinterpret_cast<const char*>(&word), sizeof(word));
        };
        put(0x0001eb9f); // magic, version 1, flags 0
        put(24);
        put(0);
        put(static_cast<uint32_t>(types_.size()));
        put(static_cast<uint32_t>(types_.size()));
        put(static_cast<uint32_t>(strings_.size()));
        std::string all = header + types_ + strings_;
        base::Bytes bytes(all.size());
        std::memcpy(bytes.data(), all.data(), all.size());
        return bytes;
    }

private:
    void append(uint32_t word) {
        types_.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }

    std::string types_, strings_ = std::string(1, '\0');
    uint32_t count_ = 0;
};

inline base::Bytes sample_btf() {
    BtfBuilder b;
    uint32_t int_ = b.integer("int", 4, true), unsigned_ = b.integer("unsigned int", 4, false);
    uint32_t char_ = b.integer("char", 1, true), bool_ = b.integer("_Bool", 1, false, true);
    uint32_t short_ = b.integer("unsigned short", 2, false), long_ = b.integer("long int", 8, true);
    uint32_t comm = b.type("", 3, 0, 0, {char_, unsigned_, 16});
    uint32_t task_pointer = 9; // the second next type
    uint32_t flags = b.string("flags"), pid = b.string("pid"), comm_name = b.string("comm"),
             parent = b.string("parent"), in_exec = b.string("in_exec"), depth = b.string("depth");
    uint32_t task =
        b.type("task_struct", 4, 6, 40,
               {flags, unsigned_, 0, pid, int_, 32, comm_name, comm, 64, parent, task_pointer, 192,
                in_exec, unsigned_, 1u << 24 | 256, depth, unsigned_, 5u << 24 | 257},
               true);
    b.type("", 2, 0, task);
    uint32_t buffer = b.type("", 2, 0, char_);
    uint32_t running = b.string("RUNNING"), sleeping = b.string("SLEEPING");
    b.type("state", 6, 2, 4, {running, 0, sleeping, 3});
    uint32_t file_name = b.string("file"), buffer_name = b.string("buffer"),
             count_name = b.string("count");
    uint32_t read = b.type("", 13, 3, long_,
                           {file_name, task_pointer, buffer_name, buffer, count_name, short_});
    b.type("vfs_read", 12, 1, read);
    uint32_t void_pointer = b.type("", 2, 0, 0);
    uint32_t data = b.string("__data"), preempt = b.string("preempt"),
             previous = b.string("previous"), cpu = b.string("cpu");
    uint32_t prototype = b.type(
        "", 13, 4, 0, {data, void_pointer, preempt, bool_, previous, task_pointer, cpu, int_});
    uint32_t handler = b.type("", 2, 0, prototype);
    b.type("btf_trace_sched_switch", 8, 0, handler);
    return b.bytes();
}

/// That kernel.
class SampleKernel final : public KernelTypes {
public:
    base::Result<const Btf*> vmlinux() override {
        asked_++;
        if (!btf_) {
            DBK_TRY(btf_, Btf::parse(sample_btf()));
        }
        return btf_.get();
    }
    base::Result<const Btf*> module(std::string_view) override {
        return static_cast<const Btf*>(nullptr);
    }
    const std::string& release() const override { return release_; }
    base::Result<BtfId> id() override { return BtfId{0x5a}; }
    unsigned asked() const { return asked_; }

private:
    std::string release_ = "6.1.0-test";
    std::unique_ptr<Btf> btf_;
    unsigned asked_ = 0;
};

} // namespace daybreak::compiler
