// SPDX-License-Identifier: Apache-2.0
//
// Seed of the symbols fuzzer: a library with DWARF.
int dbk_fuzz_witness(int value)
{
	return value * 3 + 1;
}

int dbk_fuzz_caller(int value)
{
	return dbk_fuzz_witness(value) + dbk_fuzz_witness(value + 1);
}
