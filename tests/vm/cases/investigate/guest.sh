# SPDX-License-Identifier: Apache-2.0
# A log is rotated and a state saved while a service comes up, on a slow disk.
mkdir -p /mnt /run /etc
cp -r /share/in/lib64 /
ln -s /lib64 /lib
holds mount mount -t ext4 /dev/vda /mnt
head -c 4096 /dev/urandom >/etc/state
cp /etc/state /mnt/state
for name in rotate-logs save-state frontend flock; do cp /share/in/$name /bin; done
sync
holds load insmod /share/in/daybreak.ko
daybreak start -q /share/in/everything.d || fail start
sleep 1
rotate-logs 2>/dev/null &
sleep 0.3
save-state 2>/dev/null &
sleep 0.3
frontend
wait
sleep 0.5
echo 2 >/proc/sys/kernel/kptr_restrict # small: nothing of it needs a symbol
daybreak stop -q everything -o /share/out/late.dbrk
equal recorded-whole $? 0
cd /share/out
equal a-lock-was-waited-for "$(daybreak replay -q -n 'syscall::flock:entry { self->at = timestamp; }
	syscall::flock:return /self->at && timestamp - self->at > 1000000000/ { printf("%s", execname); }' late.dbrk)" flock
holds unload rmmod daybreak
