// SPDX-License-Identifier: Apache-2.0
//
// List: the probes of a recording, as dtrace -l prints probes.
#include "analyze/list.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/print/text.hpp"
#include "base/json.hpp"

#include <map>

namespace daybreak::analyze {

void print_probe_heading(std::string& out) {
    appendf(out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
}

void print_probe(std::string& out, uint32_t id, const std::string& provider,
                 const std::string& module, const std::string& function, const std::string& name) {
    appendf(out, "%5u %10s %17s %33s %s\n", id, provider.c_str(), module.c_str(), function.c_str(),
            name.c_str());
}

void print_probe_json(std::string& out, uint32_t id, const std::string& provider,
                      const std::string& module, const std::string& function,
                      const std::string& name) {
    base::JsonObject object(out);
    object.put("id", id);
    object.put("provider", provider);
    object.put("module", module);
    object.put("function", function);
    object.put("name", name);
    object.end();
    out += '\n';
}

namespace {

/// The probes that fired and recorded.
std::set<uint32_t> probes_in(const TimeWindow& window, const formats::RingRecording& ring,
                             const WantedProbes& wanted) {
    std::set<uint32_t> probes;
    for (const formats::CpuInfo& cpu : ring.cpus)
        probes.merge(records_in(window, ring, cpu, wanted).probes);
    return probes;
}

} // namespace

size_t print_probe_list(const formats::Recording& recording, bool json, Sink& sink,
                        const TimeWindow& window, const WantedProbes& wanted, bool fired) {
    fired |= window.is_set();
    std::map<uint32_t, const formats::ProbeInfo*> probes;
    for (const formats::RingRecording& ring : recording.rings) {
        std::set<uint32_t> ids = fired ? probes_in(window, ring, wanted) : std::set<uint32_t>();
        for (const auto& [id, probe] : ring.probes)
            if (wanted.has(ring.ring_id, id) && (!fired || ids.contains(id)))
                probes.emplace(id, &probe);
    }
    std::string out;
    auto print = json ? print_probe_json : print_probe;
    if (!json)
        print_probe_heading(out);
    for (const auto& [id, probe] : probes)
        print(out, id, probe->provider, probe->module, probe->function, probe->name);
    sink.write(out);
    return probes.size();
}

} // namespace daybreak::analyze
