/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider mac_framework: the answer, and what was asked about.
 */

provider mac_framework {
	probe mac__check__ok(int error, void *object);
	probe mac__check__err(int error, void *object);
};
