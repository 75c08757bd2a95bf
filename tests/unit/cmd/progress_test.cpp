// SPDX-License-Identifier: Apache-2.0
#include "cmd/progress.hpp"

#include <catch2/catch.hpp>

using daybreak::cmd::progress_line;
using daybreak::cmd::ProgressUnit;

TEST_CASE("a line of progress has the part, the rate and the time left", "[progress]") {
    CHECK(progress_line("replaying", ProgressUnit::records, 50'000'000, 200'000'000, 4) ==
          "replaying [#####...............] 25 %, 12.5 M records/s, 12 s left");
    CHECK(progress_line("replaying", ProgressUnit::records, 100, 400, 10) ==
          "replaying [#####...............] 25 %, 10 records/s, 30 s left");
    CHECK(progress_line("looking", ProgressUnit::bytes, 512 << 20, 1024 << 20, 256) ==
          "looking [##########..........] 50 %, 2.0 MiB/s, 4 min left");
    CHECK(progress_line("writing", ProgressUnit::parts, 1, 100, 100) ==
          "writing [....................] 1 %, 2.8 h left");
}

TEST_CASE("what is not known yet is not said", "[progress]") {
    CHECK(progress_line("claiming", ProgressUnit::parts, 0, 0, 1) == "claiming");
    CHECK(progress_line("replaying", ProgressUnit::records, 0, 10, 1) ==
          "replaying [....................] 0 %");
    CHECK(progress_line("reporting", ProgressUnit::records, 3, 0, 1) == "reporting: 3 records");
    CHECK(progress_line("copying", ProgressUnit::parts, 2048, 0, 1) == "copying: 2 KiB");
}

TEST_CASE("a line of progress fits a terminal", "[progress]") {
    CHECK(
        progress_line("daybreak: replaying", ProgressUnit::records, 999'999, 1'000'000, 1).size() <
        80);
    CHECK(progress_line("daybreak: replaying", ProgressUnit::records, 1, 1'000'000'000, 90).size() <
          80);
    CHECK(progress_line("looking through the dump", ProgressUnit::bytes, uint64_t{2047} << 40,
                        uint64_t{2048} << 40, 3'000)
              .size() < 80);
    // What comes beyond the total is not counted.
    CHECK(progress_line("replaying", ProgressUnit::parts, 20, 10, 1) ==
          "replaying [####################] 100 %, 0 s left");
}
