/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * io.h - provider io: requests to block devices (kmod/providers/io.c)
 *
 * wait-start and wait-done are of a thread that waits for one request: a bio, before it is submitted (a flush, a discard,
 * direct I/O on a device), or a block that a file system reads or writes.  Who waits for a page waits for no request.
 */
DBK_CODED(io, "start", "6.1+", TRACEPOINT, block_bio_queue)
DBK_CODED(io, "done", "6.1+", TRACEPOINT, block_bio_complete block_rq_complete)

DBK_PLACE(io, "vmlinux", "", "wait-start", "6.1+", ENTRY, submit_bio_wait, (struct bio *bio),
	  true, PASS_REQUEST(bio, dbk_bio_fill, dbk_wait_of_bio(bio)))
DBK_PLACE(io, "vmlinux", "", "wait-start", "6.1+", ENTRY, __wait_on_buffer, (struct buffer_head *buffer),
	  true, PASS_REQUEST(buffer, dbk_buffer_fill, dbk_wait_of_buffer(buffer)))
DBK_PLACE(io, "vmlinux", "", "wait-done", "6.1+", ENTRY, submit_bio_wait, (struct bio *bio),
	  dbk_request_wait_begins(probe, bio, dbk_wait_of_bio(bio)), PASS_NONE())
DBK_PLACE(io, "vmlinux", "", "wait-done", "6.1+", ENTRY, __wait_on_buffer, (struct buffer_head *buffer),
	  dbk_request_wait_begins(probe, buffer, dbk_wait_of_buffer(buffer)), PASS_NONE())
DBK_PLACE(io, "vmlinux", "", "wait-done", "6.1+", RETURN, submit_bio_wait, (int result, struct bio *bio),
	  true, PASS_REQUEST_DONE(bio, dbk_bio_fill))
DBK_PLACE(io, "vmlinux", "", "wait-done", "6.1+", RETURN, __wait_on_buffer, (u64 nothing, struct buffer_head *buffer),
	  true, PASS_REQUEST_DONE(buffer, dbk_buffer_fill))

DBK_ABSENT(io, "journal-start", "a journal is a file system's own, ext4's is in the module jbd2: sdt:jbd2::jbd2_start_commit")
DBK_ABSENT(io, "journal-done", "a journal is a file system's own, ext4's is in the module jbd2: sdt:jbd2::jbd2_end_commit")
