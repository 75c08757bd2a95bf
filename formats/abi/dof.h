/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dof.h - the D object format, version 2, and the numbers it carries
 *
 * A DOF image holds a compiled D program: a header, a table of sections, and
 * the sections' bytes.  dof.md beside this file is the specification with a
 * worked example.  Images are byte-compatible with other ports' DOF v2; what
 * only Daybreak writes lies in sections of its own types (DBK_DOF_SECT_),
 * without the load flag, which a foreign reader passes over.
 */
#ifndef DBK_ABI_DOF_H
#define DBK_ABI_DOF_H

#include "abi.h"
#include "dif.h"

#define DOF_ID_SIZE	16
#define DOF_ID_MAG0	0
#define DOF_ID_MODEL	4
#define DOF_ID_ENCODING 5
#define DOF_ID_VERSION	6
#define DOF_ID_DIFVERS	7
#define DOF_ID_DIFIREG	8
#define DOF_ID_DIFTREG	9

#define DOF_MAGIC_BYTES "\177DOF"
#define DOF_MODEL_LP64	2
#define DOF_ENCODE_LSB	1
#define DOF_VERSION_1	1 /* other compilers' programs */
#define DOF_VERSION_2	2

struct dof_header {
	uint8_t ident[DOF_ID_SIZE];
	uint32_t flags;		/* 0 */
	uint32_t header_bytes;	/* 64 */
	uint32_t section_bytes; /* of a section header: 32 */
	uint32_t section_count;
	uint64_t section_offset; /* of the first section header: 64 */
	uint64_t load_bytes;	 /* what the engine needs */
	uint64_t file_bytes;
	uint64_t pad; /* 0 */
};

struct dof_section {
	uint32_t type;	      /* DOF_SECT_ */
	uint32_t align;	      /* power of two */
	uint32_t flags;	      /* DOF_SECF_ */
	uint32_t entry_bytes; /* 0: not a table */
	uint64_t offset;
	uint64_t bytes;
};

#define DOF_SECF_LOAD	1u
#define DOF_SECIDX_NONE 0xffffffffu
#define DOF_STRIDX_NONE 0u

/* X(published name, type, name) */
#define DBK_DOF_SECTIONS(X)                                                                        \
	X(DOF_SECT_NONE, 0, "none")                                                                \
	X(DOF_SECT_COMMENTS, 1, "comments")                                                        \
	X(DOF_SECT_SOURCE, 2, "source")                                                            \
	X(DOF_SECT_ECBDESC, 3, "ecbdesc")                                                          \
	X(DOF_SECT_PROBEDESC, 4, "probedesc")                                                      \
	X(DOF_SECT_ACTDESC, 5, "actdesc")                                                          \
	X(DOF_SECT_DIFOHDR, 6, "difohdr")                                                          \
	X(DOF_SECT_DIF, 7, "dif")                                                                  \
	X(DOF_SECT_STRTAB, 8, "strtab")                                                            \
	X(DOF_SECT_VARTAB, 9, "vartab")                                                            \
	X(DOF_SECT_RELTAB, 10, "reltab")                                                           \
	X(DOF_SECT_TYPTAB, 11, "typtab")                                                           \
	X(DOF_SECT_URELHDR, 12, "urelhdr")                                                         \
	X(DOF_SECT_KRELHDR, 13, "krelhdr")                                                         \
	X(DOF_SECT_OPTDESC, 14, "optdesc")                                                         \
	X(DOF_SECT_PROVIDER, 15, "provider")                                                       \
	X(DOF_SECT_PROBES, 16, "probes")                                                           \
	X(DOF_SECT_PRARGS, 17, "prargs")                                                           \
	X(DOF_SECT_PROFFS, 18, "proffs")                                                           \
	X(DOF_SECT_INTTAB, 19, "inttab")                                                           \
	X(DOF_SECT_UTSNAME, 20, "utsname")                                                         \
	X(DOF_SECT_XLTAB, 21, "xltab")                                                             \
	X(DOF_SECT_XLMEMBERS, 22, "xlmembers")                                                     \
	X(DOF_SECT_XLIMPORT, 23, "xlimport")                                                       \
	X(DOF_SECT_XLEXPORT, 24, "xlexport")                                                       \
	X(DOF_SECT_PREXPORT, 25, "prexport")                                                       \
	X(DOF_SECT_PRENOFFS, 26, "prenoffs")

