# SPDX-License-Identifier: Apache-2.0
#
# The messages of a trace file: what the recording itself cannot know.  Every block of type HEADER,
# SYMBOLS, INDEX, SUMMARY, END, SKIPPED, SHARED_SYMBOLS, WINDOW and CONTENTS holds one Message.  This text is stored in each trace file.
# Fields are only ever added, with the next number.
@0xd97f326e7971ffca;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("daybreak::formats::wire");

struct Message {
  union {
    header @0 :Header;
    symbols @1 :Symbols;
    index @2 :Index;
    summary @3 :Summary;
    end @4 :End;
    skipped @5 :List(Skipped);
    sharedSymbols @6 :SharedSymbols;
    window @7 :Window;
    contents @8 :Contents;
  }
}

# Readings side by side: CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME.
struct Clocks {
  monoNs @0 :UInt64;
  bootNs @1 :UInt64;
  wallNs @2 :UInt64;
}

enum Origin {
  device @0;     # /dev/daybreak, stopped
  snapshot @1;   # /dev/daybreak, while writing went on
  bank @2;       # reserved memory of an earlier boot
  dump @3;       # a crash dump
  simulator @4;  # the user-space host
  backfill @5;   # what the kernel kept of its start
}

# The kernel itself is "vmlinux", without address and size: symbols say where it lay, from _text to _end.
struct Module {
  name @0 :Text;
  baseAddress @1 :UInt64;  # 0: the kernel did not tell
  sizeBytes @2 :UInt64;    # of all of its memory, which need not be in one
  buildId @3 :Data;        # empty: not known
}

struct Header {
  toolVersion @0 :Text;
  origin @1 :Origin;
  clocks @2 :Clocks;  # when the recorder began
  bootUuid @3 :Data;  # 16 bytes
  hostname @4 :Text;
  release @5 :Text;   # uname -r
  version @6 :Text;   # uname -v
  machine @7 :Text;   # uname -m
  commandLine @8 :Text;
  cpusOnline @9 :UInt32;
  memoryBytes @10 :UInt64;
  dFiles @11 :List(Text);
  modules @12 :List(Module);
  fileNumber @13 :UInt32;    # in the series of files that a recorder writes of one boot: 1, 2, ...; 0: none
  windowFromNs @14 :UInt64;  # CLOCK_MONOTONIC of what was asked for; windowToNs 0: everything
  windowToNs @15 :UInt64;
  trigger @16 :Text;         # name of what asked for it; empty: nothing did
  units @17 :BootUnits;      # null: systemd was not asked
}

# The units of systemd that had begun to start when the recorder asked it; unit n is made of the n-th element of each list.
struct BootUnits {
  defaultTarget @0 :Text;        # where the boot went to; empty: not known
  names @1 :List(Text);
  beganNs @2 :List(UInt64);      # CLOCK_MONOTONIC of the last start; never 0
  readyNs @3 :List(UInt64);      # when it was active; 0: never
  afterCounts @4 :List(UInt32);  # how many of `after` are its, in this order
  after @5 :List(UInt16);        # which of these units it is ordered after
}

# A stretch of the symbols, ascending by address; symbol n is made of the n-th element of each list.
struct Symbols {
  modules @0 :List(Text);           # "vmlinux" is the kernel
  addressDeltas @1 :List(UInt64);   # to the symbol before; the first is its address
  moduleIndices @2 :List(UInt32);   # into modules
  types @3 :Data;                   # one letter each, as in /proc/kallsyms
  names @4 :Data;                   # each ends with a newline
}

# The symbols of this file that lie in BOOTID8-symbols.dbrk beside it, and those that do not.
struct SharedSymbols {
  modules @0 :List(Text);   # whose symbols are as that file has them; "vmlinux" is the kernel
  hashes @1 :List(UInt64);  # of each module's symbols there: symbols.md
  additions @2 :Data;       # those of all other modules, as a SORTED_SYMBOLS block has them
}

# One after every 4096 pieces, and one at the end.
struct Index {
  # Of older files: a CPU's segments in a data block.
  struct Entry {
    fileOffset @0 :UInt64;  # of the data block
    blockNumber @1 :UInt32;
    ringId @2 :UInt16;
    cpu @3 :UInt16;
    firstSequence @4 :UInt64;
    lastSequence @5 :UInt64;
    firstMonoNs @6 :UInt64;  # when its first segment was opened
    lastMonoNs @7 :UInt64;   # when its last one was
  }
  entries @0 :List(Entry);  # not written any more, and not read: the heads below say it of each segment

  # A data block that was written since the index before.
  struct Block {
    fileOffset @0 :UInt64;
    blockNumber @1 :UInt32;
    pieces @2 :UInt32;  # how many of the lists below are its; 0: it has other pieces, too
    epids @3 :UInt32;   # how many of `epids` are its; 0: not said
  }
  blocks @1 :List(Block);
  # Segments and aggregation snapshots, piece n is made of the n-th element of each list.
  offsets @2 :List(UInt32);     # in the block unpacked
  heads @3 :Data;               # 128 bytes each: header and losses
  records @4 :List(UInt64);     # 2^64 - 1: not counted, the ticks mean nothing then
  firstTicks @5 :List(UInt64);  # of its first record, as recorded; without records base_ticks
  minTicks @6 :List(UInt64);    # the least
  lastTicks @7 :List(UInt64);   # the greatest
  # Which ECBs the records of each block are of, whatever their ring: ascending, each once.
  epids @8 :List(UInt32);
}

