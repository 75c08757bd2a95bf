// SPDX-License-Identifier: Apache-2.0
//
// speculate(), commit(), discard(), and what may stand beside them in a clause.
//
// A clause's record goes to one place, which has to be known before anything is recorded; and what
// a commit moves must not be what is being recorded.  So there are rules of order, reported with the
// statement that breaks one.
#include "compiler/sema/planner.hpp"

#include "formats/abi/dof.h"

#include <algorithm>

namespace daybreak::compiler {

namespace {

bool is_destructive_call(const TypedExpr& value) {
    if (value.op == TypedOp::call &&
        (value.value == DIF_SUBR_COPYOUT || value.value == DIF_SUBR_COPYOUTSTR))
        return true;
    for (const TypedPtr& operand : value.operands)
        if (is_destructive_call(*operand))
            return true;
    return false;
}

bool is_destructive(const PlannedAction& action) {
    switch (action.kind) {
    case DTRACEACT_STOP:
    case DTRACEACT_RAISE:
    case DTRACEACT_SYSTEM:
    case DTRACEACT_FREOPEN:
    case DTRACEACT_BREAKPOINT:
    case DTRACEACT_PANIC:
    case DTRACEACT_CHILL:
        return true;
    default:
        return action.value && is_destructive_call(*action.value);
    }
}

} // namespace

bool is_recording(const PlannedAction& action) {
    switch (action.kind) {
    case DTRACEACT_SPECULATE:
    case DTRACEACT_COMMIT:
    case DTRACEACT_DISCARD:
    case DTRACEACT_STOP:
    case DTRACEACT_RAISE:
    case DTRACEACT_BREAKPOINT:
    case DTRACEACT_PANIC:
    case DTRACEACT_CHILL:
        return false;
    case DTRACEACT_DIFEXPR:
        return action.form != ResultForm::effect;
    default:
        return true;
    }
}

void ClausePlanner::speculative(const Expr& expression, const Call& call, ActionName action) {
    if (!count_arguments(expression, call, 1, 1))
        return;
    TypedPtr id = checker_.check(*call.arguments[0]);
    if (!id)
        return;
    if (!types_.is_integer(id->type))
        return wrong_argument(call, 0, "int", id);
    PlannedAction planned;
    planned.kind = action == ActionName::speculate ? DTRACEACT_SPECULATE
                   : action == ActionName::commit  ? DTRACEACT_COMMIT
                                                   : DTRACEACT_DISCARD;
    planned.value = std::move(id);
    add(std::move(planned));
}

void ClausePlanner::check_order(size_t first, const Span& span) {
    bool speculates = false, commits = false, records = false;
    const std::vector<PlannedAction>& actions = clause_->actions;
    for (size_t i = 0; i < first; i++) {
        speculates |= actions[i].kind == DTRACEACT_SPECULATE;
        commits |= actions[i].kind == DTRACEACT_COMMIT;
        records |= !speculates && is_recording(actions[i]);
    }
    auto any = [&](auto predicate) {
        return std::any_of(actions.begin() + static_cast<ptrdiff_t>(first), actions.end(),
                           predicate);
    };
    auto has = [&](uint32_t kind) {
        return any([&](const PlannedAction& action) { return action.kind == kind; });
    };
    bool aggregates =
        any([](const PlannedAction& action) { return DTRACEACT_IS_AGG(action.kind); });
    const char* beside = nullptr;
    auto refuse = [&](Tag tag, const char* what) {
        error(tag, span, "%s may not follow %s", what, beside);
    };
    if (has(DTRACEACT_COMMIT) && (beside = commits   ? "commit( )"
                                           : records ? "data-recording action(s)"
                                                     : nullptr))
        return refuse(commits ? Tag::D_COMM_COMM : Tag::D_COMM_DREC, "commit( )");
    if (has(DTRACEACT_SPECULATE) && (beside = speculates ? "speculate( )"
                                              : commits  ? "commit( )"
                                              : records  ? "data-recording action(s)"
                                                         : nullptr))
        return refuse(speculates ? Tag::D_SPEC_SPEC
                      : commits  ? Tag::D_SPEC_COMM
                                 : Tag::D_SPEC_DREC,
                      "speculate( )");
    if (aggregates && (beside = commits ? "commit( )" : speculates ? "speculate( )" : nullptr))
        return refuse(commits ? Tag::D_AGG_COMM : Tag::D_AGG_SPEC, "aggregating actions");
    if (speculates && (beside = "speculate( )")) {
        if (any(is_destructive))
            return refuse(Tag::D_ACT_SPEC, "destructive actions");
        if (has(DTRACEACT_EXIT))
            return refuse(Tag::D_EXIT_SPEC, "exit( )");
        if (has(DBK_ACT_SNAPSHOT))
            return refuse(Tag::D_ACT_SPEC, "snapshot( )");
    }
    if (commits && (beside = "commit( )") && any(is_recording))
        refuse(Tag::D_DREC_COMM, "data-recording actions");
}

} // namespace daybreak::compiler
