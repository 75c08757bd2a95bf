// SPDX-License-Identifier: Apache-2.0
//
// The device by ioctl and mmap.
#include "recorder/device.hpp"

#include "base/file.hpp"
#include "formats/abi/limits.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>

namespace daybreak::recorder {

namespace {

/// The text of a field, which ends in a NUL.
template <size_t bytes> std::string text_of(const char (&field)[bytes]) {
    return std::string(field, ::strnlen(field, bytes - 1));
}

using base::errno_errorf;
using base::errorf;

constexpr uint32_t kRegionsMax = 1u << 20;
constexpr int kListAttemptsMax = 5;

class Device : public DeviceApi {
public:
    Device(base::ScopedFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

    Result<dbk_ioc_status> status() override {
        dbk_ioc_status status = {};
        if (call(DBK_IOC_STATUS, &status) != 0)
            return errno_errorf("%s does not report its status", path_.c_str());
        return status;
    }

    Result<std::optional<dbk_ioc_region>> region(uint32_t index) override {
        dbk_ioc_region region = {};
        region.index = index;
        if (call(DBK_IOC_REGION, &region) == 0)
            return std::optional(region);
        if (errno == ENOENT)
            return std::optional<dbk_ioc_region>();
        return errno_errorf("%s does not report region %u", path_.c_str(), index);
    }

    Result<Mapping> map(const dbk_ioc_region& region) override {
        size_t bytes = region.bytes;
        void* base = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_.get(),
                            static_cast<off_t>(region.offset));
        if (base == MAP_FAILED)
            return errno_errorf("cannot map %zu bytes of ring %u", bytes, region.ring_id);
        return Mapping(ByteView(static_cast<const std::byte*>(base), bytes),
                       [base, bytes] { ::munmap(base, bytes); });
    }

    Result<std::optional<uint16_t>> claim(uint16_t ring_id) override {
        dbk_ioc_ring ring = {};
        ring.ring_id = ring_id;
        if (call(DBK_IOC_CLAIM, &ring) == 0)
            return std::optional(static_cast<uint16_t>(ring.ring_id));
        if (errno == ENOENT)
            return std::optional<uint16_t>();
        if (errno == EBUSY)
            return errorf(ErrorCode::busy, "another process has claimed the boot's recording");
        return errno_errorf("cannot claim the boot's recording");
    }

    Result<dbk_ioc_holder> holder(uint16_t ring_id) override {
        dbk_ioc_holder holder = {};
        holder.ring_id = ring_id;
        if (call(DBK_IOC_HOLDER, &holder) != 0)
            return errno == ENOTTY ? too_old() : errno_errorf("ring %u", ring_id);
        return holder;
    }

    Result<void> detach(uint16_t ring_id) override {
        dbk_ioc_ring ring = {};
        ring.ring_id = ring_id;
        if (call(DBK_IOC_DETACH, &ring) != 0)
            return errno_errorf("cannot let go of ring %u", ring_id);
        return {};
    }

    Result<void> stop(uint16_t ring_id) override {
        dbk_ioc_ring ring = {};
        ring.ring_id = ring_id;
        if (call(DBK_IOC_STOP, &ring) != 0)
            return errno_errorf("cannot stop ring %u", ring_id);
        return {};
    }

    Result<std::optional<Bytes>> take_aggregations(uint16_t ring_id, uint32_t cpu,
                                                   uint32_t room_bytes) override {
        Bytes buffer(room_bytes);
        dbk_ioc_aggsnap snapshot = {};
        snapshot.ring_id = ring_id;
        snapshot.cpu = cpu;
        snapshot.buffer = reinterpret_cast<uintptr_t>(buffer.data());
        snapshot.bytes = room_bytes;
        if (call(DBK_IOC_AGGSNAP, &snapshot) == 0) {
            if (snapshot.bytes > room_bytes)
                return errorf(ErrorCode::corrupt, "ring %u cpu %u: %u bytes of aggregations in %u",
                              ring_id, cpu, snapshot.bytes, room_bytes);
            buffer.resize(snapshot.bytes);
            return std::optional(std::move(buffer));
        }
        if (errno == ENODATA)
            return std::optional(Bytes());
        if (errno == EINVAL)
            return std::optional<Bytes>();
        return errno_errorf("cannot take the aggregations of ring %u cpu %u", ring_id, cpu);
    }

