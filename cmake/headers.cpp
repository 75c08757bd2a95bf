// SPDX-License-Identifier: Apache-2.0
//
// Nothing: the headers that cmake/Daybreak.cmake precompiles need a file that includes them.
