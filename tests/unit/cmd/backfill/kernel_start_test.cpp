// SPDX-License-Identifier: Apache-2.0
//
// What the kernel kept of its start, by a folder and a file made up here.
#include "cmd/backfill/kernel_start.hpp"

#include "base/file.hpp"
#include "tests/support/temp_folder.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using namespace daybreak;
using namespace daybreak::cmd;
using Kind = StartEvent::Kind;

namespace {

constexpr uint64_t kNow = 60'000'000'000;

/// A TSC of 3 GHz that was 0 when the loader began; the first reading is a second before the other.
struct FakeClocks : StartClocks {
    uint64_t now_ns = kNow, slept = 0, width_ns = 0, reading = 0, waited_ns = 0, restarted_ns = 0,
             loader_ns = 2'000'000'000;
    bool other_cpu = false;
    uint64_t raw_ns() override { return now_ns; }
    uint64_t slept_ns() override { return slept; }
    formats::TscReading read_tsc(uint32_t) override {
        return {(now_ns + waited_ns + slept + loader_ns - restarted_ns) * 3, now_ns + waited_ns,
                width_ns, other_cpu};
    }
    void wait_ns(uint64_t ns) override { waited_ns += ns; }
};

/// Another process runs for 7 ms between two readings, but for every third pair of them.
struct BusyClocks : StartClocks {
    uint64_t readings = 0, now_ns = kNow;
    uint64_t clock_ns(clockid_t clock) override {
        if (readings++ % 6 < 4)
            now_ns += 7'000'000;
        return now_ns + (clock == CLOCK_BOOTTIME ? 3'000'000'000 : 0);
    }
};

struct FakeKernel {
    test::TempFolder folder;
    FakeClocks clocks;
    StartSource source{(folder.path / "tracing").string(), (folder.path / "kmsg").string(),
                       (folder.path / "bootloader_type").string()};

    FakeKernel() {
        std::filesystem::create_directory(source.tracefs);
        put("trace_clock", "local global [x86-tsc] mono\n");
        put("set_event", "initcall:initcall_level\ninitcall:initcall_start\n");
        messages();
    }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(source.tracefs + "/" + name) << text;
    }
    std::string get(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(source.tracefs + "/" + name).rdbuf();
        return text.str();
    }
    /// The log's clock is a second before CLOCK_MONOTONIC.
    void messages(const std::string& text = "6,0,1000000,-;Linux version\n"
                                            "6,1,9000000,-;daybreak: recording: 1 ring, 2 probes\n",
                  bool with_mark = true) const {
        std::ofstream(source.log) << text;
        if (with_mark)
            std::ofstream(source.log, std::ios::app)
                << "15,99,59000000,-;daybreak: now it is " << clocks.now_ns << " ns\n";
    }
    base::Result<KernelStart> read() { return read_kernel_start(source, clocks); }
};

/// Milliseconds of the kernel's clock as the TSC has them.
std::string tsc(uint64_t ms) {
    return std::to_string((ms + 2000) * 3'000'000);
}

std::string line(uint64_t ms, const std::string& event, const std::string& cpu = "000") {
    return "       init-1       [" + cpu + "] ..... " + tsc(ms) + ": " + event + "\n";
}

std::string call(const std::string& name, uint64_t from_ms, uint64_t to_ms) {
    return line(from_ms, "initcall_start: func=" + name + "+0x0/0x10") +
           line(to_ms, "initcall_finish: func=" + name + "+0x0/0x10 ret=-19");
}

const StartLoss* loss_with(const KernelStart& start, const std::string& text) {
    for (const StartLoss& loss : start.losses)
        if (loss.text.find(text) != std::string::npos)
            return &loss;
    return nullptr;
}

uint64_t missed(const StartLoss* loss, Kind kind) {
    uint64_t count = 0;
    for (const auto& [each, times] : loss->missed)
        count += each == kind ? times : 0;
    return count;
}

} // namespace

