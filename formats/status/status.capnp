# SPDX-License-Identifier: Apache-2.0
#
# What a recorder says of itself, as JSON in its status file.  Numbers are doubles, so that every JSON
# reader has them as numbers; times are seconds, CLOCK_REALTIME where they are points in time.
# Fields are only ever added, with the next number.
@0xb796d7aa13642466;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("daybreak::formats::wire");

struct RecorderStatus {
  pid @0 :Float64;
  toolVersion @1 :Text;
  bootId @2 :Text;               # how /proc/sys/kernel/random/boot_id begins, to 16 digits
  state @3 :Text;                # "recording", "waiting" (nothing records), "disk full", "disk error", "disk slow"
  folder @4 :Text;
  startedAt @5 :Float64;
  updatedAt @6 :Float64;
  lastError @7 :Text;            # "" when the last write went well
  disk @8 :Disk;
  cost @9 :Cost;
  lastTrigger @10 :Trigger;
  triggers @11 :Float64;         # seen since the start
  rings @12 :List(Ring);

  struct Disk {
    usedBytes @0 :Float64;
    maxBytes @1 :Float64;
    files @2 :Float64;
    file @3 :Text;               # the one being written
    fileBytes @4 :Float64;
    rotationBytes @5 :Float64;   # until the next file begins
    rotationSeconds @6 :Float64; # the same by age; below 0: no limit
    removedFiles @7 :Float64;    # by the budget, since the start
    failures @8 :Float64;        # writes that did not go well, since the start
    pinnedFiles @9 :Float64;     # that hold a trigger's window
    queuedBytes @10 :Float64;    # copied, and not yet written
  }
  struct Cost {
    cpuSeconds @0 :Float64;      # of the recorder, since the start
    writtenBytes @1 :Float64;
    copiedBytes @2 :Float64;
    cpuPerSecond @3 :Float64;    # over the latest interval
    writtenPerSecond @4 :Float64;
    copiedPerSecond @5 :Float64;
    notCopied @6 :Float64;       # segments overwritten before they could be copied
  }
  struct Trigger {
    name @0 :Text;
    at @1 :Float64;
  }
  struct Ring {
    id @0 :Float64;
    name @1 :Text;
    activity @2 :Text;
    policy @3 :Text;
    cpus @4 :List(Cpu);
  }
  struct Cpu {
    cpu @0 :Float64;
    records @1 :Float64;         # committed since the ring was made
    recordsPerSecond @2 :Float64;
    errors @3 :Float64;
    bytes @4 :Float64;           # of memory that the ring has on this CPU
    keptSeconds @5 :Float64;     # from the oldest segment in memory to now
    newestSegment @6 :Float64;
    copiedSegment @7 :Float64;   # the last that is in the files
    notCopied @8 :Float64;       # segments overwritten before they could be copied
    drops @9 :List(Drop);        # those that happened
  }
  struct Drop {
    cause @0 :Text;              # the tag of drops.h
    count @1 :Float64;
  }
}
