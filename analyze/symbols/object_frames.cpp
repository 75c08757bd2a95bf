// SPDX-License-Identifier: Apache-2.0
//
// Rules of .eh_frame, by libdw.
#include "analyze/symbols/object_frames.hpp"

#include "analyze/symbols/frame_programs.hpp"
#include "formats/abi/meta.h"

#include <cstdlib>
#include <cstring>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <memory>
#include <vector>

namespace daybreak::analyze {

namespace {

using Step = ObjectFrames::Step;

static_assert(FrameState::kSp == DBK_USER_REGISTER_SP && FrameState::kIp == DBK_USER_REGISTER_IP &&
              FrameState::kCount == DBK_USER_REGISTERS);

constexpr size_t kOperationsMax = 256, kDepthMax = 64;

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Frame = std::unique_ptr<Dwarf_Frame, Free>;

/// The value of an expression, and whether it is where the value lies.
struct Found {
    uint64_t value = 0;
    bool is_place = true;
};

/// Works an expression out.  Only what rules of frames use: constants, registers, memory, sums and
/// comparisons, and no jumps, so that it ends.
class Evaluation {
public:
    Evaluation(const FrameState& state, std::optional<uint64_t> cfa) : state_(state), cfa_(cfa) {}

    /// Returns Step::caller and sets `found`, or why not.
    Step run(const Dwarf_Op* operations, size_t count, Found& found) {
        if (count > kOperationsMax)
            return Step::unknown_rule;
        for (size_t i = 0; i < count; i++)
            if (Step step = take(operations[i], found); step != Step::caller)
                return step;
        if (!found.is_place && stack_.empty())
            return Step::caller; // a register's value
        if (stack_.empty())
            return Step::unknown_rule;
        found.value = stack_.back();
        return Step::caller;
    }

private:
    Step push(std::optional<uint64_t> value) {
        if (!value || stack_.size() >= kDepthMax)
            return Step::unknown_rule;
        stack_.push_back(*value);
        return Step::caller;
    }

    std::optional<uint64_t> register_of(uint64_t number) const {
        return number < FrameState::kCount ? state_.registers[number] : std::nullopt;
    }

    std::optional<uint64_t> pop() {
        if (stack_.empty())
            return std::nullopt;
        uint64_t value = stack_.back();
        stack_.pop_back();
        return value;
    }

    Step take(const Dwarf_Op& op, Found& found) {
        if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31)
            return push(op.atom - DW_OP_lit0);
        if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31)
            return push_sum(register_of(op.atom - DW_OP_breg0), op.number);
        if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31)
            return is_register(op.atom - DW_OP_reg0, found);
        switch (op.atom) {
        case DW_OP_const1u:
        case DW_OP_const2u:
        case DW_OP_const4u:
        case DW_OP_const8u:
        case DW_OP_const1s:
        case DW_OP_const2s:
        case DW_OP_const4s:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts:
            return push(op.number);
        case DW_OP_bregx:
            return push_sum(register_of(op.number), op.number2);
        case DW_OP_regx:
            return is_register(op.number, found);
        case DW_OP_call_frame_cfa:
            return push(cfa_);
        case DW_OP_plus_uconst:
            return push_sum(pop(), op.number);
        case DW_OP_dup:
            return push(stack_.empty() ? std::nullopt : std::optional(stack_.back()));
        case DW_OP_drop:
            return pop() ? Step::caller : Step::unknown_rule;
        case DW_OP_nop:
            return Step::caller;
        case DW_OP_stack_value:
            found.is_place = false;
            return Step::caller;
        case DW_OP_deref: {
            auto address = pop();
            if (!address)
                return Step::unknown_rule;
            auto value = state_.load(*address);
            return value ? push(value) : Step::no_memory;
        }
        default:
            return two_operands(op.atom);
        }
    }

    Step push_sum(std::optional<uint64_t> one, uint64_t other) {
        return push(one ? std::optional(*one + other) : std::nullopt);
    }

    Step is_register(uint64_t number, Found& found) {
        auto value = register_of(number);
        if (!value)
            return Step::unknown_rule;
        found = {*value, false};
        return Step::caller;
    }

    Step two_operands(uint8_t atom) {
        auto right = pop(), left = pop();
        if (!left || !right)
            return Step::unknown_rule;
        auto a = static_cast<int64_t>(*left), b = static_cast<int64_t>(*right);
        switch (atom) {
        case DW_OP_plus:
            return push(*left + *right);
        case DW_OP_minus:
            return push(*left - *right);
        case DW_OP_and:
            return push(*left & *right);
        case DW_OP_or:
            return push(*left | *right);
        case DW_OP_shl:
            return push(*right < 64 ? *left << *right : 0);
        case DW_OP_shr:
            return push(*right < 64 ? *left >> *right : 0);
        case DW_OP_eq:
            return push(a == b);
        case DW_OP_ne:
            return push(a != b);
        case DW_OP_ge:
            return push(a >= b);
        case DW_OP_gt:
            return push(a > b);
        case DW_OP_le:
            return push(a <= b);
        case DW_OP_lt:
            return push(a < b);
        default:
            return Step::unknown_rule;
        }
    }

    const FrameState& state_;
    std::optional<uint64_t> cfa_;
    std::vector<uint64_t> stack_;
};

