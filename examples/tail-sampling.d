/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail-sampling.d - the system calls of requests that took longer than 10 ms, and of no others
 *
 * A request is what a thread does from a recvfrom(2) that brought something to its next sendto(2).
 * All its system calls are speculated; only when the answer came late are they committed, else they
 * are thrown away before they ever take room in the ring.  So a few megabytes hold hours of what
 * matters, and the counts say out of how many.
 *
 *     dtrace -s tail-sampling.d nginx                                   (your server; without: "server")
 *     daybreak record --follow /var/log/daybreak -s tail-sampling.d     (SERVER below: its name)
 *     ... hours later
 *     daybreak report --temporal /var/log/daybreak
 */
#pragma D option quiet
#pragma D option defaultargs	/* without an argument $$1 is "" */
#pragma D option bufpolicy=ring
#pragma D option bufsize=2m
#pragma D option aggregate=engine
#pragma D option nspec=64
#pragma D option specsize=16k
#pragma D option cleanrate=100hz

inline string SERVER = $$1 == "" ? "server" : $$1;
inline int SLOW_NS = 10000000;

syscall::recvfrom:return
/execname == SERVER && arg1 > 0 && !self->from/
{
	self->from = timestamp;
	self->request = speculation();
}

/* 0 when all 64 are taken: nothing of this request is seen, and a drop says so. */
syscall::recvfrom:return
/self->from && !self->request/
{
	@requests["not seen"] = count();
	self->from = 0;
}

syscall:::entry
/self->request/
{
	speculate(self->request);
	printf("%d: +%d us %s\n", tid, (timestamp - self->from) / 1000, probefunc);
}

syscall::sendto:return
/self->request/
{
	this->slow = timestamp - self->from > SLOW_NS;
	@requests[this->slow ? "kept" : "discarded"] = count();
	@latency[this->slow ? "us of the kept" : "us of the discarded"] = quantize((timestamp - self->from) / 1000);
}

/* What a request is known by comes last, so that its end is in the record too. */
syscall::sendto:return
/self->request && this->slow/
{
	speculate(self->request);
	printf("%d: request of %d us\n\n", tid, (timestamp - self->from) / 1000);
}

syscall::sendto:return
/self->request && this->slow/
{
	commit(self->request);
	self->request = 0;
	self->from = 0;
}

syscall::sendto:return
/self->request/
{
	discard(self->request);
	self->request = 0;
	self->from = 0;
}
