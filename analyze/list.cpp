// SPDX-License-Identifier: Apache-2.0
//
// List: the probes of a recording, as dtrace -l prints probes.
#include "analyze/list.hpp"

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

void print_probe_list(const formats::Recording& recording, bool json, Sink& sink) {
    std::map<uint32_t, const formats::ProbeInfo*> probes;
    for (const formats::RingRecording& ring : recording.rings)
        for (const auto& [id, probe] : ring.probes)
            probes.emplace(id, &probe);
    std::string out;
    auto print = json ? print_probe_json : print_probe;
    if (!json)
        print_probe_heading(out);
    for (const auto& [id, probe] : probes)
        print(out, id, probe->provider, probe->module, probe->function, probe->name);
    sink.write(out);
}

} // namespace daybreak::analyze