/// Finds what a register is in the caller; an empty value is one that the caller cannot know.
Step caller_register(Dwarf_Frame* frame, const FrameState& state, uint64_t cfa, size_t number,
                     std::optional<uint64_t>& value) {
    Dwarf_Op memory[3];
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (::dwarf_frame_register(frame, static_cast<int>(number), memory, &operations, &count) != 0)
        return Step::unknown_rule;
    value.reset();
    if (count == 0) {
        if (operations == nullptr) // as it is; nothing is said of rsp in most functions
            value = number == FrameState::kSp ? cfa : state.registers[number];
        return Step::caller;
    }
    Found found;
    if (Step step = Evaluation(state, cfa).run(operations, count, found); step != Step::caller)
        return step;
    value = found.is_place ? state.load(found.value) : std::optional(found.value);
    return value ? Step::caller : Step::no_memory;
}

} // namespace

std::optional<uint64_t> FrameState::load(uint64_t address) const {
    uint64_t at = address - stack_begin;
    if (address < stack_begin || at > stack.size() || stack.size() - at < sizeof(uint64_t))
        return std::nullopt;
    return base::load<uint64_t>(stack.data() + at);
}

ObjectFrames::ObjectFrames(base::ScopedFd file) : file_(std::move(file)), elf_(file_.get()) {
    open_tables();
}

ObjectFrames::ObjectFrames(base::ByteView untrusted_image) : elf_(untrusted_image) {
    open_tables();
}

void ObjectFrames::open_tables() {
    auto programs = elf_.get() != nullptr ? check_frame_programs(elf_) : FramePrograms::none;
    without_tables_ = programs == FramePrograms::implausible ? Step::implausible : Step::no_rule;
    if (programs == FramePrograms::plausible)
        tables_ = ::dwarf_getcfi_elf(elf_.get());
}

ObjectFrames::~ObjectFrames() {
    ::dwarf_cfi_end(tables_);
}

ObjectFrames::Step ObjectFrames::step(uint64_t address, FrameState& state) const {
    Dwarf_Frame* untrusted_frame = nullptr;
    if (tables_ == nullptr)
        return without_tables_;
    if (::dwarf_cfi_addrframe(tables_, address, &untrusted_frame) != 0)
        return Step::no_rule;
    Frame frame(untrusted_frame);
    bool is_signal = false;
    int return_address = ::dwarf_frame_info(frame.get(), nullptr, nullptr, &is_signal);
    Dwarf_Op* operations = nullptr;
    size_t count = 0;
    if (return_address != FrameState::kIp ||
        ::dwarf_frame_cfa(frame.get(), &operations, &count) != 0 || count == 0)
        return Step::unknown_rule;
    Found cfa;
    if (Step step = Evaluation(state, std::nullopt).run(operations, count, cfa);
        step != Step::caller)
        return step;
    FrameState caller{{}, state.stack, state.stack_begin};
    for (size_t number = 0; number < FrameState::kCount; number++) {
        Step step =
            caller_register(frame.get(), state, cfa.value, number, caller.registers[number]);
        // Any other may be lost: it is missed where a rule asks for it.
        if (step != Step::caller && (number == FrameState::kSp || number == FrameState::kIp))
            return step;
    }
    const auto& ip = caller.registers[FrameState::kIp];
    if (!ip || *ip == 0)
        return Step::outermost;
    state.registers = caller.registers;
    return is_signal ? Step::signal : Step::caller;
}

} // namespace daybreak::analyze
