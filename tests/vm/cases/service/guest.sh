# SPDX-License-Identifier: Apache-2.0
# Installs the units as a package would, and lets them work.
files=/var/log/daybreak
units=/etc/systemd/system

cp /daybreak-vm/bin/daybreak /usr/bin/daybreak
cp /share/in/*.service $units/
mkdir -p $units/service.d $units/daybreak-unit-failed@.service.d /etc/default
cp /share/in/10-daybreak.conf $units/service.d/
ln -s /dev/null $units/daybreak-unit-failed@.service.d/10-daybreak.conf
echo 'DAYBREAK_RECORD="--metrics /run/daybreak/metrics.prom --sync 200ms"' >/etc/default/daybreak
systemctl daemon-reload
holds verify systemd-analyze --man=no verify $units/daybreak-record.service $units/daybreak-recover.service

# Type=notify: started means ready.
holds start systemctl start daybreak-record.service
equal active "$(systemctl is-active daybreak-record.service)" active
until_it test -s /run/daybreak/metrics.prom
holds status daybreak status
holds status-is-for-all systemd-run --wait -p User=nobody daybreak status
at_least metrics "$(grep -c '^daybreak_' /run/daybreak/metrics.prom)" 10
equal says-how-it-is "$(systemctl show -P StatusText daybreak-record.service | cut -d : -f 1)" recording

# Killed, it comes again, and goes on where it was.
first=$(systemctl show -P MainPID daybreak-record.service)
kill -9 "$first"
comes_again() {
	another=$(systemctl show -P MainPID daybreak-record.service)
	[ "$another" -gt 1 ] && [ "$another" != "$first" ] && [ "$(systemctl is-active daybreak-record.service)" = active ]
}
until_it comes_again
equal comes-again "$(systemctl is-active daybreak-record.service)" active

# What was lost is said, and is not a failure of what wrote the snapshot.
mkdir /run/systemd/system/daybreak-unit-failed@losses.service.d
printf '[Service]\nExecStart=\nExecStart=/bin/sh -c "exit 3"\n' >/run/systemd/system/daybreak-unit-failed@losses.service.d/losses.conf
systemctl daemon-reload
holds losses-are-no-failure systemctl start daybreak-unit-failed@losses.service

# A unit that fails.
systemd-run --unit falls-over@some-long-name-of-an-instance-as-those-of-disks-are --wait /bin/false 2>/dev/null
until_it eval 'ls $files/snapshots | grep -q "\.dbrk$"'
at_least snapshot-of-the-failure "$(ls $files/snapshots | grep -c dbrk)" 1
systemctl status 'daybreak-unit-failed@*' --no-pager >/share/out/failed.txt 2>&1
journalctl --no-pager -u daybreak-record.service >/share/out/recorder.txt 2>&1
cp $files/snapshots/* /share/out/
holds stop systemctl stop daybreak-record.service
equal stopped-in-order "$(systemctl show -P Result daybreak-record.service)" success
mkdir /share/out/files
cp $files/*.dbrk /share/out/files/

# With a program of its own: no boot has to be prepared for it.
mkdir -p /etc/daybreak
cat >/etc/daybreak/always.d <<'END'
syscall::openat:entry { trace(pid); }
syscall::clock_nanosleep:entry /uid == 65534/ { usym(0x7010); }
END
echo 'DAYBREAK_RECORD="-s /etc/daybreak/always.d --sync 200ms"' >/etc/default/daybreak
holds start-with-a-program systemctl start daybreak-record.service
until_it sh -c 'daybreak status | grep -q "^ring [0-9]* always: active"'
equal records-its-program "$(daybreak status | grep -c '^ring [0-9]* always: active')" 1
# Code of another user's processes has the names that these give it, of one that is gone and of one that lives.  systemd makes
# one dollar of two.
for seconds in 0.1 1000; do
	systemd-run -q -p User=nobody -u "makes-$seconds" sh -c "echo '7000 20 made_for_$seconds' >/tmp/perf-\$\$\$\$.map; exec sleep $seconds"
done
# A third is gone, and another user leaves a file under its number, and one under a number that was none's.
systemd-run -q --wait -p User=nobody -u is-named sh -c 'echo $$$$ >/tmp/number; exec sleep 0.1'
systemd-run -q --wait -p User=daemon sh -c "echo '7000 20 made_by_another' >/tmp/perf-$(cat /tmp/number).map; echo '7000 20 none' >/tmp/perf-4190000.map"
until_it eval '[ "$(systemctl is-active makes-0.1)" = inactive ] && [ "$(cat /proc/$(systemctl show -P MainPID makes-1000)/comm)" = sleep ]'
sleep 0.5
holds stop-again systemctl stop daybreak-record.service
at_least its-records "$(daybreak report $files --ring always 2>/dev/null | grep -c openat)" 10
equal names-made-code "$(daybreak report $files --ring always 2>/dev/null | grep -o '`made_for_[0-9.]*' | sort -u | tr '\n' ' ')" '`made_for_0.1 `made_for_1000 '
equal of-another-user "$(journalctl -u daybreak-record.service | grep -o 'perf-.*of another user than its process\|process 4190000' | sed 's/[0-9][0-9]*/N/g' | sort -u)" \
	"perf-N.map of process N: of another user than its process"
