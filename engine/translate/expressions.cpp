/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
//
// DIF and lowered expressions as C: one statement an instruction, so that both can be read side by
// side
#include "engine/translate/expressions.hpp"

#include "base/result.hpp"
#include "formats/dof/dof_printer.hpp"

extern "C" {
#include "engine/run/dif.h"
#include "engine/run/subr.h"
#include "engine/types/insn.h"
}

#include <algorithm>
#include <cinttypes>
#include <span>

namespace daybreak::translate {

using base::strprintf;

namespace {

constexpr size_t kCommentMax = 100;

/// C's, of what an instruction computes, or of what a branch asks.
const char* operator_of(uint32_t op) {
#define TEXT(name, dif, text, facts) text,
    static const char* const texts[] = {DBK_IOPS(TEXT)};
#undef TEXT
    return texts[op];
}

std::string binary_text(uint32_t op, const std::string& a, const std::string& b) {
    bool shift = op == DBK_IOP_SLL || op == DBK_IOP_SRL || op == DBK_IOP_SRA;
    std::string right = shift ? "(" + b + " & 63)" : b;
    // Neither a shift's count nor a divisor that is a constant is negative.
    if ((dbk_iop_facts(op) & DBK_OP_SIGNED) != 0)
        return "(uint64_t)((int64_t)" + a + " " + operator_of(op) + " " +
               (shift ? "" : "(int64_t)") + right + ")";
    return a + " " + operator_of(op) + " " + right;
}

bool is_branch(uint32_t op) {
    return (dbk_iop_facts(op) & DBK_OP_BRANCH) != 0;
}

bool is_conditional(uint32_t op) {
    return is_branch(op) && op != DBK_IOP_BA;
}

std::span<const dbk_insn> insns_of(const dbk_difo& difo) {
    return {difo.insns, difo.insn_count};
}

/// Whether dbk_dif_exec_rest() runs it, on a struct dbk_exec, wherever it is.
bool is_rest(uint32_t op) {
    return op >= DBK_IOP_HOT_END && (dbk_iop_facts(op) & (DBK_OP_BRANCH | DBK_OP_IN_C)) == 0;
}

/// By instruction: whether it divides by a constant of the one before, and so cannot fault.
std::vector<bool> divisions_by_constants(const dbk_difo& difo) {
    std::vector<bool> is_one(difo.insn_count);
    for (uint32_t pc = 1; pc < difo.insn_count; pc++) {
        const dbk_insn &insn = difo.insns[pc], &before = difo.insns[pc - 1];
        if ((dbk_iop_facts(insn.op) & DBK_OP_DIVIDES) == 0 || before.op != DBK_IOP_SETX ||
            difo.relocated)
            continue;
        const uint64_t divisor = difo.integers[before.arg];
        is_one[pc] =
            before.rd != 0 && before.rd == insn.r2 && divisor != 0 &&
            ((dbk_iop_facts(insn.op) & DBK_OP_SIGNED) == 0 || static_cast<int64_t>(divisor) > 0);
    }
    for (const dbk_insn& insn : insns_of(difo))
        if (is_branch(insn.op))
            is_one[insn.arg] = false;
    return is_one;
}

/// One object being written.
class Object {
public:
    Object(const dbk_program& program, const dbk_difo& difo, bool plain)
        : program_(program), difo_(difo), plain_(plain), divides_(divisions_by_constants(difo)) {
        for (uint32_t pc = 0; pc < difo.insn_count; pc++) {
            const dbk_insn& insn = difo.insns[pc];
            uses_rest_ = uses_rest_ || (is_rest(insn.op) && !divides_[pc]);
            compares_ = compares_ || insn.op == DBK_IOP_CMP || insn.op == DBK_IOP_TST;
            asks_ = asks_ || is_conditional(insn.op);
            if (is_branch(insn.op))
                targets_.push_back(insn.arg);
        }
    }

    bool uses_rest() const { return uses_rest_; }
    std::string variables() const;
    std::string statements(const Quotes& quotes) const;

private:
    std::string reg(uint32_t number) const {
        if (number == 0)
            return "0ull";
        return strprintf(uses_rest_ ? "x.regs[%u]" : "r%u", number);
    }
    std::string code(const char* which) const {
        return (uses_rest_ ? "x." : "") + std::string(which);
    }
    std::string statement(uint32_t pc) const;
    std::string assignment(const dbk_insn& insn, uint32_t pc) const;
    std::string check(uint32_t pc) const {
        return strprintf("\n\tif (dbk_native_faulted(n->cpu, %u))\n\t\treturn 0;", pc);
    }

