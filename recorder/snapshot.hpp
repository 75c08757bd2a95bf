// SPDX-License-Identifier: Apache-2.0
//
// Snapshots: what the rings hold now becomes a trace file, and recording goes on.
//
//     live rings --copy--> pieces ---+--> cut to the window --> FILE.dbrk
//     files of a recorder's folder --+      (a segment is not divided)
//
// Nothing is claimed, stopped, switched or released, and nothing in the kernel is locked or notified:
// the memory of the rings is mapped and read.  So there may be any number at once, and what is
// traced feels no more than another reader of its memory.
//
// What the kernel counts itself (aggregate=engine) lies in buffers that can only be taken, which
// would take it away from their owner: a snapshot has none of it but what a recorder's files hold,
// and says so.
#pragma once

#include "formats/segment/coverage.hpp"
#include "recorder/record.hpp"

namespace daybreak::recorder {

struct SnapshotOptions {
    RecordOptions record;
    uint64_t last_ns = 0; ///< how far back; 0: everything the rings hold
    std::string trigger;  ///< name of what asked for it; may be empty
    /// Where a recorder that follows the rings writes; empty: none does.  What the rings do not
    /// have any more is taken from there.
    std::string folder;
};

/// Takes a snapshot.  RecordSummary::uncovered names the CPUs of which the window is not whole, and
/// is a loss.
///
/// Errors: not_found, when there is no ring; unsupported, invalid, io as claim_and_record().  A
/// stop request ends the copying; the file is then marked interrupted.
Result<RecordSummary> take_snapshot(DeviceApi& device, SymbolSource& symbols,
                                    const SnapshotOptions& options,
                                    const RecordProgress& progress = {},
                                    const StopRequested& stop_requested = {});

} // namespace daybreak::recorder
