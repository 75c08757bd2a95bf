# SPDX-License-Identifier: Apache-2.0
dmesg >/share/out/dmesg
mount -t tracefs tracefs /sys/kernel/tracing
cp /sys/kernel/tracing/trace /share/out/trace
refuses no-such-probe "did you mean boot:::initcall-done?" daybreak backfill -n 'boot:::initcall-don { }'
holds prints sh -c 'daybreak backfill -s /share/in/before.d >/share/out/before.txt'
holds standard sh -c 'daybreak backfill -s /share/in/standard.d >/share/out/standard.txt'
# No room for what it prints: the kernel's events stay.
refuses no-room "cannot write" sh -c 'daybreak backfill -s /share/in/before.d --release >/dev/full'
equal events-are-on "$(grep -c '^initcall:' /sys/kernel/tracing/set_event)" 3
holds small-buffer sh -c "daybreak backfill -b 64k -qn 'boot:::initcall-start { printf(\"%s %d\n\", args[0], timestamp); }' >/share/out/small.txt"
mkdir -p /tmp/lib && echo 'inline int is_kernel = bootphase == "kernel";' >/tmp/lib/own.d
equal own-library "$(daybreak backfill -L /tmp/lib -qn 'BEGIN { printf("(%s)", bootphase); } boot:::initcall-level /is_kernel/ { @[arg9] = count(); }
	END { printa("%d %@d (", @); printf("%s)", bootphase); }')" "()0 10 ()"
holds writes-other daybreak backfill -n 'boot:::initcall-done { trace(timestamp); }' -o /share/out/other.dbrk
holds writes daybreak backfill -s /share/in/before.d -o /share/out/before.dbrk --release
equal two-programs "$(daybreak info /share/out/other.dbrk /share/out/before.dbrk | grep -c '^ring')" 2
equal events-are-off "$(cat /sys/kernel/tracing/set_event)" ""
equal clock-is-back "$(grep -c '\[local\]' /sys/kernel/tracing/trace_clock)" 1
refuses not-without-a-program "before.d is \$1 of no program: -s before.d" daybreak backfill before.d
refuses nothing-left "trace has no initcalls: the kernel was booted without" daybreak backfill -s /share/in/before.d
refuses no-tracefs "mount -t tracefs tracefs /nowhere" daybreak backfill -s /share/in/before.d --tracefs /nowhere
holds record daybreak record --claim -o /share/out/after.dbrk
equal phases-replayed "$(daybreak replay -q -n 'boot:::loader-done, boot:::initcall-level, boot:::module-loaded { @[bootphase] = count(); }
	END { printa("%s=%@d ", @); }' /share/out/before.dbrk)" "initrd=1 loader=1 kernel=10 "
equal phases-of-both "$(daybreak replay -q -n 'boot:::loader-done, boot:::initcall-level, boot:::module-loaded, boot:::init-exec { @[bootphase] = count(); }
	END { printa("%s=%@d ", @); }' /share/out/before.dbrk /share/out/after.dbrk)" "loader=1 initrd=3 kernel=10 "
