// SPDX-License-Identifier: Apache-2.0
//
// Programs and their recordings, for tests of the analyzers.
//
//     ProgramBuilder program;
//     size_t clause = program.clause("syscall", "vmlinux", "read", "entry");
//     program.trace(clause, 4);
//     program.aggregate(clause, 1, {DTRACEAGG_SUM, 0}, {Member::text()});
//     RecordingOf recording(program, {.cpu_count = 2});
//     recording.fire(0, 1000, clause, {uint64_t{7}, "cat", uint64_t{5}});
//     StringSink sink; render_report(recording.build(), {}, sink);
//
// Records are laid out as the engine does: fixed fields at aligned offsets, strings and stacks in
// the tail.  The values given to fire() are those of the clause's fields, in the order of its
// actions; of an aggregation the key's members, the value, the increment.
#pragma once

#include "analyze/aggregate/table.hpp"
#include "formats/dof/dof_writer.hpp"
#include "formats/segment/recording.hpp"
#include "tests/support/segment_builder.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace daybreak::test {

using analyze::AggregationFunction;
using Frames = std::vector<uint64_t>;

struct FieldValue : std::variant<uint64_t, std::string, Frames> {
    FieldValue(uint64_t number) : variant(number) {}
    FieldValue(const char* text) : variant(std::string(text)) {}
    FieldValue(std::string text) : variant(std::move(text)) {}
    FieldValue(Frames frames) : variant(std::move(frames)) {}
};

/// A member of a key, or a value to be stored.
struct Member {
    uint8_t shape = DBK_FIELD_FIXED;
    uint32_t bytes = 8;

    static Member integer(uint32_t bytes = 8) { return {DBK_FIELD_FIXED, bytes}; }
    static Member text() { return {DBK_FIELD_STRING, 256}; }
    static Member stack() { return {DBK_FIELD_STACK, 160}; }
};

/// D clauses as DOF has them.
class ProgramBuilder {
public:
    size_t clause(const std::string& provider, const std::string& module,
                  const std::string& function, const std::string& name) {
        formats::DofEcb ecb;
        ecb.probe = {provider, module, function, name, 0};
        ecb.actions = program.action_lists.size();
        program.action_lists.emplace_back();
        program.ecbs.push_back(ecb);
        fields.emplace_back();
        statements_.push_back(0);
        return program.ecbs.size() - 1;
    }
    void option(uint32_t number, uint64_t value = 0) {
        program.options.push_back({number, value, {}});
    }

    void trace(size_t clause, Member member) {
        uint32_t kind = member.shape == DBK_FIELD_STACK ? DTRACEACT_STACK : DTRACEACT_DIFEXPR;
        next(clause);
        store(clause, action(clause, kind), member);
    }
    void act(size_t clause, uint32_t kind, Member member, uint64_t arg = 0) {
        next(clause);
        store(clause, action(clause, kind, arg), member);
    }
    void printf(size_t clause, const std::string& format, std::vector<Member> members) {
        next(clause);
        for (const Member& member : members)
            store(clause, action(clause, DTRACEACT_PRINTF, 0, format), member);
        if (members.empty())
            store(clause, action(clause, DTRACEACT_PRINTF, 0, format), Member::integer(8));
    }
    void printa(size_t clause, std::vector<uint32_t> variables,
                std::optional<std::string> format = std::nullopt) {
        next(clause);
        for (uint32_t variable : variables)
            store(clause, action(clause, DTRACEACT_PRINTA, 0, format, variable),
                  Member::integer(8));
    }
    void library(size_t clause, uint64_t which, std::vector<Member> members) {
        next(clause);
        for (const Member& member : members)
            store(clause, action(clause, DTRACEACT_LIBACT, DT_ACT_BASE + which), member);
    }
    void aggregate(size_t clause, uint32_t variable, AggregationFunction function,
                   std::vector<Member> key, bool increment = false) {
        next(clause);
        auto tuple = static_cast<uint32_t>(1 + key.size() + increment);
        action(clause, DTRACEACT_DIFEXPR, 0, {}, variable);
        for (const Member& member : key)
            store(clause,
                  action(clause,
                         member.shape == DBK_FIELD_STACK ? DTRACEACT_STACK : DTRACEACT_DIFEXPR),
                  member, DBK_FIELD_F_KEY);
        size_t weight = increment ? action(clause, DTRACEACT_DIFEXPR) : 0;
        size_t at = action(clause, function.kind, function.argument);
        program.action_lists[clause].actions[at].tuple_count = tuple;
        if (function.kind != DTRACEAGG_COUNT)
            store(clause, at, Member::integer(8), DBK_FIELD_F_VALUE);
        if (increment)
            store(clause, weight, Member::integer(8), DBK_FIELD_F_INCREMENT);
        aggregations[clause] = {at, function, key.size()};
    }

