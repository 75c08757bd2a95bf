// SPDX-License-Identifier: Apache-2.0
//
// The main() of every unit test program.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
