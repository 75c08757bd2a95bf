/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules.d - how long each module took to initialize, us
 *
 * Asks for: args[0] and args[1] / 1000 at boot:::module-load-done.
 */
#pragma D option quiet
#pragma D option aggsortrev

boot:::module-load-done
{
	@us[args[0]] = sum(args[1] / 1000);
}

dtrace:::END
{
	trunc(@us, 5);
	printa("  %@9d  %s\n", @us);
}
