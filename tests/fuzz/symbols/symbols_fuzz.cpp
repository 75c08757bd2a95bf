// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the functions of an ELF file from arbitrary bytes, and those of it packed in itself.
// And its marks, with their operands.  Holds: they ascend, and each that is found is the one asked
// for.  Lines of DWARF are text that a terminal may get.
#include "analyze/symbols/object_frames.hpp"
#include "analyze/symbols/object_lines.hpp"
#include "analyze/symbols/object_symbols.hpp"

#include "base/visible.hpp"

#include <span>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
#include "engine/load/program.h"
}

using namespace daybreak;
using daybreak::analyze::ObjectSymbols;

static void ask_lines(const uint8_t* data, size_t size, const ObjectSymbols& object) {
    base::ScopedFd file(::memfd_create("object", MFD_CLOEXEC));
    DBK_ASSERT(::write(file.get(), data, size) == static_cast<ssize_t>(size));
    analyze::ObjectLines lines(std::move(file));
    for (const ObjectSymbols::Symbol& symbol : object.symbols()) {
        std::string line = lines.find(symbol.address);
        DBK_ASSERT(line.size() <= 4 * 255 + 11 && base::visible(line) == line &&
                   line.find('\n') == std::string::npos);
    }
}

/// Rules of callers: each step ends, and what it cannot know it does not say.
static void ask_frames(std::span<const std::byte> image, const ObjectSymbols& object) {
    static const std::byte stack[512] = {};
    analyze::ObjectFrames frames(image);
    for (const ObjectSymbols::Symbol& symbol : object.symbols())
        for (uint64_t address : {symbol.address, symbol.address + symbol.bytes / 2}) {
            analyze::FrameState state{{}, stack, 0x1000};
            for (auto& value : state.registers)
                value = 0x1080;
            const auto before = state.registers;
            auto step = frames.step(address, state);
            using Step = analyze::ObjectFrames::Step;
            DBK_ASSERT(step == Step::caller || step == Step::signal || state.registers == before);
        }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ObjectSymbols object = ObjectSymbols::read(std::as_bytes(std::span(data, size)));
    uint64_t before = 0;
    for (const ObjectSymbols::Symbol& symbol : object.symbols()) {
        DBK_ASSERT(symbol.address >= before && !symbol.name.empty());
        before = symbol.address;
        const ObjectSymbols::Symbol* found = object.find(symbol.address);
        DBK_ASSERT(!found || found->address == symbol.address);
    }
    ask_lines(data, size, object);
    ask_frames(std::as_bytes(std::span(data, size)), object);
    for (uint64_t offset : {uint64_t{0}, uint64_t{1000}, uint64_t{1} << 40})
        if (auto address = object.address_of(offset))
            object.find(*address);
    DBK_ASSERT(object.marks().size() <= analyze::kObjectMarksMax);
    DBK_ASSERT(object.marks_left_out().text("part").size() < 256);
    for (const analyze::ObjectMark& mark : object.marks()) {
        DBK_ASSERT(!mark.provider.empty() && !mark.name.empty() && mark.operands.size() <= 4095);
        object.file_offset_of(mark.address);
        dbk_operand operands[DBK_PLACE_OPERANDS_MAX];
        DBK_ASSERT(dbk_operands_read(mark.operands.c_str(), operands) <= DBK_PLACE_OPERANDS_MAX);
    }
    DBK_ASSERT(object.build_id().size() <= 64);
    return 0;
}