# In a file with many index blocks: what is in them, so that a part of the file is found without reading
# the others.
struct Contents {
  bootId @0 :UInt64;        # as segments have it
  rawDataBytes @1 :UInt64;  # of all data blocks, unpacked

  # An index block, in the order of the file.
  struct Group {
    fileOffset @0 :UInt64;
    blocks @1 :UInt32;  # data blocks that it lists
    runs @2 :UInt32;    # how many of the runs below are its, in this order; 0: it has to be read
  }
  groups @2 :List(Group);

  # Segments of one CPU whose sequence numbers follow each other, without anything missing or dropped.
  struct Run {
    ringId @0 :UInt16;
    cpu @1 :UInt16;
    first @2 :UInt32;  # how many segments of this CPU the index block has before it
    count @3 :UInt32;
    saysTsc @4 :Bool;
    firstSequence @5 :UInt64;
    recordsBefore @6 :UInt64;
    records @7 :UInt64;
    firstTicks @8 :UInt64;   # base_ticks and base_mono_ns of the first
    firstMonoNs @9 :UInt64;
    lastMonoNs @10 :UInt64;  # base_mono_ns of the last
    minTicks @11 :UInt64;    # the least and the greatest of all records
    maxTicks @12 :UInt64;
    lastTicks @13 :UInt64;   # the greatest of the last segment's
  }
  runs @3 :List(Run);

  # Of the blocks before this one that must be read: all but INDEX blocks with runs, and the data blocks
  # of which these list the pieces.  Ascending.
  otherOffsets @4 :List(UInt64);

  # What base_ticks and base_mono_ns the segments of a ring have whose ticks are a TSC's; thinned.
  struct Pairs {
    ringId @0 :UInt16;
    ticks @1 :List(UInt64);
    monoNs @2 :List(UInt64);
  }
  pairs @5 :List(Pairs);
}

struct Cpu {
  ringId @0 :UInt16;
  cpu @1 :UInt16;
  committed @2 :UInt64;  # = present + overwritten + rotated + lost + notCopied
  present @3 :UInt64;
  overwritten @4 :UInt64;
  lost @5 :UInt64;
  notCopied @6 :UInt64;
  lostKnown @7 :Bool;
  segmentsPresent @8 :UInt64;
  segmentsMissing @9 :UInt64;
  segmentsDamaged @10 :UInt64;
  errors @11 :UInt64;
  drops @12 :List(UInt64);        # by enum dbk_drop
  dropsUnseen @13 :List(UInt64);  # of these, outside the segments of this file
  rotated @14 :UInt64;            # in files of the row that were not here
}

struct Finding {
  kind @0 :Text;
  where @1 :Text;
  text @2 :Text;
}

struct Summary {
  clocks @0 :Clocks;  # when the recorder ended
  interrupted @1 :Bool;
  cpus @2 :List(Cpu);
  findings @3 :List(Finding);
}

# Sequence numbers that a recorder should have written and could not.
struct Skipped {
  ringId @0 :UInt16;
  cpu @1 :UInt16;
  firstSequence @2 :UInt64;
  lastSequence @3 :UInt64;
  cause @4 :Text;    # a name of DBK_SKIP_CAUSES
  monoNs @5 :UInt64; # CLOCK_MONOTONIC when it was noticed
}

# The window that a file was cut to, and the segments that it does not have because of that.
struct Window {
  bootId @0 :UInt64;      # whose segments they are
  sinceMonoNs @1 :UInt64;
  untilMonoNs @2 :UInt64; # 2^64 - 1: the end
  leftOut @3 :List(LeftOut); # ascending by ring, CPU and sequence, none of it twice
}

# Segments of one CPU that follow each other, no record between them missing.
struct LeftOut {
  ringId @0 :UInt16;
  cpu @1 :UInt16;
  firstSequence @2 :UInt64;
  lastSequence @3 :UInt64;
  recordsBefore @4 :UInt64;    # committed before the first of them
  records @5 :UInt64;          # readable ones in them
  fromMonoNs @6 :UInt64;       # the earliest of their openings and records
  toMonoNs @7 :UInt64;         # the latest
  drops @8 :List(UInt64);      # while they were open, by enum dbk_drop; empty: none
  openedTicks @9 :List(UInt64); # of each segment, where ticks are TSC ticks; else empty
  openedMonoNs @10 :List(UInt64);
}

struct End {
  blocks @0 :UInt32;  # of the file before this one
  bytes @1 :UInt64;   # of the file before this block
  contentsOffset @2 :UInt64;  # of the CONTENTS block; 0: there is none
}
