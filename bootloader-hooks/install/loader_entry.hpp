// SPDX-License-Identifier: Apache-2.0
//
// Entries of systemd-boot as text: files of loader/entries, as the Boot Loader Specification has
// them (type 1), and which of them is booted when nothing is chosen.
//
// Nothing here reads or writes a file.  Our entry is the distribution's own entry of that kernel
// with one more initrd and its arguments.  docs/design/0051-installing-with-systemd-boot.md has the
// rest.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace daybreak::install {

/// An entry that boots Linux.
struct LoaderEntry {
    std::string id; ///< the file's name, with .conf
    /// Key and value of each line but comments, in order; a key may be there many times.
    std::vector<std::pair<std::string, std::string>> lines;

    /// Returns the first value of a key, "" when there is none.
    std::string value(const std::string& key) const;
    bool is_ours() const;
    /// Whether boot counting has no try left for it: NAME+0-3.conf.
    bool is_exhausted() const;
};

LoaderEntry parse_loader_entry(const std::string& id, const std::string& untrusted_text);

/// Whether systemd-boot shows a before b, as systemd 252 sorts them.
bool comes_before(const LoaderEntry& a, const LoaderEntry& b);

/// Returns the entry that is booted when nothing is chosen for one boot, of `sorted` ones.
/// `patterns`: LoaderEntryDefault and `default` of loader.conf, in this order, "" for one that is
/// not there; the first that an entry matches counts.  Null: none.
const LoaderEntry* default_entry(const std::vector<LoaderEntry>& sorted,
                                 const std::vector<std::string>& patterns);

/// Returns our entry's ID: daybreak-RELEASE.conf.
std::string loader_entry_id(const std::string& release);

/// Returns the text of our entry: that of `entry`, with `cpio` (a path from the root of the file
/// system that has the entries) as the first initrd, and the kernel's `arguments`.  It sorts after
/// every entry that has a sort-key, so it is never the default one by its place.
/// Error: invalid: the kernel's arguments have one that is ours already.
base::Result<std::string> loader_entry_text(const LoaderEntry& entry, const std::string& cpio,
                                            const std::string& arguments);

} // namespace daybreak::install
