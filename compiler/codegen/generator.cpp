// SPDX-License-Identifier: Apache-2.0
//
// Values: registers, and what every kind of node becomes.  Loads and arithmetic are in
// generate_arithmetic.cpp.
#include "compiler/codegen/generator_impl.hpp"

#include <algorithm>

namespace daybreak::compiler {

std::optional<GeneratedDifo> Generator::run(const TypedExpr& expression, const dif_type& result,
                                            ValueUse use) {
    builder_.set_span(expression.span);
    // One that is evaluated for its effect returns its value too: an increment is read that way.
    return_value(expression, use);
    if (action_) {
        sink_.report(diagnosticf(Tag::D_CG_EXPR, action_->span,
                                 "an action or aggregation has no value: it stands alone"));
        return std::nullopt;
    }
    if (translated_) {
        sink_.report(diagnosticf(Tag::D_CG_DYN, translated_->span,
                                 "expression cannot evaluate to result of dynamic type"));
        return std::nullopt;
    }
    if (out_of_registers_) {
        Diagnostic diagnostic = diagnosticf(
            Tag::D_NOREG, expression.span,
            "the expression needs more than the %u registers there are", DIF_DIR_NREGS - 1);
        diagnostic.hints.push_back("compute a part of it into a this-> variable first");
        sink_.report(std::move(diagnostic));
        return std::nullopt;
    }
    if (builder_.overflowed()) {
        sink_.report(diagnosticf(Tag::D_UNKNOWN, expression.span,
                                 "the expression is larger than a DIF object can be"));
        return std::nullopt;
    }
    return builder_.finish(result);
}

Generator::Value Generator::allocate() {
    for (uint32_t reg = 1; reg < DIF_DIR_NREGS; reg++)
        if (!(used_ & (1u << reg))) {
            used_ |= 1u << reg;
            return {reg, true};
        }
    out_of_registers_ = true; // reported once, at the end
    return {1, false};
}

void Generator::release(Value operand) {
    if (operand.owned)
        used_ &= ~(1u << operand.reg);
}

Generator::Value Generator::reuse(Value operand) {
    return operand.owned ? operand : allocate();
}

Generator::Value Generator::reuse(Value left, Value right) {
    if (left.owned) {
        release(right);
        return left;
    }
    return reuse(right);
}

/// Whether code of this node may leave undefined bits above its type's bytes.  Overflow of signed
/// integers is undefined in C: it costs nothing here, and D computes with 64 bits.
bool Generator::is_dirty(const TypedExpr& node) const {
    if (!types_.is_integer(node.type) || types_.size_of(node.type).value_or(8) >= 8)
        return false;
    bool is_unsigned = !types_.is_signed(node.type);
    switch (node.op) {
    case TypedOp::multiply:
    case TypedOp::add:
    case TypedOp::subtract:
    case TypedOp::shift_left:
    case TypedOp::negate:
        return is_unsigned || is_dirty(*node.operands[0]);
    case TypedOp::complement:
        return is_unsigned || is_dirty(*node.operands[0]);
    case TypedOp::bit_and:
    case TypedOp::bit_or:
    case TypedOp::bit_xor:
        return is_dirty(*node.operands[0]) || is_dirty(*node.operands[1]);
    default:
        return false;
    }
}

bool Generator::is_pure(const TypedExpr& node) {
    auto [known, inserted] = pure_.emplace(&node, true);
    if (!inserted)
        return known->second;
    bool pure = node.op != TypedOp::assign && node.op != TypedOp::store &&
                node.op != TypedOp::call && node.op != TypedOp::with_old &&
                node.op != TypedOp::old && node.op != TypedOp::fault_in &&
                node.op != TypedOp::let && node.op != TypedOp::scratch;
    for (const TypedPtr& operand : node.operands)
        pure = pure && is_pure(*operand);
    return pure_[&node] = pure;
}

/// Registers that computing the node takes at once, as Sethi and Ullman count them.
unsigned Generator::need(const TypedExpr& node) {
    if (auto known = need_.find(&node); known != need_.end())
        return known->second;
    unsigned most = node.op == TypedOp::constant && node.value == 0 ? 0 : 1, held = 0;
    std::vector<unsigned> needs;
    for (const TypedPtr& operand : node.operands)
        needs.push_back(need(*operand));
    if (node.operands.size() == 2)
        std::sort(needs.rbegin(), needs.rend());
    for (unsigned one : needs)
        most = std::max(most, one + held++);
    return need_[&node] = most;
}

Generator::Value Generator::constant(uint64_t number) {
    if (number == 0)
        return {};
    Value result = allocate();
    builder_.setx(number, result.reg);
    return result;
}

/// As value(), but an int constant that became an address or a 64-bit argument is extended by code,
/// as other D compilers do: the offsets of the faults that it leads to are those that people know.
Generator::Value Generator::spelled_out(const TypedExpr& node) {
    if (node.op == TypedOp::reinterpret && node.operands[0]->is_constant())
        return spelled_out(*node.operands[0]);
    bool fits = node.is_constant() && static_cast<int64_t>(node.value) ==
                                          static_cast<int32_t>(static_cast<uint32_t>(node.value));
    if (!fits || !node.is_widened)
        return value(node);
    Value result = allocate();
    if (node.value == 0)
        builder_.emit(DIF_OP_MOV, DIF_REG_R0, 0, result.reg);
    else
        builder_.setx(node.value, result.reg);
    Value bits = constant(32);
    builder_.emit(DIF_OP_SLL, result.reg, bits.reg, result.reg);
    builder_.emit(DIF_OP_SRA, result.reg, bits.reg, result.reg);
    release(bits);
    return result;
}

Generator::Value Generator::value(const TypedExpr& node) {
    Value result = raw_value(node);
    return is_dirty(node) ? extend(result, node.type) : result;
}

/// What has no operands to compute, and what has no value at all.
Generator::Value Generator::leaf(const TypedExpr& node) {
    Value result;
    switch (node.op) {
    case TypedOp::constant:
        return constant(node.value);
    case TypedOp::string:
        result = allocate();
        builder_.sets(node.text, result.reg);
        return result;
    case TypedOp::variable:
        return variable(node);
    case TypedOp::old:
        return {old_.back().reg, false};
    case TypedOp::bound:
        return {bound_.at(node.value).reg, false};
    case TypedOp::scratch:
        return scratch(node);
    case TypedOp::symbol:
        result = allocate();
        builder_.set_symbol(node.text, node.value, result.reg);
        return result;
    case TypedOp::translated:
        translated_ = &node;
        return result;
    default:
        action_ = &node;
        return result;
    }
}

Generator::Value Generator::raw_value(const TypedExpr& node) {
    if (builder_.overflowed() || out_of_registers_)
        return {};
    Span outer = builder_.span();
    builder_.set_span(node.span.valid() ? node.span : outer);
    Value result;
    switch (node.op) {
    case TypedOp::element:
        result = element(node);
        break;
    case TypedOp::builtin_array:
        result = builtin_array(node);
        break;
    case TypedOp::load:
        result = load(node);
        break;
    case TypedOp::convert:
        result = convert(node);
        break;
    case TypedOp::reinterpret:
        result = value(*node.operands[0]);
        break;
    case TypedOp::negate:
    case TypedOp::complement:
        result = negate(node);
        break;
    case TypedOp::conditional:
        result = conditional(node);
        break;
    case TypedOp::sequence:
        result = effect_then_value(node);
        break;
    case TypedOp::assign:
        result = assign(node);
        break;
    case TypedOp::store:
        result = store(node);
        break;
    case TypedOp::with_old:
        result = with_old(node);
        break;
    case TypedOp::call:
        result = call(node);
        break;
    case TypedOp::fault_in:
        result = fault_in(node);
        break;
    case TypedOp::let:
        result = let(node);
        break;
    default:
        if (node.operands.empty() || node.op == TypedOp::translated)
            result = leaf(node);
        else
            result = is_condition(node) ? truth(node) : arithmetic(node);
        break;
    }
    builder_.set_span(outer);
    return result;
}

Generator::Value Generator::with_old(const TypedExpr& node) {
    Value kept = value(*node.operands[0]);
    old_.push_back(kept);
    effect(*node.operands[1]);
    old_.pop_back();
    return kept;
}

Generator::Value Generator::effect_then_value(const TypedExpr& node) {
    effect(*node.operands[0]);
    return value(*node.operands[1]);
}

/// Computes a value once for an expression that uses it in several places.
Generator::Value Generator::let(const TypedExpr& node) {
    Value kept = value(*node.operands[0]);
    bound_[node.value] = kept;
    Value result = value(*node.operands[1]);
    bound_.erase(node.value);
    if (result.reg == kept.reg && !result.owned)
        return kept;
    release(kept);
    return result;
}

Generator::Value Generator::scratch(const TypedExpr& node) {
    Value bytes = allocate();
    builder_.setx(types_.size_of(node.type).value_or(0), bytes.reg);
    builder_.emit(DIF_OP_ALLOCS, bytes.reg, 0, bytes.reg);
    return bytes;
}

void Generator::effect(const TypedExpr& node) {
    release(raw_value(node));
}

std::optional<GeneratedDifo> generate_difo(const TypeTable& types, const TypedExpr& expression,
                                           const dif_type& result, ValueUse use,
                                           DiagnosticSink& sink) {
    return Generator(types, sink).run(expression, result, use);
}

} // namespace daybreak::compiler
