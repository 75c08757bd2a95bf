// SPDX-License-Identifier: Apache-2.0
//
// GRUB's files as text: entries of grub.cfg, our part of custom.cfg, the variables of grubenv.
//
// Nothing here reads or writes a file.  Our entry is the distribution's own entry of that kernel,
// copied line by line, so that whatever it does to find the file system (search, cryptomount,
// insmod lvm) is done in ours.  docs/design/0048-installing.md has the rest.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::install {

/// A menu entry that boots Linux with an initramfs.
struct GrubEntry {
    std::vector<std::string> header; ///< "menuentry", the title, options, as written, without the {
    std::vector<std::string> lines;  ///< of its body, without leading tabs
    size_t linux_line = 0, initrd_line = 0; ///< which of them load the kernel and the initramfs
    std::string title, id;                  ///< without quotes; id may be ""
    std::string kernel;                     ///< as GRUB sees it: /boot/vmlinuz-6.1.0-56-amd64
    std::vector<std::string> arguments;     ///< of the kernel
    bool is_recovery = false;

    std::string
    release() const; ///< "" when the kernel's file has another name than vmlinuz-RELEASE
    /// Returns the value of the kernel's argument NAME; empty when it is not there.
    std::optional<std::string> argument(std::string_view name) const;
};

struct GrubConfig {
    std::vector<GrubEntry> entries;   ///< in order; those that boot something else are left out
    std::optional<std::string> first; ///< the kernel's release of the very first entry, "": none
    /// IDs and titles of entries that boot something else, or not as ours can.
    std::vector<std::string> others;
    std::string chosen; ///< what is booted when nothing is chosen for one boot: `set default=`
    bool reads_custom = false;     ///< it sources custom.cfg
    bool takes_next_entry = false; ///< it honours next_entry of grubenv

    /// Returns the entries whose lines ours could have: of that kernel the one that is booted when
    /// nothing is chosen, else those that are not for recovery and do not bring an init of their
    /// own, the distribution's before others.  More than one: they differ.
    std::vector<const GrubEntry*> entries_of(const std::string& release,
                                             const std::string& saved_entry = "") const;
    /// Returns the one entry whose lines ours has; null when there is none, or not only one.
    const GrubEntry* entry_of(const std::string& release,
                              const std::string& saved_entry = "") const;
    /// Returns the entry that is booted when nothing is chosen; null: not known, or not of Linux.
    const GrubEntry* default_entry(const std::string& saved_entry) const;
    /// Returns the release that the machine boots when nothing is chosen: "" when that is not one
    /// of `entries`, empty when `chosen` and saved_entry do not name one here.
    std::optional<std::string> default_release(const std::string& saved_entry) const;

private:
    /// Returns the ID or the title of that entry, "" for the very first one.
    std::string wanted_entry(const std::string& saved_entry) const;
};

GrubConfig parse_grub_config(const std::string& text);

/// What our entry adds.
struct GrubAddition {
    std::string cpio;            ///< the name of the file beside the kernel
    std::string arguments;       ///< of the kernel, blanks between; $ as the kernel has to see it
    bool notes_attempts = false; ///< daybreak_tried is saved, and without that nothing is traced
};

/// Returns our entry's ID.
std::string grub_entry_id(const std::string& release);
/// Returns the text of our entry.  Error: invalid: the kernel's arguments have one that is ours
/// already.
base::Result<std::string> grub_entry_text(const GrubEntry& entry, const GrubAddition& addition);

/// A file of which a part is ours.
struct PartedFile {
    std::string before, part, after; ///< part: with its marker lines; "" when there is none

    /// Returns the file without our part: byte for byte what it was, but for what changed since.
    std::string without() const;
    /// Returns the file with our part made of `body`, where the part was or at the end.
    std::string with(const std::string& body) const;
};

/// Finds our part.  Error: corrupt: its marker lines do not fit together.
base::Result<PartedFile> find_part(const std::string& text);

/// Returns a variable of an environment block (grubenv).  Empty when it is not set.
std::optional<std::string> grub_variable(const std::string& block, const std::string& name);

} // namespace daybreak::install