    const dbk_program& program_;
    const dbk_difo& difo_;
    bool plain_, uses_rest_ = false, compares_ = false, asks_ = false;
    std::vector<bool> divides_; // by what cannot be 0
    std::vector<uint32_t> targets_;
};

std::string Object::variables() const {
    if (uses_rest_)
        return "\tstruct dbk_exec x;\n";
    std::vector<uint32_t> used;
    for (const dbk_insn& insn : insns_of(difo_))
        used.insert(used.end(), {insn.r1, insn.r2, insn.rd});
    std::ranges::sort(used);
    used.erase(std::ranges::unique(used).begin(), used.end());
    const std::string unused =
        " __attribute__((__unused__)) = 0"; // a comparison that no branch asks
    std::string names;
    for (uint32_t number : used)
        if (number != 0)
            names += strprintf("%sr%u = 0", names.empty() ? "" : ", ", number);
    if (asks_ || compares_)
        names += std::string(names.empty() ? "" : ", ") +
                 (asks_ ? "a = 0, b = 0" : "a" + unused + ", b" + unused);
    return names.empty() ? "" : "\tuint64_t " + names + ";\n";
}

/// What an instruction puts into its register; "" when it is not of that kind.
std::string Object::assignment(const dbk_insn& insn, uint32_t pc) const {
    if ((dbk_iop_facts(insn.op) & DBK_OP_COMPUTES) != 0 || divides_[pc])
        return binary_text(insn.op, reg(insn.r1), reg(insn.r2)) + ";";
    switch (insn.op) {
    case DBK_IOP_LOAD_ARG:
        return strprintf("dbk_native_arg(n, %u);", insn.arg);
    case DBK_IOP_LOAD_VAR:
        if (dbk_is_simple_variable(insn.arg))
            return strprintf("dbk_native_variable(n, 0x%x);", insn.arg);
        return strprintf("dbk_native_builtin(n, 0x%x);", insn.arg) + check(pc);
    case DBK_IOP_SETX:
        if (difo_.relocated)
            return strprintf("difo->integers[%u];", insn.arg);
        return strprintf("0x%" PRIx64 "ull;", difo_.integers[insn.arg]);
    case DBK_IOP_SETS:
        return strprintf("dbk_native_string(difo, %u);", insn.arg);
    case DBK_IOP_MOV:
        return reg(insn.r1) + ";";
    case DBK_IOP_NOT:
        return "~" + reg(insn.r1) + ";";
    case DBK_IOP_LOAD_GLOBAL:
        return strprintf("dbk_native_global(n, %u);", insn.arg);
    case DBK_IOP_LOAD_LOCAL:
        return strprintf("*dbk_native_local(n, %u);", insn.arg);
    case DBK_IOP_LOAD_THREAD: {
        uint32_t work = DBK_WORK_CALL + program_.vars[insn.arg].bytes;
        if (plain_)
            return strprintf("dbk_native_thread(n, %u);\n\tn->work += %u;", insn.arg, work);
        return strprintf("dbk_native_thread_paid(n, %u, %u);", insn.arg, work) + check(pc);
    }
    default:
        return "";
    }
}

std::string Object::statement(uint32_t pc) const {
    const dbk_insn& insn = difo_.insns[pc];
    const char* cast = (dbk_iop_facts(insn.op) & DBK_OP_SIGNED) != 0 ? "(int64_t)" : "";
    if (is_conditional(insn.op))
        return strprintf("if (%s%s %s %s%s)\n\t\tgoto at_%u;", cast, code("a").c_str(),
                         operator_of(insn.op), cast, code("b").c_str(), insn.arg);
    std::string value = assignment(insn, pc);
    if (!value.empty())
        return reg(insn.rd) + " = " + value;
    switch (insn.op) {
    case DBK_IOP_RET:
        return "return " + reg(insn.rd) + ";";
    case DBK_IOP_BA:
        return strprintf("goto at_%u;", insn.arg);
    case DBK_IOP_CMP:
        return code("a") + " = " + reg(insn.r1) + ";\n\t" + code("b") + " = " + reg(insn.r2) + ";";
    case DBK_IOP_TST:
        return code("a") + " = " + reg(insn.r1) + ";\n\t" + code("b") + " = 0;";
    case DBK_IOP_STORE_GLOBAL:
        return strprintf("dbk_native_set_global(n, %u, %s);", insn.arg, reg(insn.rd).c_str());
    case DBK_IOP_STORE_LOCAL:
        return strprintf("*dbk_native_local(n, %u) = %s;", insn.arg, reg(insn.rd).c_str());
    case DBK_IOP_NOP:
    case DBK_IOP_FLUSH:
        if (!uses_rest_)
            return ";";
        [[fallthrough]];
    default:
        return strprintf("dbk_native_rest(&x, %u);", pc) + check(pc);
    }
}

std::string Object::statements(const Quotes& quotes) const {
    std::string text, last;
    for (uint32_t pc = 0; pc < difo_.insn_count; pc++) {
        std::string quote = quotes.line(difo_.section, pc);
        if (!quote.empty() && quote != last)
            text += "\t/* " + quote + " */\n";
        last = quote.empty() ? last : quote;
        if (std::ranges::find(targets_, pc) != targets_.end())
            text += strprintf("at_%u:\n", pc);
        text += "\t" + statement(pc) + "\n";
    }
    return text;
}

std::string operand_text(uint32_t kind, uint64_t number) {
    if (kind == DBK_EXPR_ARG)
        return strprintf("dbk_native_arg(n, %" PRIu64 ")", number);
    if (kind == DBK_EXPR_VARIABLE)
        return strprintf("dbk_native_variable(n, 0x%" PRIx64 ")", number);
    if (kind == DBK_EXPR_THREAD)
        return strprintf("dbk_native_thread(n, %" PRIu64 ")", number);
    return strprintf("0x%" PRIx64 "ull", number);
}

} // namespace

Quotes::Quotes(const formats::DofProgram& source) : source_(source) {
    const std::string text = source.source.value_or("");
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin), text.size());
        lines_.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