#define DBK_DOF_SECTION_ENUM(name, type, text) name = type,
enum dof_sect { DBK_DOF_SECTIONS(DBK_DOF_SECTION_ENUM) };
#undef DBK_DOF_SECTION_ENUM

/*
 * Daybreak's own sections, never loadable.  0x4442 is "DB".
 *   LINES    struct dbk_dof_line per instruction range
 *   CAPTURE  struct dbk_dof_capture per recorded value
 *   TARGET   struct dbk_dof_target: what the program was compiled for
 *   AGGNAMES u32 string offsets (section 0), by aggregation id - 1
 *   STRINGS  string table of the above
 *   OPTIONS  as OPTDESC: the options that other ports do not have, or that have a text
 *   PLACES   struct dbk_dof_place: where in programs and libraries there are probes
 */
#define DBK_DOF_SECT_LINES    0x44420001u
#define DBK_DOF_SECT_CAPTURE  0x44420002u
#define DBK_DOF_SECT_TARGET   0x44420003u
#define DBK_DOF_SECT_AGGNAMES 0x44420004u
#define DBK_DOF_SECT_STRINGS  0x44420005u
#define DBK_DOF_SECT_OPTIONS  0x44420006u
#define DBK_DOF_SECT_PLACES   0x44420007u

struct dof_ecbdesc {
	uint32_t probes;    /* section: probedesc */
	uint32_t predicate; /* section: difohdr, or none */
	uint32_t actions;   /* section: actdesc, or none */
	uint32_t pad;
	uint64_t uarg;
};

struct dof_probedesc {
	uint32_t strtab;			   /* section */
	uint32_t provider, module, function, name; /* string offsets */
	uint32_t id;
};

struct dof_actdesc {
	uint32_t difo;	      /* section: difohdr, or none */
	uint32_t strtab;      /* section, or none; arg is then a string offset */
	uint32_t kind;	      /* DTRACEACT_ or DTRACEAGG_ */
	uint32_t tuple_count; /* aggregating: preceding DIFEXPRs that are its key */
	uint64_t arg;
	uint64_t uarg; /* groups the actions of one statement */
};

struct dof_difohdr {
	struct dif_type type; /* of the returned value */
	/* u32 links[]: sections dif, inttab, strtab, vartab ... that are there */
};

#define DOF_RELO_NONE 0u
#define DOF_RELO_SETX 1u /* an integer becomes an address */

struct dof_relohdr {
	uint32_t strtab, relsec, tgtsec;
};

struct dof_relodesc {
	uint32_t name;
	uint32_t type;	 /* DOF_RELO_ */
	uint64_t offset; /* in the target section, of what is relocated */
	uint64_t data;	 /* added to the address */
};

struct dof_optdesc {
	uint32_t option; /* DTRACEOPT_ or DBK_OPT_ */
	uint32_t strtab; /* section or none; value is then a string offset */
	uint64_t value;
};

/* A range of instructions of one DIFO and where in the source it came from. */
struct dbk_dof_line {
	uint32_t difo;	      /* section: difohdr */
	uint32_t instruction; /* first index of the range */
	uint32_t file;	      /* offset in STRINGS */
	uint32_t line;
	uint32_t column;
	uint32_t reserved;
};

/* One recorded value: which action stores it, and the D text it stands for. */
struct dbk_dof_capture {
	uint32_t actdesc;    /* section */
	uint32_t action;     /* index in it */
	uint32_t expression; /* offset in STRINGS: canonical D text */
	uint32_t type;	     /* offset in STRINGS: D type name */
};

struct dbk_dof_target {
	uint32_t release;   /* offset in STRINGS: uname -r, "" = any kernel */
	uint32_t compiler;  /* offset in STRINGS: version of the compiler */
	uint32_t dialect;   /* DBK_DOF_DIALECT_ */
	uint32_t typed;	    /* 1: uses kernel types, must not run on another kernel */
	uint8_t btf_id[16]; /* first 16 bytes of the SHA-256 of .BTF, or zeros */
	uint32_t main_file; /* offset in STRINGS: the D file's name */
	uint32_t target_pid; /* what $target was, of -c or -p; 0: there was none */
	uint32_t reserved[2];
};

#define DBK_DOF_DIALECT_ORACLE 1u

/* dbk_dof_place.kind */
#define DBK_PLACE_ENTRY	      0u
#define DBK_PLACE_RETURN      1u
#define DBK_PLACE_INSTRUCTION 2u /* of a function */
#define DBK_PLACE_MARK	      3u /* of the program's own: a .note.stapsdt */
#define DBK_PLACE_KINDS	      4u

