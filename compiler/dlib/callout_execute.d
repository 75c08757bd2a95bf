/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider callout_execute: what is called.
 */

provider callout_execute {
	probe callout__start(void *callout, uintptr_t function);
	probe callout__end(void *callout, uintptr_t function);
};
