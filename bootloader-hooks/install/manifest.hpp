// SPDX-License-Identifier: Apache-2.0
//
// What install has placed, as a text in /var/lib/daybreak/installed.
//
// A line is a word and its values.  A file that is replaced by a newer one is there twice until the
// newer one is in place: both are ours.
//
//     daybreak-install 1
//     mode once | every | menu
//     loader GRUB
//     version 0.1.0                        of the Daybreak that made the archives
//     program boot
//     bank 64M@0x20000000
//     kernel 6.1.0-56-amd64
//     named                                the kernels were: a new one is not among them
//     module FILE                          of the one kernel, where it was named
//     sign FILE                            the key that signs the modules with the programs
//     certificate FILE                     and its certificate
//     native                               the programs are compiled into the modules
//     sources FOLDER                       with the module's sources there, where they were named
//     interpreted RELEASE WHY              but not into that kernel's
//     file BYTES CRC32C PATH               it was not there before
//     helper BYTES CRC32C PATH             the same, and a boot does not need it
//     part CRC32C made | kept PATH         our part of a file; made: the file was not there before
//     variable NAME [VALUE]                of the boot loader: what it was before, if it was there
#pragma once

#include "bootloader-hooks/install/host.hpp"

namespace daybreak::install {

constexpr const char* kManifestPath = "/var/lib/daybreak/installed";
constexpr const char* kStateFolder = "/var/lib/daybreak";
/// Where the text of a program lies, so that it can be compiled for another kernel.
inline std::string program_path(const std::string& name) {
    return std::string(kStateFolder) + "/" + name + ".d";
}

enum class Mode : uint8_t {
    every, ///< each boot is traced; one that dies ends it
    once,  ///< the next boot is traced
    menu,  ///< nothing is armed: people choose the entry
};

struct PlacedFile {
    std::string path;
    uint64_t bytes = 0;
    uint32_t crc = 0;
    bool is_helper = false; ///< a boot does not need it
    bool operator==(const PlacedFile&) const = default;
};

struct PlacedPart {
    std::string path;
    uint32_t crc = 0;
    bool made = false;
    bool operator==(const PlacedPart&) const = default;
};

struct Variable {
    std::string name;
    std::optional<std::string> before;
};

struct Manifest {
    Mode mode = Mode::every;
    std::string loader, version, bank, module, sign_key, certificate, sources;
    std::vector<std::string> programs, kernels, interpreted;
    bool kernels_named = false, native = false;
    std::vector<PlacedFile> files;
    std::vector<PlacedPart> parts;
    std::vector<Variable> variables;

    std::string text() const;
    /// Whether a file of that content is one that install placed there.
    bool placed(const std::string& path, const std::string& content) const;
    /// The same of our part of a file.
    bool placed_part(const std::string& path, const std::string& part) const;
    bool names(const std::string& path) const;
    /// Returns why the programs are not compiled into a kernel's module that were to be; "" when they are.
    std::string why_interpreted(const std::string& release) const;
};

const char* mode_word(Mode mode);

/// Returns the facts of a file as it will be.
PlacedFile placed_file(const std::string& path, const std::string& content, bool is_helper = false);
uint32_t crc_of(const std::string& content);

/// Error: corrupt, with the line.
base::Result<Manifest> parse_manifest(const std::string& untrusted_text);

/// Returns the machine's; empty when nothing is installed.  Errors: io, corrupt.
base::Result<std::optional<Manifest>> read_manifest(const Host& host);

/// Returns why a placed file is not as it was installed, byte for byte; "" when it is.
std::string file_trouble(const Host& host, const Manifest& placed, const std::string& path);
std::vector<std::string> file_troubles(const Host& host, const Manifest& placed);

} // namespace daybreak::install
