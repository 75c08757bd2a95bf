// SPDX-License-Identifier: Apache-2.0
//
// Deep copies of expressions.
#include "compiler/syntax/print.hpp"

namespace daybreak::compiler {

namespace {

struct Cloner {
    NodeId& next_id;

    ExprPtr copy(const ExprPtr& expression) const {
        return expression ? clone(*expression, next_id) : nullptr;
    }
    std::vector<ExprPtr> copy(const std::vector<ExprPtr>& expressions) const {
        std::vector<ExprPtr> copies;
        for (const ExprPtr& expression : expressions)
            copies.push_back(copy(expression));
        return copies;
    }

    Derivation copy(const Derivation& derivation) const {
        if (const auto* pointer = std::get_if<PointerDerivation>(&derivation))
            return *pointer;
        if (const auto* array = std::get_if<ArrayDerivation>(&derivation))
            return ArrayDerivation{array->span, copy(array->size), copy(array->keys),
                                   array->variadic};
        const auto& function = std::get<FunctionDerivation>(derivation);
        return FunctionDerivation{function.span, copy(function.parameters), function.variadic};
    }
    std::vector<ParameterSyntax> copy(const std::vector<ParameterSyntax>& parameters) const {
        std::vector<ParameterSyntax> copies;
        for (const ParameterSyntax& parameter : parameters)
            copies.push_back(
                {parameter.span, copy(parameter.specifiers), copy(parameter.declarator)});
        return copies;
    }
    Declarator copy(const Declarator& declarator) const {
        Declarator made{
            declarator.span,      declarator.name, declarator.module, declarator.name_span, {},
            copy(declarator.bits)};
        for (const Derivation& derivation : declarator.derivations)
            made.derivations.push_back(copy(derivation));
        return made;
    }
    NamedType copy(const NamedType& named) const {
        NamedType made{named.span, named.kind,     named.module, named.has_module,
                       named.name, named.has_body, {},           {}};
        for (const Declaration& member : named.members) {
            Declaration declaration{member.span, copy(member.specifiers), {}};
            for (const Declarator& declarator : member.declarators)
                declaration.declarators.push_back(copy(declarator));
            made.members.push_back(std::move(declaration));
        }
        for (const EnumeratorSyntax& enumerator : named.enumerators)
            made.enumerators.push_back({enumerator.span, enumerator.name, copy(enumerator.value)});
        return made;
    }
    Specifiers copy(const Specifiers& specifiers) const {
        Specifiers made{specifiers.span, specifiers.words, {}};
        for (const NamedType& named : specifiers.named)
            made.named.push_back(copy(named));
        return made;
    }
    TypeNamePtr copy(const TypeNamePtr& type) const {
        return std::make_unique<TypeName>(
            TypeName{type->span, copy(type->specifiers), copy(type->declarator)});
    }

    ExprNode operator()(const IntegerLiteral& node) const { return node; }
    ExprNode operator()(const FloatLiteral& node) const { return node; }
    ExprNode operator()(const StringLiteral& node) const { return node; }
    ExprNode operator()(const Identifier& node) const { return node; }
    ExprNode operator()(const Aggregation& node) const {
        return Aggregation{node.name, node.has_keys, copy(node.keys), node.dimensions};
    }
    ExprNode operator()(const Index& node) const {
        return Index{copy(node.base), copy(node.arguments)};
    }
    ExprNode operator()(const Call& node) const {
        return Call{copy(node.function), copy(node.arguments)};
    }
    ExprNode operator()(const Member& node) const {
        return Member{copy(node.base), node.member, node.arrow, node.member_span};
    }
    ExprNode operator()(const Unary& node) const { return Unary{node.op, copy(node.operand)}; }
    ExprNode operator()(const Binary& node) const {
        return Binary{node.op, copy(node.left), copy(node.right)};
    }
    ExprNode operator()(const Assign& node) const {
        return Assign{node.op, copy(node.left), copy(node.right)};
    }
    ExprNode operator()(const Conditional& node) const {
        return Conditional{copy(node.condition), copy(node.if_true), copy(node.if_false)};
    }
    ExprNode operator()(const Cast& node) const {
        return Cast{copy(node.type), copy(node.operand)};
    }
    ExprNode operator()(const SizeofType& node) const { return SizeofType{copy(node.type)}; }
    ExprNode operator()(const SizeofExpr& node) const { return SizeofExpr{copy(node.operand)}; }
    ExprNode operator()(const Offsetof& node) const {
        return Offsetof{copy(node.type), node.member, node.member_span};
    }
    ExprNode operator()(const Stringof& node) const { return Stringof{copy(node.operand)}; }
    ExprNode operator()(const Xlate& node) const {
        return Xlate{copy(node.type), copy(node.operand)};
    }
};

} // namespace

ExprPtr clone(const Expr& expression, NodeId& next_id) {
    auto copy = std::make_unique<Expr>();
    copy->span = expression.span;
    copy->depth = expression.depth;
    copy->node = std::visit(Cloner{next_id}, expression.node);
    copy->id = next_id++;
    return copy;
}

} // namespace daybreak::compiler