std::string Quotes::line(uint32_t difo_section, uint32_t pc) const {
    for (const formats::DofLine& line : source_.lines) {
        if (line.instruction != pc || source_.difos[line.difo].section != difo_section)
            continue;
        std::string text = strprintf("%s:%u", line.file.c_str(), line.line);
        bool is_main = source_.target && line.file == source_.target->main_file;
        if (is_main && line.line >= 1 && line.line <= lines_.size()) {
            const std::string& all = lines_[line.line - 1];
            size_t begin = std::min(all.find_first_not_of(" \t"), all.size());
            text += ": " + all.substr(begin, kCommentMax);
        }
        return in_comment(text);
    }
    return "";
}

std::string in_comment(std::string_view text) {
    std::string safe;
    for (char c : text) {
        bool pair =
            !safe.empty() && ((safe.back() == '*' && c == '/') || (safe.back() == '/' && c == '*'));
        if (pair)
            safe += ' ';
        // A backslash may join lines, a question mark begin a trigraph.
        safe += c >= ' ' && c <= '~' && c != '\\' && c != '?' ? c : '.';
    }
    return safe;
}

namespace {

/// What is said of an instruction that no whole clause has; "": another of its object says more.
std::string reason_of(const dbk_insn& insn) {
    switch (insn.op) {
    case DBK_IOP_LOAD_VAR:
    case DBK_IOP_LOAD_GUARDED: return formats::builtin_name(insn.arg);
    case DBK_IOP_LOAD_ARGS: return "args[]";
    case DBK_IOP_LOAD_UREGS: return "uregs[]";
    case DBK_IOP_LOAD:
    case DBK_IOP_LOAD_USER: return "a load that may fault";
    case DBK_IOP_STORE: return "a store that may fault";
    case DBK_IOP_LOAD_ARRAY:
    case DBK_IOP_STORE_ARRAY:
    case DBK_IOP_LOAD_THREAD_ARRAY:
    case DBK_IOP_STORE_THREAD_ARRAY: return "an associative array";
    case DBK_IOP_STORE_THREAD: return "an expression that sets a thread-local variable";
    case DBK_IOP_SCMP: return "a comparison of strings";
    case DBK_IOP_CALL: return std::string(dbk_subr_name(insn.arg)) + "()";
    case DBK_IOP_ALLOCS: return "alloca()";
    case DBK_IOP_COPYS: return "memory that is copied";
    default: return (dbk_iop_facts(insn.op) & DBK_OP_DIVIDES) != 0 ? "a division by what may be 0" : "";
    }
}

bool is_name(const dbk_insn& insn) {
    return insn.op == DBK_IOP_LOAD_VAR &&
           ((insn.arg >= DIF_VAR_PROBEPROV && insn.arg <= DIF_VAR_PROBENAME) || insn.arg == DIF_VAR_EXECNAME);
}

} // namespace

