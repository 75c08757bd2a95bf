// SPDX-License-Identifier: Apache-2.0
//
// Entries of systemd-boot: files of loader/entries and unified kernel images, as the Boot Loader
// Specification has them (types 1 and 2), and which of them is booted when nothing is chosen.
//
// Nothing here reads or writes a file.  Our entry is the distribution's own entry of that kernel
// with one more initrd and its arguments.  docs/design/0051-installing-with-systemd-boot.md has the
// rest.
#pragma once

#include "base/result.hpp"
#include "bootloader-hooks/install/unified_image.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::install {

/// An entry that boots Linux.
struct LoaderEntry {
    std::string id;      ///< the file's name, with .conf or .efi
    std::string release; ///< of the kernel, "" when it is not known
    /// Key and value of each line but comments, in order; a key may be there many times.
    std::vector<std::pair<std::string, std::string>> lines;

    /// Returns the first value of a key, "" when there is none.
    std::string value(const std::string& key) const;
    bool is_ours() const;
    bool is_unified() const { return id.ends_with(".efi"); }
    /// Whether it boots Linux with an initramfs, which a copy of it can do with one more.
    bool boots_linux() const;
    /// Whether it ends in a shell for repairs: no unit would run after it.
    bool is_recovery() const;
    /// Returns the words of all `options`.
    std::vector<std::string> arguments() const;
    /// Whether boot counting has no try left for it: NAME+0-3.conf.
    bool is_exhausted() const;
};

LoaderEntry parse_loader_entry(const std::string& id, const std::string& untrusted_text);

/// Returns what systemd-boot makes of a unified kernel image.
LoaderEntry unified_entry(const std::string& id, const UnifiedImage& image);

/// Whether systemd-boot shows a before b, as systemd 252 sorts them.
bool comes_before(const LoaderEntry& a, const LoaderEntry& b);

/// Returns the entry that is booted when nothing is chosen for one boot, of `sorted` ones.
/// `patterns`: LoaderEntryDefault and `default` of loader.conf, in this order, "" for one that is
/// not there; the first that an entry matches counts.  Null: none.
const LoaderEntry* default_entry(const std::vector<LoaderEntry>& sorted,
                                 const std::vector<std::string>& patterns);

/// Returns the entries of that kernel that ours could be a copy of: `booted`, the default one, if
/// it is of that kernel; else those of this machine (`machine_id`, "": not known) that are not for
/// recovery and do not bring an init of their own.  More than one: they differ.
std::vector<const LoaderEntry*> entries_to_copy(const std::vector<LoaderEntry>& entries,
                                                const std::string& release,
                                                const std::string& machine_id,
                                                const LoaderEntry* booted);

/// Returns our entry's ID: daybreak-RELEASE.conf or .efi.
std::string loader_entry_id(const std::string& release, bool is_unified = false);
/// Returns the kernel of an ID that is_ours().
std::string release_of_id(const std::string& id);

/// Returns the text of our entry: that of `entry`, with `cpio` (a path from the root of the file
/// system that has the entries) as the first initrd, and the kernel's `arguments`.  It sorts after
/// every entry that has a sort-key, so it is never the default one by its place.
/// Error: invalid: the kernel's arguments have one that is ours already.
base::Result<std::string> loader_entry_text(const LoaderEntry& entry, const std::string& cpio,
                                            const std::string& arguments);

/// Returns what systemd-boot makes of our copy of an entry: enough to sort it.
LoaderEntry traced_entry(const LoaderEntry& entry);

/// Returns our image: `image`, with `cpio` before its initramfs and the kernel's `arguments` after
/// its own.  It sorts as our entry does.
/// Errors: those of loader_entry_text(); unsupported: it lacks a section that this takes.
base::Result<std::string> traced_image(const LoaderEntry& entry, const UnifiedImage& image,
                                       const std::string& cpio, const std::string& arguments);

} // namespace daybreak::install
