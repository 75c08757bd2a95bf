// SPDX-License-Identifier: Apache-2.0
//
// ChunkList: a list that grows without moving what it has.
//
// A vector of a million elements needs three times their memory while it grows, and a deque half a
// kilobyte for the first one.  Here the first kChunk elements are a vector's, and each later chunk
// is allocated once:
//
//     chunks_   [0 .. 255] [256 .. 511] [512 .. ]
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace daybreak::base {

template <typename T>
class ChunkList {
    template <bool IsConst>
    class Iterator {
        using List = std::conditional_t<IsConst, const ChunkList, ChunkList>;

    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using reference = std::conditional_t<IsConst, const T&, T&>;
        using pointer = std::conditional_t<IsConst, const T*, T*>;

        Iterator() = default;
        Iterator(List* list, size_t index) : list_(list), index_(index) {}
        reference operator*() const { return (*list_)[index_]; }
        pointer operator->() const { return &(*list_)[index_]; }
        Iterator& operator++() {
            index_++;
            return *this;
        }
        Iterator operator++(int) { return Iterator(list_, index_++); }
        bool operator==(const Iterator&) const = default;

    private:
        List* list_ = nullptr;
        size_t index_ = 0;
    };

public:
    static constexpr size_t kChunk = 256;

    using value_type = T;
    using iterator = Iterator<false>;
    using const_iterator = Iterator<true>;

    ChunkList() = default;
    ChunkList(const ChunkList&) = default;
    ChunkList& operator=(const ChunkList&) = default;
    ChunkList(ChunkList&& other) noexcept
        : chunks_(std::exchange(other.chunks_, {})), size_(std::exchange(other.size_, 0)) {}
    ChunkList& operator=(ChunkList&& other) noexcept {
        chunks_ = std::exchange(other.chunks_, {});
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](size_t index) { return chunks_[index / kChunk][index % kChunk]; }
    const T& operator[](size_t index) const { return chunks_[index / kChunk][index % kChunk]; }
    const T& at(size_t index) const {
        DBK_ASSERT(index < size_);
        return (*this)[index];
    }
    const T& front() const { return (*this)[0]; }
    const T& back() const { return (*this)[size_ - 1]; }
    iterator begin() { return {this, 0}; }
    iterator end() { return {this, size_}; }
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, size_}; }

    /// References to the first kChunk elements live until it is called again, to others as long as
    /// the list.
    void push_back(T value) {
        if (size_ % kChunk == 0) {
            chunks_.emplace_back();
            if (size_ != 0)
                chunks_.back().reserve(kChunk);
        }
        chunks_.back().push_back(std::move(value));
        size_++;
    }
    /// Leaves the first `size` elements.
    void truncate(size_t size) {
        if (size >= size_)
            return;
        chunks_.resize((size + kChunk - 1) / kChunk);
        if (size % kChunk != 0)
            chunks_.back().erase(chunks_.back().begin() +
                                     static_cast<std::ptrdiff_t>(size % kChunk),
                                 chunks_.back().end());
        size_ = size;
    }
    void clear() { *this = ChunkList(); }

private:
    std::vector<std::vector<T>> chunks_;
    size_t size_ = 0;
};

} // namespace daybreak::base
