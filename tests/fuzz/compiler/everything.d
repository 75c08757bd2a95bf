#!/usr/sbin/daybreak dtrace -s
/* SPDX-License-Identifier: Apache-2.0 */
/* A seed with a little of all of D's syntax. */
#pragma D option quiet
#pragma D option bufsize=4m
#pragma D attributes Stable/Evolving/Common answer
#pragma D depends_on provider syscall

typedef unsigned long long counter_t, *counter_p;
enum colour { RED, GREEN = 4, BLUE = GREEN + RED };
union word { int i; char bytes[4]; };
struct point { int x : 3, y : 13; union { long l; char c[2 * 4]; }; struct point *next; };
struct point origin, *points[3];
int grid[2][3], table[string, struct point *];
self int depth;
this string label;
extern int (*handler)(char *, ...);
inline int answer = 42;
inline int twice[int n] = n * 2;

translator struct point < union word *W > {
	x = W->i;
	y = ((int)W->bytes[1] & 0x1f) << 2;
};

provider mine {
	probe start(int, char *name);
	probe stop__here(int a, char *b) : (char *b, int a);
};

BEGIN, dtrace:::END
{
	total = 0; origin.x = -1;
	printf("%-10s %d\n", "start\t\"x\"", $1 + $2);
	@["none"] = count();
}

syscall::*read*:entry,
syscall:vmlinux:open[a-z]t?:entry
/execname == $$3 && (arg0 / 2) % 3 != 'a' || self->depth ^^ !pid/
{
	self->ts = timestamp;
	this->fd = (uint64_t)-arg0 ? sizeof(struct point) : sizeof arg1;
	table[stringof(curthread->comm), &origin]++;
	@sizes[execname, probefunc, arg2 > 1024 ? "big" : "small"] = lquantize(arg2, 0, 1 << 16, 4096);
	trace(vmlinux`jiffies + `max_pfn);
	*(int *)alloca(4) = ~0xffU | 017 & 1.5e3;
}

profile-997, tick-1sec, pid$target::malloc:entry, 17
/self->ts/
{
	/* nothing but a comment */
	offsetof(struct point, l), xlate <struct point *>(arg0)->x;
	self->ts = 0; self->depth += 1; self->depth <<= 2; --total; total--;
	stack(); printa("%@d\n", @sizes); exit(0);
}
