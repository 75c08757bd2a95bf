// SPDX-License-Identifier: Apache-2.0
//
// A folder in memory whose disk a test can fill, break, or take away; and a host whose clock stands
// still between two waits.
#pragma once

#include "recorder/follow/follower.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace daybreak::test {

using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::Result;

/// The files and what is wrong with their disk.  Copy it to have what a killed recorder leaves.
///
/// As Linux has it, bytes that a failed sync was about stay readable and never reach the disk,
/// though later syncs of the file succeed.
struct MemoryDisk {
    /// Of a file: what a machine that loses power now would have of it.
    struct Durable {
        uint64_t id = 0;
        bool named = false; ///< its name is on the disk
        uint64_t synced_bytes = 0;
        std::vector<std::pair<uint64_t, uint64_t>> failed; ///< from, to
    };
    std::map<std::string, Bytes> files; ///< as processes see them
    std::map<std::string, Durable> durable;
    uint64_t bytes_max = UINT64_MAX;
    bool broken = false;      ///< every call is an I/O error
    bool sync_broken = false; ///< appending works, syncing does not
    uint64_t syncs = 0, last_id = 0;
    uint64_t wall_ns = 1; ///< when all files were written, as the disk has it
    /// Asked before each call: list, read, create, rename, remove, replace, cut, append, half (of
    /// an append is written), sync, sync-folder.  Returns the error that it shall be.
    std::function<std::optional<ErrorCode>(std::string_view call)> fault;

    Result<void> works(const char* call) {
        bool is_sync = std::string_view(call).starts_with("sync");
        if (broken || (is_sync && sync_broken))
            return base::errorf(ErrorCode::io, "the disk is broken (%s)", call);
        std::optional<ErrorCode> error = fault ? fault(call) : std::nullopt;
        if (error)
            return base::errorf(*error, "the disk refuses (%s)", call);
        return {};
    }
    uint64_t bytes() const {
        uint64_t total = 0;
        for (const auto& [name, content] : files)
            total += content.size();
        return total;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const auto& [name, content] : files)
            all.push_back(name);
        return all;
    }
    Result<void> sync(const std::string& name) {
        Result<void> done = works("sync");
        Durable& kept = durable[name];
        uint64_t bytes = files.at(name).size();
        if (!done.ok() && kept.synced_bytes != bytes)
            kept.failed.emplace_back(kept.synced_bytes, bytes);
        kept.synced_bytes = bytes;
        syncs += done.ok();
        return done;
    }
    void cut(const std::string& name, uint64_t keep_bytes) {
        files.at(name).resize(keep_bytes);
        Durable& kept = durable[name];
        kept.synced_bytes = std::min(kept.synced_bytes, keep_bytes);
        std::erase_if(kept.failed, [&](auto& range) { return range.first >= keep_bytes; });
    }
    /// Returns the files as they are after a loss of power.
    std::map<std::string, Bytes> after_power_loss() const {
        std::map<std::string, Bytes> left;
        for (const auto& [name, kept] : durable) {
            auto content = files.find(name);
            if (!kept.named || content == files.end())
                continue;
            Bytes& bytes = left[name] = content->second;
            bytes.resize(std::min<uint64_t>(bytes.size(), kept.synced_bytes));
            for (auto [from, to] : kept.failed)
                std::fill(bytes.begin() + static_cast<ptrdiff_t>(std::min(from, bytes.size())),
                          bytes.begin() + static_cast<ptrdiff_t>(std::min(to, bytes.size())),
                          std::byte{0});
        }
        return left;
    }
};

class MemoryFolder : public recorder::FolderApi {
public:
    explicit MemoryFolder(MemoryDisk& disk) : disk_(disk) {}

