/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option snapshotrate=1h

syscall::getppid:entry
/execname == "workload"/
{
	snapshot("embedded");
}
