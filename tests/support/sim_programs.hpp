// SPDX-License-Identifier: Apache-2.0
//
// Small D programs made without the compiler, for tests of what runs them.
//
//     ProgramBuilder b;
//     b.clause("profile:::tick-1ms", {b.trace(b.variable(DIF_VAR_ARG0))});
//     Bytes dof = b.dof();
#pragma once

#include "formats/dof/dof_writer.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybreak::test {

class ProgramBuilder {
public:
    using Actions = std::vector<formats::DofAction>;

    /// Each of these returns the index of a new DIF object.
    size_t constant(uint64_t value, uint32_t bytes = 8) {
        formats::Difo difo = integer(bytes);
        difo.text = {DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        difo.integers = {value};
        return add(std::move(difo));
    }
    size_t variable(uint16_t id, uint32_t bytes = 8) {
        formats::Difo difo = integer(bytes);
        difo.text = {DIF_INSTR_INDEX(DIF_OP_LDGS, id, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        return add(std::move(difo));
    }
    size_t string_variable(uint16_t id) {
        formats::Difo difo = integer(256);
        difo.type = {DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 256};
        difo.text = {DIF_INSTR_INDEX(DIF_OP_LDGS, id, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        return add(std::move(difo));
    }
    size_t text(std::string_view value) {
        formats::Difo difo = integer(256);
        difo.type = {DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 256};
        difo.text = {DIF_INSTR_INDEX(DIF_OP_SETS, 1, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        difo.strings = std::string("\0", 1) + std::string(value) + std::string("\0", 1);
        return add(std::move(difo));
    }
    /// A program of its own; `integers` is the table its setx refer to.
    size_t instructions(std::vector<uint32_t> text, std::vector<uint64_t> integers,
                        uint32_t bytes = 8) {
        formats::Difo difo = integer(bytes);
        difo.text = std::move(text);
        difo.integers = std::move(integers);
        return add(std::move(difo));
    }
    /// 1 divided by 0.
    size_t division_by_zero() {
        return instructions({DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1),
                             DIF_INSTR_FMT(DIF_OP_SDIV, 1, 0, 1),
                             DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)},
                            {1});
    }
    /// The eight bytes at a kernel address.
    size_t load(uint64_t address) {
        return instructions({DIF_INSTR_INDEX(DIF_OP_SETX, 0, 1), DIF_INSTR_FMT(DIF_OP_LDX, 1, 0, 1),
                             DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)},
                            {address});
    }

    formats::DofAction trace(size_t difo) { return {difo, DTRACEACT_DIFEXPR, 0, 0, {}, next()}; }
    formats::DofAction exit(int32_t status) {
        return {constant(static_cast<uint32_t>(status), 4), DTRACEACT_EXIT, 0, 0, {}, next()};
    }
    formats::DofAction stack(uint64_t depth) {
        return {constant(0), DTRACEACT_STACK, 0, depth, {}, next()};
    }
    /// @id[keys...] = kind(value), as the actions of one statement.
    Actions aggregate(uint32_t kind, uint64_t id, const std::vector<size_t>& keys,
                      std::optional<size_t> value, uint64_t arg = 0) {
        uint64_t uarg = next();
        Actions actions = {{constant(id), DTRACEACT_DIFEXPR, 0, 0, {}, uarg}};
        for (size_t key : keys)
            actions.push_back({key, DTRACEACT_DIFEXPR, 0, 0, {}, uarg});
        uint32_t tuple_count = static_cast<uint32_t>(actions.size());
        actions.push_back({value, kind, tuple_count, arg, {}, uarg});
        return actions;
    }

    /// `probe` has up to four parts: "BEGIN", "profile:::tick-1ms".
    void clause(std::string_view probe, Actions actions, std::optional<size_t> predicate = {}) {
        formats::DofEcb ecb;
        ecb.probe = name(probe);
        ecb.predicate = predicate;
        ecb.actions = program_.action_lists.size();
        program_.action_lists.push_back({std::move(actions), 0});
        program_.ecbs.push_back(std::move(ecb));
    }
    void option(uint32_t id, uint64_t value) { program_.options.push_back({id, value, {}}); }
    void aggregation_name(std::string value) {
        program_.aggregation_names.push_back(std::move(value));
    }

    /// Returns the image; a program that cannot be written is a bug of the test.
    base::Bytes dof() {
        auto written = formats::write_dof(program_);
        if (!written.ok())
            std::fprintf(stderr, "test program: %s\n", written.error().message().c_str());
        DBK_ASSERT(written.ok());
        return std::move(written).value();
    }
    formats::DofProgram& program() { return program_; }

private:
    static formats::Difo integer(uint32_t bytes) {
        formats::Difo difo;
        difo.type = {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, bytes};
        return difo;
    }
    size_t add(formats::Difo difo) {
        program_.difos.push_back(std::move(difo));
        return program_.difos.size() - 1;
    }
    uint64_t next() { return ++statement_; }
    static formats::DofProbeName name(std::string_view text) {
        std::array<std::string, 4> parts;
        size_t count = 1;
        for (char c : text)
            count += c == ':';
        size_t part = 4 - count;
        for (char c : text) {
            if (c == ':')
                part++;
            else
                parts[part] += c;
        }
        return {parts[0], parts[1], parts[2], parts[3], 0};
    }

    formats::DofProgram program_;
    uint64_t statement_ = 0;
};

} // namespace daybreak::test
