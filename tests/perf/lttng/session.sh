# SPDX-License-Identifier: Apache-2.0
# session.sh FOLDER COUNT: records FOLDER/fired, which passes its tracepoint COUNT times, into FOLDER/out/ctf.
#
# Runs as the root of namespaces of its own (peer_traces.py): LTTng's daemons, their sockets and their shared memory go with them.
set -e
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /dev/shm
export LTTNG_HOME="$1/lttng-home" LTTNG_UST_ALLOW_BLOCKING=1
mkdir "$LTTNG_HOME"
lttng-sessiond --no-kernel --group=root --daemonize
lttng create peers --output="$1/out/ctf"
# Waits for room, so that no event is lost.
lttng enable-channel --userspace all --blocking-timeout=inf --subbuf-size=1M --num-subbuf=8
lttng enable-event --userspace --channel=all 'daybreak_perf:*'
lttng add-context --userspace --channel=all --type=procname
lttng start
"$1/fired" "$2"
lttng stop
lttng destroy peers
