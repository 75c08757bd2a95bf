# SPDX-License-Identifier: Apache-2.0
# Each page in a fresh copy of the clone, its commands one after the other, in the shell's own words.
export PATH=/share/in/programs:$PATH
mkdir -p /boot
cp /share/in/vmlinuz "/boot/vmlinuz-$(uname -r)"
ln -s "$(command -v daybreak)" /bin/dtrace
printf '#!/bin/sh\nexec workload 2\n' >/bin/make
chmod +x /bin/make

# boots_with MODULE: as if the machine had been booted with it, a while ago
boots_with() {
	if [ -e /dev/daybreak ]; then rmmod daybreak; fi
	insmod "$1"
	workload 2
	sleep 4
}
# What goes on until it is ended succeeds then, as what ends by itself.
end_background() {
	kill $background
	wait $background
	status=$?
	if [ $status = 0 ] || [ $status = 3 ]; then
		pass "$background_place" "$status"
	else
		fail "$background_place" "$status $(tail -n 1 "$background_output")"
	fi
}

# What docs/live.md traces: programs of Debian that its smallest system has not, and a process of the number that is written there.
programs_of_the_page() {
	cp -rn /share/in/host/* /
	echo 'print(sum(n * n for n in range(9)))' >x.py
	head -c 300000 /dev/urandom >big
	until_it runs_as 4711
}
runs_as() { # PID
	echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
	works &
	[ $! = "$1" ] || { kill $! && false; }
}
functions_are_traced() {
	until_it grep -q matched "$background_output"
	sleep 2
	end_background
	at_least functions-are-traced "$(grep -c '^ *work  *[0-9]' "$background_output")" 1
	kill 4711
}
bash_is_traced() {
	until_it bash_says
	end_background
}
bash_says() {
	echo 'true traced' | bash --norc -i
	grep -q 'true traced' "$background_output"
}

# runs NAME FILE OUTPUT: a command as it is written; 3: done, with drops
runs() {
	sh "$2" >>"$3" 2>&1 </dev/null
	status=$?
	if [ $status = 0 ] || [ $status = 3 ]; then
		pass "$1" "$status $(head -n 1 "$2" | cut -c1-60)"
	else
		fail "$1" "$status $(head -n 1 "$2"): $(tail -n 1 "$3")"
	fi
}

page=
for step in /share/in/steps/*; do
	name=$(basename "$step")
	kind=${name#*-}
	kind=${kind%%-*}
	place=${name#*-*-}
	if [ "${place%-[0-9]*}" != "$page" ]; then
		page=${place%-[0-9]*}
		if [ -e /dev/daybreak ]; then rmmod daybreak; fi
		rm -rf /tmp/clone
		cp -r /share/in/clone /tmp/clone
		mkdir -p /tmp/clone/build/release/cmd
		ln -s "$(command -v daybreak)" /tmp/clone/build/release/cmd/daybreak
		cd /tmp/clone
	fi
	case $kind in
	setup) . "$step" ;;
	file) cp "$step" "${place##*-}" ;;
	background)
		sed 's/^/exec /' "$step" >/tmp/background
		sh /tmp/background >>"/share/out/$place" 2>&1 &
		background=$!
		background_place=$place
		background_output=/share/out/$place
		;;
	guest) runs "$place-${name%%-*}" "$step" "/share/out/$place" ;;
	esac
done
at_least commands "$(ls /share/in/steps | grep -c -e -guest-)" 20
