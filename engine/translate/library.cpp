/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
//
// Library: a file for the compiler, and a shared object from it; both are removed
#include "engine/translate/library.hpp"

#include "base/file.hpp"
#include "base/temporary_folder.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace daybreak::translate {

using base::errorf;
using base::Result;

namespace {

Result<void> compile(const std::string& source, const std::string& object, Host host, Speed speed) {
    // Warnings are errors, as they are where the kernel's Kbuild compiles it.
    const char* quick = speed == Speed::quickly_compiled ? std::getenv("DAYBREAK_CC") : nullptr;
    const std::string compiler = quick != nullptr && *quick != '\0' ? quick : "cc";
    std::vector<std::string> words = {compiler, "-std=gnu11", "-fPIC", "-shared",
                                      "-Wall",  "-Werror",    "-I",    DAYBREAK_SOURCE_FOLDER,
                                      "-o",     object,       source,  "-fno-strict-aliasing"};
    if (speed == Speed::quickly_run)
        words.push_back("-O2");
    else // the attribute of the interface's functions (engine/api/platform.h) has them copied even
         // so
        words.insert(words.end(), {"-O0", "-Dalways_inline=unused"});
    if (host == Host::simulated)
        words.insert(words.end(),
                     {"-DDBK_HOST_INLINE", "-I", DAYBREAK_SOURCE_FOLDER "/engine/sim/inline"});
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    int status = 0;
    if (int failed =
            ::posix_spawnp(&pid, words[0].c_str(), nullptr, nullptr, arguments.data(), environ);
        failed != 0) {
        errno = failed;
        return base::errno_errorf("cannot run %s, which --native needs", compiler.c_str());
    }
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return errorf(base::ErrorCode::io, "%s does not compile the translated program",
                      compiler.c_str());
    return {};
}

} // namespace

Result<std::unique_ptr<Library>> Library::build(const std::string& text, Host host, Speed speed) {
    DBK_TRY(base::TemporaryFolder folder, base::TemporaryFolder::create("daybreak-native"));
    const std::string source = folder.at("native.c"), object = folder.at("native.so");
    DBK_TRY(auto file, base::OutputFile::create(source));
    DBK_TRY_VOID(file.write(base::as_bytes(text)));
    DBK_TRY_VOID(file.commit());
    DBK_TRY_VOID(compile(source, object, host, speed));
    void* handle = ::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        return errorf(base::ErrorCode::invalid, "the translated program cannot be loaded: %s",
                      ::dlerror());
    return std::unique_ptr<Library>(new Library(handle));
}

Library::~Library() {
    ::dlclose(handle_);
}

const dbk_native_program* Library::find(const std::string& name) const {
    return static_cast<const dbk_native_program*>(::dlsym(handle_, name.c_str()));
}

} // namespace daybreak::translate
