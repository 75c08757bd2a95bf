/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider fpuinfo: whose registers.
 */

provider fpuinfo {
	probe before__save(struct fpu *fpu);
	probe after__save(struct fpu *fpu);
	probe regs__activated(struct fpu *fpu);
	probe regs__deactivated(struct fpu *fpu);
	probe dropped(struct fpu *fpu);
	probe copy__src(struct fpu *fpu);
	probe copy__dst(struct fpu *fpu);
	probe xstate__check__failed(struct fpu *fpu);
};
