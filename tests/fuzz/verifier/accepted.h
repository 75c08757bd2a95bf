// SPDX-License-Identifier: Apache-2.0
//
// What must hold for every program that the verifier lets through
#ifndef DBK_FUZZ_ACCEPTED_H
#define DBK_FUZZ_ACCEPTED_H

struct dbk_program;

#ifdef __cplusplus
extern "C" {
#endif

/// Says what of a loaded program the interpreter must not meet, or null.  Keeps its image's sum.
const char* accepted_wrongly(const struct dbk_program* program);

/// Says when the image is not what it was at the last accepted_wrongly(), or null.
const char* accepted_image_change(const struct dbk_program* program);

#ifdef __cplusplus
}
#endif

#endif // DBK_FUZZ_ACCEPTED_H
