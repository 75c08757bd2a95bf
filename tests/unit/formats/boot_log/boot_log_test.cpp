// SPDX-License-Identifier: Apache-2.0
#include "formats/boot_log/boot_log.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace daybreak::formats;

TEST_CASE("events of ftrace have a task, a CPU, a time and fields") {
    FtraceText text = read_ftrace(
        "# tracer: nop\n"
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
        "          <idle>-0       [000] d..1. 8076931785: initcall_start: func=con_init+0x0/0x2f0\n"
        "CPU:1 [LOST 25 EVENTS]\n"
        " kworker/u4:0-e-9       [001] .....     1.348007: initcall_finish: func=a+0x0/0x2 ret=-19\n"
        "       init-1       [002] .....     2.000000: initcall_level: level=late\n"
        "\n");
    REQUIRE(text.events.size() == 3);
    CHECK(text.lost == 25);
    CHECK(text.other_lines == 0);
    CHECK(text.events[0].task == "<idle>");
    CHECK(text.events[0].tid == 0);
    CHECK(text.events[0].is_cycles);
    CHECK(text.events[0].stamp == 8076931785);
    CHECK(text.events[0].name == "initcall_start");
    CHECK(text.events[1].task == "kworker/u4:0-e");
    CHECK(text.events[1].tid == 9);
    CHECK(text.events[1].cpu == 1);
    CHECK_FALSE(text.events[1].is_cycles);
    CHECK(text.events[1].stamp == 1'348'007'000);
    CHECK(field_of(text.events[1], "func") == "a+0x0/0x2");
    CHECK(field_of(text.events[1], "ret") == "-19");
    CHECK_FALSE(field_of(text.events[1], "fun"));
    CHECK(field_of(text.events[2], "level") == "late");
}

TEST_CASE("what is lost is said with a number, without one, or at the top") {
    FtraceText text = read_ftrace("# entries-in-buffer/entries-written: 4/400000   #P:2\n"
                                  "# entries-in-buffer/entries-written: x\nCPU:1 [LOST EVENTS]\n");
    CHECK(text.in_buffer == 4);
    CHECK(text.written == 400000);
    CHECK(text.lost_unknown);
    CHECK(text.lost == 0);
    CHECK(text.other_lines == 0);
    CHECK_FALSE(read_ftrace("CPU:1 [LOST 25 EVENTS]\n").lost_unknown);
}

TEST_CASE("with record-tgid the task has its process after it") {
    FtraceText text = read_ftrace(" init (a)-1       (      1) [000] ..... 1: n: f\n"
                                  "  <idle>-0       (-------) [000] d..1. 8: n: f\n");
    REQUIRE(text.events.size() == 2);
    CHECK(text.events[0].task == "init (a)");
    CHECK(text.events[0].tid == 1);
    CHECK(text.events[1].task == "<idle>");
}

TEST_CASE("other lines are counted, whatever they are") {
    for (const char* line :
         {"x", "a-1", "a-1 [", "a-1 [0] . 1: n: f", "a [000] ..... 1: n: f", "a-1 [4096] ..... 1: n: f",
          "a-1 [000] ..... 1.5: n: f", "a-1 [000] ..... 99999999999999999999: n: f",
          "a-1 [000] ..... 18446744073.000000: n: f", "a-1 [000] ..... 1: : f", "a-1 [000] ..... 1: n",
          "-1x [000] ..... 1: n: f"}) {
        INFO(line);
        FtraceText text = read_ftrace(line);
        if (text.events.empty())
            CHECK(text.other_lines == 1);
        else
            CHECK(std::string(line) == "a-1 [0] . 1: n: f");
    }
    const std::string begin = "a-1 [000] ..... 1: n: ";
    CHECK(read_ftrace(begin + std::string(4096 - begin.size(), 'f')).events.size() == 1);
    CHECK(read_ftrace(begin + std::string(4097 - begin.size(), 'f')).other_lines == 1);
}

TEST_CASE("the functions of modules have no name any more") {
    CHECK(kernel_function_of("con_init+0x0/0x2f0") == "con_init");
    CHECK(kernel_function_of("init_v9fs+0x0/0x1000 [9p]").empty());
    CHECK(kernel_function_of("0xffffffffc0123000").empty());
    FtraceEvent event{.fields = "func=init_v9fs+0x0/0x1000 [9p] ret=0"};
    CHECK(field_of(event, "func") == "init_v9fs+0x0/0x1000 [9p]");
    CHECK(field_of(event, "ret") == "0");
}

TEST_CASE("a message of the kernel has a level, a time and a text") {
    auto message = read_kernel_message("30,339,5140900,-;a\\x09b\\x5c\\\n SUBSYSTEM=acpi\n DEVICE=+acpi:x\n");
    REQUIRE(message);
    CHECK(message->level == 6);
    CHECK(message->facility == 3);
    CHECK(message->sequence == 339);
    CHECK(message->stamp_ns == 5'140'900'000);
    CHECK(message->text == "a\tb\\\\");
    CHECK(read_kernel_message("4,0,0,-,caller=T1;x")->text == "x");
    for (const char* record : {"", "4", "4,1", "4,1,2", "4,1,2,-", "x,1,2,-;t", "4,1,18446744073709551615,-;t"})
        CHECK_FALSE(read_kernel_message(record));
}

TEST_CASE("a time of the TSC is converted by two readings") {
    TscReading first{3'000'000'000, 1'000'000'000, 100}, second{6'000'000'000, 2'000'000'000, 60};
    CHECK(clock_ns_of(3'000'000'000, first, second) == 1'000'000'000);
    CHECK(clock_ns_of(4'500'000'000, first, second) == 1'500'000'000);
    CHECK(clock_ns_of(300'000'000, first, second) == 100'000'000);
    CHECK(clock_ns_of(0, first, second) == 0);
    CHECK(clock_ns_of(0, {3'000'000'000, 500'000'000}, {6'000'000'000, 1'500'000'000}) == -500'000'000);
    CHECK(clock_ns_of(5, second, first) == 0);
    CHECK(clock_error_ns(6'000'000'000, first, second) == 30);
    CHECK(clock_error_ns(0, first, second) == 190);
    CHECK(clock_error_ns(0, second, first) == UINT64_MAX);
}

TEST_CASE("no text of either kind is trusted") {
    std::mt19937 random(7);
    const std::string good = "init-1  [001] .....  1.348007: initcall_finish: func=a+0x0/0x2 [m] ret=-19\n"
                             "CPU:1 [LOST 25 EVENTS]\n4,1,2,-;\\x0a\n";
    for (int i = 0; i < 20000; i++) {
        std::string text = good;
        for (int edits = 0; edits < 4; edits++) {
            size_t at = random() % text.size();
            switch (random() % 3) {
            case 0:
                text[at] = static_cast<char>(random());
                break;
            case 1:
                text.erase(at, 1 + random() % 8);
                break;
            default:
                text.insert(at, text.substr(random() % text.size(), random() % 12));
            }
            if (text.empty())
                text = good;
        }
        FtraceText read = read_ftrace(text);
        for (const FtraceEvent& event : read.events)
            static_cast<void>(field_of(event, "func"));
        static_cast<void>(read_kernel_message(text.substr(text.rfind("4,") == std::string::npos ? 0 : text.rfind("4,"))));
        CHECK(read.events.size() + read.other_lines <= 64);
    }
}
