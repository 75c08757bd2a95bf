// SPDX-License-Identifier: Apache-2.0
//
// daybreak list: the probes of the running kernel, of a trace file, or of a kernel's image.
#include "analyze/list.hpp"
#include "base/json.hpp"
#include "cmd/commands.hpp"
#include "cmd/dtrace/dtrace.hpp"
#include "cmd/dtrace/listing.hpp"
#include "cmd/image_probes.hpp"
#include "cmd/program.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/window_options.hpp"
#include "compiler/diagnostics/other_tracers.hpp"
#include "engine/sim/bare_host.hpp"
#include "recorder/device.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

/// Whether what should be a file looks like provider:module:function:name.
bool is_description(const std::string& path) {
    return path.find(':') != path.npos && path.find('/') == path.npos;
}

int list_trace(const TraceFiles& files, const WindowOptions& options, bool json) {
    if (auto checked = check_window_options(options); !checked.ok())
        return fail_window("list", checked.error());
    TraceFiles skimmed = files;
    skimmed.options.skim = options.may_skim();
    auto trace = read_trace_files(skimmed);
    if (!trace.ok()) {
        std::string text = trace.error().message();
        for (const std::string& path : files.paths)
            if (is_description(path) && text.starts_with("cannot open " + path + ":"))
                text += "; a probe description is listed by daybreak list -l '" + path + "'";
        return fail(base::Error(trace.error().code(), text));
    }
    auto window = apply_window_options(options, trace->recording);
    if (!window.ok())
        return fail_window("list", window.error());
    auto probes = probes_asked_for(options, trace->recording);
    if (!probes.ok())
        return fail_window("list", probes.error());
    TerminalSink sink({});
    bool of_cpus = !options.cpus.empty();
    size_t count =
        analyze::print_probe_list(trace->recording, json, sink, *window, *probes, of_cpus);
    bool has_losses = trace->recording.all_findings().any_loss();
    if (has_losses)
        complain("parts of the recording are damaged or missing, daybreak info lists them");
    else if (count == 0)
        complain_of_nothing(*window, *probes, options.cpus);
    sink.flush();
    Exit status = finish_stdout();
    return static_cast<int>(status == Exit::ok && has_losses ? Exit::losses : status);
}

base::Result<void> list_kernel(bool json, TerminalSink& sink) {
    DBK_TRY(auto device, recorder::open_device());
    std::string line;
    auto print = json ? analyze::print_probe_json : analyze::print_probe;
    if (!json)
        analyze::print_probe_heading(line);
    for (uint32_t index = 0;; index++) {
        sink.write(line);
        line.clear();
        DBK_TRY(auto probe, device->probe(index));
        if (!probe)
            return {};
        print(line, probe->probe_id, probe->provider, probe->module, probe->function, probe->name);
    }
}

/// The probes that a kernel will have, or of these those that the descriptions name.
base::Result<void> list_image(const std::string& image, const std::vector<std::string>& named,
                              bool json, bool verbose, TerminalSink& sink) {
    std::vector<compiler::ProbeDescription> descriptions(named.empty() ? 1 : 0);
    for (const std::string& text : named) {
        DBK_TRY(compiler::ProbeDescription description, parse_probe("'" + text + "'", text));
        descriptions.push_back(std::move(description));
    }
    DBK_TRY(compiler::KernelSource where, kernel_source_of(image));
    compiler::BtfKernelTypes kernel(std::move(where));
    DBK_TRY(std::vector<formats::DofProbeName> probes, image_probes(kernel));
    compiler::ProbeArgumentTypes types(&kernel);
    std::vector<bool> matched(descriptions.size());
    std::string line;
    if (!json)
        analyze::print_probe_heading(line);
    uint32_t number = 0;
    for (const formats::DofProbeName& probe : probes) {
        number++;
        bool wanted = false;
        for (size_t i = 0; i < descriptions.size(); i++)
            if (sim::names_match(descriptions[i], probe))
                matched[i] = wanted = true;
        if (!wanted)
            continue;
        if (json)
            analyze::print_probe_json(line, number, probe.provider, probe.module, probe.function,
                                      probe.name);
        else
            print_listed(line, {number, probe.provider, probe.module, probe.function, probe.name},
                         verbose ? &types : nullptr);
        sink.write(line);
        line.clear();
    }
    sink.write(line);
    for (size_t i = 0; i < named.size(); i++)
        if (!matched[i])
            complain(unmatched_text({descriptions[i].provider, descriptions[i].module,
                                     descriptions[i].function, descriptions[i].name}));
    return {};
}

