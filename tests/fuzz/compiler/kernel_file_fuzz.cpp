// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: what --btf may name.  Whatever BTF comes out is looked through by number and by
// name.
#include "compiler/types/kernel_image.hpp"
#include "compiler/types/kernel_types.hpp"
#include "compiler/types/type.hpp"

using namespace daybreak;
using namespace daybreak::compiler;

namespace {

class FuzzKernel final : public KernelTypes {
public:
    explicit FuzzKernel(const Btf* btf) : btf_(btf) {}
    base::Result<const Btf*> vmlinux() override { return btf_; }
    base::Result<const Btf*> module(std::string_view) override {
        return static_cast<const Btf*>(nullptr);
    }
    const std::string& release() const override { return release_; }
    base::Result<BtfId> id() override { return BtfId{}; }

private:
    const Btf* btf_;
    std::string release_;
};

void look_at(TypeTable& types, TypeId id) {
    types.name(id);
    types.size_of(id);
    types.align_of(id);
    types.find_member(id, "nosuch");
    types.member_names(id);
    types.compatible(id, types.pointer_to(id));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto view = std::as_bytes(std::span(data, size));
    auto extracted = extract_btf(base::Bytes(view.begin(), view.end()), "fuzz");
    if (!extracted.ok())
        return 0;
    auto parsed = Btf::parse(std::move(*extracted));
    if (!parsed.ok())
        return 0;
    const Btf& btf = **parsed;
    FuzzKernel kernel(&btf);
    TypeTable types(&kernel);
    for (uint32_t id = 1; id < btf.type_end(); id++) {
        BtfType type = btf.type(id);
        std::string name(type.name);
        btf.members(id);
        for (const BtfEnumerator& enumerator : btf.enumerators(id))
            types.find_enumerator(enumerator.name);
        btf.parameters(id);
        look_at(types, types.find_tag(TagKind::struct_, name));
        look_at(types, types.find_tag(TagKind::union_, name));
        look_at(types, types.find_typedef(name));
        look_at(types, types.find_function(name));
        look_at(types, types.find_variable(name));
    }
    for (std::string_view name : btf.tracepoints())
        types.tracepoint_arguments(name);
    return 0;
}
