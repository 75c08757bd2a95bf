# SPDX-License-Identifier: Apache-2.0
"""What record-cost measures: the rows of its table, Daybreak's with their D programs.

Prices are instructions over no tracing, on 6.1; BOUNDS_ELSEWHERE has the targets of other kernels.  A target is a
fiftieth above what was measured when it was written: a program that got dearer fails.  Wanted is where the engine is going.  Native has both for the same
program compiled into the module; where both targets are one, the engine's own ways are what runs.
"""

from dataclasses import dataclass

ENTRY = "syscall::getppid:entry"
RETURN = "syscall::getppid:return"
FBT = "fbt::GETPPID"
# The function that getppid() is, and an instruction of it after the call of ftrace: one that a kprobe does not skip.
PLACES = {"6.1": ("__do_sys_getppid", 5), "6.12": ("__x64_sys_getppid", 9)}
ENGINE = "#pragma D option aggregate=engine\n"


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    text: str
    program: str = ""  # in D, embedded; empty: guest/cost.sh has a case of this name
    fires: int = 1  # probes a call
    target: float | None = None
    wanted: int | None = None
    native: float | None = None  # the target of the same program compiled (embed --native): measured with --all, if there is one
    native_wanted: int | None = None
    whole: bool = True  # compiled, each of its clauses is native as a whole; else none is
    always: bool = False  # else with --all alone
    base: str = "none"  # the row without tracing that it is compared with
    times: tuple[str, float] | None = None  # of another row of that base, over it, at most so often
    share: float | None = None  # of what it takes without tracing, at most
    night_share: float | None = None  # the same when it is measured ten times as often
    images: bool = False  # what it saw are images of processes, not firings


def ours(name: str, text: str, program: str, **more) -> Row:
    """A row of Daybreak."""
    return Row(name, f"daybreak, {text}", program, **more)


def clause(name: str, body: str, **more) -> Row:
    """A row of one clause of getppid:entry: predicate, if any, and actions."""
    return ours(name, body, f"{ENTRY} {body}", **more)


def latency(name: str, text: str, probe: str, key: str = "", unit: str = "", **more) -> Row:
    """The idiom that most programs are made of."""
    value = f"(timestamp - self->ts) {unit}" if unit else "timestamp - self->ts"
    return ours(name, f"latency idiom, {text}",
                f"{probe}:entry {{ self->ts = timestamp; }}\n"
                f"{probe}:return /self->ts/ {{ @{key} = quantize({value}); self->ts = 0; }}", fires=2, **more)