#define DBK_PLACES_MAX		  65536u
#define DBK_PLACE_PATH_BYTES_MAX  4095u
#define DBK_PLACE_BUILD_ID_MAX	  20u
#define DBK_PLACE_OPERANDS_MAX	  10u	/* arg0 .. arg9 */
#define DBK_PLACE_FUNCTION_BYTES_MAX (1u << 20)

/* A probe in a file that programs map as code.  Strings are offsets in STRINGS. */
struct dbk_dof_place {
	uint32_t provider, module, function, name; /* of the probe */
	uint32_t path;	      /* as the process that enables the program opens it */
	uint32_t operands;    /* MARK: its arguments, as the note describes them: "8@%rax -4@$5" */
	uint32_t kind;	      /* DBK_PLACE_ */
	uint32_t pid;	      /* as that process sees it; 0: whatever process runs it */
	uint64_t offset;      /* in the file */
	uint64_t function_at; /* INSTRUCTION: offset of its function, where instructions begin */
	uint64_t semaphore;   /* MARK: offset of the count of its tracers; 0: none */
	/* Offset of the file's build id, or of code of its own where it says none: the file of another one
	 * is not touched. */
	uint64_t build_id_at;
	uint8_t build_id[DBK_PLACE_BUILD_ID_MAX];
	uint32_t build_id_bytes; /* 0: the file is taken as it is found */
};

/* X(published name, kind) */
#define DBK_DTRACE_ACTIONS(X)                                                                      \
	X(DTRACEACT_NONE, 0x000)                                                                   \
	X(DTRACEACT_DIFEXPR, 0x001)                                                                \
	X(DTRACEACT_EXIT, 0x002)                                                                   \
	X(DTRACEACT_PRINTF, 0x003)                                                                 \
	X(DTRACEACT_PRINTA, 0x004)                                                                 \
	X(DTRACEACT_LIBACT, 0x005)                                                                 \
	X(DTRACEACT_TRACEMEM, 0x006)                                                               \
	X(DTRACEACT_PCAP, 0x007)                                                                   \
	X(DTRACEACT_PRINT, 0x008)                                                                  \
	X(DTRACEACT_USTACK, 0x101)                                                                 \
	X(DTRACEACT_JSTACK, 0x102)                                                                 \
	X(DTRACEACT_USYM, 0x103)                                                                   \
	X(DTRACEACT_UMOD, 0x104)                                                                   \
	X(DTRACEACT_UADDR, 0x105)                                                                  \
	X(DTRACEACT_STOP, 0x201)                                                                   \
	X(DTRACEACT_RAISE, 0x202)                                                                  \
	X(DTRACEACT_SYSTEM, 0x203)                                                                 \
	X(DTRACEACT_FREOPEN, 0x204)                                                                \
	X(DTRACEACT_STACK, 0x401)                                                                  \
	X(DTRACEACT_SYM, 0x402)                                                                    \
	X(DTRACEACT_MOD, 0x403)                                                                    \
	X(DTRACEACT_BREAKPOINT, 0x501)                                                             \
	X(DTRACEACT_PANIC, 0x502)                                                                  \
	X(DTRACEACT_CHILL, 0x503)                                                                  \
	X(DTRACEACT_SPECULATE, 0x601)                                                              \
	X(DTRACEACT_COMMIT, 0x602)                                                                 \
	X(DTRACEACT_DISCARD, 0x603)

#define DBK_DTRACE_ACTION_ENUM(name, kind) name = kind,
enum dtrace_action { DBK_DTRACE_ACTIONS(DBK_DTRACE_ACTION_ENUM) };
#undef DBK_DTRACE_ACTION_ENUM
#define DTRACEACT_CLASS(kind)	       ((kind)&0xff00u)
#define DTRACEACT_CLASS_SPECULATIVE    0x0600u
#define DTRACEACT_CLASS_AGGREGATION    0x0700u
#define DTRACEACT_IS_SPECULATIVE(kind) (DTRACEACT_CLASS(kind) == DTRACEACT_CLASS_SPECULATIVE)
#define DTRACEACT_IS_AGG(kind)	       (DTRACEACT_CLASS(kind) == DTRACEACT_CLASS_AGGREGATION)

