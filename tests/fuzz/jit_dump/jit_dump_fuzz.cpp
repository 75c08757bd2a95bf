// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: a jit-PID.dump from arbitrary bytes.  Holds: what is made of it is whole lines, no
// more of them than records, none longer than was allowed; and each of them names a function.
#include "base/result.hpp"
#include "formats/trace/jit_dump.hpp"
#include "formats/trace/jit_names.hpp"

#include <algorithm>
#include <cstring>

using namespace daybreak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto read = [&](uint64_t at, uint8_t* bytes, size_t count) {
        size_t there = at < size ? std::min(count, size - static_cast<size_t>(at)) : 0;
        if (there != 0)
            std::memcpy(bytes, data + at, there);
        return there;
    };
    constexpr size_t kRecords = 64, kBytesMax = 8192;
    size_t left = kRecords;
    formats::JitDumpText made = formats::text_of_jit_dump(read, kBytesMax, left);
    size_t functions_left = kRecords;
    // A line is made of what holds only.
    DBK_ASSERT(made.left_out.count <= kRecords + 1 &&
               formats::lines_left_out(made.text, functions_left).count == 0);
    DBK_ASSERT(made.text.size() <= kBytesMax && (made.text.empty() || made.text.ends_with('\n')));
    DBK_ASSERT(static_cast<size_t>(std::ranges::count(made.text, '\n')) <= kRecords - left);
    formats::JitNames names;
    DBK_ASSERT(names.add(formats::JitText{1, made.text}));
    if (auto match = names.find(1, 0x1010))
        DBK_ASSERT(made.text.find(match->name) != std::string::npos);
    return 0;
}
