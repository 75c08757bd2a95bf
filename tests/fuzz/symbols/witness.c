// SPDX-License-Identifier: Apache-2.0
//
// Seed of the symbols fuzzer: a library with DWARF, and with a mark; a symbol is of its operands.
int dbk_fuzz_variable;

int dbk_fuzz_witness(int value)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"
			 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b, 0, 0\n"
			 ".asciz \"fuzz\"\n.asciz \"mark__one\"\n"
			 ".asciz \"-4@%%edi 8@$-5 1@16(%%rsp,%%rcx,8) 4@dbk_fuzz_variable(%%rip)\"\n"
			 "994: .balign 4\n"
			 ".popsection\n" ::);
	return value * 3 + 1;
}

int dbk_fuzz_caller(int value)
{
	return dbk_fuzz_witness(value) + dbk_fuzz_witness(value + 1);
}
