// SPDX-License-Identifier: Apache-2.0
//
// Libraries: those of the command line at the start, the system's when something in them is named.
#include "compiler/compilation.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::compiler {

namespace {

/// The providers that the kernel module has; others come with their own definitions.
constexpr std::string_view kProviders[] = {"dtrace", "fbt", "proc", "profile", "sdt", "syscall"};

} // namespace

void Compilation::load_libraries() {
    if (!libraries_wanted_)
        return;
    if (options_.system_libraries)
        for (const Library& library : system_libraries()) {
            const auto index = static_cast<size_t>(&library - &system_libraries()[0]);
            if (!library.provider.empty())
                system_names_.emplace(library.provider, index);
            else
                for (std::string_view name : defined_names(library.text))
                    system_names_.emplace(name, index);
        }
    auto load = [this](std::string_view name) { return load_for(name); };
    types_.set_library(load);
    symbols_.set_library(load);
    LibraryOrder sorted = load_order(options_.libraries);
    if (!sorted.error.empty())
        return error(Tag::D_PRAGMA_DEPEND, Span{}, sorted.error);
    for (size_t index : sorted.order)
        load_library(options_.libraries[index]);
}

/// Loads the system's library that defines the name; whether one was loaded.
bool Compilation::load_for(std::string_view name) {
    auto found = system_names_.find(name);
    return found != system_names_.end() && load_system(system_libraries()[found->second].name);
}

bool Compilation::load_system(std::string_view name) {
    for (const Library& library : system_libraries()) {
        if (library.name != name || loaded_.count(name))
            continue;
        load_library(library);
        return true;
    }
    return false;
}

void Compilation::load_library(const Library& library) {
    loaded_.insert(library.name);
    const Library* outer = std::exchange(library_, &library);
    bool is_system = library.path == library.name;
    bool outer_system = std::exchange(context_.in_library, is_system);
    output_.libraries.push_back(library.path);
    SourceId id = output_.sources.add(library.path, library.text, SourceKind::library);
    ParseOptions options = parse_options(library.path);
    options.empty_allowed = true;
    {
        RegionScope region(sink_, Region::none);
        // Its clauses, if it has any, enable nothing.
        library_programs_.push_back(
            std::make_unique<Program>(parse(id, options, output_.sources, sink_)));
    }
    context_.in_library = outer_system;
    library_ = outer;
}

/// Whether what a program or library depends on is there.
bool Compilation::is_met(std::string_view kind, const std::string& name) {
    if (kind == "library")
        return loaded_.count(name) ? skipped_.count(name) == 0
                                   : options_.system_libraries && load_system(name);
    if (kind == "provider") {
        ProbeDescription any;
        any.provider = name;
        if (options_.probe_exists)
            return options_.probe_exists(any);
        return std::find(std::begin(kProviders), std::end(kProviders), name) !=
               std::end(kProviders);
    }
    if (name == "vmlinux" || name == "kernel")
        return true;
    if (!options_.kernel)
        return false;
    auto module = options_.kernel->module(name);
    return module.ok() && *module != nullptr;
}

void Compilation::depends_on(const Pragma& pragma) {
    if (pragma.arguments.size() < 2)
        return;
    const std::string &kind = pragma.arguments[0], &name = pragma.arguments[1];
    if (!library_ && kind == "library")
        return error(Tag::D_PRAGMA_DEPEND, pragma.span,
                     "main program may not explicitly depend on a library");
    if (is_met(kind, name))
        return;
    // A library for something that this machine does not have defines nothing.
    if (library_)
        skipped_.insert(library_->name);
    else
        error(Tag::D_PRAGMA_DEPEND, pragma.span, "program requires " + kind + " " + name);
}

} // namespace daybreak::compiler
