// SPDX-License-Identifier: Apache-2.0
#include "analyze/print/flow.hpp"

#include <catch2/catch.hpp>

using daybreak::analyze::FlowIndent;
using daybreak::analyze::FlowProbe;

TEST_CASE("entries indent, returns unindent, others stand where they are", "[analyze][print]") {
    FlowIndent flow;
    FlowProbe outer_in{1, 1, "fbt", "outer", "entry"}, inner_in{2, 2, "fbt", "inner", "entry"};
    FlowProbe inner_out{3, 3, "fbt", "inner", "return"}, outer_out{4, 4, "fbt", "outer", "return"};
    FlowProbe tick{5, 5, "profile", "", "tick-1"};
    CHECK(flow.text(outer_in, 2, 2) == " -> outer");
    CHECK(flow.text(inner_in, 5, 5) == "   -> inner");
    CHECK(flow.text(tick, 3, 3) == "    | :tick-1");
    CHECK(flow.text(inner_out, 4, 4) == "   <- inner");
    CHECK(flow.text(outer_out, 0, 0) == " <- outer");
    CHECK(flow.text(outer_out, 0, 0) == " <- outer");
}

TEST_CASE("system calls have double arrows, other names may end in -entry", "[analyze][print]") {
    FlowIndent flow;
    CHECK(flow.text({1, 1, "syscall", "read", "entry"}, 2, 2) == " => read");
    CHECK(flow.text({2, 2, "syscall", "read", "return"}, 0, 0) == " <= read");
    CHECK(flow.text({3, 3, "app", "f", "method-entry"}, 0, 0) == " -> f");
    CHECK(flow.text({4, 4, "app", "f", "carpentry"}, 0, 0) == "  | f:carpentry");
}

TEST_CASE("a second clause of the same probe neither indents nor unindents", "[analyze][print]") {
    FlowIndent flow;
    CHECK(flow.text({1, 1, "fbt", "f", "entry"}, 2, 1) == " -> f");
    CHECK(flow.text({2, 1, "fbt", "f", "entry"}, 3, 2) == "  | f:entry");
    CHECK(flow.text({3, 2, "fbt", "f", "return"}, 4, 2) == "  | f:return");
    CHECK(flow.text({4, 2, "fbt", "f", "return"}, 0, 0) == " <- f");
}
