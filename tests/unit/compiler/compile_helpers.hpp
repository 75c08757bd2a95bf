// SPDX-License-Identifier: Apache-2.0
//
// Compiling snippets in tests: text in, disassembly or the first error's tag out.
#pragma once

#include "compiler/compiler.hpp"
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/dof_reader.hpp"

#include <catch2/catch.hpp>

namespace daybreak::compiler {

inline CompileOutput compile_text(const std::string& text, KernelTypes* kernel = nullptr) {
    CompileOptions options;
    options.sources = {{"test.d", text}};
    options.kernel = kernel;
    options.error_clause = false;
    return compile(options);
}

/// All errors, rich, for messages of failing tests.
inline std::string errors_of(const CompileOutput& output) {
    return render_all(output.diagnostics, output.sources, {}, {});
}

/// "D_IDENT_UNDEF", or "" when the text compiles.
inline std::string first_tag(const std::string& text, KernelTypes* kernel = nullptr) {
    CompileOutput output = compile_text(text, kernel);
    const Diagnostic* first = output.diagnostics.first_error();
    if (!first) {
        CHECK(output.dof.has_value());
        return "";
    }
    CHECK_FALSE(output.dof.has_value());
    CHECK_FALSE(first->text.empty());
    return std::string(tag_name(first->tag));
}

/// One instruction as "ldgs arg0, %r1", with operands resolved to names and numbers.
inline std::string short_instruction(const formats::Difo& difo, uint32_t word) {
    std::string text = formats::print_instruction(difo, word);
    size_t remark = text.find(" ! ");
    std::string resolved = remark == std::string::npos ? "" : text.substr(remark + 3);
    text = text.substr(0, remark);
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    std::string out;
    for (char c : text)
        if (c != ' ' || (!out.empty() && out.back() != ' '))
            out += c;
    for (const char* prefix : {"DT_VAR(", "DT_INTEGER[", "DT_STRING[", "DIF_SUBR(", "DT_TYPE("}) {
        size_t at = out.find(prefix);
        if (at == std::string::npos)
            continue;
        size_t end = out.find_first_of(")]", at);
        out.replace(at, end + 1 - at, resolved);
    }
    return out;
}

/// The instructions of an object, one per line.
inline std::string code(const formats::Difo& difo) {
    std::string out;
    for (uint32_t word : difo.text)
        out += short_instruction(difo, word) + "\n";
    return out;
}

/// The code of the only clause's last action that has some.
inline std::string code_of(const std::string& text, KernelTypes* kernel = nullptr) {
    CompileOutput output = compile_text(text, kernel);
    INFO(errors_of(output));
    REQUIRE(output.dof.has_value());
    REQUIRE_FALSE(output.program.ecbs.empty());
    const formats::DofEcb& ecb = output.program.ecbs.back();
    REQUIRE(ecb.actions);
    const auto& actions = output.program.action_lists[*ecb.actions].actions;
    for (size_t i = actions.size(); i-- > 0;)
        if (actions[i].difo)
            return code(output.program.difos[*actions[i].difo]);
    return "";
}

/// The code of trace(EXPRESSION).
inline std::string trace_code(const std::string& expression, KernelTypes* kernel = nullptr) {
    return code_of("BEGIN { trace(" + expression + "); }", kernel);
}

inline std::string predicate_code(const std::string& predicate, KernelTypes* kernel = nullptr) {
    CompileOutput output = compile_text("BEGIN /" + predicate + "/ { }", kernel);
    INFO(errors_of(output));
    REQUIRE(output.dof.has_value());
    REQUIRE(output.program.ecbs[0].predicate);
    return code(output.program.difos[*output.program.ecbs[0].predicate]);
}

/// The actions of the last clause, one per line: kind, statement, arguments.
inline std::string actions_of(const std::string& text, KernelTypes* kernel = nullptr) {
    CompileOutput output = compile_text(text, kernel);
    INFO(errors_of(output));
    REQUIRE(output.dof.has_value());
    std::string out;
    const formats::DofEcb& ecb = output.program.ecbs.back();
    if (!ecb.actions)
        return "none\n";
    for (const formats::DofAction& action : output.program.action_lists[*ecb.actions].actions) {
        out += base::strprintf("%s %llu", formats::print_action_kind(action).c_str(),
                               static_cast<unsigned long long>(action.uarg));
        if (action.text)
            out += " " + formats::quote(*action.text);
        else if (action.arg)
            out += base::strprintf(" arg=%llx", static_cast<unsigned long long>(action.arg));
        if (action.tuple_count)
            out += base::strprintf(" tuple=%u", action.tuple_count);
        if (action.difo) {
            const dif_type& type = output.program.difos[*action.difo].type;
            out += base::strprintf(" %s%u",
                                   type.kind == DIF_TYPE_STRING ? "string"
                                   : type.flags & DIF_TF_BYREF  ? "bytes"
                                                                : "int",
                                   type.size);
        }
        out += "\n";
    }
    return out;
}

} // namespace daybreak::compiler
