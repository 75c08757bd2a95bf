// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: DOF images.  What is read is printed and written again, which must not fail.
#include "formats/dof/dof_printer.hpp"
#include "formats/dof/dof_writer.hpp"

using namespace daybreak;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto image = formats::parse_dof(std::as_bytes(std::span(data, size)));
    if (!image.ok())
        return 0;
    std::string text = formats::print_dof(*image);
    formats::DofProgram program = std::move(image->program);
    program.relocations.clear();
    auto bytes = formats::write_dof(program);
    // Objects that shared sections are written apart, so only the size limit may say no.
    if (!bytes.ok())
        DBK_ASSERT(bytes.error().code() == base::ErrorCode::limit);
    else
        DBK_ASSERT(formats::parse_dof(*bytes).ok());
    return 0;
}
