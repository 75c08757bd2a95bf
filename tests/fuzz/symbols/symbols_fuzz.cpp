// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the functions of an ELF file from arbitrary bytes, and those of it packed in itself.
// Holds: they ascend, and each that is found is the one asked for.
#include "analyze/symbols/object_symbols.hpp"

#include <span>

using namespace daybreak;
using daybreak::analyze::ObjectSymbols;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ObjectSymbols object = ObjectSymbols::read(std::as_bytes(std::span(data, size)));
    uint64_t before = 0;
    for (const ObjectSymbols::Symbol& symbol : object.symbols()) {
        DBK_ASSERT(symbol.address >= before && !symbol.name.empty());
        before = symbol.address;
        const ObjectSymbols::Symbol* found = object.find(symbol.address);
        DBK_ASSERT(!found || found->address == symbol.address);
    }
    for (uint64_t offset : {uint64_t{0}, uint64_t{1000}, uint64_t{1} << 40})
        if (auto address = object.address_of(offset))
            object.find(*address);
    DBK_ASSERT(object.marks().size() <= analyze::kObjectMarksMax);
    for (const analyze::ObjectMark& mark : object.marks()) {
        DBK_ASSERT(!mark.provider.empty() && !mark.name.empty() && mark.operands.size() <= 4095);
        object.file_offset_of(mark.address);
    }
    DBK_ASSERT(object.build_id().size() <= 64);
    return 0;
}
