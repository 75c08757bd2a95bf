/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider sysinfo: by how much each counter goes up.
 */

provider sysinfo {
	probe pswitch(uint64_t by);
	probe inv_swtch(uint64_t by);
	probe idlethread(uint64_t by);
	probe cpu_ticks_user(uint64_t by);
	probe cpu_ticks_kernel(uint64_t by);
	probe cpu_ticks_idle(uint64_t by);
	probe sysexec(uint64_t by);
	probe sysfork(uint64_t by);
	probe sysvfork(uint64_t by);
	probe nthreads(uint64_t by);
	probe sysread(uint64_t by);
	probe syswrite(uint64_t by);
	probe readch(uint64_t by);
	probe writech(uint64_t by);
	probe namei(uint64_t by);
	probe modload(uint64_t by);
	probe modunload(uint64_t by);
	probe msg(uint64_t by);
	probe sema(uint64_t by);
	probe mutex_adenters(uint64_t by);
	probe rw_rdfails(uint64_t by);
	probe rw_wrfails(uint64_t by);
};