    struct Aggregation {
        size_t action;
        AggregationFunction function;
        size_t key_members;
    };
    formats::DofProgram program;
    std::vector<std::vector<dbk_meta_field>> fields; ///< by clause; offsets are not set yet
    std::map<size_t, Aggregation> aggregations;      ///< by clause, the last one

private:
    void next(size_t clause) { statements_[clause]++; }
    size_t action(size_t clause, uint32_t kind, uint64_t arg = 0,
                  std::optional<std::string> text = std::nullopt, uint64_t constant = 0) {
        formats::DofAction action;
        action.kind = kind;
        action.arg = arg;
        action.text = std::move(text);
        action.uarg = statements_[clause];
        action.difo = program.difos.size();
        formats::Difo difo;
        difo.type.ckind = DIF_CK_INTEGER;
        difo.type.size = 8;
        difo.integers = {constant};
        difo.text = {DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        program.difos.push_back(difo);
        auto& actions = program.action_lists[clause].actions;
        actions.push_back(std::move(action));
        return actions.size() - 1;
    }
    void store(size_t clause, size_t action, Member member, uint8_t flags = 0) {
        if (member.shape == DBK_FIELD_STRING) {
            auto& difo = program.difos[*program.action_lists[clause].actions[action].difo];
            difo.type = {DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 256};
        }
        fields[clause].push_back(
            {0, member.bytes, static_cast<uint16_t>(action), member.shape, flags, 0});
    }
    std::vector<uint64_t> statements_; // by clause
};

/// A ring that runs a program.
class RecordingOf {
public:
    RecordingOf(ProgramBuilder& program, RingBuilderOptions options = {})
        : ring_(options), program_(program) {
        auto image = formats::write_dof(program.program);
        DBK_ASSERT(image.ok());
        ring_.add_dof(*image);
        bool in_engine = options.aggregate == DBK_AGGREGATE_ENGINE;
        for (size_t clause = 0; clause < program.fields.size(); clause++)
            add_clause(clause, in_engine);
    }

    /// Stores a record; with aggregate=engine the caller counts and adds snapshots.
    void fire(uint16_t cpu, uint64_t ticks, size_t clause, const std::vector<FieldValue>& values,
              bool same_firing = false) {
        Layout& layout = layouts_[clause];
        if (layout.flags & DBK_ECB_F_NO_RECORD)
            return;
        Bytes body = encode(layout, layout.record_fields, values, sizeof(dbk_record_header),
                            (layout.flags & DBK_ECB_F_VARIABLE) != 0);
        if (spoil)
            spoil(body);
        ring_.record(cpu, layout.epid | (same_firing ? DBK_RECORD_F_SAME_FIRING : 0), ticks, body);
    }
    /// Returns an entry of an aggregation buffer: the key's members, then the cells.
    Bytes entry(size_t clause, const std::vector<FieldValue>& key,
                std::span<const uint64_t> cells) {
        Layout& layout = layouts_[clause];
        Bytes bytes = encode(layout, layout.key_fields, key, 0, false);
        Bytes result = RingBuilder::aggregation_entry(
            layout.epid, static_cast<uint16_t>(program_.aggregations[clause].action), bytes, {});
        RingBuilder::append(result, cells.data(), cells.size_bytes());
        dbk_agg_entry head;
        std::memcpy(&head, result.data(), sizeof(head));
        head.entry_bytes = static_cast<uint32_t>(result.size());
        head.cell_count = static_cast<uint32_t>(cells.size());
        std::memcpy(result.data(), &head, sizeof(head));
        return result;
    }
    void snapshot(uint16_t cpu, uint64_t sequence, const Bytes& entries) {
        Bytes buffer = ring_.aggregation_buffer(cpu, sequence, entries);
        buffer.resize((buffer.size() + 4095) & ~size_t{4095});
        auto room = static_cast<uint32_t>(buffer.size());
        std::memcpy(&buffer[offsetof(dbk_segment_header, segment_bytes)], &room, sizeof(room));
        snapshots_.push_back(std::move(buffer));
    }

    /// Changes what follows the header of each record that is fired from now on.
    std::function<void(Bytes& body)> spoil;

