// SPDX-License-Identifier: Apache-2.0
//
// What `daybreak watch` compiles, as text.
#include "cmd/watch/watch_program.hpp"

#include "cmd/image_probes.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::cmd {

namespace {

/// What a profile asks in its predicates.
constexpr const char* kFilterName = "watched";

std::string filter_definition(const std::string& filter) {
    return std::string("inline int ") + kFilterName + " = " + filter + ";\n";
}

bool is_system_call(const std::string& word) {
    return std::ranges::any_of(system_call_names(), [&](const char* call) { return word == call; });
}

std::string details_text(const WatchDetails& details) {
    if (!details.code.empty())
        return "\t" + details.code + ";\n";
    std::string text =
        "\tprintf(\"%Y %d.%d %s[%d]: %s:%s\", walltimestamp, uid, gid, execname, pid, "
        "probefunc, probename);\n";
    for (const std::string& argument : details.arguments)
        text += "\tprintf(\" \"); trace(" + argument + ");\n";
    return text + "\tprintf(\"\\n\");\n";
}

} // namespace

std::string description_of(const std::string& word) {
    if (word.find(':') != word.npos)
        return word;
    if (is_system_call(word))
        return "syscall::" + word + ":entry";
    return word.find('-') != word.npos ? ":::" + word : "fbt::" + word + ":entry";
}

base::Result<std::string> profile_program(const Profile& profile, const std::string& filter) {
    if (filter != "1" && profile.text.find(kFilterName) == profile.text.npos)
        return base::errorf(base::ErrorCode::unsupported,
                            "the profile %s counts for the whole machine and takes no filter: its "
                            "program has no predicate that asks `%s`",
                            profile.name.c_str(), kFilterName);
    // A message about the profile names the profile's own line.
    const std::string& name = profile.path.empty() ? profile.name + ".d" : profile.path;
    return filter_definition(filter) + "# 1 \"" + name + "\"\n" + profile.text;
}

std::string probe_program(const std::vector<std::string>& words, const std::string& filter,
                          const WatchDetails& details) {
    std::string descriptions;
    for (const std::string& word : words)
        descriptions += (descriptions.empty() ? "" : ",\n") + description_of(word);
    return "#pragma D option quiet\n" + filter_definition(filter) + "\n" + descriptions + "\n/" +
           kFilterName + "/\n{\n" + details_text(details) + "}\n";
}

std::string end_clause(uint64_t ns) {
    return base::strprintf("\ntick-%" PRIu64 "ns\n{\n\texit(0);\n}\n", ns);
}

} // namespace daybreak::cmd
