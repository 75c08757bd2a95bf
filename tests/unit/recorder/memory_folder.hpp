// SPDX-License-Identifier: Apache-2.0
//
// A folder in memory whose disk a test can fill, break, or take away; and a host whose clock stands
// still between two waits.
#pragma once

#include "recorder/follow/follower.hpp"

#include <map>

namespace daybreak::test {

using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::Result;

/// The files and what is wrong with their disk.  Copy it to have what a killed recorder leaves.
struct MemoryDisk {
    std::map<std::string, Bytes> files;
    uint64_t bytes_max = UINT64_MAX;
    bool broken = false;      ///< every call is an I/O error
    bool sync_broken = false; ///< appending works, syncing does not
    uint64_t syncs = 0;

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
};

class MemoryFolder : public recorder::FolderApi {
public:
    explicit MemoryFolder(MemoryDisk& disk) : disk_(disk) {}

    Result<std::vector<recorder::FolderEntry>> list() override {
        DBK_TRY_VOID(works());
        std::vector<recorder::FolderEntry> entries;
        for (const auto& [name, content] : disk_.files)
            entries.push_back({name, content.size(), 1});
        return entries;
    }
    Result<Bytes> read(const std::string& name) override {
        DBK_TRY_VOID(works());
        return disk_.files.at(name);
    }
    Result<std::unique_ptr<recorder::AppendFile>> create(const std::string& name) override {
        DBK_TRY_VOID(works());
        DBK_ASSERT(!disk_.files.contains(name));
        disk_.files[name];
        return std::unique_ptr<recorder::AppendFile>(new File(disk_, name));
    }
    Result<std::unique_ptr<recorder::AppendFile>> reopen(const std::string& name,
                                                         uint64_t keep_bytes) override {
        DBK_TRY_VOID(works());
        disk_.files.at(name).resize(keep_bytes);
        return std::unique_ptr<recorder::AppendFile>(new File(disk_, name));
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        DBK_TRY_VOID(works());
        auto node = disk_.files.extract(from);
        node.key() = to;
        disk_.files.insert(std::move(node));
        return {};
    }
    Result<void> remove(const std::string& name) override {
        DBK_TRY_VOID(works());
        disk_.files.erase(name);
        return {};
    }
    Result<void> replace(const std::string& name, ByteView content) override {
        DBK_TRY_VOID(works());
        disk_.files[name] = Bytes(content.begin(), content.end());
        return {};
    }
    Result<void> sync() override { return works(); }
    const std::string& path() const override { return path_; }

private:
    /// Follows its content through renames: by the number in the name, which never changes.
    class File : public recorder::AppendFile {
    public:
        File(MemoryDisk& disk, const std::string& name) : disk_(disk), stem_(name.substr(0, 15)) {}
        Result<void> append(ByteView bytes) override {
            if (disk_.broken)
                return base::errorf(ErrorCode::io, "the disk is broken");
            if (disk_.bytes() + bytes.size() > disk_.bytes_max)
                return base::errorf(ErrorCode::full, "the disk is full");
            Bytes& content = disk_.files.lower_bound(stem_)->second;
            content.insert(content.end(), bytes.begin(), bytes.end());
            return {};
        }
        Result<void> sync() override {
            if (disk_.broken || disk_.sync_broken)
                return base::errorf(ErrorCode::io, "the disk does not sync");
            disk_.syncs++;
            return {};
        }
        bool is_usable() const override { return true; }
        bool is_gone() const override {
            auto at = disk_.files.lower_bound(stem_);
            return at == disk_.files.end() || at->first.substr(0, 15) != stem_;
        }

    private:
        MemoryDisk& disk_;
        std::string stem_;
    };

    Result<void> works() const {
        if (disk_.broken)
            return base::errorf(ErrorCode::io, "the disk is broken");
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
