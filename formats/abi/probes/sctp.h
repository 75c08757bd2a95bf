/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sctp.h - provider sctp: there is none
 */
DBK_ABSENT(sctp, "", "SCTP is in a module of its own: fbt:sctp:: and sdt:sctp:: while that is loaded")