/* Daybreak's own actions, out of the way of every port's classes. */
#define DBK_ACT_SNAPSHOT	 0x4401u /* strtab and arg: the trigger's name; the value its number */
#define DBK_ACT_CAPTURE		 0x4402u /* as DIFEXPR, an integer or a string; nothing is printed */
#define DBK_ACT_CAPTURE_STACK	 0x4403u /* as STACK */
#define DBK_ACT_CAPTURE_USTACK	 0x4404u /* as USTACK */
#define DBK_ACT_IS_CAPTURE(kind) ((kind) >= DBK_ACT_CAPTURE && (kind) <= DBK_ACT_CAPTURE_USTACK)

#define DBK_SNAPSHOT_NAME_MAX 47u /* letters, digits, '-', '_', '.', the last not in front */

/* X(published name, kind, D name, cells; 0: from the argument) */
#define DBK_DTRACE_AGGS(X)                                                                         \
	X(DTRACEAGG_COUNT, 0x701, "count", 1)                                                      \
	X(DTRACEAGG_MIN, 0x702, "min", 1)                                                          \
	X(DTRACEAGG_MAX, 0x703, "max", 1)                                                          \
	X(DTRACEAGG_AVG, 0x704, "avg", 2)                                                          \
	X(DTRACEAGG_SUM, 0x705, "sum", 1)                                                          \
	X(DTRACEAGG_STDDEV, 0x706, "stddev", 4)                                                    \
	X(DTRACEAGG_QUANTIZE, 0x707, "quantize", 127)                                              \
	X(DTRACEAGG_LQUANTIZE, 0x708, "lquantize", 0)                                              \
	X(DTRACEAGG_LLQUANTIZE, 0x709, "llquantize", 0)

#define DBK_DTRACE_AGG_ENUM(name, kind, text, cells) name = kind,
enum dtrace_agg { DBK_DTRACE_AGGS(DBK_DTRACE_AGG_ENUM) };
#undef DBK_DTRACE_AGG_ENUM

/* A LIBACT's argument is DT_ACT_BASE + one of these (Oracle dialect: 46). */
#define DT_ACT_BASE 46
/* X(published name, sub-kind, D name) */
#define DBK_LIBRARY_ACTIONS(X)                                                                     \
	X(DT_ACT_PRINTF, 0, "printf")                                                              \
	X(DT_ACT_TRACE, 1, "trace")                                                                \
	X(DT_ACT_TRACEMEM, 2, "tracemem")                                                          \
	X(DT_ACT_STACK, 3, "stack")                                                                \
	X(DT_ACT_STOP, 4, "stop")                                                                  \
	X(DT_ACT_BREAKPOINT, 5, "breakpoint")                                                      \
	X(DT_ACT_PANIC, 6, "panic")                                                                \
	X(DT_ACT_SPECULATE, 7, "speculate")                                                        \
	X(DT_ACT_COMMIT, 8, "commit")                                                              \
	X(DT_ACT_DISCARD, 9, "discard")                                                            \
	X(DT_ACT_CHILL, 10, "chill")                                                               \
	X(DT_ACT_EXIT, 11, "exit")                                                                 \
	X(DT_ACT_USTACK, 12, "ustack")                                                             \
	X(DT_ACT_PRINTA, 13, "printa")                                                             \
	X(DT_ACT_RAISE, 14, "raise")                                                               \
	X(DT_ACT_CLEAR, 15, "clear")                                                               \
	X(DT_ACT_NORMALIZE, 16, "normalize")                                                       \
	X(DT_ACT_DENORMALIZE, 17, "denormalize")                                                   \
	X(DT_ACT_TRUNC, 18, "trunc")                                                               \
	X(DT_ACT_SYSTEM, 19, "system")                                                             \
	X(DT_ACT_JSTACK, 20, "jstack")                                                             \
	X(DT_ACT_FTRUNCATE, 21, "ftruncate")                                                       \
	X(DT_ACT_FREOPEN, 22, "freopen")                                                           \
	X(DT_ACT_SYM, 23, "sym")                                                                   \
	X(DT_ACT_MOD, 24, "mod")                                                                   \
	X(DT_ACT_USYM, 25, "usym")                                                                 \
	X(DT_ACT_UMOD, 26, "umod")                                                                 \
	X(DT_ACT_UADDR, 27, "uaddr")                                                               \
	X(DT_ACT_SETOPT, 28, "setopt")                                                             \
	X(DT_ACT_PCAP, 29, "pcap")