    Result<std::vector<recorder::FolderEntry>> list() override {
        DBK_TRY_VOID(disk_.works("list"));
        std::vector<recorder::FolderEntry> entries;
        for (const auto& [name, content] : disk_.files)
            entries.push_back({name, content.size(), disk_.wall_ns});
        return entries;
    }
    Result<Bytes> read(const std::string& name) override {
        DBK_TRY_VOID(disk_.works("read"));
        return disk_.files.at(name);
    }
    Result<Bytes> read_beginning(const std::string& name, size_t bytes_max) override {
        DBK_TRY(Bytes bytes, read(name));
        bytes.resize(std::min(bytes.size(), bytes_max));
        return bytes;
    }
    Result<std::unique_ptr<recorder::AppendFile>> create(const std::string& name) override {
        DBK_TRY_VOID(disk_.works("create"));
        if (disk_.files.contains(name))
            return base::errorf(ErrorCode::busy, "%s: File exists", name.c_str());
        disk_.files[name];
        disk_.durable[name].id = ++disk_.last_id;
        return std::unique_ptr<recorder::AppendFile>(new File(disk_, disk_.last_id));
    }
    Result<void> cut(const std::string& name, uint64_t keep_bytes) override {
        DBK_TRY_VOID(there("cut", name));
        disk_.cut(name, keep_bytes);
        return {};
    }
    Result<void> sync_file(const std::string& name) override {
        DBK_TRY_VOID(there("read", name));
        return disk_.sync(name);
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        DBK_TRY_VOID(there("rename", from));
        auto move = [&](auto& map) {
            auto node = map.extract(from);
            node.key() = to;
            map.erase(to);
            map.insert(std::move(node));
        };
        move(disk_.files);
        move(disk_.durable);
        return {};
    }
    Result<void> remove(const std::string& name) override {
        DBK_TRY_VOID(there("remove", name));
        disk_.files.erase(name);
        disk_.durable.erase(name);
        return {};
    }
    Result<void> replace(const std::string& name, ByteView content) override {
        DBK_TRY_VOID(disk_.works("replace"));
        disk_.files[name] = Bytes(content.begin(), content.end());
        disk_.durable[name] = {++disk_.last_id, true, content.size(), {}};
        return {};
    }
    Result<void> sync() override {
        DBK_TRY_VOID(disk_.works("sync-folder"));
        for (auto& [name, kept] : disk_.durable)
            kept.named = true;
        return {};
    }
    const std::string& path() const override { return path_; }

private:
    /// Follows its content through renames.
    class File : public recorder::AppendFile {
    public:
        File(MemoryDisk& disk, uint64_t id) : disk_(disk), id_(id) {}
        Result<void> append(ByteView bytes) override {
            if (!usable_)
                return base::errorf(ErrorCode::io, "it holds half a block");
            DBK_TRY_VOID(disk_.works("append"));
            if (disk_.bytes() + bytes.size() > disk_.bytes_max)
                return base::errorf(ErrorCode::full, "the disk is full");
            Result<void> half = disk_.works("half");
            usable_ = half.ok();
            Bytes gone; // a file that was removed can still be written to
            auto at = find();
            Bytes& content = at == disk_.durable.end() ? gone : disk_.files.at(at->first);
            ByteView put = usable_ ? bytes : bytes.first(bytes.size() / 2);
            content.insert(content.end(), put.begin(), put.end());
            return half;
        }
        Result<void> sync() override {
            auto at = find();
            return at == disk_.durable.end() ? disk_.works("sync") : disk_.sync(at->first);
        }
        bool is_usable() const override { return usable_; }
        bool is_gone() const override { return find() == disk_.durable.end(); }

    private:
        std::map<std::string, MemoryDisk::Durable>::iterator find() const {
            return std::find_if(disk_.durable.begin(), disk_.durable.end(), [&](const auto& one) {
                return one.second.id == id_ && disk_.files.contains(one.first);
            });
        }
        MemoryDisk& disk_;
        uint64_t id_;
        bool usable_ = true;
    };

    Result<void> there(const char* call, const std::string& name) {
        DBK_TRY_VOID(disk_.works(call));
        if (!disk_.files.contains(name))
            return base::errorf(ErrorCode::not_found, "%s is not there", name.c_str());
        return {};
    }

    MemoryDisk& disk_;
    std::string path_ = "memory";
};

/// Runs a script: what happens while the follower waits.
class ScriptedHost : public recorder::FollowHost {
public:
    using Step = std::function<recorder::FollowEvents(uint64_t turn)>;
    using Open = std::function<Result<std::unique_ptr<recorder::DeviceApi>>()>;
    ScriptedHost(Open open, Step step) : open_(std::move(open)), step_(std::move(step)) {}

    formats::HostClocks clocks() override { return {now_ns, now_ns + 100, now_ns + wall_ns}; }
    recorder::FollowEvents wait(uint64_t timeout_ns) override {
        now_ns += timeout_ns;
        waited.push_back(timeout_ns);
        return step_(turn_++);
    }
    Result<std::unique_ptr<recorder::DeviceApi>> open_device() override { return open_(); }
    void publish(const formats::RecorderStatus& status) override { last = status; }
    void say(const std::string& line) override { said.push_back(line); }

    bool has_said(const std::string& part) const {
        for (const std::string& line : said)
            if (line.find(part) != std::string::npos)
                return true;
        return false;
    }

    uint64_t now_ns = 1'000'000'000, wall_ns = 1'700'000'000'000'000'000;
    std::vector<uint64_t> waited;
    std::vector<std::string> said;
    formats::RecorderStatus last;

private:
    Open open_;
    Step step_;
    uint64_t turn_ = 0;
};

} // namespace daybreak::test