    Result<std::optional<Probe>> probe(uint32_t index, bool only_existing) override {
        dbk_ioc_probe probe = {};
        probe.index = index;
        probe.probe_id = only_existing ? DBK_PROBE_ONLY_EXISTING : 0;
        if (call(DBK_IOC_PROBE, &probe) != 0) {
            if (errno == ENOENT)
                return std::optional<Probe>();
            return errno_errorf("%s does not report probe %u", path_.c_str(), index);
        }
        Probe found{probe.probe_id, text_of(probe.provider), text_of(probe.module),
                    text_of(probe.function), text_of(probe.name)};
        std::string* const names[DBK_NAMES] = {&found.provider, &found.module, &found.function,
                                               &found.name};
        const size_t rooms[DBK_NAMES] = {sizeof(probe.provider), sizeof(probe.module),
                                         sizeof(probe.function), sizeof(probe.name)};
        for (uint32_t which = 0; which < DBK_NAMES; which++)
            if (names[which]->size() == rooms[which] - 1)
                complete(*names[which], which, index, probe.probe_id);
        return std::optional(std::move(found));
    }

    Result<uint32_t> count(const dbk_ioc_provide& description) override {
        dbk_ioc_provide copy = description;
        int matched = call(DBK_IOC_COUNT, &copy);
        if (matched < 0 && errno == ENOTTY)
            matched = call(DBK_IOC_PROVIDE, &copy);
        if (matched < 0 && errno == E2BIG)
            return errorf(ErrorCode::limit,
                          "cannot make the probes %s:%s:%s:%s: as many of its provider as there can be are there",
                          copy.provider, copy.module, copy.function, copy.name);
        if (matched < 0)
            return errno_errorf("cannot make the probes %s:%s:%s:%s", copy.provider, copy.module,
                                copy.function, copy.name);
        return static_cast<uint32_t>(matched);
    }

    std::string remark() const override { return remark_; }

    Result<uint16_t> enable(ByteView dof, const std::string& name) override {
        dbk_ioc_enable_as request = {};
        dbk_ioc_enable& answer = request.enable;
        if (dof.size() > DBK_DOF_BYTES_MAX)
            return errorf(ErrorCode::limit, "the program is larger than %u bytes of DOF",
                          DBK_DOF_BYTES_MAX);
        answer.dof = reinterpret_cast<uintptr_t>(dof.data());
        answer.dof_bytes = static_cast<uint32_t>(dof.size());
        name.copy(request.name, sizeof(request.name));
        bool enabled = call(name.empty() ? DBK_IOC_ENABLE : DBK_IOC_ENABLE_AS, &request) == 0;
        int error = errno;
        answer.reason[sizeof(answer.reason) - 1] = 0;
        if (enabled) {
            remark_ = answer.reason;
            return static_cast<uint16_t>(answer.ring_id);
        }
        if (error == EEXIST)
            return errorf(ErrorCode::busy,
                          "a program named %s is at work already: end it with `daybreak stop %s`, or "
                          "give this one another name with --name",
                          name.c_str(), name.c_str());
        if (error == ENOTTY)
            return too_old();
        if (answer.reason[0] == 0) {
            errno = error;
            return errno_errorf("cannot enable the program");
        }
        ErrorCode code = error == E2BIG     ? ErrorCode::limit
                         : error == ENOEXEC ? ErrorCode::unsupported
                         : error == EINVAL  ? ErrorCode::invalid
                                            : ErrorCode::io;
        return Error(code, answer.reason);
    }

