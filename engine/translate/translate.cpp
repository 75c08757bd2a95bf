/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
//
// Clauses and their tables as C
#include "engine/translate/expressions.hpp"

#include "base/result.hpp"
#include "formats/dof/dof_printer.hpp"

extern "C" {
#include "engine/run/dif.h"
}

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <set>
#include <span>

namespace daybreak::translate {

using base::strprintf;

namespace {

/// Whether a clause can be translated as a whole, and what it then costs at most.
class WholeCheck {
public:
    WholeCheck(const dbk_consumer& consumer, const dbk_plan& plan)
        : program_(*consumer.program), plan_(plan), counted_(consumer.counted) {}

    /// Because of what it cannot; "": it can.
    std::string why_not();
    const Cost& cost() const { return cost_; }

private:
    std::string why_not(const dbk_expr& expr);
    std::string why_not(const dbk_step& step);

    const dbk_program& program_;
    const dbk_plan& plan_;
    bool counted_, in_key_ = false;
    Cost cost_;
};

std::string WholeCheck::why_not(const dbk_expr& expr) {
    if (expr.kind == DBK_EXPR_DIF)
        return why_not_plain(program_, *expr.difo, cost_);
    if (expr.kind == DBK_EXPR_CHAIN)
        return "a load that may fault";
    if (expr.kind == DBK_EXPR_SPECULATION)
        return "speculation()";
    if (expr.kind == DBK_EXPR_COPYINSTR)
        return "copyinstr()";
    if (expr.kind == DBK_EXPR_NAME)
        return "a string";
    if (expr.kind == DBK_EXPR_DIVIDED)
        return why_not(*expr.dividend);
    if (expr.kind == DBK_EXPR_ARG || (expr.kind == DBK_EXPR_BINARY && expr.left == DBK_EXPR_ARG))
        cost_.args = std::max(cost_.args, expr.operand + 1);
    if (expr.kind == DBK_EXPR_BINARY && expr.right == DBK_EXPR_ARG)
        cost_.args = std::max(cost_.args, static_cast<uint32_t>(expr.constant) + 1);
    return dbk_is_simple(&expr) ? "" : formats::builtin_name(expr.operand);
}

std::string WholeCheck::why_not(const dbk_step& step) {
    switch (step.kind) {
    case DBK_STEP_STORE:
    case DBK_STEP_CHAIN:
    case DBK_STEP_EVALUATE:
    case DBK_STEP_THREAD:
        return why_not(step.expr);
    case DBK_STEP_EXECNAME:
        cost_.work += in_key_ ? DBK_EXECNAME_BYTES : 0;
        return "";
    case DBK_STEP_KEY_BEGIN:
        in_key_ = true;
        return "";
    case DBK_STEP_AGGREGATE: {
        in_key_ = false;
        const dbk_aggregation& aggregation = plan_.aggregations[step.aggregation];
        cost_.work += aggregation.key_fixed_bytes;
        const std::string why = why_not(aggregation.value);
        return why.empty() ? why_not(aggregation.increment) : why;
    }
    case DBK_STEP_TEXT:
        if (in_key_) // dbk_run_plan() charges for a key once more, when it is looked for
            cost_.work += DBK_ROUND_UP(dbk_step_text_most(&step), 8);
        return step.expr.kind == DBK_EXPR_ARG ? "a recorded string" : "";
    case DBK_STEP_STRING:
        return step.expr.kind == DBK_EXPR_COPYINSTR ? "copyinstr()" : "a string";
    case DBK_STEP_BYTES:
        return "memory that is copied";
    case DBK_STEP_STACK:
    case DBK_STEP_USTACK:
        return "a stack";
    case DBK_STEP_SPECULATE:
    case DBK_STEP_COMMIT:
    case DBK_STEP_DISCARD:
        return "a speculation";
    default:
        return "an action that only the engine does";
    }
}

/// Where a constant may be an address, which only the kernel that loads the program knows.
bool names_symbols(const dbk_ecbdesc& desc) {
    const std::span actions{desc.actions, desc.action_count};
    return (desc.predicate != nullptr && desc.predicate->relocated) ||
           std::ranges::any_of(actions, [](const dbk_actdesc& action) {
               return action.difo != nullptr && action.difo->relocated;
           });
}

std::string WholeCheck::why_not() {
    const dbk_predicate& predicate = plan_.predicate;
    if (plan_.own_gates == DBK_GATE_ERROR)
        return "the way in which the engine runs ERROR";
    if (counted_)
        return "a buffer that is counted in DTrace's bytes";
    if (names_symbols(*plan_.desc))
        return "a symbol of the kernel";
    cost_.work += plan_.work;
    if (predicate.kind != DBK_PREDICATE_NONE && !predicate.simple) {
        if (std::string why = why_not(predicate.left); !why.empty())
            return why;
        // It would be run twice when there is no room for the record.
        if (plan_.has_record && predicate.left.kind == DBK_EXPR_DIF &&
            has_stores(*predicate.left.difo))
            return "the condition of an if, or a predicate that stores";
    }
    for (const dbk_step* step = plan_.steps; step != plan_.steps_end; step++)
        if (std::string why = why_not(*step); !why.empty())
            return why;
    if (plan_.simple_bytes > DBK_RECORD_BYTES_MAX)
        return "a record that may be too long";
    return cost_.work > DBK_WORK_FIRING ? "more work than a firing may cost" : "";
}

/// One whole clause.
class ClauseWriter {
public:
    ClauseWriter(const dbk_plan& plan, const Cost& cost, const std::string& name,
                 const Quotes& quotes)
        : plan_(plan), cost_(cost), name_(name), quotes_(quotes),
          charged_(!dbk_plan_is_simple(&plan)) {}