#define DBK_LIBRARY_ACTION_ENUM(name, n, text) name = n,
enum dt_act { DBK_LIBRARY_ACTIONS(DBK_LIBRARY_ACTION_ENUM) };
#undef DBK_LIBRARY_ACTION_ENUM

/* X(published name, id, D name) */
#define DBK_DTRACE_OPTIONS(X)                                                                      \
	X(DTRACEOPT_BUFSIZE, 0, "bufsize")                                                         \
	X(DTRACEOPT_BUFPOLICY, 1, "bufpolicy")                                                     \
	X(DTRACEOPT_DYNVARSIZE, 2, "dynvarsize")                                                   \
	X(DTRACEOPT_AGGSIZE, 3, "aggsize")                                                         \
	X(DTRACEOPT_SPECSIZE, 4, "specsize")                                                       \
	X(DTRACEOPT_NSPEC, 5, "nspec")                                                             \
	X(DTRACEOPT_STRSIZE, 6, "strsize")                                                         \
	X(DTRACEOPT_CLEANRATE, 7, "cleanrate")                                                     \
	X(DTRACEOPT_CPU, 8, "cpu")                                                                 \
	X(DTRACEOPT_BUFRESIZE, 9, "bufresize")                                                     \
	X(DTRACEOPT_GRABANON, 10, "grabanon")                                                      \
	X(DTRACEOPT_FLOWINDENT, 11, "flowindent")                                                  \
	X(DTRACEOPT_QUIET, 12, "quiet")                                                            \
	X(DTRACEOPT_STACKFRAMES, 13, "stackframes")                                                \
	X(DTRACEOPT_USTACKFRAMES, 14, "ustackframes")                                              \
	X(DTRACEOPT_AGGRATE, 15, "aggrate")                                                        \
	X(DTRACEOPT_SWITCHRATE, 16, "switchrate")                                                  \
	X(DTRACEOPT_STATUSRATE, 17, "statusrate")                                                  \
	X(DTRACEOPT_DESTRUCTIVE, 18, "destructive")                                                \
	X(DTRACEOPT_STACKINDENT, 19, "stackindent")                                                \
	X(DTRACEOPT_RAWBYTES, 20, "rawbytes")                                                      \
	X(DTRACEOPT_JSTACKFRAMES, 21, "jstackframes")                                              \
	X(DTRACEOPT_JSTACKSTRSIZE, 22, "jstackstrsize")                                            \
	X(DTRACEOPT_AGGSORTKEY, 23, "aggsortkey")                                                  \
	X(DTRACEOPT_AGGSORTREV, 24, "aggsortrev")                                                  \
	X(DTRACEOPT_AGGSORTPOS, 25, "aggsortpos")                                                  \
	X(DTRACEOPT_AGGSORTKEYPOS, 26, "aggsortkeypos")                                            \
	X(DTRACEOPT_QUIETRESIZE, 27, "quietresize")                                                \
	X(DTRACEOPT_NORESOLVE, 28, "noresolve")                                                    \
	X(DTRACEOPT_PCAPSIZE, 29, "pcapsize")

#define DBK_DTRACE_OPTION_ENUM(name, id, text) name = id,
enum dtrace_option { DBK_DTRACE_OPTIONS(DBK_DTRACE_OPTION_ENUM) };
#undef DBK_DTRACE_OPTION_ENUM
#define DTRACEOPT_UNSET 0xfffffffffffffffeull

/* Daybreak's own options, out of the way of every port's. */
#define DBK_OPT_AGGREGATE   0x44420001u /* DBK_AGGREGATE_ */
#define DBK_OPT_SEGMENTSIZE 0x44420002u /* bytes of a segment */
#define DBK_OPT_TEMPORAL    0x44420003u /* print by the time records were made; other ports: 27 */
#define DBK_OPT_RINGTIME    0x44420004u /* nanoseconds that a ring is to reach back; it grows */
#define DBK_OPT_SNAPSHOTRATE                                                                       \
	0x44420005u /* ns between two triggers of a name and ring, 0: no limit                     \
		     */
#define DBK_OPT_RINGMAX	    0x44420006u /* bytes per CPU that such a ring may have */
#define DBK_OPT_USTACKBYTES 0x44420007u /* bytes of the user's stack beside ustack(), 0: none */

