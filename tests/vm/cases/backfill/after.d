/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option quiet
#pragma D option context=bootphase
dtrace:::BEGIN { printf("FIRST %d\n", timestamp); }
boot:::init-exec { printf("EXEC %d %s\n", timestamp, args[0]); }