    std::string function(uint32_t index);

private:
    void put(const std::string& line) { text_ += "\t" + line + "\n"; }
    /// The D line that `difo` came from, once where several in a row did.
    void quote(const dbk_difo* difo);
    void charge(uint64_t work) {
        if (charged_ && work != 0)
            put(strprintf("n->work += %" PRIu64 ";", work));
    }
    static uint64_t work_of(const dbk_expr& expr) {
        return expr.kind == DBK_EXPR_DIF ? expr.difo->work : 0;
    }
    std::string value(const dbk_expr& expr) {
        charge(work_of(expr));
        return expression_text(expr, name_);
    }
    void predicate();
    void step(const dbk_step& step);
    void tail(const dbk_step& step, const std::string& base, const std::string& used);
    void literal(const dbk_step& step, const std::string& base, const std::string& used);
    void aggregate(const dbk_step& step);
    void store_thread(const dbk_step& step);
    std::string pay() const { return strprintf("dbk_native_pay(n, %" PRIu64 ");", cost_.work); }

    const dbk_plan& plan_;
    Cost cost_;
    const std::string& name_;
    const Quotes& quotes_;
    bool charged_, in_key_ = false;
    std::string text_, quoted_;
};

void ClauseWriter::quote(const dbk_difo* difo) {
    std::string line;
    for (uint32_t pc = 0; difo != nullptr && line.empty() && pc < difo->insn_count; pc++)
        line = quotes_.line(difo->section, pc); // what a library computes has none
    if (line.empty() || line == quoted_)
        return;
    put("/* " + line + " */");
    quoted_ = std::move(line);
}

void ClauseWriter::predicate() {
    const dbk_predicate& predicate = plan_.predicate;
    if (predicate.kind == DBK_PREDICATE_NONE || predicate.simple)
        return; // the engine has asked it
    quote(plan_.desc->predicate);
    const std::string asked = value(predicate.left);
    put("if (" + asked + " == 0) {");
    put("\t" + pay() + "\n\t\treturn true;\n\t}");
}

void ClauseWriter::aggregate(const dbk_step& step) {
    const dbk_aggregation& aggregation = plan_.aggregations[step.aggregation];
    in_key_ = false;
    std::string increment = "1", counted = "0";
    if (aggregation.has_increment)
        increment = value(aggregation.increment);
    put("increment = " + increment + ";");
    if (aggregation.kind != DTRACEAGG_COUNT)
        counted = value(aggregation.value);
    put("value = " + counted + ";");
    if (charged_)
        put("n->work += key_used;");
    put(strprintf("dbk_native_aggregate(n, %u, key_used, value, increment);", step.aggregation));
}

void ClauseWriter::store_thread(const dbk_step& step) {
    const std::string stored = value(step.expr);
    put(strprintf("if (!dbk_native_store(n, %u, %s)) {", step.bytes, stored.c_str()));
    if (plan_.has_record)
        put("\tdbk_native_withdraw(n, record);");
    if (charged_)
        put("\t" + pay());
    put("\treturn true;\n\t}");
}

/// Where the text that was stored last is.
void ClauseWriter::tail(const dbk_step& step, const std::string& base, const std::string& used) {
    put(strprintf("%s = dbk_native_tail(%s, %s, %u, 0x%" PRIx64 "ull, length);", used.c_str(),
                  base.c_str(), used.c_str(), step.offset, step.word_mask));
}

void ClauseWriter::literal(const dbk_step& step, const std::string& base, const std::string& used) {
    const std::string text(step.expr.text, dbk_step_text_most(&step));
    put("/* " + in_comment(text) + " */");
    for (size_t at = 0; at < text.size(); at += 8) {
        uint64_t word = 0;
        memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
        put(strprintf("dbk_native_word(%s + %s + %zu, 0x%" PRIx64 "ull, ~0ull);", base.c_str(),
                      used.c_str(), at, word));
    }
    put(strprintf("length = %zu;", text.size()));
}

void ClauseWriter::step(const dbk_step& step) {
    const std::string base = in_key_ ? "buffer->key" : "record",
                      used = in_key_ ? "key_used" : "used";
    quote(plan_.desc->actions[step.action].difo);
    switch (step.kind) {
    case DBK_STEP_STORE: {
        const std::string stored = value(step.expr);
        if (step.word_mask != 0)
            put(strprintf("dbk_native_word(%s + %u, %s, 0x%" PRIx64 "ull);", base.c_str(),
                          step.offset, stored.c_str(), step.word_mask));
        else
            put(strprintf("dbk_native_integer(%s + %u, %s, %u);", base.c_str(), step.offset,
                          stored.c_str(), step.size));
        break;
    }
    case DBK_STEP_EVALUATE: {
        const std::string evaluated = value(step.expr);
        put("(void)(" + evaluated + ");");
        break;
    }
    case DBK_STEP_EXECNAME:
        put("length = dbk_native_execname(" + base + ", " + used + ");");
        tail(step, base, used);
        break;
    case DBK_STEP_TEXT:
        if (step.expr.kind == DBK_EXPR_LITERAL)
            literal(step, base, used);
        else
            put(strprintf("length = dbk_native_name(n, 0x%x, %u, %s, %s);", step.expr.operand,
                          dbk_step_text_most(&step), base.c_str(), used.c_str()));
        tail(step, base, used);
        break;
    case DBK_STEP_KEY_BEGIN:
        in_key_ = true;
        put(strprintf("key_used = %u;",
                      unsigned{plan_.aggregations[step.aggregation].key_fixed_bytes}));
        break;
    case DBK_STEP_THREAD:
        store_thread(step);
        break;
    default:
        aggregate(step);
        break;
    }
}

bool stores_texts(const dbk_plan& plan) {
    return std::any_of(plan.steps, plan.steps_end, [](const dbk_step& step) {
        return step.kind == DBK_STEP_EXECNAME || step.kind == DBK_STEP_TEXT;
    });
}

std::string ClauseWriter::function(uint32_t index) {
    bool keys = plan_.aggregation_count != 0;
    put("struct dbk_native firing = {cpu, ecb, buffer, args, frame, 0, quick}, *n = &firing;");
    if (plan_.has_record)
        put(strprintf("uint32_t used = %u;\n\tuint8_t *record;", plan_.fixed_bytes));
    if (keys)
        put("uint64_t value, increment;\n\tuint32_t key_used;");
    if (stores_texts(plan_))
        put("uint32_t length;");
    text_ += "\n";
    if (charged_)
        put(strprintf("if (!dbk_native_affords(n, %" PRIu64 ", %s))\n\t\treturn false;", cost_.work,
                      plan_.uses_locals ? "true" : "false"));
    predicate();
    charge(plan_.work);
    if (plan_.has_record)
        put(strprintf("record = dbk_native_record(n, %s, %s);\n\tif (record == "
                      "NULL)\n\t\treturn false;",
                      charged_ ? "true" : "false", plan_.variable ? "true" : "false"));
    if (keys)
        put("dbk_native_begin(n);");
    for (const dbk_step* one = plan_.steps; one != plan_.steps_end; one++)
        step(*one);
    if (plan_.has_record)
        put(strprintf("dbk_native_commit(n, used, %s);", plan_.variable ? "true" : "false"));
    if (charged_)
        put(pay());
    put("return true;");
    const std::string own = strprintf("%s_clause_%u", name_.c_str(), index),
                      with = "(struct dbk_cpu *cpu, const struct dbk_ecb *ecb,\n\t\t\tstruct dbk_buffer *buffer, "
                             "const uint64_t *args, void *frame";
    return "static __probe_ctx_inline bool " + own + "_body" + with + ", bool quick)\n{\n" + text_ + "}\n\n" +
           "__probe_ctx static bool " + own + with + ")\n{\n\treturn " + own +
           "_body(cpu, ecb, buffer, args, frame, false);\n}\n\n__probe_ctx static void " + own +
           "_firing(struct dbk_probe *probe, const uint64_t *args, void *frame,\n"
           "\t\t\tconst struct dbk_ecb *ecb)\n{\n"
           "\tunsigned long flags = dbk_host_enter();\n"
           "\tstruct dbk_buffer *buffer = dbk_buffer_here(ecb);\n"
           "\tstruct dbk_cpu *cpu = buffer->owner;\n\n\t(void)probe;\n" +
           strprintf("\tif (dbk_native_is_quick(ecb, %u) && dbk_native_enter(cpu, buffer) &&\n", cost_.args) +
           "\t    dbk_native_leave(cpu, buffer, " + own + "_body(cpu, ecb, buffer, args, frame, true))) {\n"
           "\t\tdbk_host_leave(flags);\n\t\treturn;\n\t}\n\tdbk_host_leave(flags);\n"
           "\tdbk_native_fire(ecb, args, frame);\n}\n\n";
}

/// Calls `with` for each expression that a plan's interpreter would be asked for.
template <typename With>
void each_dif(const dbk_plan& plan, With with) {
    auto one = [&](const dbk_expr& expr) {
        if (expr.kind == DBK_EXPR_DIF)
            with(*expr.difo);
    };
    one(plan.predicate.left);
    for (const dbk_step* step = plan.steps; step != plan.steps_end; step++)
        one(step->expr);
    for (uint32_t i = 0; i < plan.aggregation_count; i++) {
        one(plan.aggregations[i].value);
        one(plan.aggregations[i].increment);
    }
}

std::string probe_text(const dbk_consumer& consumer, const dbk_plan& plan) {
    const dbk_probedesc& probe = consumer.program->probedescs[plan.desc->probedesc];
    return in_comment(std::string(probe.provider) + ":" + probe.module + ":" + probe.function +
                      ":" + probe.name);
}

class ProgramWriter {
public:
    ProgramWriter(const dbk_consumer& consumer, const formats::DofProgram& source,
                  const std::string& name)
        : consumer_(consumer), quotes_(source), name_(name) {}

