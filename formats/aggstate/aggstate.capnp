# SPDX-License-Identifier: Apache-2.0
#
# The messages of a file of partial states: what a replay aggregated over a part of what was recorded, and what
# that part is.  aggstate.md is the specification.  Fields are only ever added, with the next number.
@0xb1f0a2c7d3584e69;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("daybreak::formats::aggwire");

struct Message {
  union {
    part @0 :Part;
    states @1 :States;
    symbols @2 :Symbols;
  }
}

# What was aggregated over, and all that merging needs besides states: the coverage, a state of its own.
struct Part {
  program @0 :Data;     # SHA-256 of the normalized program
  host @1 :Text;
  bootId @2 :UInt64;    # the beginning of the boot's UUID, as segments have it
  ringId @3 :UInt16;
  sinceNs @4 :UInt64;   # the window, CLOCK_MONOTONIC
  untilNs @5 :UInt64;   # not in it; 2^64 - 1: the end
  digest @6 :Data;      # SHA-256 of which segments there were
  dof @7 :Data;         # the program's clauses of BEGIN and END
  source @8 :Text;      # the normalized program
  release @9 :Text;     # uname -r
  keepsThreadState @10 :Bool;  # a clause reads what another firing of its thread stored
  keepsGlobalState @11 :Bool;  # the same of all threads
  beginNs @12 :UInt64;  # of BEGIN
  endNs @13 :UInt64;    # of the last record
  beginWallNs @14 :UInt64;     # CLOCK_REALTIME at beginNs
  records @15 :UInt64;  # that were read
  firings @16 :UInt64;  # that were replayed
  drops @17 :UInt64;    # of the replay itself
  cpus @18 :List(Cpu);
  images @19 :List(Image);
  beginCpu @20 :UInt16;  # where BEGIN fires
  endCpu @21 :UInt16;    # of the last record, where END fires
  hasTicks @22 :Bool;    # a clause runs at tick-N, of each boot
  holdsFirings @23 :Bool; # a speculation held records of firings that were asked for
}

# What of a CPU was there to read.
struct Cpu {
  cpu @0 :UInt16;
  committed @1 :UInt64;     # records, ever
  firstKept @2 :UInt64;     # segments before it were overwritten: no loss
  newest @3 :UInt64;        # the last segment that is known of
  faults @4 :UInt64;        # of clauses that recorded
  drops @5 :List(UInt64);   # by enum dbk_drop
  runs @6 :List(Run);       # ascending, none twice
}

# Segments whose sequence numbers follow each other, no record between them missing.
struct Run {
  firstSequence @0 :UInt64;
  lastSequence @1 :UInt64;
  recordsBefore @2 :UInt64; # committed before the first
  records @3 :UInt64;
  fromNs @4 :UInt64;        # when the first was opened
  toNs @5 :UInt64;          # its last record
  beginsInFiring @6 :Bool;  # of which other records lie in the segment before
}

# Something with code: the kernel, or a module, as it lay in memory; or a file that processes had mapped.
struct Image {
  name @0 :Text;
  baseAddress @1 :UInt64;
  sizeBytes @2 :UInt64;
  buildId @3 :Data;
  isFile @4 :Bool;     # no address: offsets are those in the file
}

# Names of the addresses in the keys that follow; for printing only.
struct Symbols {
  struct Symbol {
    image @0 :UInt32;    # index into the part's images, plus 1; 0: an address
    offset @1 :UInt64;
    type @2 :UInt8;      # a letter, as in /proc/kallsyms
    name @3 :Text;
    module @4 :Text;     # "vmlinux" is the kernel
    bytes @5 :UInt64;    # of a function of a file: it reaches no further
  }
  symbols @0 :List(Symbol);
}

struct KeyType {
  tag @0 :UInt8;         # as in the key
  bytes @1 :UInt32;      # as D sees it
  action @2 :UInt32;     # DTRACEACT_
  isSigned @3 :Bool;
}

# Values of one aggregation; the n-th element of each list, or as many as it says, is of state n.
struct States {
  aggregation @0 :Text;  # its name, without @
  function @1 :UInt32;   # DTRACEAGG_
  argument @2 :UInt64;   # of lquantize() and llquantize()
  keyTypes @3 :List(KeyType);
  keys @4 :Data;                # one after the other
  keyBytes @5 :List(UInt32);
  cellCounts @6 :List(UInt32);  # that are not 0
  indexes @7 :List(UInt32);     # ascending within a state
  values @8 :List(UInt64);      # sums, modulo 2^64
  extremes @9 :List(Int64);     # of min() and max(), instead of cells
}
