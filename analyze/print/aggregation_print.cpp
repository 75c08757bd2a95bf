// SPDX-License-Identifier: Apache-2.0
//
// Printing aggregations.
#include "analyze/print/aggregation_print.hpp"

#include "analyze/print/default_print.hpp"
#include "analyze/print/format_print.hpp"

namespace daybreak::analyze {

namespace {

base::Result<void> print_line(std::string& out, const std::vector<Value>& members,
                              std::span<const AggregationView> views, const Format* format,
                              const PrintContext& context) {
    if (format)
        return print_formatted(out, *format, members, views, context);
    for (const Value& member : members)
        print_key(out, member, context);
    for (const AggregationView& view : views)
        print_aggregated(out, view);
    out += '\n';
    return {};
}

/// The cells of variables that have no value under a key, made once.
class ZeroCells {
public:
    explicit ZeroCells(const AggregationFunctions& functions) : functions_(functions) {}

    AggregationView view_of(uint32_t variable) {
        static const AggregationFunction kUnknown{DTRACEAGG_COUNT, 0};
        auto found = functions_.find(variable);
        bool usable = found != functions_.end() && found->second.cell_count();
        const AggregationFunction& function = usable ? found->second : kUnknown;
        auto [cells, is_new] = cells_.try_emplace(variable);
        if (is_new)
            cells->second.resize(*function.cell_count());
        return {function, cells->second, 1};
    }

private:
    const AggregationFunctions& functions_;
    std::map<uint32_t, std::vector<uint64_t>> cells_;
};

} // namespace

base::Result<void> print_printa(std::string& out, AggregationTable& table,
                                std::span<const uint32_t> variables,
                                const AggregationFunctions& functions, const Format* format,
                                const PrintContext& context) {
    if (!format)
        out += '\n';
    if (variables.size() == 1) {
        for (const AggregationEntry* entry : sorted_entries(table, variables[0], context.options)) {
            AggregationView view = table.view_of(*entry);
            table.mark_printed(entry->source);
            DBK_TRY_VOID(
                print_line(out, table.members_of(*entry), std::span(&view, 1), format, context));
        }
        return {};
    }
    ZeroCells zeros(functions);
    for (const AggregationBundle& bundle : sorted_bundles(table, variables, context.options)) {
        std::vector<AggregationView> views;
        std::vector<Value> members;
        for (size_t i = 0; i < bundle.size(); i++) {
            if (!bundle[i]) {
                views.push_back(zeros.view_of(variables[i]));
                continue;
            }
            views.push_back(table.view_of(*bundle[i]));
            table.mark_printed(bundle[i]->source);
            if (members.empty())
                members = table.members_of(*bundle[i]);
        }
        DBK_TRY_VOID(print_line(out, members, views, format, context));
    }
    return {};
}

void print_unprinted(std::string& out, const AggregationTable& table, const PrintContext& context) {
    for (const AggregationEntry* entry : sorted_entries(table, std::nullopt, context.options)) {
        if (table.is_printed(entry->source))
            continue;
        AggregationView view = table.view_of(*entry);
        // The format is null: there is nothing that could be missing.
        (void)print_line(out, table.members_of(*entry), std::span(&view, 1), nullptr, context);
    }
}

} // namespace daybreak::analyze
