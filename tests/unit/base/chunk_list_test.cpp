// SPDX-License-Identifier: Apache-2.0
#include "base/chunk_list.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

using daybreak::base::ChunkList;

TEST_CASE("a list in chunks has what was added, in order", "[base]") {
    constexpr size_t kChunk = ChunkList<int>::kChunk;
    for (size_t count : {size_t{0}, size_t{1}, kChunk - 1, kChunk, kChunk + 1, 3 * kChunk + 7}) {
        ChunkList<std::unique_ptr<size_t>> list;
        for (size_t i = 0; i < count; i++)
            list.push_back(std::make_unique<size_t>(i));
        REQUIRE(list.size() == count);
        REQUIRE(list.empty() == (count == 0));
        size_t expected = 0;
        for (const std::unique_ptr<size_t>& one : list)
            REQUIRE(*one == expected++);
        REQUIRE(expected == count);
        if (count != 0)
            REQUIRE(*list.back() == count - 1);
        for (size_t left : {count, count / 2, size_t{0}}) {
            list.truncate(left);
            REQUIRE(list.size() == left);
            REQUIRE(std::all_of(list.begin(), list.end(),
                                [&](const auto& one) { return *one < left; }));
        }
        list.push_back(std::make_unique<size_t>(77));
        REQUIRE(*list.front() == 77);
    }
}

TEST_CASE("what is in later chunks of a list stays where it is", "[base]") {
    ChunkList<int> list;
    for (int i = 0; i < 300; i++)
        list.push_back(i);
    const int* at = &list[299];
    for (int i = 0; i < 100000; i++)
        list.push_back(i);
    CHECK(at == &list[299]);
    CHECK(*at == 299);
}
