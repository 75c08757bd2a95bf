/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* end.h - forgets what a row is, after all.h */
#undef DBK_PLACE
#undef DBK_CODED
#undef DBK_ABSENT
#undef PASS
#undef PASS_NONE
#undef PASS_PACKET
#undef PASS_SENT
#undef PASS_RECEIVED
#undef PASS_STATES
#undef PASS_WAIT
#undef PASS_REQUEST
#undef PASS_REQUEST_DONE
