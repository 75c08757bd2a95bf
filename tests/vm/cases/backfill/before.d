/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option quiet
#pragma D option context=bootphase
boot:::loader-done { printf("LOADER %d %d\n", timestamp, args[0]); }
boot::: { @phases[bootphase, probename] = count(); }
END { printa("PHASE %s %s %@d\n", @phases); }
boot:::initcall-level { printf("LEVEL %d %s\n", timestamp, args[0]); }
boot:::initcall-start { started[args[0]] = timestamp; }
boot:::initcall-done { printf("CALL %d %s %d %d %d\n", timestamp, args[0], args[1], args[2], timestamp - started[args[0]] <= args[1] + 1000); }
boot:::kernel-message { printf("SAID %d %d %s\n", timestamp, args[1], args[0]); }
boot:::module-loaded { printf("MODULE %d\n", timestamp); }