    Translation translate();

private:
    void plan(uint32_t index);
    void table();
    void part();

    const dbk_consumer& consumer_;
    Quotes quotes_;
    const std::string& name_;
    std::set<uint32_t> values_, plains_; ///< sections of DIFOs that were written
    std::vector<uint32_t> clauses_;
    Translation made_;
};

void ProgramWriter::plan(uint32_t index) {
    const dbk_plan& plan = consumer_.plans[index];
    WholeCheck check(consumer_, plan);
    Clause clause{plan.desc->section, DBK_NATIVE_INTERPRETED, check.why_not()};
    made_.text += "/* ---- " + probe_text(consumer_, plan);
    if (!clause.why.empty()) {
        each_dif(plan, [&](const dbk_difo&) { clause.way = DBK_NATIVE_VALUES; });
        made_.text += ": " + describe(clause) + " ---- */\n\n";
        each_dif(plan, [&](const dbk_difo& difo) {
            if (values_.insert(difo.section).second)
                made_.text += value_function(*consumer_.program, difo, name_, quotes_);
        });
        made_.clauses.push_back(std::move(clause));
        return;
    }
    made_.text += ": whole ---- */\n\n";
    each_dif(plan, [&](const dbk_difo& difo) {
        if (plains_.insert(difo.section).second)
            made_.text += plain_function(*consumer_.program, difo, name_, quotes_);
    });
    clause.way = DBK_NATIVE_WHOLE;
    clauses_.push_back(index);
    made_.text += ClauseWriter(plan, check.cost(), name_, quotes_).function(index);
    made_.clauses.push_back(std::move(clause));
}

void ProgramWriter::table() {
    const char* name = name_.c_str();
    std::string values, clauses, firings;
    for (uint32_t section : values_)
        values += strprintf("\t[%u] = %s_value_%u,\n", section, name, section);
    for (uint32_t index : clauses_) {
        clauses += strprintf("\t[%u] = %s_clause_%u,\n", index, name, index);
        firings += strprintf("\t[%u] = %s_clause_%u_firing,\n", index, name, index);
    }
    made_.text += strprintf("static dbk_native_value *const %s_values[%u] = {\n%s};\n\n", name,
                            consumer_.program->section_count, values.c_str());
    made_.text += strprintf("static dbk_native_clause *const %s_clauses[%u] = {\n%s};\n\n", name,
                            consumer_.plan_count + 1, clauses.c_str());
    made_.text += strprintf("static dbk_native_firing *const %s_firings[%u] = {\n%s};\n\n", name,
                            consumer_.plan_count + 1, firings.c_str());
    part();
    made_.text += strprintf("const struct dbk_native_program %s = {\n\t.version = %u,\n\t.part = &%s_part.head,\n"
                            "\t.lacks = %u,\n\t.aggregate = %u,\n\t.counted = %u,\n\t.values = %s_values,\n"
                            "\t.clauses = %s_clauses,\n\t.firings = %s_firings,\n};\n\n",
                            name, DBK_NATIVE_VERSION, name, consumer_.program->lacks, consumer_.aggregate,
                            unsigned{consumer_.counted}, name, name, name);
}

/// What is said of the program in a module's file.  The DOF is a string, for a list of numbers takes the compiler
/// ten times as long; its NUL is padding.
void ProgramWriter::part() {
    const std::span dof{consumer_.program->image, consumer_.program->image_bytes};
    std::string ways, bytes;
    for (const Clause& clause : made_.clauses)
        ways += strprintf("%u,", unsigned{clause.way});
    for (size_t at = 0; at < dof.size(); at++)
        bytes += strprintf(at % 24 == 0 ? "\"\n\"\\%03o" : "\\%03o", unsigned{dof[at]});
    made_.text += strprintf("static const struct {\n\tstruct dbk_native_part head;\n\tuint8_t ways[%zu], dof[%zu + 1];\n"
                            "} %s_part __attribute__((__section__(DBK_NATIVE_SECTION), __aligned__(8))) = {\n"
                            "\t{DBK_NATIVE_MAGIC, %zu, %zu}, {%s}, \"%s\"};\n\n",
                            made_.clauses.size(), dof.size(), name_.c_str(), dof.size(), made_.clauses.size(),
                            ways.c_str(), bytes.c_str());
}

Translation ProgramWriter::translate() {
    for (uint32_t i = 0; i < consumer_.plan_count; i++)
        plan(i);
    table();
    return std::move(made_);
}

} // namespace

Translation translate(const dbk_consumer& consumer, const formats::DofProgram& source,
                      const std::string& name) {
    return ProgramWriter(consumer, source, name).translate();
}

std::string native_file_head() {
    return "/* SPDX-License-Identifier: GPL-2.0-only OR MIT */\n"
           "/* D programs, translated by daybreak: see engine/native.h */\n"
           "#include \"engine/native.h\"\n\n"
           "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n\n";
}

std::string native_file_tail(const std::vector<std::string>& names) {
    std::string text = "extern const struct dbk_native_program *const dbk_native_programs[];\n"
                       "const struct dbk_native_program *const dbk_native_programs[] = {";
    for (const std::string& name : names)
        text += "&" + name + ", ";
    return text + "NULL};\n";
}

std::string describe(const Clause& clause) {
    static constexpr const char* kWays[] = {
#define DBK_WAY(name, value, text) text,
        DBK_NATIVE_WAYS(DBK_WAY)
#undef DBK_WAY
    };
    return kWays[clause.way] + (clause.why.empty() ? "" : ", because of " + clause.why);
}

} // namespace daybreak::translate
