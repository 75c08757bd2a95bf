/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider vminfo: by how much each counter goes up.
 */

provider vminfo {
	probe as_fault(uint64_t by);
	probe maj_fault(uint64_t by);
	probe cow_fault(uint64_t by);
	probe prot_fault(uint64_t by);
	probe zfod(uint64_t by);
	probe pgrrun(uint64_t by);
	probe anonpgin(uint64_t by);
	probe pgswapin(uint64_t by);
	probe anonpgout(uint64_t by);
	probe pgswapout(uint64_t by);
};
