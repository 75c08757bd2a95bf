// SPDX-License-Identifier: Apache-2.0
//
// Seeds of the verifier's fuzz target: the D programs of tests/d, compiled
//
//   fuzz_verifier_corpus OUTPUT-FOLDER FILE.cases|FILE.d ...
//
// What does not compile is left out: these are the tests of diagnostics.  Buffers are made small,
// so that a change shows at once and thousands of programs run in a second.
#include "base/file.hpp"
#include "compiler/compiler.hpp"

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace daybreak;

namespace {

/// The programs of a bundle of cases, or the one of a D file.
std::vector<std::string> programs_of(const std::string& path, const std::string& text) {
    if (!path.ends_with(".cases"))
        return {text};
    std::vector<std::string> programs;
    std::istringstream lines(text);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("== ")) {
            programs.emplace_back();
            inside = true;
        } else if (line == "--") {
            inside = false;
        } else if (inside && !line.starts_with("##")) {
            programs.back() += line + "\n";
        }
    }
    return programs;
}

compiler::CompileOutput compile_text(const std::string& text) {
    compiler::CompileOptions options;
    options.sources = {{"seed.d", text}};
    options.arguments = {"1", "2", "3"};
    options.default_arguments = true;
    options.store_source = false;
    for (const char* option : {"bufsize", "dynvarsize", "aggsize", "specsize"})
        options.options.push_back({option, "16k"});
    options.options.push_back({"segmentsize", "4k"});
    options.options.push_back({"destructive", std::nullopt});
    return compiler::compile(options);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: fuzz_verifier_corpus FOLDER FILE...\n");
        return 2;
    }
    std::string folder = argv[1];
    std::filesystem::create_directories(folder);
    int written = 0, refused = 0;
    for (int i = 2; i < argc; i++) {
        auto bytes = base::read_file(argv[i]);
        if (!bytes.ok()) {
            std::fprintf(stderr, "%s\n", bytes.error().message().c_str());
            return 1;
        }
        std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        for (const std::string& program : programs_of(argv[i], text)) {
            compiler::CompileOutput output = compile_text(program);
            if (!output.dof) {
                refused++;
                continue;
            }
            std::string path = folder + "/" + std::to_string(written++) + ".dof";
            std::FILE* out = std::fopen(path.c_str(), "wb");
            if (!out ||
                std::fwrite(output.dof->data(), 1, output.dof->size(), out) != output.dof->size() ||
                std::fclose(out) != 0)
                return 1;
        }
    }
    std::printf("%d programs, %d that do not compile\n", written, refused);
    return written == 0;
}