    formats::Recording build() {
        formats::RecordingBuilder builder;
        for (const Bytes& piece : pieces())
            builder.add_owned(piece, {});
        return builder.build();
    }
    /// Everything that a recorder would copy, each piece page-aligned.
    std::vector<Bytes> pieces() {
        std::vector<Bytes> pieces = snapshots_;
        pieces.push_back(ring_.metadata_memory());
        for (uint16_t cpu = 0; cpu < ring_.options().cpu_count; cpu++)
            pieces.push_back(ring_.segment_memory(cpu));
        return pieces;
    }
    RingBuilder& ring() { return ring_; }
    uint32_t epid(size_t clause) const { return layouts_[clause].epid; }

private:
    struct Layout {
        uint32_t epid = 0, flags = 0, fixed_bytes = 0;
        std::vector<dbk_meta_field> record_fields, key_fields;
    };

    /// Gives the fields offsets from `at` on; returns where the fixed part ends.
    static uint32_t place(std::vector<dbk_meta_field>& fields, uint32_t at) {
        for (dbk_meta_field& field : fields) {
            uint32_t bytes = field.shape == DBK_FIELD_FIXED ? field.bytes : sizeof(dbk_tail_ref);
            uint32_t align = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
            at = (at + align - 1) / align * align;
            field.offset = at;
            at += bytes;
        }
        return (at + 7) & ~7u;
    }

    void add_clause(size_t clause, bool in_engine) {
        Layout layout;
        for (const dbk_meta_field& field : program_.fields[clause]) {
            bool is_key = field.flags & DBK_FIELD_F_KEY;
            if (in_engine && is_key)
                layout.key_fields.push_back(field);
            else if (!in_engine || !(field.flags & (DBK_FIELD_F_VALUE | DBK_FIELD_F_INCREMENT)))
                layout.record_fields.push_back(field);
            bool varies = field.shape != DBK_FIELD_FIXED && !(in_engine && is_key);
            layout.flags |= varies ? DBK_ECB_F_VARIABLE : 0;
        }
        if (in_engine && layout.record_fields.empty() && program_.aggregations.contains(clause))
            layout.flags |= DBK_ECB_F_NO_RECORD;
        uint32_t start = sizeof(dbk_record_header) + (layout.flags & DBK_ECB_F_VARIABLE ? 4 : 0);
        layout.fixed_bytes = place(layout.record_fields, start);
        place(layout.key_fields, 0);
        const formats::DofProbeName& name = program_.program.ecbs[clause].probe;
        auto [probe, is_new] = probes_.try_emplace(name.text());
        if (is_new)
            probe->second = ring_.add_probe(name.provider, name.module, name.function, name.name);
        std::vector<dbk_meta_field> all = layout.record_fields;
        all.insert(all.end(), layout.key_fields.begin(), layout.key_fields.end());
        layout.epid = ring_.add_ecb(probe->second, all, layout.fixed_bytes, layout.flags,
                                    program_.program.ecbs[clause].section);
        layouts_.push_back(std::move(layout));
    }

    /// Returns what stands after `skip` bytes that are not part of the result.
    static Bytes encode(const Layout& layout, const std::vector<dbk_meta_field>& fields,
                        const std::vector<FieldValue>& values, size_t skip, bool with_length) {
        DBK_ASSERT(values.size() >= fields.size());
        uint32_t end = skip ? layout.fixed_bytes : 0;
        for (const dbk_meta_field& field : fields)
            end = std::max(
                end, (field.offset + (field.shape == DBK_FIELD_FIXED ? field.bytes : 4) + 7) & ~7u);
        Bytes bytes(end);
        for (size_t i = 0; i < fields.size(); i++) {
            if (auto* number = std::get_if<uint64_t>(&values[i])) {
                std::memcpy(&bytes[fields[i].offset], number, std::min(fields[i].bytes, 8u));
                continue;
            }
            base::ByteView tail;
            if (auto* text = std::get_if<std::string>(&values[i]))
                tail = base::as_bytes(*text);
            else
                tail = std::as_bytes(std::span(std::get<Frames>(values[i])));
            dbk_tail_ref reference{static_cast<uint16_t>(bytes.size()),
                                   static_cast<uint16_t>(tail.size())};
            std::memcpy(&bytes[fields[i].offset], &reference, sizeof(reference));
            bytes.insert(bytes.end(), tail.begin(), tail.end());
        }
        bytes.resize((bytes.size() + 7) & ~size_t{7});
        auto length = static_cast<uint32_t>(bytes.size());
        if (with_length)
            std::memcpy(&bytes[skip], &length, sizeof(length));
        return Bytes(bytes.begin() + static_cast<ptrdiff_t>(skip), bytes.end());
    }

    RingBuilder ring_;
    ProgramBuilder& program_;
    std::map<std::string, uint32_t> probes_;
    std::vector<Layout> layouts_;
    std::vector<Bytes> snapshots_;
};

} // namespace daybreak::test