ROWS = (
    Row("none", "no tracing", fires=0, always=True),
    Row("send-none", "send() of a datagram, no tracing", fires=0, always=True, base="send-none"),
    ours("send-sdt", "sdt:::net_dev_queue { trace(arg0); } of it", "sdt:::net_dev_queue { trace(arg0); }",
         target=111.1, base="send-none"),
    ours("send-sdt-member", "sdt:::net_dev_queue { trace(args[0]->len); } of it",
         "sdt:::net_dev_queue { trace(args[0]->len); }", target=178.5, wanted=225, base="send-none"),
    ours("send-fbt", "fbt::ip_output:entry { trace(arg2); } of it", "fbt::ip_output:entry { trace(arg2); }",
         target=181.5, base="send-none"),
    ours("send-udp", "udp:::send { trace(arg0); } of it", "udp:::send { trace(arg0); }", target=335.2, wanted=225,
         base="send-none"),
    ours("send-udp-port", "udp:::send { trace(args[4]->udp_dport); } of it", "udp:::send { trace(args[4]->udp_dport); }",
         target=432.4, wanted=225, always=True, base="send-none"),
    Row("listen-none", "listen() and shutdown(), no tracing", fires=0, always=True, base="listen-none"),
    ours("listen-sdt", "sdt:::inet_sock_set_state { trace(arg1); } of it", "sdt:::inet_sock_set_state { trace(arg1); }", fires=2,
         target=332.5, base="listen-none", always=True),
    ours("listen-tcp", "tcp:::state-change { trace(args[3]->tcps_lport); } of it",
         "tcp:::state-change { trace(args[3]->tcps_lport); }", fires=2, target=450.8, wanted=654, base="listen-none", always=True),
    Row("read-none", "read() of a disk, no tracing", fires=0, always=True, base="read-none"),
    ours("read-sdt", "sdt:::block_bio_queue { trace(arg0); } of it", "sdt:::block_bio_queue { trace(arg0); }", target=112.2,
         base="read-none", always=True),
    ours("read-io", "io:::start { trace(args[0]->b_bcount); } of it", "io:::start { trace(args[0]->b_bcount); }", target=220.3, wanted=221,
         base="read-none", always=True),
    Row("wake-none", "a process is woken, answers, sleeps, no tracing", fires=0, always=True, base="wake-none"),
    ours("wake-sdt", "sdt:::sched_waking { trace(arg0); } of it", "sdt:::sched_waking { trace(arg0); }", target=109.1, base="wake-none",
         always=True),
    ours("wake-sched", "sched:::wakeup { trace(args[1]->pr_pid); } of it", "sched:::wakeup { trace(args[1]->pr_pid); }", target=182.5,
         wanted=215, base="wake-none", always=True),
    ours("wake-sdt-switch", "sdt:::sched_switch { trace(arg2); } of it", "sdt:::sched_switch { trace(arg2); }", fires=2,
         target=361.0, base="wake-none"),
    ours("wake-off-cpu", "sched:::off-cpu { trace(args[1]->pr_pid); } of it", "sched:::off-cpu { trace(args[1]->pr_pid); }", fires=2,
         target=371.2, wanted=712, base="wake-none"),
    Row("call-none", "a call of a function, no tracing", fires=0, base="call-none", always=True),
    Row("call-uprobe", "empty handler of the kernel's uprobe on it", fires=0, base="call-none", always=True),
    ours("call-pid", "pid...:called:entry { trace(arg0); } of it", "pid*:LOOP:called:entry { trace(arg0); }", target=980.8,
         always=True, base="call-none", times=("call-uprobe", 1.3)),
    Row("shell-none", "dash executes true(1) ten times, no tracing", fires=0, base="shell-none"),
    # Of a hundred times the median was 0.29 % above that without; of forty it was 0.43 %, of ten 0.54 %, as what a fork or an exec takes
    # varies by 1 %.
    ours("shell-maps", "maps of processes of it", "BEGIN { ustack(1); }", fires=10, images=True, share=0.02, night_share=0.005,
         base="shell-none"),
    Row("bare-empty", "empty handler on sys_enter", fires=0, always=True),
    Row("bare-record", "bare handler, 24 bytes and a clock: the floor", always=True),
    Row("bare-kprobe", "the same by a kprobe, on an instruction", always=True),
    Row("ebpf", "eBPF raw tracepoint, overwriting array", always=True),
    Row("ftrace", "ftrace raw_syscalls:sys_enter", always=True),
    Row("disabled", "daybreak, loaded, nothing enabled", fires=0, target=0.0, wanted=0, always=True),
    clause("trace", "{ trace(arg0); }", target=158.7, wanted=165, native=158.7, native_wanted=115, always=True),
    ours("clauses", "two clauses of trace(arg0)", f"{ENTRY} {{ trace(arg0); }}\n{ENTRY} {{ trace(arg0); }}", fires=2,
         target=239.8, always=True),
    clause("timestamp", "{ trace(timestamp); }", target=252.6, wanted=200, native=217.0, native_wanted=125),
    ours("clauses-timestamp", "two clauses of trace(timestamp)",
         f"{ENTRY} {{ trace(timestamp); }}\n{ENTRY} {{ trace(timestamp); }}", fires=2, target=448.3, native=410.8),
    clause("pid", "{ trace(pid); }", target=205.6, native=159.8, always=True),
    clause("execname", "{ trace(execname); }", target=242.0, wanted=240, native=202.3, native_wanted=135, always=True),
    clause("add", "{ trace(arg0 + arg1); }", target=250.5, wanted=260, native=166.0, native_wanted=120),
    clause("divide", "{ trace(arg0 / 1000); }", target=270.9, native=171.1),
    clause("printf", '{ printf("%d %s %d", pid, execname, arg1); }', target=296.0, wanted=330, native=216.8, native_wanted=200),
    clause("predicate", "/arg0 == 1/ { trace(arg0); }", target=91.8, wanted=90, native=91.8, native_wanted=80, always=True),
    clause("uid", "/uid == 1000/ { trace(arg0); }", target=124.4, wanted=130, native=124.4, native_wanted=90),
    clause("and", "/arg1 == 1 && arg2 == 3/ { trace(arg0); }", target=170.3, wanted=180, native=170.3, native_wanted=95),
    ours("self", "/self->x/ { trace(arg0); }",
         f"{ENTRY} /self->x/ {{ trace(arg0); self->x = 0; }}\nsyscall::vhangup:entry {{ self->x = 1; }}",
         target=145.9, wanted=200, native=145.9, native_wanted=110),
    clause("count", "{ @[execname] = count(); }", target=242.0, wanted=280, native=202.3, native_wanted=150, always=True),
    ours("count-engine", "the same, aggregate=engine", f"{ENGINE}{ENTRY} {{ @[execname] = count(); }}",
         target=359.0, wanted=400, native=258.1, native_wanted=220),
    clause("quantize", "{ @ = quantize(arg0); }", target=158.7, wanted=165, native=158.7, native_wanted=120),
    ours("quantize-engine", "the same, aggregate=engine", f"{ENGINE}{ENTRY} {{ @ = quantize(arg0); }}",
         target=292.7, wanted=300, native=212.2, native_wanted=170),
    latency("latency", "system call", "syscall::getppid", target=822.8, wanted=900, native=618.0, native_wanted=480),
    latency("latency-literal", "system call, @[\"getppid, ns\"]", "syscall::getppid", '["getppid, ns"]', target=912.2, wanted=900,
            native=630.4, native_wanted=480),
    latency("latency-name", "system call, @[probefunc]", "syscall::getppid", "[probefunc]", target=923.2, wanted=900, native=696.0,
            native_wanted=480),
    latency("latency-unit", "system call, (timestamp - self->ts) / 1000", "syscall::getppid", unit="/ 1000", target=871.7,
            native=627.1),
    latency("latency-fbt", "function", FBT, target=1103.3, wanted=1300, native=894.4, native_wanted=800),
    ours("full", "a store into a table that is full", f"#pragma D option dynvarsize=8192\n{ENTRY} {{ x[timestamp] = 1; }}",
         target=1019.1),
    ours("kinst", "an instruction, a record", "kinst::GETPPID:OFFSET { trace(arg0); }",
         target=628.9, always=True),
    ours("fbt", "function's entry and return, a record each",
         f"{FBT}:entry {{ trace(arg0); }}\n{FBT}:return {{ trace(arg1); }}", fires=2, target=563.2, wanted=480, native=563.2, native_wanted=390),
    ours("speculate", "speculate, record, commit",
         f"{ENTRY} {{ self->s = speculation(); speculate(self->s); trace(arg1); }}\n"
         f"{RETURN} /self->s/ {{ commit(self->s); self->s = 0; }}", fires=2, target=1426.1, wanted=1400, native=1426.1, native_wanted=800,
         whole=False),
    ours("copyinstr", "copyinstr() of 25 characters", f"{ENTRY} {{ trace(copyinstr(arg0)); }}",
         target=598.5, wanted=700, native=598.5, native_wanted=500,
         whole=False),
    Row("none-again", "no tracing, again", fires=0, target=0.0, wanted=0, always=True),
)