    Result<void> release(uint16_t ring_id, uint32_t cpu, uint64_t sequence) override {
        dbk_ioc_release release = {ring_id, cpu, sequence};
        if (call(DBK_IOC_RELEASE, &release) != 0)
            return errno_errorf("cannot release segments of ring %u cpu %u", ring_id, cpu);
        return {};
    }

    Result<dbk_ioc_bank> bank(uint16_t ring_id) override {
        dbk_ioc_bank bank = {};
        bank.ring_id = ring_id;
        if (call(DBK_IOC_BANK, &bank) != 0)
            return errno_errorf("%s does not report its bank", path_.c_str());
        return bank;
    }

private:
    static Error too_old() {
        return errorf(ErrorCode::unsupported,
                      "the loaded daybreak module is older than this program: it knows no names of "
                      "programs");
    }

    int call(unsigned long request, void* argument) {
        int result;
        do
            result = ::ioctl(fd_.get(), request, argument);
        while (result < 0 && errno == EINTR);
        return result;
    }

    /// Appends what PROBE has cut off a name; a module that knows no more leaves it so.
    void complete(std::string& name, uint32_t which, uint32_t index, uint32_t probe_id) {
        constexpr size_t kPartBytes = sizeof(dbk_ioc_name::part) - 1;
        size_t got = kPartBytes;
        while (got == kPartBytes && name.size() < DBK_PROBE_NAME_BYTES_MAX) {
            dbk_ioc_name rest = {};
            rest.index = index;
            rest.probe_id = probe_id;
            rest.at = static_cast<uint32_t>(name.size());
            rest.which = which;
            if (call(DBK_IOC_NAME, &rest) != 0)
                return;
            std::string part = text_of(rest.part);
            got = part.size();
            name += part;
        }
    }

    base::ScopedFd fd_;
    std::string path_, remark_;
};

} // namespace

Result<std::vector<dbk_ioc_region>> DeviceApi::regions() {
    // Indices move when rings come, grow and go: listed again until the counts stay.
    for (int attempt = 0; attempt < kListAttemptsMax; attempt++) {
        std::vector<dbk_ioc_region> found;
        DBK_TRY(dbk_ioc_status before, status());
        for (uint32_t index = 0; index < kRegionsMax; index++) {
            DBK_TRY(std::optional<dbk_ioc_region> next, region(index));
            if (!next)
                break;
            found.push_back(*next);
        }
        DBK_TRY(dbk_ioc_status after, status());
        if (before.ring_count == after.ring_count && before.region_count == after.region_count) {
            std::stable_sort(found.begin(), found.end(),
                             [](const dbk_ioc_region& a, const dbk_ioc_region& b) {
                                 return (a.kind != DBK_REGION_META) < (b.kind != DBK_REGION_META);
                             });
            return found;
        }
    }
    return errorf(ErrorCode::busy, "rings come and go too fast to be listed");
}

Result<dbk_ioc_status> check_version(DeviceApi& device) {
    DBK_TRY(dbk_ioc_status status, device.status());
    if (status.abi_version != DBK_IOC_ABI_VERSION)
        return errorf(ErrorCode::unsupported,
                      "the loaded daybreak module speaks version %u, this program %u; use the "
                      "daybreak that the module was installed with",
                      status.abi_version, DBK_IOC_ABI_VERSION);
    return status;
}

Result<std::unique_ptr<DeviceApi>> open_device(const std::string& path) {
    base::ScopedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.valid())
        return std::unique_ptr<DeviceApi>(new Device(std::move(fd), path));
    if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
        return errorf(ErrorCode::not_found,
                      "the daybreak module is not loaded (%s is not there): insmod daybreak.ko, or "
                      "boot with it",
                      path.c_str());
    if (errno == EACCES || errno == EPERM)
        return errorf(ErrorCode::io,
                      "cannot open %s: %s; run this as root, with CAP_SYS_ADMIN or with CAP_PERFMON "
                      "and CAP_BPF",
                      path.c_str(), strerror(errno));
    return errno_errorf("cannot open %s", path.c_str());
}

} // namespace daybreak::recorder
