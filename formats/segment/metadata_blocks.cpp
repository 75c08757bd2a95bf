// SPDX-License-Identifier: Apache-2.0
//
// Reading the metadata blocks: host, rings, DOF images, probes, ECBs, counters.
#include "formats/segment/builder_state.hpp"
#include "formats/segment/ecbs.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <tuple>

namespace daybreak::formats {

namespace {

using base::ByteReader;
using base::strprintf;

ByteView payload(const FoundPiece& block) {
    ByteView bytes = block.bytes.view();
    return bytes.size() > DBK_META_DATA_OFFSET ? bytes.subspan(DBK_META_DATA_OFFSET) : ByteView();
}

/// How much a copy of a block knows: blocks only grow, counters only count up.
uint64_t knowledge(uint16_t kind, ByteView bytes) {
    ByteView after_header =
        bytes.size() > DBK_META_DATA_OFFSET ? bytes.subspan(DBK_META_DATA_OFFSET) : ByteView();
    if (kind == DBK_META_LOG || kind == DBK_META_CRASH || kind == DBK_META_TRIGGERS)
        return machine_block_knowledge(kind, after_header);
    if (kind != DBK_META_CPUS)
        return bytes.size();
    uint64_t records = 0;
    ByteReader reader(after_header);
    while (reader.remaining() >= sizeof(dbk_meta_cpu))
        records += reader.read<dbk_meta_cpu>().value().records;
    return records;
}

/// Returns the best copy of each block, ordered by ring, kind, index and part.
std::vector<const FoundPiece*> best_copies(const std::vector<FoundPiece>& blocks) {
    struct Copy {
        std::tuple<uint16_t, uint16_t, uint16_t, uint16_t> identity;
        uint64_t knowledge;
        size_t order;
    };
    std::vector<Copy> copies;
    for (size_t i = 0; i < blocks.size(); i++) {
        const dbk_meta_header& meta = blocks[i].piece.meta;
        copies.push_back({{meta.ring_id, meta.kind, meta.index, meta.part},
                          knowledge(meta.kind, blocks[i].bytes.view()),
                          i});
    }
    std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
        if (a.identity != b.identity)
            return a.identity < b.identity;
        return std::tie(a.knowledge, a.order) > std::tie(b.knowledge, b.order);
    });
    std::vector<const FoundPiece*> best;
    for (size_t i = 0; i < copies.size(); i++)
        if (i == 0 || copies[i].identity != copies[i - 1].identity)
            best.push_back(&blocks[copies[i].order]);
    return best;
}

template <size_t N>
std::string text_of(const char (&text)[N]) {
    return std::string(text, strnlen(text, N));
}

/// Calls read(head, reader over one entry) for each entry, and wrong(why) for one that it refuses;
/// an entry that lies about its length ends it.
template <typename Entry, typename Read, typename Wrong>
void for_each_entry(ByteView untrusted, Read read, Wrong wrong) {
    ByteReader reader(untrusted, "metadata");
    while (reader.remaining() > 0) {
        uint64_t at = reader.offset();
        Result<Entry> head = reader.read_at<Entry>(at);
        if (!head.ok())
            return wrong(head.error().message());
        uint32_t bytes = head.value().entry_bytes;
        if (bytes < sizeof(Entry) || bytes % 8 != 0 || bytes > reader.remaining())
            return wrong(strprintf("the entry at %" PRIu64 " has %u bytes, %zu are left", at, bytes,
                                   reader.remaining()));
        ByteReader entry(reader.bytes(bytes).value(), "metadata entry");
        if (Result<void> done = read(head.value(), entry); !done.ok())
            wrong(done.error().message());
    }
}

Result<void> read_ecb(const dbk_meta_ecb& head, ByteReader& entry, EcbTable& ecbs) {
    DBK_TRY_VOID(entry.skip(sizeof(head)));
    if (head.field_count > kEcbFieldsMax)
        return base::errorf(ErrorCode::limit, "ECB %u has %u fields, %u are the most", head.epid,
                            head.field_count, kEcbFieldsMax);
    EcbInfo ecb;
    ecb.epid = head.epid;
    ecb.probe_id = head.probe_id;
    ecb.dof_index = head.dof_index;
    ecb.ecbdesc = head.ecbdesc;
    ecb.flags = head.flags;
    ecb.fixed_bytes = head.fixed_bytes;
    ecb.classic_bytes = head.classic_bytes;
    for (uint32_t i = 0; i < head.field_count; i++) {
        DBK_TRY(dbk_meta_field field, entry.read<dbk_meta_field>());
        ecb.fields.push_back(field);
    }
    return ecbs.add(std::move(ecb));
}

/// Reads the blocks of one recording, one method for each kind.
class MetadataReader {
public:
    explicit MetadataReader(Recording& recording) : recording_(recording) {
        for (const RingRecording& ring : recording.rings)
            cpus_ += ring.cpus.size();
    }

