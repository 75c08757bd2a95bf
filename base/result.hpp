// SPDX-License-Identifier: Apache-2.0
//
// Result<T>: a value, or an Error with a code and a one-line message.
//
// Every function below cmd/ that can meet bad input, a missing file, a full disk or an old kernel
// returns one.  Messages are lower case, have no full stop, and say what, where, expected and got.
// Our own bugs are not Errors: DBK_ASSERT() aborts in every build.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace daybreak::base {

enum class ErrorCode : uint8_t {
    invalid,     ///< the caller's or user's input is wrong
    not_found,   ///< a file, section, probe or symbol is not there
    io,          ///< the operating system refused; the message holds strerror
    truncated,   ///< data ends early; what came before is good
    corrupt,     ///< data contradicts itself or its checksum
    unsupported, ///< well-formed, but not something this version does
    limit,       ///< a named bound was exceeded
    busy,        ///< another process holds it
    full,        ///< no room: the disk, a quota or a limit on sizes
    interrupted, ///< the user pressed Ctrl-C
};

class [[nodiscard]] Error {
public:
    Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

    ErrorCode code() const { return code_; }
    const std::string& message() const { return message_; }

    /// Returns the same error with "<fact>: " put before its message.
    Error with_context(const std::string& fact) && { return Error(code_, fact + ": " + message_); }

private:
    ErrorCode code_;
    std::string message_;
};

/// Returns text formatted as printf does.
[[gnu::format(printf, 1, 2)]] std::string strprintf(const char* format, ...);

/// Returns an Error whose message is formatted as printf does.
[[gnu::format(printf, 2, 3)]] Error errorf(ErrorCode code, const char* format, ...);

/// Returns an io Error: the formatted text, ": ", and strerror(errno) as it was at the call.
[[gnu::format(printf, 1, 2)]] Error errno_errorf(const char* format, ...);

template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const& { return std::get<1>(state_); }
    Error&& error() && { return std::get<1>(std::move(state_)); }

private:
    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    const Error& error() const& { return *error_; }
    Error&& error() && { return *std::move(error_); }

private:
    std::optional<Error> error_;
};

} // namespace daybreak::base

#define DBK_CONCAT_INNER(a, b) a##b
#define DBK_CONCAT(a, b) DBK_CONCAT_INNER(a, b)

/// DBK_TRY(auto x, expr): x = value of the Result, or return its error from this function.
#define DBK_TRY(declaration, expression)                                                           \
    auto DBK_CONCAT(dbk_try_, __LINE__) = (expression);                                            \
    if (!DBK_CONCAT(dbk_try_, __LINE__).ok())                                                      \
        return std::move(DBK_CONCAT(dbk_try_, __LINE__)).error();                                  \
    declaration = std::move(DBK_CONCAT(dbk_try_, __LINE__)).value()

/// DBK_TRY_VOID(expr): returns the error of a Result<void>, or goes on.
#define DBK_TRY_VOID(expression)                                                                   \
    do {                                                                                           \
        auto dbk_try_result = (expression);                                                        \
        if (!dbk_try_result.ok())                                                                  \
            return std::move(dbk_try_result).error();                                              \
    } while (0)

/// Our own bug: prints and aborts, in all builds.
#define DBK_ASSERT(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) [[unlikely]] {                                                           \
            std::fprintf(stderr, "daybreak: bug at %s:%d: %s does not hold\n", __FILE__, __LINE__, \
                         #condition);                                                              \
            std::abort();                                                                          \
        }                                                                                          \
    } while (0)
