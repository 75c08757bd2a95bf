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
end_background() {
	kill $background
	wait $background
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
		;;
	guest) runs "$place-${name%%-*}" "$step" "/share/out/$place" ;;
	esac
done
at_least commands "$(ls /share/in/steps | grep -c -e -guest-)" 20