TEST_CASE("a busy machine is not taken for one that was suspended longer") {
    CHECK(BusyClocks().slept_ns() == 3'000'000'000);
}

TEST_CASE("initcalls and messages are one order on CLOCK_MONOTONIC, which the module ends") {
    FakeKernel kernel;
    kernel.put("trace", line(1500, "initcall_level: level=early") + call("a", 3000, 3010));
    kernel.messages("6,0,1000000,-;Linux version\n SUBSYSTEM=x\n14,1,1000001,-;of a program\n"
                    "6,2,9000000,-;daybreak: recording: 1 ring\n6,3,9000001,-;later\n");
    auto start = kernel.read();
    REQUIRE(start.ok());
    CHECK(start->losses.empty());
    CHECK(start->notes.empty());
    REQUIRE(start->events.size() == 6);
    CHECK(start->events[0].kind == Kind::loader_done);
    CHECK(start->events[0].took_ns == 2'000'000'000);
    CHECK(start->events[1].kind == Kind::level);
    CHECK(start->events[1].text == "early");
    CHECK(start->events[2].text == "Linux version");
    CHECK(start->events[2].mono_ns == 2'000'000'000);
    CHECK(start->events[3].kind == Kind::initcall_start);
    CHECK(start->events[4].text == "a");
    CHECK(start->events[4].took_ns == 10'000'000);
    CHECK(start->events[4].error == -19);
    CHECK(start->events[4].mono_ns == 3'010'000'000);
    CHECK(start->events[5].kind == Kind::module_loaded);
    CHECK(start->events[5].mono_ns == 10'000'000'000);
}

TEST_CASE("a start of which nothing is known is an error that says why") {
    FakeKernel kernel;
    kernel.source.log = "/nowhere/kmsg";
    SECTION("only a module's initcall") {
        kernel.put("trace", line(1, "initcall_start: func=m_init+0x0/0x10 [m]"));
    }
    SECTION("only an end without its start") {
        kernel.put("trace", line(1, "initcall_finish: func=a+0x0/0x10 ret=0"));
    }
    auto start = kernel.read();
    REQUIRE_FALSE(start.ok());
    CHECK(start.error().code() == base::ErrorCode::not_found);
    CHECK(start.error().message().find("cannot open /nowhere/kmsg") != std::string::npos);
}

TEST_CASE("without tracefs the message says what to do") {
    FakeKernel kernel;
    kernel.source.tracefs = "/nowhere";
    auto start = kernel.read();
    REQUIRE_FALSE(start.ok());
    CHECK(start.error().message().find("mount -t tracefs") != std::string::npos);
}

TEST_CASE("what ftrace had no room for is a loss") {
    FakeKernel kernel;
    SECTION("by its header") {
        kernel.put("trace",
                   "# entries-in-buffer/entries-written: 4/400000   #P:2\n" + call("a", 1, 2));
        auto start = kernel.read();
        REQUIRE(start.ok());
        const StartLoss* loss = loss_with(*start, "no room for 399996 events of ftrace");
        REQUIRE(loss);
        CHECK(missed(loss, Kind::initcall_start) + missed(loss, Kind::initcall_done) == 399996);
    }
    SECTION("by a line with its number") {
        kernel.put("trace", "CPU:0 [LOST 7 EVENTS]\n" + call("a", 1, 2));
        auto start = kernel.read();
        REQUIRE(start.ok());
        CHECK(loss_with(*start, "no room for 7 events of ftrace"));
    }
    SECTION("by a line without one") {
        kernel.put("trace", "CPU:0 [LOST EVENTS]\n" + call("a", 1, 2));
        auto start = kernel.read();
        REQUIRE(start.ok());
        const StartLoss* loss = loss_with(*start, "no room for some events of ftrace");
        REQUIRE(loss);
        CHECK(missed(loss, Kind::initcall_start) == 1);
    }
    SECTION("none of it") {
        kernel.put("trace", "# entries-in-buffer/entries-written: 2/2   #P:2\n" + call("a", 1, 2));
        CHECK(kernel.read()->losses.empty());
    }
}

TEST_CASE("an initcall that returns ends its own start") {
    FakeKernel kernel;
    kernel.put("trace", line(1, "initcall_start: func=outer+0x0/0x10") +
                            line(2, "initcall_start: func=inner+0x0/0x10") +
                            line(5, "initcall_finish: func=outer+0x0/0x10 ret=0") +
                            line(6, "initcall_finish: func=gone+0x0/0x10 ret=0") +
                            line(7, "sched_switch: prev=x"));
    auto start = kernel.read();
    REQUIRE(start.ok());
    std::vector<StartEvent> done;
    for (const StartEvent& event : start->events)
        if (event.kind == Kind::initcall_done)
            done.push_back(event);
    REQUIRE(done.size() == 1);
    CHECK(done[0].text == "outer");
    CHECK(done[0].took_ns == 4'000'000);
    CHECK(start->losses.size() == 2);
    CHECK(missed(loss_with(*start, "does not have the end of 1 initcall"), Kind::initcall_done) ==
          1);
    CHECK(missed(loss_with(*start, "does not have the start of 1 initcall"),
                 Kind::initcall_start) == 1);
}

TEST_CASE("a line that is not an event is a loss") {
    FakeKernel kernel;
    kernel.put("trace", call("a", 1, 2) + "what is this\n");
    CHECK(loss_with(*kernel.read(), "left out 1 line of ftrace"));
}

TEST_CASE("only what the module says while it is loaded is its moment") {
    FakeKernel kernel;
    kernel.put("trace", call("a", 3000, 3010));
    kernel.messages("6,7,1000000,-;x\n6,8,9000000,-;daybreak: ring boot: detached by a[1]\n"
                    "14,9,9000000,-;daybreak: recording: 1 ring\n");
    auto start = kernel.read();
    REQUIRE(start.ok());
    CHECK(loss_with(*start, "when the module came is not known"));
    CHECK(loss_with(*start, "first messages were overwritten"));
    CHECK(start->events.back().kind == Kind::message);
}

TEST_CASE("initcalls after the module are not left out in silence") {
    FakeKernel kernel;
    kernel.put("trace", call("a", 3000, 3010) + call("late", 12000, 12001));
    auto start = kernel.read();
    REQUIRE(start.ok());
    CHECK(start->events.back().kind == Kind::module_loaded);
    const StartLoss* loss = loss_with(*start, "left out 2 events of initcalls");
    REQUIRE(loss);
    CHECK(missed(loss, Kind::initcall_done) == 1);
}

TEST_CASE("messages that cannot be had are a loss") {
    FakeKernel kernel;
    kernel.put("trace", call("a", 3000, 3010));
    SECTION("no mark") {
        kernel.messages("6,0,1000000,-;x\n", false);
        CHECK(missed(loss_with(*kernel.read(), "ours is not among them"), Kind::message) == 1);
    }
    SECTION("no log") {
        kernel.source.log = "/nowhere/kmsg";
        CHECK(missed(loss_with(*kernel.read(), "cannot open /nowhere/kmsg"), Kind::message) == 1);
    }
}

TEST_CASE("times say how exact they are") {
    FakeKernel kernel;
    kernel.put("trace", call("a", 3000, 3010));
    SECTION("readings that took long, at once after the boot") {
        kernel.clocks.width_ns = 100'000; // in 60 s of 0.5: 12 ms
        auto start = kernel.read();
        REQUIRE(start->notes.size() == 1);
        CHECK(start->notes[0].find("wrong by 12 ms: the machine has been up for 60 s") !=
              std::string::npos);
    }
    SECTION("a day after it") {
        kernel.clocks.now_ns = 86'400'000'000'000;
        kernel.messages("6,0,1000000,-;x\n");
        CHECK(kernel.read()->notes.size() == 1);
        CHECK(kernel.clocks.waited_ns == 5'000'000'000);
    }
    SECTION("after a suspend its TSC went on") {
        kernel.clocks.slept = 7'000'000'000;
        auto start = kernel.read();
        CHECK(loss_with(*start, "suspended for 7000 ms"));
        CHECK(start->events[2].mono_ns == 3'000'000'000);
    }
    SECTION("how long the loader took is the TSC's, unless firmware has set it") {
        kernel.clocks.slept = 7'000'000'000;
        CHECK(kernel.read()->events[0].took_ns == 2'000'000'000);
        kernel.clocks.slept = 0;
        kernel.messages("6,0,1000000,-;[Firmware Bug]: TSC ADJUST: CPU0: -7 force to 0\n");
        CHECK(missed(loss_with(*kernel.read(), "firmware has set the TSC"), Kind::loader_done) ==
              1);
        CHECK(kernel.read()->events[0].kind != Kind::loader_done);
        kernel.messages();
        std::ofstream(kernel.source.loader) << "208\n";
        CHECK(missed(loss_with(*kernel.read(), "by kexec"), Kind::loader_done) == 1);
        CHECK(kernel.read()->events[0].kind != Kind::loader_done);
        std::ofstream(kernel.source.loader) << "114\n"; // GRUB
        CHECK(kernel.read()->events[0].took_ns == 2'000'000'000);
        kernel.clocks.loader_ns = 0;
        kernel.put("trace", "  a-1  [000] ..... 9000000000: initcall_level: level=early\n");
        CHECK(missed(loss_with(*kernel.read(), "did not go before"), Kind::loader_done) == 1);
    }
    SECTION("the TSC of another CPU") {
        kernel.clocks.other_cpu = true;
        CHECK(loss_with(*kernel.read(), "the TSC of CPU 0 cannot be read"));
    }
    SECTION("times before the clock began") {
        kernel.clocks.now_ns = 60'000'000'000;
        kernel.clocks.slept = 0;
        kernel.clocks.restarted_ns = 0;
        kernel.put("trace",
                   "  a-1  [000] ..... 0: initcall_level: level=early\n" + call("a", 3000, 3010));
        CHECK(kernel.read()->losses.empty());
    }
}

TEST_CASE("a TSC that began anew, and other clocks, are refused") {
    FakeKernel kernel;
    kernel.put("trace", call("a", 3000, 3010));
    SECTION("it began anew") {
        kernel.clocks.restarted_ns = 59'000'000'000;
    }
    SECTION("local") {
        kernel.put("trace_clock", "[local] x86-tsc\n");
    }
    SECTION("seconds, but not of mono") {
        kernel.put("trace", "  a-1  [000] .....  1.000000: initcall_level: level=early\n");
        kernel.put("trace_clock", "[local] mono\n");
    }
    auto start = kernel.read();
    REQUIRE_FALSE(start.ok());
    CHECK(start.error().code() == base::ErrorCode::unsupported);
}

TEST_CASE("releasing ends initcalls and leaves other events") {
    FakeKernel kernel;
    kernel.put("trace", "text");
    SECTION("nothing else is on") {
        CHECK(*release_kernel_start(kernel.source) == "");
        CHECK(kernel.get("trace").empty());
        CHECK(kernel.get("trace_clock") == "local");
        CHECK(kernel.get("set_event").ends_with("!initcall:*\n"));
    }
    SECTION("another event") {
        kernel.put("set_event", "initcall:initcall_level\nsched:sched_switch\n");
        CHECK(release_kernel_start(kernel.source)->find("sched:sched_switch") != std::string::npos);
        CHECK(kernel.get("trace") == "text");
        CHECK(kernel.get("trace_clock").starts_with("local global [x86-tsc]"));
        CHECK(
            kernel.get("set_event").starts_with("initcall:initcall_level\nsched:sched_switch\n!"));
    }
    SECTION("another clock") {
        kernel.put("trace_clock", "local [mono]\n");
        CHECK(release_kernel_start(kernel.source)->find("mono") != std::string::npos);
        CHECK(kernel.get("trace") == "text");
    }
}
