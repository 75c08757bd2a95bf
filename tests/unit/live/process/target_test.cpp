// SPDX-License-Identifier: Apache-2.0
#include "live/process/target.hpp"

#include "live/process/child_signal.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace daybreak;
using namespace daybreak::live;

namespace {

/// How long a sleep may be; the end of the command cuts it short.
constexpr uint64_t kLookNs = 50'000'000;

void await_end(Target& target) {
    while (!target.is_gone())
        sleep_until_child(kLookNs);
}

/// Runs a command to its end.  Returns what is said of that, without the process id.
std::string end_of(const std::string& command) {
    auto target = Target::start(command);
    REQUIRE(target.ok());
    target->let_go();
    await_end(*target);
    std::string pid = "pid " + std::to_string(target->pid());
    std::string text = target->end_text();
    REQUIRE(text.starts_with(pid));
    return text.substr(pid.size());
}

} // namespace

TEST_CASE("a command is held after its exec until it is let go", "[live][target]") {
    block_child_signal();
    auto target = Target::start(" sleep\t1000 ");
    REQUIRE(target.ok());
    CHECK(target->is_child());
    CHECK(target->is_held());
    CHECK_FALSE(target->is_gone());
    CHECK(state_of(target->pid()) == 't');
    pid_t pid = target->pid();
    Target moved = std::move(*target);
    CHECK(moved.pid() == pid);
    CHECK(moved.is_held());
    CHECK_FALSE(target->is_held()); // what it was moved from ends no process
    moved.let_go();
    CHECK_FALSE(moved.is_held());
    CHECK_FALSE(moved.is_gone());
    moved.end();
    CHECK(moved.is_gone());
    CHECK(state_of(pid) == 0);
}

TEST_CASE("how a command ended is said in words", "[live][target]") {
    block_child_signal();
    CHECK(end_of("true") == " has exited");
    CHECK(end_of("false") == " exited with status 1");
}

TEST_CASE("a command is looked at when it has come to its end", "[live][target]") {
    block_child_signal();
    auto target = Target::start("true");
    REQUIRE(target.ok());
    std::vector<pid_t> ended;
    target->set_at_end([&ended](pid_t pid) { ended.push_back(pid); });
    target->let_go();
    await_end(*target);
    CHECK(ended == std::vector<pid_t>{target->pid()});
}

TEST_CASE("what cannot be executed or watched is an error", "[live][target]") {
    auto missing = Target::start("/nonexistent/command x");
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().message() ==
          "failed to execute /nonexistent/command: No such file or directory");
    auto empty = Target::start(" ");
    REQUIRE_FALSE(empty.ok());
    CHECK(empty.error().code() == base::ErrorCode::invalid);

    auto gone = Target::watch(484837947); // above the kernel's greatest
    REQUIRE_FALSE(gone.ok());
    CHECK(gone.error().code() == base::ErrorCode::not_found);
    CHECK(gone.error().message() == "No such process");
}

TEST_CASE("a process that is watched runs on", "[live][target]") {
    auto self = Target::watch(::getpid());
    REQUIRE(self.ok());
    CHECK_FALSE(self->is_child());
    CHECK_FALSE(self->is_held());
    self->end();
    CHECK_FALSE(self->is_gone());
}
