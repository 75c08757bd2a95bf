// SPDX-License-Identifier: Apache-2.0
//
// The recorder's status as JSON and as Prometheus' text.
#include "formats/status/status.hpp"

#include <catch2/catch.hpp>
#include <sstream>

using namespace daybreak::formats;

namespace {

RecorderStatus example() {
    RecorderStatus status;
    status.pid = 312;
    status.tool_version = "0.1.0";
    status.boot_id = "4f1c22d0-0000-4000-8000-000000000001";
    status.state = "recording";
    status.folder = "/var/log/daybreak \"x\"\n";
    status.started_at = 1763654400.25;
    status.updated_at = 1763654500.5;
    status.last_error = "cannot write: No space left on device";
    status.disk = {1e9, 2e9, 12, "4f1c22d0-000012.dbrk", 1e6, 63e6, -1, 3, 1, 2, 4096};
    status.cost = {1.5, 3e6, 9e6, 0.008, 2e5, 1e6, 7};
    status.last_trigger = {"slow", 1763654499};
    status.triggers = 2;
    RecorderStatus::Cpu cpu{1, 9007199254740991.0, 1234.5, 3, 4194304, 61.25, 500, 499, 7, {}};
    cpu.drops = {{"SPECBUSY", 12}};
    status.rings.push_back({1, "boot", "active", "ring", {cpu}});
    return status;
}

} // namespace

TEST_CASE("what was written as JSON is read again") {
    RecorderStatus in = example();
    std::string text = status_json(in);
    CHECK(text.find("\"pid\": 312") != std::string::npos);
    CHECK(text.back() == '\n');
    auto out = parse_status_json(text, "status.json");
    REQUIRE(out.ok());
    CHECK(*out == in);
    CHECK(*out != RecorderStatus());
}

TEST_CASE("what is not a status is refused with the file's name") {
    std::string whole = status_json(example());
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("{\"pid\": {}}"),
          std::string("{\"rings\": 3}"), whole.substr(0, whole.size() / 2), std::string(1000, '['),
          "\xff\xfe" + whole}) {
        auto status = parse_status_json(text, "/run/x.json");
        REQUIRE_FALSE(status.ok());
        CHECK(status.error().message().find("/run/x.json") == 0);
    }
    CHECK(parse_status_json("{\"later\": 1}", "x").ok()); // fields are only ever added
}

TEST_CASE("what only grows is a counter and is called _total, all else a gauge") {
    std::istringstream lines(status_metrics(example()));
    int types = 0;
    for (std::string hash, word, name, kind, line; std::getline(lines, line);) {
        if (!line.starts_with("# TYPE "))
            continue;
        std::istringstream(line) >> hash >> word >> name >> kind;
        INFO(line);
        CHECK(kind == (name.ends_with("_total") ? "counter" : "gauge"));
        types++;
    }
    CHECK(types >= 19);
}

TEST_CASE("Prometheus reads the metrics") {
    std::string text = status_metrics(example());
    CHECK(text.find("# TYPE daybreak_ring_records_total counter\n"
                    "daybreak_ring_records_total{ring=\"boot\",ring_id=\"1\",cpu=\"1\"} "
                    "9.00719925474099e+15\n") != std::string::npos);
    CHECK(text.find("daybreak_ring_drops_total{ring=\"boot\",ring_id=\"1\",cpu=\"1\",cause="
                    "\"SPECBUSY\"} 12\n") != std::string::npos);
    CHECK(text.find("daybreak_recorder_cpu_seconds_total 1.5\n") != std::string::npos);
    RecorderStatus odd = example();
    odd.rings[0].name = "a\"b\\c\nd";
    CHECK(status_metrics(odd).find("ring=\"a\\\"b\\\\c d\"") != std::string::npos);
}