void list_unavailable(bool json, TerminalSink& sink) {
    std::string text;
    if (!json)
        text = base::strprintf("%15s %17s  %s\n", "PROVIDER", "NAME", "REASON");
    for (const compiler::MissingProbe& probe : compiler::missing_probes()) {
        const std::string provider(probe.provider), name(probe.name), reason(probe.reason);
        if (json) {
            base::JsonObject object(text);
            object.put("provider", provider);
            object.put("name", name);
            object.put("reason", reason);
            object.end();
            text += '\n';
        } else {
            text += base::strprintf("%15s %17s  %s\n", provider.c_str(), name.c_str(), reason.c_str());
        }
    }
    sink.write(text);
}

/// The same as dtrace -l.
int list_described(const std::vector<std::string>& descriptions, bool verbose) {
    std::vector<std::string> words = {verbose ? "-lv" : "-l"};
    for (const std::string& description : descriptions)
        words.insert(words.end(), {"-n", description});
    return run_dtrace("daybreak", words);
}

} // namespace

void add_list(Command app, int& status) {
    auto files = std::make_shared<TraceFiles>();
    Command command = app.add_subcommand("list", "List probes: the kernel's, or a trace file's");
    auto image = std::make_shared<std::string>();
    auto json = std::make_shared<bool>(false);
    auto window = std::make_shared<WindowOptions>();
    add_trace_files(command, *files, false);
    add_window_options(command, *window);
    add_probe_option(command, *window);
    for (const char* option : {"--since", "--until", "--ring", "--cpu", "--probe"})
        command.get_option(option).needs("FILE");
    command.add_option(
        "--kernel", *image,
        "List those that a kernel will have: a release, or the path of its image; FILE "
        "is then a probe description");
    auto unavailable = std::make_shared<bool>(false);
    command
        .add_flag("--unavailable", *unavailable,
                  "List probes that DTrace has elsewhere and Linux has no place for, with the reason")
        .excludes("FILE")
        .excludes("--kernel");
    command.add_flag("--json", *json, "A line of JSON for each probe");
    auto described = std::make_shared<bool>(false), verbose = std::make_shared<bool>(false);
    command.add_flag("-l", *described,
                     "List the probes that FILE, probe descriptions, name (as dtrace -l)");
    command.add_flag("-v", *verbose, "List them with the types of args[] and the stability");
    for (const char* flag : {"-l", "-v"})
        for (const char* other : {"--unavailable", "--json", "--boot", "--since", "--until",
                                  "--ring", "--cpu", "--probe"})
            command.get_option(flag).excludes(other);
    command.footer("\nWithout FILE the running kernel is asked.\n\nExample: the system calls that "
                   "can be traced here (as root)\n"
                   "  daybreak list -l syscall:::entry\nExample: what a probe has for arguments\n"
                   "  daybreak list -lv io:::start\nExample: what the next kernel will have\n"
                   "  daybreak list -v --kernel /boot/vmlinuz-6.12.117+deb12-amd64 io:::");
    for (const char* option : {"--boot", "--since", "--until", "--ring", "--cpu", "--probe"})
        command.get_option("--kernel").excludes(option);
    command.callback([files, window, image, unavailable, json, described, verbose, &status] {
        if (image->empty() && (*described || *verbose)) {
            status = list_described(files->paths, *verbose);
            return;
        }
        if (image->empty() && !files->paths.empty()) {
            status = list_trace(*files, *window, *json);
            return;
        }
        TerminalSink sink({});
        base::Result<void> done;
        if (*unavailable)
            list_unavailable(*json, sink);
        else
            done = image->empty() ? list_kernel(*json, sink)
                                  : list_image(*image, files->paths, *json, *verbose, sink);
        sink.flush();
        status = done.ok() ? static_cast<int>(finish_stdout()) : fail(done.error());
    });
}

} // namespace daybreak::cmd
