// SPDX-License-Identifier: Apache-2.0
//
// The status in Prometheus' text exposition format, version 0.0.4: per metric a HELP and a TYPE
// line, then its samples.
#include "formats/status/status.hpp"

namespace daybreak::formats {

namespace {

using base::strprintf;

/// Label values escape the backslash, the quote and the newline.
std::string escaped(const std::string& value) {
    std::string out;
    for (char c : value) {
        if (c == '\\' || c == '"')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

class Metrics {
public:
    void family(const char* name, const char* type, const char* help) {
        name_ = name;
        text_ +=
            strprintf("# HELP daybreak_%s %s\n# TYPE daybreak_%s %s\n", name, help, name, type);
    }
    void sample(double value, const std::string& labels = "") {
        text_ += strprintf("daybreak_%s%s %.15g\n", name_,
                           labels.empty() ? "" : ("{" + labels + "}").c_str(), value);
    }
    void single(const char* name, const char* type, const char* help, double value) {
        family(name, type, help);
        sample(value);
    }
    std::string take() { return std::move(text_); }

private:
    const char* name_ = "";
    std::string text_;
};

struct CpuMetric {
    const char *name, *type, *help;
    double RecorderStatus::Cpu::*value;
};

constexpr CpuMetric kCpuMetrics[] = {
    {"ring_records_total", "counter", "Records committed to the ring.",
     &RecorderStatus::Cpu::records},
    {"ring_errors_total", "counter", "Faults of D programs.", &RecorderStatus::Cpu::errors},
    {"ring_bytes", "gauge", "Memory of the ring.", &RecorderStatus::Cpu::bytes},
    {"ring_kept_seconds", "gauge", "Age of the oldest segment in memory.",
     &RecorderStatus::Cpu::kept_seconds},
    {"ring_segments_not_copied_total", "counter",
     "Segments that were overwritten before the recorder could copy them.",
     &RecorderStatus::Cpu::not_copied},
};

std::string cpu_labels(const RecorderStatus::Ring& ring, const RecorderStatus::Cpu& cpu) {
    return strprintf("ring=\"%s\",ring_id=\"%.0f\",cpu=\"%.0f\"", escaped(ring.name).c_str(),
                     ring.id, cpu.cpu);
}

void rings_metrics(const RecorderStatus& status, Metrics& metrics) {
    for (const CpuMetric& metric : kCpuMetrics) {
        metrics.family(metric.name, metric.type, metric.help);
        for (const RecorderStatus::Ring& ring : status.rings)
            for (const RecorderStatus::Cpu& cpu : ring.cpus)
                metrics.sample(cpu.*metric.value, cpu_labels(ring, cpu));
    }
    metrics.family("ring_drops_total", "counter", "Data that was not stored, by cause.");
    for (const RecorderStatus::Ring& ring : status.rings)
        for (const RecorderStatus::Cpu& cpu : ring.cpus)
            for (const RecorderStatus::Drop& drop : cpu.drops)
                metrics.sample(drop.count,
                               cpu_labels(ring, cpu) + ",cause=\"" + escaped(drop.cause) + "\"");
}

} // namespace

std::string status_metrics(const RecorderStatus& status) {
    Metrics metrics;
    metrics.family("recorder_info", "gauge", "The recorder at work.");
    metrics.sample(1, strprintf("version=\"%s\",boot_id=\"%s\",state=\"%s\"",
                                escaped(status.tool_version).c_str(),
                                escaped(status.boot_id).c_str(), escaped(status.state).c_str()));
    metrics.single("recorder_start_time_seconds", "gauge", "When it was started.",
                   status.started_at);
    metrics.single("recorder_cpu_seconds_total", "counter", "CPU time of the recorder.",
                   status.cost.cpu_seconds);
    metrics.single("recorder_written_bytes_total", "counter", "Bytes written to its files.",
                   status.cost.written_bytes);
    metrics.single("recorder_copied_bytes_total", "counter", "Bytes copied from the rings.",
                   status.cost.copied_bytes);
    metrics.single("recorder_write_failures_total", "counter", "Writes that did not go well.",
                   status.disk.failures);
    metrics.single("recorder_disk_used_bytes", "gauge", "Size of all its files.",
                   status.disk.used_bytes);
    metrics.single("recorder_disk_max_bytes", "gauge", "What they may take.",
                   status.disk.max_bytes);
    metrics.single("recorder_files", "gauge", "How many files there are.", status.disk.files);
    metrics.single("recorder_removed_files_total", "counter", "Files the budget removed.",
                   status.disk.removed_files);
    metrics.single("recorder_pinned_files", "gauge", "Files that hold a trigger's window.",
                   status.disk.pinned_files);
    metrics.single("recorder_queued_bytes", "gauge", "Copied, and not yet written.",
                   status.disk.queued_bytes);
    metrics.single("recorder_triggers_total", "counter", "Triggers seen.", status.triggers);
    rings_metrics(status, metrics);
    return metrics.take();
}

} // namespace daybreak::formats
