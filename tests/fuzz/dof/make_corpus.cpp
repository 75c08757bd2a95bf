// SPDX-License-Identifier: Apache-2.0
//
// Writes the seed image of the DOF fuzz target to the file named.
#include "base/file.hpp"
#include "formats/dof/dof_writer.hpp"
#include "tests/unit/formats/dof/sample.hpp"

int main(int argc, char** argv) {
    using namespace daybreak;
    if (argc != 2)
        return 2;
    formats::DofProgram program = formats::sample_program();
    for (uint32_t kind : {DBK_PLACE_ENTRY, DBK_PLACE_RETURN, DBK_PLACE_MARK})
        program.places.push_back({{"pid", "/bin/x", "f", "p", 0}, "/bin/x", "", kind});
    auto bytes = formats::write_dof(program);
    auto file = base::OutputFile::create(argv[1]);
    if (!bytes.ok() || !file.ok() || !file->write(*bytes).ok() || !file->commit().ok())
        return 1;
    return 0;
}
