# SPDX-License-Identifier: Apache-2.0
# The phase is what it is to a program that comes now.
running() {
	[ "$(daybreak dtrace -qn 'BEGIN { printf("%s", bootphase); exit(0); }')" = running ]
}
until_it running
pass running-is-seen-live
for number in 0 1 2; do
	daybreak record --claim -o "/share/out/$number.dbrk"
	status=$?
	# 3: recorded, with losses that info names
	if [ $status = 0 ] || [ $status = 3 ]; then pass "record-$number" "$status"; else fail "record-$number" "$status"; fi
done
