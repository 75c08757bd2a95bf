// SPDX-License-Identifier: Apache-2.0
#include "compiler/link/linker.hpp"

#include "formats/abi/dof.h"

namespace daybreak::compiler {

dif_type ProgramLinker::result_type(const PlannedAction& action) const {
    dif_type type = dif_type_of(types_, action.value->type);
    if (action.form == ResultForm::effect) {
        type.size = 0;
        type.flags = 0;
        type.kind = DIF_TYPE_CTF;
    } else if (action.form == ResultForm::bytes) {
        type = dif_type{};
        type.kind = DIF_TYPE_CTF;
        type.flags = DIF_TF_BYREF;
        type.size = static_cast<uint32_t>(action.result_bytes);
    } else if (type.size < 4 && !action.value->is_constant() &&
               types_.is_integer(action.value->type) && types_.is_signed(action.value->type)) {
        // A constant of such a type, a cast, prints as its bits do: 254 for (char)-2.
        type.ckind |= DIF_CK_SIGNED;
    }
    return type;
}

std::optional<size_t> ProgramLinker::add_difo(const TypedExpr& value, const dif_type& result,
                                              ValueUse use) {
    auto generated = generate_difo(types_, value, result, use, sink_);
    if (!generated)
        return std::nullopt;
    size_t index = program_.difos.size();
    // What an inline or translator of a library computes counts as the line that used it.
    for (const auto& [instruction, span] : generated->lines) {
        SourceKind kind = sources_.kind(span.source);
        if (kind == SourceKind::library)
            continue;
        // A text of the command line has no name but itself, which would be a long one.
        std::string file =
            kind == SourceKind::string ? "command line" : sources_.file_name(span.file);
        program_.lines.push_back({index, instruction, file, span.line, span.column});
    }
    program_.difos.push_back(std::move(generated->difo));
    return index;
}

void ProgramLinker::add_clause(const std::vector<const ProbeDescription*>& probes,
                               const PlannedClause& clause) {
    formats::DofEcb ecb;
    if (clause.predicate) {
        ecb.predicate = add_difo(*clause.predicate, dif_type_of(types_, clause.predicate->type),
                                 ValueUse::whole);
        if (!ecb.predicate)
            return;
    }
    formats::DofActionList list;
    size_t list_index = program_.action_lists.size();
    for (const PlannedAction& planned : clause.actions) {
        formats::DofAction action;
        action.kind = planned.kind;
        action.tuple_count = planned.tuple_count;
        action.arg = planned.arg;
        if (planned.has_text)
            action.text = planned.text;
        action.uarg = planned.statement;
        if (planned.value) {
            bool whole = DTRACEACT_IS_AGG(planned.kind) || planned.form != ResultForm::value;
            action.difo = add_difo(*planned.value, result_type(planned),
                                   whole ? ValueUse::whole : ValueUse::recorded);
            if (!action.difo)
                return;
        }
        if (!planned.capture.empty())
            program_.captures.push_back({list_index, static_cast<uint32_t>(list.actions.size()),
                                         planned.capture, planned.capture_type});
        list.actions.push_back(std::move(action));
    }
    if (!list.actions.empty()) {
        ecb.actions = list_index;
        program_.action_lists.push_back(std::move(list));
    }
    for (const ProbeDescription* probe : probes) {
        ecb.probe = {probe->provider, probe->module, probe->function, probe->name,
                     probe->id.value_or(0)};
        program_.ecbs.push_back(ecb);
    }
}

void ProgramLinker::add_error_clause() {
    formats::DofActionList list;
    for (uint32_t id = DIF_VAR_ARG1; id <= DIF_VAR_ARG5; id++) {
        formats::Difo difo;
        difo.type = {DIF_TYPE_CTF, DIF_CK_INTEGER, 0, 0, 8};
        difo.text = {DIF_INSTR_INDEX(DIF_OP_LDGS, id, 1), DIF_INSTR_FMT(DIF_OP_RET, 0, 0, 1)};
        std::string name = "arg" + std::to_string(id - DIF_VAR_ARG0);
        difo.variables = {{name, id, DIFV_KIND_SCALAR, DIFV_SCOPE_GLOBAL, DIFV_F_REF, difo.type}};
        formats::DofAction action;
        action.difo = program_.difos.size();
        action.kind = DTRACEACT_DIFEXPR;
        action.uarg = id - DIF_VAR_ARG0;
        program_.difos.push_back(std::move(difo));
        list.actions.push_back(std::move(action));
    }
    formats::DofEcb ecb;
    ecb.probe = {"dtrace", "", "", "ERROR", 0};
    ecb.actions = program_.action_lists.size();
    ecb.uarg = 1; // what every port gives to the library's own enabling
    program_.action_lists.push_back(std::move(list));
    program_.ecbs.push_back(std::move(ecb));
}

void ProgramLinker::set_option(uint32_t id, uint64_t value) {
    for (formats::DofOption& option : program_.options)
        if (option.option == id) {
            option.value = value;
            return;
        }
    program_.options.push_back({id, value, std::nullopt});
}

} // namespace daybreak::compiler
