# SPDX-License-Identifier: Apache-2.0
# A server of PostgreSQL that knows nothing of being traced, and its own log of statements.
holds load insmod /share/in/daybreak.ko
tar -xf /share/in/root.tar -C /
ln -s "$(command -v daybreak)" /bin/dtrace
export LD_LIBRARY_PATH=/lib PATH="$PATH:/usr/lib/postgresql/15/bin"
mkdir -p /mnt /dev/shm
mount -t tmpfs shm /dev/shm
chmod 1777 /tmp /dev/shm
holds mount mount -t ext4 /dev/vda /mnt
tar -xf /share/in/data.tar -C /mnt
cd /tmp

server_starts() {
	su postgres -c 'exec postgres -D /mnt/data -k /tmp -c listen_addresses= -c log_statement=all -c log_line_prefix= -c autovacuum=off' 2>>/tmp/log &
	until_it asks -c '' postgres
}
server_ends() {
	kill -INT "$(head -n 1 /mnt/data/postmaster.pid)"
	until_it test ! -e /mnt/data/postmaster.pid
}
asks() {
	psql -X -q -h /tmp -U postgres "$@"
}

server_starts
asks -c 'CREATE TABLE goods (id int PRIMARY KEY, name text)' \
	-c "INSERT INTO goods SELECT n, 'goods number ' || n FROM generate_series(1, 2000) n" postgres
: >log

# Each query by its text, of three clients at once that come after the tracer, as the server's own log has them.
# The server runs, so that its provider alone says which file it is.
begins armed queries.err daybreak dtrace -qn 'BEGIN { printf("armed\n"); }
	postgresql*:::query-start { @[copyinstr(arg0)] = count(); }
	postgresql*:/usr/lib/postgresql/15/bin/postgres::query-done { @done = count(); }
	END { printa("QUERY %@d %s\n", @); printa("DONE %@d\n", @done); }' -x switchrate=20hz -x strsize=1k
cat >client.sql <<'END'
BEGIN;
SELECT name FROM goods WHERE id = 17;
UPDATE goods SET name = 'other' WHERE id = 4;
SELECT count(*), 'a text that is longer than what a string has by default, which is two hundred and fifty-six bytes: it goes on and on, and has nothing to say but that it is long; a query of an application that makes its statements by a program has often thousands of bytes, most of them names' FROM goods;
ROLLBACK;
SELECT name FROM goods WHERE id = 17;
END
clients=
for client in 1 2 3; do
	asks -f client.sql -f client.sql postgres >/dev/null &
	clients="$clients $!"
done
wait $clients
until_it eval '[ "$(grep -c "LOG:  statement: ROLLBACK" log)" = 6 ]'
kill -INT $begun
wait $begun
sed -n 's/^LOG:  statement: //p' log | sort | uniq -c | sed 's/^ *//' | sort >logged
sed -n 's/^QUERY //p' queries.err | sort >traced
equal queries-as-logged "$(cat traced)" "$(cat logged)"
at_least queries "$(wc -l <logged)" 5
equal queries-done "$(sed -n 's/^DONE //p' queries.err)" "$(awk '{ n += $1 } END { print n }' logged)"
cp traced logged /share/out/
server_ends

# One query from its text to the disk: the server knows the table, its pages are in no cache.
server_starts
cat >cold.sql <<'END'
SELECT name FROM goods WHERE id = 17;
\! sync; echo 3 >/proc/sys/vm/drop_caches
SELECT name FROM goods WHERE id = 1700;
END
cd /share/in/examples
: >/share/out/request.out
daybreak dtrace -s request.d -o /share/out/request.out 2>/tmp/request.err &
tracer=$!
until_it eval 'asks -c "SELECT 1" postgres && grep -q query-start /share/out/request.out'
asks -f /tmp/cold.sql postgres
until_it grep -q "1700" /share/out/request.out
kill -INT $tracer
wait $tracer
begins armed /share/out/queries.out daybreak dtrace -qs queries.d -n 'BEGIN { printf("armed\n"); }'
asks -f /tmp/client.sql postgres >/dev/null
kill -INT $begun
wait $begun
server_ends
cp /tmp/log /share/out/
holds unload rmmod daybreak
