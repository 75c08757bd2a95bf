// SPDX-License-Identifier: Apache-2.0
//
// What the static libelf and libdw of elfutils 0.192 (Debian 13) call and do not contain: its
// library of search trees was left out of them (sourceware.org bug 32293). A tree begins with its
// root, and has no lock in such a build; these are the C library's trees. cmd/CMakeLists.txt takes
// this file for that version alone.
#include <search.h>

namespace {

using Compare = int (*)(const void*, const void*);

} // namespace

extern "C" {

void eu_search_tree_init(void** tree) {
    *tree = nullptr;
}

void eu_search_tree_fini(void** tree, void (*free_node)(void*)) {
    tdestroy(*tree, free_node);
}

void* eu_tsearch(const void* key, void** tree, Compare compare) {
    return tsearch(key, tree, compare);
}

void* eu_tfind(const void* key, void** tree, Compare compare) {
    return tfind(key, tree, compare);
}

void* eu_tdelete(const void* key, void** tree, Compare compare) {
    return tdelete(key, tree, compare);
}

} // extern "C"