    void block(const FoundPiece& found) {
        const dbk_meta_header& meta = found.piece.meta;
        switch (meta.kind) {
        case DBK_META_HOST:
            host(found);
            break;
        case DBK_META_RING:
            ring(found);
            break;
        case DBK_META_DOF:
            dof_part(found);
            break;
        case DBK_META_PROBES:
            probes(found);
            break;
        case DBK_META_ECBS:
            ecbs(found);
            break;
        case DBK_META_CPUS:
            cpus(found);
            break;
        case DBK_META_LOG:
            machine(found, read_log_block);
            break;
        case DBK_META_CRASH:
            machine(found, read_crash_block);
            break;
        case DBK_META_TRIGGERS:
            machine(found, read_triggers_block);
            break;
        case DBK_META_MAPS:
            maps(found);
            break;
        default:
            add(FindingKind::unknown_kind, found,
                strprintf("kind %u is not known to this version, left out", meta.kind));
        }
    }

    void finish() {
        finish_dof();
        recording_.maps.finish();
    }

private:
    void add(FindingKind kind, const FoundPiece& found, std::string text) {
        recording_.findings.add(kind, block_name(found.piece.meta), std::move(text));
    }

    RingRecording& ring_of(const FoundPiece& found) {
        uint16_t id = found.piece.meta.ring_id;
        auto at = std::lower_bound(
            recording_.rings.begin(), recording_.rings.end(), id,
            [](const RingRecording& ring, uint16_t ring_id) { return ring.ring_id < ring_id; });
        if (at == recording_.rings.end() || at->ring_id != id) {
            at = recording_.rings.insert(at, RingRecording());
            at->ring_id = id;
        }
        return *at;
    }

    void host(const FoundPiece& found) {
        Result<dbk_meta_host> read = ByteReader(payload(found), "host").read<dbk_meta_host>();
        if (!read.ok())
            return add(FindingKind::bad_metadata, found, read.error().message());
        const dbk_meta_host& host = read.value();
        HostInfo info;
        std::copy(std::begin(host.boot_uuid), std::end(host.boot_uuid), info.boot_uuid.begin());
        info.kernel_text_start = host.kernel_text_start;
        info.cpu_count = host.cpu_count;
        info.page_bytes = host.page_bytes;
        info.release = text_of(host.release);
        info.version = text_of(host.version);
        info.machine = text_of(host.machine);
        info.module_version = text_of(host.module_version);
        recording_.host = std::move(info);
    }

    void ring(const FoundPiece& found) {
        // It got longer: what an older writer did not store is 0.
        ByteView bytes = payload(found);
        if (bytes.size() < DBK_META_RING_BYTES_MIN)
            return add(FindingKind::bad_metadata, found,
                       strprintf("ring: %zu bytes, it has %u at least", bytes.size(),
                                 DBK_META_RING_BYTES_MIN));
        RingRecording& ring = ring_of(found);
        ring.has_info = true;
        ring.info.facts = {};
        std::memcpy(&ring.info.facts, bytes.data(),
                    std::min(bytes.size(), sizeof(ring.info.facts)));
        ring.info.name = text_of(ring.info.facts.name);
    }

    void dof_part(const FoundPiece& found) {
        const dbk_meta_header& meta = found.piece.meta;
        ring_of(found);
        std::vector<const FoundPiece*>& parts = dof_parts_[{meta.ring_id, meta.index}];
        parts.push_back(&found);
    }

    void finish_dof() {
        for (const auto& [key, parts] : dof_parts_) {
            const FoundPiece& first = *parts.front();
            uint16_t part_count = first.piece.meta.part_count;
            uint64_t bytes = 0;
            bool whole = parts.size() == part_count;
            for (size_t i = 0; i < parts.size(); i++) {
                const dbk_meta_header& meta = parts[i]->piece.meta;
                whole = whole && meta.part == i && meta.part_count == part_count && !parts[i]->cut;
                bytes += payload(*parts[i]).size();
            }
            DofBytes image;
            image.index = key.second;
            if (!whole)
                add(FindingKind::missing_dof, first,
                    strprintf("the image has %u parts, %zu found", part_count, parts.size()));
            else if (bytes > kRingDofBytesMax)
                add(FindingKind::bad_metadata, first,
                    strprintf("a DOF image of %" PRIu64 " bytes, %u are the most", bytes,
                              kRingDofBytesMax));
            else
                for (const FoundPiece* part : parts) {
                    ByteView view = payload(*part);
                    image.bytes.insert(image.bytes.end(), view.begin(), view.end());
                }
            ring_of(first).dof.push_back(std::move(image));
        }
    }

    template <typename Entry, typename Read>
    void entries(const FoundPiece& found, Read read) {
        for_each_entry<Entry>(payload(found), read, [&](const std::string& wrong) {
            add(FindingKind::bad_metadata, found, wrong);
        });
    }