#define DTRACE_QUANTIZE_CELLS	     127
#define DTRACE_QUANTIZE_ZERO	     63
#define DTRACE_LQUANTIZE_STEP(arg)   ((uint16_t)((arg) >> 48))
#define DTRACE_LQUANTIZE_LEVELS(arg) ((uint16_t)((arg) >> 32))
#define DTRACE_LQUANTIZE_BASE(arg)   ((int32_t)(arg))

DBK_ABI_SIZE(struct dof_header, 64);
DBK_ABI_SIZE(struct dof_section, 32);
DBK_ABI_SIZE(struct dof_ecbdesc, 24);
DBK_ABI_SIZE(struct dof_probedesc, 24);
DBK_ABI_SIZE(struct dof_actdesc, 32);
DBK_ABI_SIZE(struct dof_difohdr, 8);
DBK_ABI_SIZE(struct dof_relohdr, 12);
DBK_ABI_SIZE(struct dof_relodesc, 24);
DBK_ABI_SIZE(struct dof_optdesc, 16);
DBK_ABI_SIZE(struct dbk_dof_line, 24);
DBK_ABI_SIZE(struct dbk_dof_capture, 16);
DBK_ABI_SIZE(struct dbk_dof_target, 48);
DBK_ABI_SIZE(struct dbk_dof_place, 88);
DBK_ABI_AT(struct dbk_dof_place, path, 16);
DBK_ABI_AT(struct dbk_dof_place, kind, 24);
DBK_ABI_AT(struct dbk_dof_place, offset, 32);
DBK_ABI_AT(struct dbk_dof_place, semaphore, 48);
DBK_ABI_AT(struct dbk_dof_place, build_id, 64);
DBK_ABI_AT(struct dbk_dof_place, build_id_bytes, 84);
DBK_ABI_AT(struct dof_header, flags, 16);
DBK_ABI_AT(struct dof_header, header_bytes, 20);
DBK_ABI_AT(struct dof_header, section_bytes, 24);
DBK_ABI_AT(struct dof_header, section_count, 28);
DBK_ABI_AT(struct dof_header, section_offset, 32);
DBK_ABI_AT(struct dof_header, load_bytes, 40);
DBK_ABI_AT(struct dof_header, file_bytes, 48);
DBK_ABI_AT(struct dof_header, pad, 56);
DBK_ABI_AT(struct dof_section, type, 0);
DBK_ABI_AT(struct dof_section, align, 4);
DBK_ABI_AT(struct dof_section, flags, 8);
DBK_ABI_AT(struct dof_section, entry_bytes, 12);
DBK_ABI_AT(struct dof_section, offset, 16);
DBK_ABI_AT(struct dof_section, bytes, 24);
DBK_ABI_AT(struct dof_ecbdesc, probes, 0);
DBK_ABI_AT(struct dof_ecbdesc, predicate, 4);
DBK_ABI_AT(struct dof_ecbdesc, actions, 8);
DBK_ABI_AT(struct dof_ecbdesc, uarg, 16);
DBK_ABI_AT(struct dof_probedesc, strtab, 0);
DBK_ABI_AT(struct dof_probedesc, provider, 4);
DBK_ABI_AT(struct dof_probedesc, name, 16);
DBK_ABI_AT(struct dof_probedesc, id, 20);
DBK_ABI_AT(struct dof_actdesc, difo, 0);
DBK_ABI_AT(struct dof_actdesc, strtab, 4);
DBK_ABI_AT(struct dof_actdesc, kind, 8);
DBK_ABI_AT(struct dof_actdesc, tuple_count, 12);
DBK_ABI_AT(struct dof_actdesc, arg, 16);
DBK_ABI_AT(struct dof_actdesc, uarg, 24);
DBK_ABI_AT(struct dof_relodesc, offset, 8);
DBK_ABI_AT(struct dof_relodesc, data, 16);
DBK_ABI_AT(struct dof_optdesc, option, 0);
DBK_ABI_AT(struct dof_optdesc, strtab, 4);
DBK_ABI_AT(struct dof_optdesc, value, 8);
DBK_ABI_AT(struct dbk_dof_line, line, 12);
DBK_ABI_AT(struct dbk_dof_capture, expression, 8);
DBK_ABI_AT(struct dbk_dof_target, btf_id, 16);
DBK_ABI_AT(struct dbk_dof_target, main_file, 32);
DBK_ABI_AT(struct dbk_dof_target, target_pid, 36);

#endif /* DBK_ABI_DOF_H */
