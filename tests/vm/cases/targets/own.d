/* SPDX-License-Identifier: Apache-2.0 */
provider own {
	probe asked(int);
};