    void probes(const FoundPiece& found) {
        RingRecording& ring = ring_of(found);
        entries<dbk_meta_probe>(found, [&](const dbk_meta_probe& head, ByteReader& entry) {
            return read_probe(head, entry, ring);
        });
    }

    static Result<void> read_probe(const dbk_meta_probe& head, ByteReader& entry,
                                   RingRecording& ring) {
        DBK_TRY_VOID(entry.skip(sizeof(head)));
        ProbeInfo probe;
        probe.id = head.probe_id;
        const std::pair<std::string*, uint16_t> names[] = {
            {&probe.provider, head.provider_bytes},
            {&probe.module, head.module_bytes},
            {&probe.function, head.function_bytes},
            {&probe.name, head.name_bytes},
        };
        for (auto [name, bytes] : names) {
            DBK_TRY(ByteView view, entry.bytes(bytes));
            name->assign(reinterpret_cast<const char*>(view.data()), view.size());
        }
        // Most come in the order of their ids.
        ring.probes.try_emplace(ring.probes.end(), probe.id, std::move(probe));
        return {};
    }

    void ecbs(const FoundPiece& found) {
        RingRecording& ring = ring_of(found);
        entries<dbk_meta_ecb>(found, [&](const dbk_meta_ecb& head, ByteReader& entry) {
            return read_ecb(head, entry, ring.ecbs);
        });
    }

    /// Counters of the CPUs index * (entries a block has room for) and following.
    void cpus(const FoundPiece& found) {
        const dbk_meta_header& meta = found.piece.meta;
        uint64_t room = (meta.block_bytes - DBK_META_DATA_OFFSET) / sizeof(dbk_meta_cpu);
        uint64_t cpu = meta.index * room;
        RingRecording& ring = ring_of(found);
        ByteReader reader(payload(found), "counters");
        for (; reader.remaining() >= sizeof(dbk_meta_cpu) && cpu < kCpusMax; cpu++) {
            dbk_meta_cpu counters = reader.read<dbk_meta_cpu>().value();
            auto at =
                std::lower_bound(ring.cpus.begin(), ring.cpus.end(), cpu,
                                 [](const CpuInfo& info, uint64_t id) { return info.cpu < id; });
            if (at == ring.cpus.end() || at->cpu != cpu) {
                if (cpus_++ >= kRingCpusMax)
                    return add(FindingKind::bad_metadata, found,
                               strprintf("more than %u CPUs of all rings together", kRingCpusMax));
                at = ring.cpus.insert(at, CpuInfo());
                at->cpu = static_cast<uint16_t>(cpu);
            }
            at->counters = counters;
        }
    }

    void maps(const FoundPiece& found) {
        std::string wrong = recording_.maps.add(payload(found));
        if (!wrong.empty())
            add(FindingKind::bad_metadata, found, std::move(wrong));
    }

    void machine(const FoundPiece& found, std::string (*read)(ByteView, MachineInfo&)) {
        std::string wrong = read(payload(found), recording_.machine);
        if (!wrong.empty())
            add(FindingKind::bad_metadata, found, std::move(wrong));
    }

    Recording& recording_;
    size_t cpus_ = 0; // of all rings
    std::map<std::pair<uint16_t, uint16_t>, std::vector<const FoundPiece*>> dof_parts_;
};

} // namespace

Result<void> read_ecbs(ByteView untrusted_block, EcbTable& ecbs) {
    Result<void> done;
    if (untrusted_block.size() > DBK_META_DATA_OFFSET)
        for_each_entry<dbk_meta_ecb>(
            untrusted_block.subspan(DBK_META_DATA_OFFSET),
            [&](const dbk_meta_ecb& head, ByteReader& entry) {
                return read_ecb(head, entry, ecbs);
            },
            [&](const std::string& wrong) { done = Error(ErrorCode::corrupt, wrong); });
    return done;
}

std::string block_name(const dbk_meta_header& meta) {
    static constexpr const char* kNames[] = {"unknown",
#define DBK_META_NAME(name, kind, what) #name,
                                             DBK_META_KINDS(DBK_META_NAME)
#undef DBK_META_NAME
    };
    const char* name = meta.kind < std::size(kNames) ? kNames[meta.kind] : kNames[0];
    return strprintf("ring %u metadata %s %u.%u", meta.ring_id, name, meta.index, meta.part);
}

uint64_t block_knowledge(ByteView untrusted_block) {
    Result<dbk_meta_header> header = ByteReader(untrusted_block).read<dbk_meta_header>();
    if (!header.ok())
        return 0;
    size_t committed = std::min<size_t>(header.value().committed_bytes, untrusted_block.size());
    return knowledge(header.value().kind, untrusted_block.first(committed));
}

void read_metadata(const std::vector<FoundPiece>& blocks, Recording& recording) {
    MetadataReader reader(recording);
    for (const FoundPiece* block : best_copies(blocks)) {
        reader.block(*block);
        recording.metadata.push_back(block->bytes.view());
    }
    reader.finish();
}

} // namespace daybreak::formats
