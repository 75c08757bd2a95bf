/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queries.d - how long each query of a PostgreSQL took, by its text
 *
 * The marks are in Debian's package as it is.  They are armed in every server of that file, also
 * in those that start later, and in the process that each connection has.
 */
#pragma D option quiet
#pragma D option strsize=1k

postgresql*:/usr/lib/postgresql/15/bin/postgres::query-start
{
	self->from = timestamp;
}

postgresql*:/usr/lib/postgresql/15/bin/postgres::query-done
/self->from/
{
	this->text = copyinstr(arg0);
	@count[this->text] = count();
	@us[this->text] = avg((timestamp - self->from) / 1000);
	self->from = 0;
}

END
{
	printf("%8s %8s  %s\n", "COUNT", "AVG us", "QUERY");
	printa("%@8d %@8d  %s\n", @count, @us);
}
