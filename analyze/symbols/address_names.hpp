// SPDX-License-Identifier: Apache-2.0
//
// Address names: a kernel or user address as dtrace(1) writes it.
//
// The kernel's symbols are those of the boot that was recorded, as they lay in memory, so no slide
// is added.
#pragma once

#include "analyze/symbols/key_times.hpp"
#include "analyze/symbols/user_names.hpp"
#include "formats/segment/clock.hpp"
#include "formats/trace/metadata.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace daybreak::analyze {

/// Addresses that were asked for where there was nothing to look them up in.
struct UnnamedAddresses {
    bool kernel = false;   ///< there are no symbols of the kernel
    bool user = false;     ///< there is nothing that knows processes
    bool unmapped = false; ///< some user address lies in nothing that is known of its process

    explicit operator bool() const { return kernel || user; }
};

/// How names of user addresses are written.
struct UserNameStyle {
    bool mangled = false; ///< of C++ and Rust as the linker has them
    bool lines = false;   ///< locations with the source line: "prog`main+0x4 (prog.c:12)"
};

class AddressNames {
    struct When {
        const formats::ClockModel* clock = nullptr; ///< null: of no known time
        uint64_t ticks = 0;
        const KeyTimes* keys = nullptr; ///< where there is no clock; null: nothing is known of them
    };

public:
    /// Looks up in `symbols` and `users`, which must outlive this; null when there are none.
    explicit AddressNames(const formats::SymbolTable* symbols, UserNames* users = nullptr,
                          UserNameStyle style = {})
        : symbols_(symbols), users_(users), style_(style) {}

    /// Returns "module`symbol+0xoffset", "module`symbol" at its start, or "0xaddress".
    std::string location(uint64_t address) const;
    /// Returns "module`symbol" of the symbol the address lies in, or "0xaddress".
    std::string symbol(uint64_t address) const;
    /// Returns "module", or "0xaddress".
    std::string module(uint64_t address) const;

    /// Returns where the symbol or module of an address begins, or the address when it has none:
    /// keys by sym() and mod() are one for all of it.
    uint64_t symbol_start(uint64_t address) const;
    uint64_t module_start(uint64_t address) const;

    /// The same of an address of a process: "object`symbol+0xoffset", "object`0xaddress" where
    /// there is no symbol, "0xaddress" where there is nothing.  `is_return`: it is where a call
    /// returns to, and function and line are those of the call.
    std::string user_location(uint64_t pid, uint64_t address, bool is_return = false) const;
    std::string user_symbol(uint64_t pid, uint64_t address) const;
    std::string user_module(uint64_t pid, uint64_t address) const;
    /// Where the symbol or object of it begins, or the address when it has none; `keys` keeps when
    /// that was, if it is known.
    uint64_t user_symbol_start(uint64_t pid, uint64_t address, KeyTimes& keys) const;
    uint64_t user_module_start(uint64_t pid, uint64_t address, KeyTimes& keys) const;
    /// Returns the program counters that a recorded piece of a process's stack leads to.
    UnwoundStack unwind(uint64_t pid, const RecordedThread& thread) const;
    /// Returns "object:0xoffset", for option noresolve.
    std::string user_unresolved(uint64_t pid, uint64_t address) const;

    const UnnamedAddresses& unnamed() const { return unnamed_; }

    /// While there is one, addresses of processes are meant as they were at that time; without a
    /// clock as `keys` knows them, else at any time.  What it is given must outlive it.
    class Moment {
    public:
        Moment(const AddressNames& names, const formats::ClockModel* clock, uint64_t ticks)
            : Moment(names, When{clock, ticks, nullptr}) {}
        Moment(const AddressNames& names, const KeyTimes& keys)
            : Moment(names, When{nullptr, 0, &keys}) {}
        ~Moment() { names_.when_ = before_; }
        Moment(const Moment&) = delete;
        Moment& operator=(const Moment&) = delete;

    private:
        Moment(const AddressNames& names, const When& when) : names_(names), before_(names.when_) {
            names_.when_ = when;
        }

        const AddressNames& names_;
        When before_;
    };

private:
    std::optional<uint64_t> moment_ns() const;
    std::optional<UserPlace> find_user(uint64_t pid, uint64_t address) const;
    template <typename StartOf>
    uint64_t user_start(uint64_t pid, uint64_t address, KeyTimes& keys, StartOf start_of) const;
    std::string user_text(uint64_t pid, uint64_t address, bool offset) const;
    std::string function_text(const UserPlace& place, bool offset) const;
    std::string shown(const std::string& symbol) const;
    std::optional<formats::SymbolTable::Match> find(uint64_t address) const;

    const formats::SymbolTable* symbols_;
    UserNames* users_;
    UserNameStyle style_;
    mutable When when_;
    mutable UnnamedAddresses unnamed_;
    mutable std::map<std::string, uint64_t, std::less<>> module_starts_; ///< those asked for
    mutable std::unordered_map<std::string, std::string> shown_;         ///< mangled names
};

} // namespace daybreak::analyze
