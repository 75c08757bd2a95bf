// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the text of a perf-PID.map from arbitrary bytes.  Holds: an address has the name of
// a line of it, within that function.
#include "base/result.hpp"
#include "formats/trace/jit_names.hpp"

#include <algorithm>

using namespace daybreak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    size_t functions_left = 2;
    const base::LeftOut left_out = formats::lines_left_out(text, functions_left);
    DBK_ASSERT(left_out.count <= size && left_out.text("line").size() < 400);
    formats::JitNames names;
    names.add(formats::JitText{1, text});
    for (uint64_t address : {0x0, 0x1000, 0x1010, 0x1020, 0x7fff0000})
        if (auto match = names.find(1, address)) {
            DBK_ASSERT(match->offset <= address && !match->name.empty());
            DBK_ASSERT(text.find(match->name) != std::string::npos);
        }
    DBK_ASSERT(!names.find(2, 0x1000));
    return 0;
}
