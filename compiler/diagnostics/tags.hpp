// SPDX-License-Identifier: Apache-2.0
//
// The D_* error tags: one list, from which the enum and the names are made.
//
// The names are those every port publishes (`dtrace -x errtags`), so that a test suite written for
// one of them can check ours; those of actions that only Daybreak has say so.  Tags that ports number differently do not matter: only names do.
// A tag is in the list when the compiler raises it, and then a case of tests/d meets it: the tags
// of other ports for what Daybreak has not (the pid provider, pcap(), printm()) are not here.
#pragma once

#include <cstdint>
#include <string_view>

namespace daybreak::compiler {

// X(tag, raised when)
#define DBK_ERROR_TAGS(X)                                                                          \
    X(D_UNKNOWN, "any compiler error without its own tag")                                         \
    X(D_SYNTAX, "the parser or lexer cannot accept the text")                                      \
    X(D_EMPTY, "the program has no clauses or declarations")                                       \
    X(D_TYPE_ERR, "a type a node needs could not be looked up: its source cannot be read")         \
    X(D_TYPE_MEMBER, "struct/union has no such member")                                            \
    X(D_CG_EXPR, "an action (tracing function) stands inside an expression")                       \
    X(D_CG_DYN, "an expression's result would have no fixed type")                                 \
    X(D_ATTR_MIN, "something used is less stable than -x amin allows")                             \
    X(D_ID_OFLOW, "more identifiers than the id space holds")                                      \
    X(D_PDESC_ZERO, "a probe description matches no probe (and no -Z)")                            \
    X(D_PDESC_INVAL, "a probe description is malformed")                                           \
    X(D_PRED_SCALAR, "a predicate is not of scalar type")                                          \
    X(D_FUNC_IDENT, "the thing called is not a name")                                              \
    X(D_FUNC_UNDEF, "no function, action or aggregation of that name")                             \
    X(D_FUNC_IDKIND, "the name called is not a callable kind")                                     \
    X(D_OFFSETOF_TYPE, "offsetof of something not a struct or union")                              \
    X(D_OFFSETOF_BITFIELD, "offsetof of a bit-field")                                              \
    X(D_SIZEOF_TYPE, "sizeof of void, function, dynamic or unknown type")                          \
    X(D_SIZEOF_BITFIELD, "sizeof of a bit-field")                                                  \
    X(D_STRINGOF_TYPE, "stringof of something not convertible")                                    \
    X(D_OP_INT, "operator needs an integer")                                                       \
    X(D_OP_SCALAR, "operator needs a scalar")                                                      \
    X(D_OP_ARITH, "operator needs an arithmetic type")                                             \
    X(D_OP_WRITE, "assignment to something read-only")                                             \
    X(D_OP_LVAL, "operator needs an lvalue")                                                       \
    X(D_OP_INCOMPAT,                                                                               \
      "operand types do not go together (also redefinition of a variable with another type)")      \
    X(D_OP_VFPTR, "operand is a void or function pointer")                                         \
    X(D_OP_ARRFUN, "operand is an array or function")                                              \
    X(D_OP_PTR, "-> or * on a non-pointer")                                                        \
    X(D_OP_SOU, ". or -> on a non-struct")                                                         \
    X(D_OP_INCOMPLETE, "operand's struct/union is only declared")                                  \
    X(D_OP_DYN, "operand has no fixed type")                                                       \
    X(D_OP_ACT, "an action is used as an operand")                                                 \
    X(D_AGG_REDEF, "an aggregation gets a second function or parameters")                          \
    X(D_AGG_FUNC, "something other than an aggregating function assigned to @")                    \
    X(D_AGG_MDIM, "@a[..][..]")                                                                    \
    X(D_ARR_BADREF, "subscript tuple on a non-array")                                              \
    X(D_ARR_LOCAL, "clause-local associative array")                                               \
    X(D_ARR_BOUNDS, "constant index outside the array (Oracle only)")                              \
    X(D_DIV_ZERO, "constant division or remainder by zero")                                        \
    X(D_DEREF_NONPTR, "* of a non-pointer")                                                        \
    X(D_DEREF_VOID, "* of a void pointer")                                                         \
    X(D_DEREF_FUNC, "* of a function pointer")                                                     \
    X(D_ADDROF_LVAL, "& of a non-lvalue")                                                          \
    X(D_ADDROF_VAR, "& of a D variable")                                                           \
    X(D_ADDROF_BITFIELD, "& of a bit-field")                                                       \
    X(D_XLATE_REDECL, "the same translator declared twice")                                        \
    X(D_XLATE_NOCONV, "translator has no expression for the member used")                          \
    X(D_XLATE_NONE, "no translator for this pair of types")                                        \
    X(D_XLATE_SOU, "translator output is not a struct or union")                                   \
    X(D_XLATE_INCOMPAT, "member expression's type does not fit the member")                        \
    X(D_XLATE_MEMB, "no such member in the output type")                                           \
    X(D_CAST_INVAL, "cast between unsuitable types")                                               \
    X(D_PRAGERR, "a #pragma D error was met")                                                      \
    X(D_PRAGCTL_INVAL, "unusable # control line")                                                  \
    X(D_PRAGMA_INVAL, "unknown #pragma D")                                                         \
    X(D_PRAGMA_UNUSED, "#pragma D attributes/binding for something never declared")                \
    X(D_PRAGMA_MALFORM, "wrong pragma arguments")                                                  \
    X(D_PRAGMA_OPTSET, "#pragma D option refused")                                                 \
    X(D_PRAGMA_DEPEND, "depends_on not met")                                                       \
    X(D_MACRO_UNDEF, "$n or $name has no value")                                                   \
    X(D_MACRO_OFLOW, "macro argument integer too big")                                             \
    X(D_MACRO_UNUSED, "extra command-line argument never used")                                    \
    X(D_INT_OFLOW, "integer constant over 64 bits")                                                \
    X(D_INT_DIGIT, "digit not of the base")                                                        \
    X(D_STR_NL, "newline inside a string")                                                         \
    X(D_CHR_NL, "newline inside a character constant")                                             \
    X(D_CHR_NULL, "empty character constant")                                                      \
    X(D_CHR_OFLOW, "character constant over 8 bytes")                                              \
    X(D_IDENT_BADREF, "identifier used against its kind (e.g. scalar as array)")                   \
    X(D_IDENT_UNDEF, "unknown identifier")                                                         \
    X(D_SYM_NOTYPES, "symbol's module has no type data")                                           \
    X(D_VAR_UNDEF, "variable read but never assigned")                                             \
    X(D_PROTO_LEN, "wrong number of arguments")                                                    \
    X(D_PROTO_ARG, "an argument has the wrong type")                                               \
    X(D_ARGS_MULTI, "args[] with a description matching unstable different probes")                \
    X(D_ARGS_NONE, "probe has no typed arguments")                                                 \
    X(D_ARGS_TYPE, "args[] entry has an unknown type")                                             \
    X(D_ARGS_IDX, "args[] index beyond the probe's arguments")                                     \
    X(D_KEY_TYPE, "key of unusable type")                                                          \
    X(D_PRINTF_DYN_PROTO, "'*' without its argument")                                              \
    X(D_PRINTF_DYN_TYPE, "'*' argument not an int")                                                \
    X(D_PRINTF_AGG_CONV, "%@ where no aggregation may be")                                         \
    X(D_PRINTF_ARG_PROTO, "conversion without an argument")                                        \
    X(D_PRINTF_ARG_TYPE, "argument does not suit the conversion")                                  \
    X(D_PRINTF_ARG_EXTRA, "more arguments than conversions")                                       \
    X(D_PRINTF_ARG_FMT, "format is not a string constant")                                         \
    X(D_PRINTF_FMT_EMPTY, "format is \"\"")                                                        \
    X(D_DECL_CHARATTR, "char with long/short twice or the like")                                   \
    X(D_DECL_VOIDATTR, "qualifiers impossible on void")                                            \
    X(D_DECL_SIGNINT, "signed/unsigned on a non-integer")                                          \
    X(D_DECL_LONGINT, "long/short on a non-arithmetic type")                                       \
    X(D_DECL_IDENT, "unknown type name or old-style declaration")                                  \
    X(D_DECL_CLASS, "two storage classes")                                                         \
    X(D_DECL_BADCLASS, "storage class D does not have")                                            \
    X(D_DECL_PARMCLASS, "storage class on a parameter")                                            \
    X(D_DECL_COMBO, "impossible mix of specifiers")                                                \
    X(D_DECL_ARRSUB, "array dimension not an integer constant")                                    \
    X(D_DECL_ARRNULL, "array without dimension or key types")                                      \
    X(D_DECL_ARRBIG, "array too large")                                                            \
    X(D_DECL_IDRED, "identifier declared again differently")                                       \
    X(D_DECL_TYPERED, "type defined again")                                                        \
    X(D_DECL_MNAME, "member without a name")                                                       \
    X(D_DECL_SCOPE, "` or :: scope inside a declaration")                                          \
    X(D_DECL_BFCONST, "bit-field width not an integer constant")                                   \
    X(D_DECL_BFSIZE, "bit-field wider than its type")                                              \
    X(D_DECL_BFTYPE, "bit-field of a non-integer")                                                 \
    X(D_DECL_ENCONST, "enumerator value not constant")                                             \
    X(D_DECL_ENOFLOW, "enumerator beyond int")                                                     \
    X(D_DECL_USELESS, "declaration that declares nothing")                                         \
    X(D_DECL_LOCASSC, "declaring this->x[..]")                                                     \
    X(D_DECL_VOIDOBJ, "object of type void")                                                       \
    X(D_DECL_DYNOBJ, "object of dynamic type")                                                     \
    X(D_DECL_INCOMPLETE, "object of a type only declared")                                         \
    X(D_DECL_PROTO_VARARGS, "... in a D prototype")                                                \
    X(D_DECL_PROTO_TYPE, "void/function/other impossible parameter type")                          \
    X(D_DECL_PROTO_VOID, "void together with other parameters")                                    \
    X(D_DECL_PROTO_NAME, "void parameter with a name")                                             \
    X(D_DECL_PROTO_FORM, "parameter without a formal name")                                        \
    X(D_COMM_COMM, "second commit in a clause")                                                    \
    X(D_COMM_DREC, "commit after a recording action")                                              \
    X(D_SPEC_SPEC, "second speculate")                                                             \
    X(D_SPEC_COMM, "speculate after commit")                                                       \
    X(D_SPEC_DREC, "speculate after a recording action")                                           \
    X(D_AGG_COMM, "aggregation after commit")                                                      \
    X(D_AGG_SPEC, "aggregation after speculate")                                                   \
    X(D_AGG_NULL, "aggregation statement without a function")                                      \
    X(D_AGG_SCALAR, "aggregated value not scalar")                                                 \
    X(D_ACT_SPEC, "destructive action after speculate")                                            \
    X(D_EXIT_SPEC, "exit after speculate")                                                         \
    X(D_DREC_COMM, "recording action after commit")                                                \
    X(D_PRINTA_PROTO, "printa arguments out of form")                                              \
    X(D_PRINTA_AGGARG, "printa argument is not an aggregation")                                    \
    X(D_PRINTA_AGGBAD, "printa of an aggregation never defined")                                   \
    X(D_PRINTA_AGGKEY, "aggregations of different keys in one printa")                             \
    X(D_PRINTA_AGGPROTO, "conversions do not suit the aggregation's key")                          \
    X(D_TRACE_VOID, "trace of a void value")                                                       \
    X(D_TRACE_DYN, "trace of a value without fixed type")                                          \
    X(D_TRACEMEM_ADDR, "tracemem address not pointer or integer")                                  \
    X(D_TRACEMEM_SIZE, "tracemem size not a positive constant")                                    \
    X(D_STACK_PROTO, "stack() given too many arguments")                                           \
    X(D_STACK_SIZE, "stack() depth not a positive constant")                                       \
    X(D_USTACK_FRAMES, "ustack() depth not a positive constant")                                   \
    X(D_USTACK_STRSIZE, "ustack() string size not a positive constant")                            \
    X(D_USTACK_PROTO, "ustack() given too many arguments")                                         \
    X(D_LQUANT_BASETYPE, "lquantize base not an integer constant")                                 \
    X(D_LQUANT_BASEVAL, "lquantize base outside 32 bits")                                          \
    X(D_LQUANT_LIMTYPE, "lquantize limit not an integer constant")                                 \
    X(D_LQUANT_LIMVAL, "lquantize limit outside 32 bits")                                          \
    X(D_LQUANT_MISMATCH, "lquantize limit not above base")                                         \
    X(D_LQUANT_STEPTYPE, "lquantize step not an integer constant")                                 \
    X(D_LQUANT_STEPVAL, "lquantize step over 16 bits")                                             \
    X(D_LQUANT_STEPLARGE, "lquantize step greater than the range")                                 \
    X(D_LQUANT_STEPSMALL, "lquantize would need over 65535 levels")                                \
    X(D_CLEAR_PROTO, "clear argument count")                                                       \
    X(D_CLEAR_AGGARG, "clear of a non-aggregation")                                                \
    X(D_CLEAR_AGGBAD, "clear of an undefined aggregation")                                         \
    X(D_NORMALIZE_PROTO, "normalize/denormalize argument count")                                   \
    X(D_NORMALIZE_SCALAR, "normalize factor not scalar")                                           \
    X(D_NORMALIZE_AGGARG, "normalize of a non-aggregation")                                        \
    X(D_NORMALIZE_AGGBAD, "normalize of an undefined aggregation")                                 \
    X(D_TRUNC_PROTO, "trunc argument count")                                                       \
    X(D_TRUNC_SCALAR, "trunc count not scalar")                                                    \
    X(D_TRUNC_AGGARG, "trunc of a non-aggregation")                                                \
    X(D_TRUNC_AGGBAD, "trunc of an undefined aggregation")                                         \
    X(D_PROV_BADNAME, "provider name too long or ending in a digit")                               \
    X(D_PROV_INCOMPAT, "provider declared again differently")                                      \
    X(D_PROV_PRDUP, "probe declared twice")                                                        \
    X(D_PROV_PRARGLEN, "too many probe arguments")                                                 \
    X(D_PROV_PRXLATOR, "probe argument types without a translator")                                \
    X(D_FREOPEN_INVALID, "freopen file name unusable")                                             \
    X(D_LQUANT_MATCHBASE, "same aggregation, other base")                                          \
    X(D_LQUANT_MATCHLIM, "same aggregation, other limit")                                          \
    X(D_LQUANT_MATCHSTEP, "same aggregation, other step")                                          \
    X(D_LLQUANT_FACTORTYPE, "llquantize factor not an integer constant")                           \
    X(D_LLQUANT_FACTORVAL,                                                                         \
      "llquantize factor below 2 or above 16 bits, or not dividing the steps")                     \
    X(D_LLQUANT_LMAGTYPE, "low magnitude not an integer constant")                                 \
    X(D_LLQUANT_LMAGVAL, "low magnitude out of range")                                             \
    X(D_LLQUANT_HMAGTYPE, "high magnitude not an integer constant")                                \
    X(D_LLQUANT_HMAGVAL, "high magnitude out of range or below the low one")                       \
    X(D_LLQUANT_STEPTYPE, "steps not an integer constant")                                         \
    X(D_LLQUANT_STEPVAL, "steps out of range or not a multiple of / power fit with the factor")    \
    X(D_LLQUANT_MATCHFACTOR, "same aggregation, other factor")                                     \
    X(D_LLQUANT_MATCHLMAG, "same aggregation, other low magnitude")                                \
    X(D_LLQUANT_MATCHHMAG, "same aggregation, other high magnitude")                               \
    X(D_LLQUANT_MATCHSTEPS, "same aggregation, other steps")                                       \
    X(D_SNAPSHOT_NAME, "snapshot name unusable; Daybreak's own")                                   \
    X(D_CAPTURE_TYPE,                                                                              \
      "capture of what is not an integer, pointer, string or stack; Daybreak's own")               \
    X(D_PRINT_VOID, "print of void")                                                               \
    X(D_PRINT_DYN, "print of a value without fixed type")                                          \
    X(D_PRINT_AGG, "print of an aggregation")                                                      \
    X(D_NOREG, "expression needs more registers than there are")

enum class Tag : uint16_t {
#define DBK_TAG_ENUM(tag, text) tag,
    DBK_ERROR_TAGS(DBK_TAG_ENUM)
#undef DBK_TAG_ENUM
};

/// Returns "D_SYNTAX" for Tag::D_SYNTAX.
std::string_view tag_name(Tag tag);

/// Returns what a tag is raised for, in a few words: for lists and documentation.
std::string_view tag_meaning(Tag tag);

} // namespace daybreak::compiler
