// SPDX-License-Identifier: Apache-2.0
//
// -h and -G: what a program needs to have the probes that the scripts declare.
#include "cmd/dtrace/own_probes.hpp"

#include "analyze/symbols/object_files.hpp"
#include "base/elf_header.hpp"
#include "base/file.hpp"
#include "cmd/dtrace/messages.hpp"
#include "cmd/terminal.hpp"

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using compiler::DeclaredProvider;

/// The last script's name with .h or .o in place of .d; "" without a script of a name.
std::string default_path(const DtraceArguments& arguments, const char* suffix) {
    for (size_t i = arguments.programs.size(); i-- > 0;) {
        std::string path = arguments.programs[i].text;
        if (!arguments.programs[i].is_script || path == "-")
            continue;
        if (path.ends_with(".d"))
            path.resize(path.size() - 2);
        return path + suffix;
    }
    return {};
}

/// Returns what is wrong with the providers; "" when nothing is.
std::string refused(const std::vector<DeclaredProvider>& providers) {
    if (providers.empty())
        return "no provider is declared: expected provider NAME { probe ...; }; in the program";
    for (const DeclaredProvider& provider : providers)
        for (const DeclaredProvider::Probe& probe : provider.probes)
            for (size_t i = 0; i < probe.arguments.size(); i++)
                if (probe.arguments[i].bytes == 0)
                    return base::strprintf("%s:::%s: args[%zu] is %s: expected an integer or a "
                                           "pointer",
                                           provider.name.c_str(), probe.name.c_str(), i,
                                           probe.arguments[i].type.c_str());
    return {};
}

constexpr char kSectionNames[] = "\0.shstrtab\0.note.GNU-stack";

/// An object file that can be linked with others, and adds nothing to them.
struct EmptyObject {
    Elf64_Ehdr file = base::elf_header(ET_REL);
    Elf64_Shdr sections[3] = {};
    char names[sizeof(kSectionNames)];
};

std::string empty_object() {
    EmptyObject object;
    std::memcpy(object.names, kSectionNames, sizeof(kSectionNames));
    Elf64_Ehdr& file = object.file;
    file.e_shoff = offsetof(EmptyObject, sections);
    file.e_shnum = 3;
    file.e_shstrndx = 1;
    Elf64_Shdr& names = object.sections[1];
    names.sh_name = 1;
    names.sh_type = SHT_STRTAB;
    names.sh_offset = offsetof(EmptyObject, names);
    names.sh_size = sizeof(kSectionNames);
    names.sh_addralign = 1;
    Elf64_Shdr& stack = object.sections[2]; // the stack needs not be executable
    stack.sh_name = 1 + sizeof(".shstrtab");
    stack.sh_type = SHT_PROGBITS;
    stack.sh_offset = names.sh_offset;
    stack.sh_addralign = 1;
    return {reinterpret_cast<const char*>(&object), sizeof(object)};
}

/// Returns why a file that -G is given is not an object file of a program; "": it is one.
std::string why_no_object(const std::string& path) {
    base::ScopedFd file = analyze::open_object(path);
    if (!file.valid())
        return std::string(": ") + std::strerror(errno);
    Elf64_Ehdr head = {};
    const ssize_t bytes = ::pread(file.get(), &head, sizeof(head), 0);
    if (bytes != sizeof(head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return " is not an object file: expected ELF";
    const Elf64_Ehdr wanted = base::elf_header(ET_REL);
    if (head.e_ident[EI_CLASS] == wanted.e_ident[EI_CLASS] && head.e_type == wanted.e_type &&
        head.e_machine == wanted.e_machine)
        return {};
    return base::strprintf(
        " is not an object file: ELF of class %u, type %u and machine %u, expected "
        "%u, %u and %u",
        head.e_ident[EI_CLASS], head.e_type, head.e_machine, wanted.e_ident[EI_CLASS],
        wanted.e_type, wanted.e_machine);
}

} // namespace

int save_own_probes(const DtraceArguments& arguments, const CompiledPrograms* compiled) {
    const bool is_header = arguments.mode == DtraceMode::header;
    auto failed = [&](const std::string& message) {
        say(arguments.name, (is_header ? "-h: " : "-G: ") + message);
        return static_cast<int>(Exit::failed);
    };
    std::string path = arguments.output_path.empty()
                           ? default_path(arguments, is_header ? ".h" : ".o")
                           : arguments.output_path;
    if (compiled == nullptr || path.empty())
        return failed("needs a script (-s) that declares providers, or -o");
    if (std::string problem = refused(compiled->output.providers); !problem.empty())
        return failed(problem);
    // The header has put the notes in them: they stay as they are.
    if (!is_header)
        for (const std::string& object : arguments.arguments)
            if (std::string why = why_no_object(object); !why.empty())
                return failed(object + why);
    auto output = base::OutputFile::create(path);
    std::string text =
        is_header ? compiler::provider_header(compiled->output.providers, path) : empty_object();
    auto written =
        output.ok() ? output->write(base::as_bytes(text)) : base::Result<void>(output.error());
    if (written.ok())
        written = output->commit();
    if (!written.ok())
        return failed(written.error().message());
    return static_cast<int>(Exit::ok);
}

} // namespace daybreak::cmd