std::string why_not_plain(const dbk_program& program, const dbk_difo& difo, Cost& cost) {
    bool all_plain = true;
    std::string why;
    const std::vector<bool> divides = divisions_by_constants(difo);
    cost.work += difo.work;
    for (uint32_t pc = 0; pc < difo.insn_count; pc++) {
        const dbk_insn& insn = difo.insns[pc];
        bool plain = (!is_rest(insn.op) || divides[pc]) && insn.op != DBK_IOP_SETS;
        if (insn.op == DBK_IOP_LOAD_ARG)
            cost.args = std::max(cost.args, insn.arg + 1);
        if (insn.op == DBK_IOP_LOAD_VAR)
            plain = dbk_is_simple_variable(insn.arg);
        if (insn.op == DBK_IOP_LOAD_THREAD) {
            plain = !program.vars[insn.arg].by_ref;
            cost.work += DBK_WORK_CALL + program.vars[insn.arg].bytes;
        }
        all_plain = all_plain && plain;
        if (!plain && insn.op == DBK_IOP_CALL)
            return reason_of(insn);
        if (!plain && why.empty() && !is_name(insn))
            why = reason_of(insn);
    }
    return !all_plain && why.empty() ? "a string" : why;
}

bool has_stores(const dbk_difo& difo) {
    return std::ranges::any_of(insns_of(difo), [](const dbk_insn& insn) {
        return insn.op == DBK_IOP_STORE_GLOBAL || insn.op == DBK_IOP_STORE_LOCAL;
    });
}

std::string value_function(const dbk_program& program, const dbk_difo& difo,
                           const std::string& name, const Quotes& quotes) {
    Object object(program, difo, false);
    return strprintf("__probe_ctx static uint64_t %s_value_%u(struct dbk_cpu *cpu, "
                     "const struct dbk_difo *difo)\n{\n",
                     name.c_str(), difo.section) +
           "\tconst struct dbk_native entered = dbk_native_entered(cpu), *n = &entered;\n" +
           object.variables() + "\n\tif (!dbk_native_paid(n->cpu, difo))\n\t\treturn 0;\n" +
           (object.uses_rest() ? "\tdbk_native_object(&x, n->cpu, difo);\n" : "") + object.statements(quotes) +
           "}\n\n";
}

std::string plain_function(const dbk_program& program, const dbk_difo& difo,
                           const std::string& name, const Quotes& quotes) {
    Object object(program, difo, true);
    return strprintf("static __probe_ctx_inline uint64_t %s_plain_%u(struct dbk_native *n)\n{\n",
                     name.c_str(), difo.section) +
           object.variables() + "\n" + object.statements(quotes) + "}\n\n";
}

std::string expression_text(const dbk_expr& expr, const std::string& name) {
    if (expr.kind == DBK_EXPR_DIF)
        return strprintf("%s_plain_%u(n)", name.c_str(), expr.difo->section);
    if (expr.kind == DBK_EXPR_DIVIDED)
        return binary_text(expr.op, "(" + expression_text(*expr.dividend, name) + ")",
                           operand_text(DBK_EXPR_CONST, expr.operand));
    if (expr.kind == DBK_EXPR_BINARY)
        return binary_text(expr.op, operand_text(expr.left, expr.operand),
                           operand_text(expr.right, expr.constant));
    return operand_text(expr.kind, expr.kind == DBK_EXPR_CONST ? expr.constant : expr.operand);
}

} // namespace daybreak::translate
