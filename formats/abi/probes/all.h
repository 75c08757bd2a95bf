/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * all.h - the stable providers, a page each (docs/design/0083-providers-as-tables.md)
 *
 * Who includes this has defined what a row is to him; it may be included several times.
 *
 *   DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition, pass)
 *       The probe provider:module:function:name fires at the place; a probe may have several places.
 *       since      the kernels that have the place: "6.1+", "6.12+", or "6.1", which only that has
 *       kind       TRACEPOINT, ENTRY of the function, or its RETURN
 *       where      its name in the kernel; the compiler may have appended .isra.0 or .constprop.0.  Several functions, with spaces
 *                  between them, are as many places; function "*" stands for the name of the place, each has a probe then
 *       parameters what the place has; of a RETURN what is returned and the function's first argument
 *       condition  of theirs: fires only when it holds
 *       pass       PASS(...) what becomes arg0 and following; PASS_NONE(); PASS_SENT(sock, skb),
 *                  PASS_RECEIVED(sock, skb) and PASS_STATES(sock, old, new) a struct sk_buff and a struct dbk_packet; PASS_WAIT(lock, error) the lock,
 *                  how long it was waited for and whether for reading, if a wait that was noted ends with no error;
 *                  PASS_REQUEST(request, fill, wait) it and a struct dbk_io, PASS_REQUEST_DONE(request, fill) if its wait was noted
 *
 *   DBK_CODED(provider, name, since, kind, where)
 *       The same, fired by code in kmod/providers/, as it needs what it saw before.
 *
 *   DBK_ABSENT(provider, name, reason)
 *       A probe that DTrace has elsewhere and Linux has no place for; or a module of the provider, without probes.
 *
 * Conditions and what is passed on are C of the module's; user space leaves them out.
 */
#include "formats/abi/probes/boot.h"
#include "formats/abi/probes/callout_execute.h"
#include "formats/abi/probes/crash.h"
#include "formats/abi/probes/dtaudit.h"
#include "formats/abi/probes/dtmalloc.h"
#include "formats/abi/probes/fpuinfo.h"
#include "formats/abi/probes/fsinfo.h"
#include "formats/abi/probes/io.h"
#include "formats/abi/probes/ip.h"
#include "formats/abi/probes/lockstat.h"
#include "formats/abi/probes/mac_framework.h"
#include "formats/abi/probes/mib.h"
#include "formats/abi/probes/proc.h"
#include "formats/abi/probes/sched.h"
#include "formats/abi/probes/sctp.h"
#include "formats/abi/probes/syscall.h"
#include "formats/abi/probes/sysinfo.h"
#include "formats/abi/probes/tcp.h"
#include "formats/abi/probes/udp.h"
#include "formats/abi/probes/vfs.h"
#include "formats/abi/probes/vminfo.h"
