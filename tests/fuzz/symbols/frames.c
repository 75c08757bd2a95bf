// SPDX-License-Identifier: Apache-2.0
//
// Seed of the symbols fuzzer: a function whose program of frames is at every bound, and has every
// instruction.
int dbk_fuzz_frames(int value)
{
	__asm__ volatile(
		/* offset_extended and val_offset of register 127, restore_extended, undefined, same_value */
		".cfi_escape 0x05, 0x7f, 1, 0x14, 0x7f, 1, 0x06, 0x7f, 0x07, 0x7f, 0x08, 0x7f\n\t"
		/* register, offset_extended_sf, val_offset_sf, negative_offset_extended, args_size */
		".cfi_escape 0x09, 3, 0x7f, 0x11, 3, 0x7e, 0x15, 3, 0x7e, 0x2f, 3, 1, 0x2e, 0x80, 0x01\n\t"
		/* expression and val_expression: breg7 8 */
		".cfi_escape 0x10, 3, 2, 0x77, 8, 0x16, 12, 2, 0x77, 8\n\t"
		/* 16 of remember_state, a restore_state */
		".cfi_escape 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a\n\t"
		".cfi_escape 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0b\n\t"
		/* def_cfa, _sf, _register, _offset, _offset_sf, _expression: breg7 8 */
		".cfi_escape 0x0c, 7, 16, 0x12, 7, 0x7e, 0x0d, 7, 0x0e, 16, 0x13, 0x7e, 0x0f, 2, 0x77, 8\n\t"
		/* advance_loc1, 2, 4, MIPS_advance_loc8 */
		".cfi_escape 0x02, 0, 0x03, 0, 0, 0x04, 0, 0, 0, 0, 0x1d, 0, 0, 0, 0, 0, 0, 0, 0\n\t");
	return value + 1;
}
