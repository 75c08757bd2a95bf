// SPDX-License-Identifier: Apache-2.0
//
// Images, out of the list of modules and the symbols.
#include "analyze/replay/kernel_images.hpp"

#include "base/elf_notes.hpp"
#include "base/page.hpp"
#include "formats/trace/code_symbol.hpp"
#include "formats/trace/shared_symbols.hpp"

#include <algorithm>

namespace daybreak::analyze {

using base::kPageBytes;

namespace {

/// Sets base and size of the kernel itself; they stay 0 where its symbols do not say them.
void place_kernel(const formats::SymbolTable& symbols, formats::StateImage& image) {
    uint64_t text = 0, stext = 0, etext = 0, end = 0;
    const std::pair<std::string_view, uint64_t*> bounds[] = {
        {"_text", &text}, {"_stext", &stext}, {"_etext", &etext}, {"_end", &end}};
    for (const formats::Symbol& symbol : symbols.symbols())
        for (const auto& [name, address] : bounds)
            if (symbol.name == name && symbols.modules()[symbol.module] == formats::kKernelModule)
                *address = symbol.address;
    uint64_t first = text != 0 ? text : stext, last = end != 0 ? end : etext;
    if (first != 0 && last > first) {
        image.base_address = first;
        image.size_bytes = last - first;
    }
}

/// Lets an image end with the page of the last function that lies together with its first.
void end_module(const formats::SymbolTable& symbols, formats::StateImage& image) {
    const std::vector<formats::Symbol>& all = symbols.symbols();
    auto at = std::lower_bound(
        all.begin(), all.end(), image.base_address,
        [](const formats::Symbol& symbol, uint64_t address) { return symbol.address < address; });
    uint64_t bytes = 0;
    for (; at != all.end() && at->address - image.base_address < image.size_bytes; ++at) {
        if (!formats::is_code(*at) || symbols.modules()[at->module] != image.name)
            break;
        bytes = ((at->address - image.base_address) / kPageBytes + 1) * kPageBytes;
    }
    image.size_bytes = std::min(bytes, image.size_bytes);
}

} // namespace

std::vector<formats::StateImage> kernel_images(const std::vector<formats::ModuleInfo>& modules,
                                               const formats::SymbolTable& symbols) {
    std::vector<formats::StateImage> images;
    for (const formats::ModuleInfo& module : modules) {
        if (module.build_id.empty() || module.build_id.size() > base::kBuildIdBytesMax)
            continue;
        formats::StateImage image{module.name, module.base_address, module.size_bytes,
                                  module.build_id};
        if (module.name == formats::kKernelModule)
            place_kernel(symbols, image);
        else
            end_module(symbols, image);
        if (image.base_address != 0 && image.size_bytes != 0 &&
            image.size_bytes <= formats::kImageBytesMax)
            images.push_back(std::move(image));
    }
    return images;
}

} // namespace daybreak::analyze