# By row: the target of the program interpreted, and of it compiled; a fiftieth above what was measured in November 2026.
BOUNDS_ELSEWHERE: dict[str, dict[str, tuple[float | None, float | None]]] = {
    "6.12": {
        "disabled": (0.0, None), "none-again": (0.0, None),
        "send-sdt": (112.2, None), "send-sdt-member": (187.6, None), "send-fbt": (187.6, None), "send-udp": (353.9, None),
        "send-udp-port": (454.3, None), "listen-sdt": (338.6, None), "listen-tcp": (473.3, None), "read-sdt": (114.2, None),
        "read-io": (227.5, None), "wake-sdt": (110.1, None), "wake-sched": (191.7, None), "wake-sdt-switch": (371.2, None),
        "wake-off-cpu": (393.7, None), "call-pid": (960.4, None), "trace": (164.8, 164.8), "clauses": (251.6, None),
        "timestamp": (259.7, 226.1), "clauses-timestamp": (456.6, 420.0), "pid": (209.8, 169.0), "execname": (247.1, 211.5), "add": (259.7, 175.2),
        "divide": (279.2, 178.3), "printf": (300.1, 225.9), "predicate": (97.9, 97.9), "uid": (132.6, 132.6), "and": (175.4, 175.4),
        "self": (152.0, 152.0), "count": (247.1, 211.5), "count-engine": (371.3, 268.3), "quantize": (164.8, 164.8),
        "quantize-engine": (305.0, 223.4), "latency": (845.3, 633.3), "latency-literal": (929.6, 641.6), "latency-name": (942.4, 708.4),
        "latency-unit": (886.2, 638.5), "latency-fbt": (1154.4, 942.4), "full": (1045.3, None),
        "kinst": (618.7, None), "fbt": (607.1, 607.1), "speculate": (1461.9, 1461.9), "copyinstr": (616.1, 616.1),
    },
}


def targets_of(row: Row, series: str) -> tuple[float | None, float | None]:
    """What a row may take at most on a kernel, interpreted and native; None: any."""
    return BOUNDS_ELSEWHERE[series].get(row.name, (None, None)) if series in BOUNDS_ELSEWHERE else (row.target, row.native)
