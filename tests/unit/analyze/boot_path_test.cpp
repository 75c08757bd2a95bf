// SPDX-License-Identifier: Apache-2.0
#include "analyze/boot_path.hpp"

#include <catch2/catch.hpp>

using namespace daybreak;
using namespace daybreak::analyze;
using formats::BootUnit;
using formats::BootUnits;

namespace {

BootUnit unit(const char* name, uint64_t began_ms, uint64_t ready_ms,
              std::vector<uint16_t> after = {}) {
    return {name, began_ms * 1'000'000, ready_ms * 1'000'000, std::move(after)};
}

/// A disk, its mount, a fast and a slow service, two targets, and what never was ready.
BootUnits sample_boot() {
    return {"graphical.target",
            {unit("graphical.target", 901, 901, {1}),
             unit("multi-user.target", 900, 900, {2, 3, 6, 7}), unit("slow.service", 300, 850, {4}),
             unit("fast.service", 300, 310, {4}), unit("var.mount", 200, 290, {5}),
             unit("disk.device", 150, 190), unit("failed.service", 310, 0, {3}),
             unit("late.service", 950, 960, {1})}};
}

} // namespace

TEST_CASE("the path goes back by who was ready last", "[analyze][units]") {
    BootUnits boot = sample_boot();
    REQUIRE(boot_target(boot) == 1u);
    // late.service was ready after the target had begun: it was not waited for.
    CHECK(critical_path(boot, 1) == std::vector<size_t>{1, 2, 4, 5});
    CHECK(waited_for(boot, 6) == 3u); // it began in the moment in which fast.service was ready
    CHECK(waited_for(boot, 5) == std::nullopt);
    CHECK(path_text(boot, critical_path(boot, 1)) == "        900           multi-user.target\n"
                                                     "        850     +550  slow.service\n"
                                                     "        290      +90  var.mount\n"
                                                     "        190      +40  disk.device\n");
    CHECK(without_moments(boot, std::vector<size_t>{1, 0, 1, 4}) == std::vector<size_t>{1, 4});
    CHECK(slowest_units(boot, 3) == std::vector<size_t>{2, 4, 5});
    CHECK(slowest_text(boot, slowest_units(boot, 3)) ==
          "        550  slow.service: var.mount\n"
          "         90  var.mount: disk.device\n"
          "         40  disk.device: for none that was ready by then\n");
}

TEST_CASE("the target is the first of three that was reached", "[analyze][units]") {
    BootUnits boot = sample_boot();
    boot.units[1].ready_mono_ns = 0;
    CHECK(boot_target(boot) == 0u);
    boot.units[0].ready_mono_ns = 0;
    CHECK(boot_target(boot) == std::nullopt);
    boot.default_target = "late.service";
    CHECK(boot_target(boot) == 7u);
    CHECK(boot_target({}) == std::nullopt);
}

TEST_CASE("units that are after each other end the path", "[analyze][units]") {
    BootUnits boot{"", {unit("a", 10, 10, {0, 1}), unit("b", 10, 10, {2}), unit("c", 10, 10, {0})}};
    CHECK(critical_path(boot, 0) == std::vector<size_t>{0, 1, 2});
    // As many as a file may have, each after many.
    BootUnits large;
    for (size_t i = 0; i < formats::kBootUnitsMax; i++) {
        large.units.push_back(unit("u", 10, 10));
        for (size_t n = 0; n < formats::kBootUnitOrdersMax / formats::kBootUnitsMax; n++)
            large.units[i].after.push_back(static_cast<uint16_t>((i + 1) % formats::kBootUnitsMax));
    }
    CHECK(critical_path(large, 0).size() == formats::kBootUnitsMax);
}

TEST_CASE("the units as JSON", "[analyze][units]") {
    std::string out;
    append_json_units(out, sample_boot(), 1);
    CHECK(out.starts_with(R"({"target":"multi-user.target","critical_path":[{"unit":)"
                          R"("multi-user.target","began_mono_ns":900000000,"ready_mono_ns":)"
                          R"(900000000,"took_ns":0,"waited_for":"slow.service"},)"));
    CHECK(out.ends_with(R"("slowest":[{"unit":"slow.service","began_mono_ns":300000000,)"
                        R"("ready_mono_ns":850000000,"took_ns":550000000,"waited_for":)"
                        R"("var.mount"}]})"));
    out.clear();
    append_json_units(out, {}, 1);
    CHECK(out == R"({"slowest":[]})");
}
