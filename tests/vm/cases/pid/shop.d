/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of the program shop, which counts for itself what it fires. */
provider shop {
	probe sold(int, char *, uint8_t);
	probe looked__at(int64_t);
};
