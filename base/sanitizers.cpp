// SPDX-License-Identifier: Apache-2.0
//
// What the address sanitizer is asked of every program that is built with it: the stack where undefined behaviour stopped
// one, which is an illegal instruction there.  $ASAN_OPTIONS adds to it.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options() {
    return "handle_sigill=1";
}
#endif
