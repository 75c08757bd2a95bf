/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* io.h - provider io: requests to block devices (kmod/providers/io.c) */
DBK_CODED(io, "start", "6.1+", TRACEPOINT, block_bio_queue)
DBK_CODED(io, "done", "6.1+", TRACEPOINT, block_rq_complete)

DBK_ABSENT(io, "wait-start", "which thread waits for which bio is not noted")
DBK_ABSENT(io, "wait-done", "which thread waits for which bio is not noted")
DBK_ABSENT(io, "journal-start", "journals are of file systems: sdt:::jbd2_start_commit")
DBK_ABSENT(io, "journal-done", "journals are of file systems: sdt:::jbd2_end_commit")
