// SPDX-License-Identifier: Apache-2.0
//
// Merged: partial states put together, and what their program prints of them.
#include "analyze/replay/merged.hpp"

#include "engine/sim/simulation.hpp"
#include "formats/aggstate/cells.hpp"
#include "formats/dof/dof_reader.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::analyze {

namespace {

using base::errorf;

/// What is merged is of a source of its own: no clause has so great a number.
constexpr uint32_t kMergedSource = 1u << 20;

constexpr const char* kHasChanged = "the file has changed while it was read";

base::Result<void> read_file(const std::string& path, const formats::StateVisitor& visitor) {
    DBK_TRY(auto file, base::open_source(path));
    return formats::read_states(file, path, visitor);
}

base::Result<void> read_all(const std::vector<std::string>& paths,
                            const formats::StateVisitor& visitor,
                            const MergedStates::Watch& watch) {
    for (const std::string& path : paths) {
        DBK_TRY_VOID(read_file(path, visitor));
        if (watch.has_read)
            watch.has_read();
    }
    return {};
}

/// A machine on which nothing happens but BEGIN and END.
base::Result<std::unique_ptr<sim::BareHost>> bare_host(const formats::StatePart& begin,
                                                       const formats::StatePart& end) {
    sim::BareHostConfig config;
    config.cpu_count = uint32_t{std::max(begin.begin_cpu, end.end_cpu)} + 1;
    config.start_mono_ns = begin.begin_ns;
    config.start_wall_ns = begin.begin_wall_ns;
    config.still_clock = true;
    config.thread = {0, 0, 0, 0, 0, {}, 1, false};
    return sim::BareHost::create(config);
}

/// Of a copy of a machine that does not go on all is here.
void feed_all(sim::Simulation& simulation, LiveReport& report) {
    formats::RingPieces pieces = simulation.poll();
    pieces.horizon_mono_ns.reset();
    report.add(std::move(pieces), sim::Simulation::kAll);
}

} // namespace

base::Result<void> MergedStates::add(const std::string& path) {
    formats::StateVisitor visitor;
    visitor.part = [&](formats::StatePart part) -> base::Result<bool> {
        const formats::PartIdentity& identity = part.identity;
        if (!parts_.empty() && parts_.begin()->first.program != identity.program)
            return errorf(base::ErrorCode::invalid,
                          "its program is %s, that of the files before it is %s: states of one "
                          "program can be merged",
                          formats::digest_text(identity.program).c_str(),
                          formats::digest_text(parts_.begin()->first.program).c_str());
        if (parts_.contains(identity)) {
            repeated_++;
            return false;
        }
        coverage_.add(part, path);
        places_.add(identity.boot_id, part.images);
        parts_.emplace(identity, std::move(part));
        return false;
    };
    visitor.part_end = [](const formats::Digest&) { return base::Result<void>(); };
    paths_.push_back(path);
    return read_file(path, visitor);
}

/// Build ids keep the symbols of several boots apart.  What is in no image has a name in one boot:
/// of several, it is met with the keys (BootNames).
base::Result<void> MergedStates::read_symbols(const Watch& watch) {
    std::map<uint64_t, formats::StateSymbol> found;
    std::set<uint64_t> contradicted;
    const std::vector<formats::StateImage>* images = nullptr;
    formats::StateVisitor visitor;
    visitor.part = [&](const formats::StatePart& part) -> base::Result<bool> {
        auto known = parts_.find(part.identity);
        if (known == parts_.end())
            return errorf(base::ErrorCode::invalid, kHasChanged);
        images = &known->second.images;
        for (const formats::StateImage& image : *images)
            if (auto place = places_.address_of(image.build_id, 0); place && image.is_file)
                files_.add_file(*place, image.size_bytes, image.name,
                                std::string(reinterpret_cast<const char*>(image.build_id.data()),
                                            image.build_id.size()));
        return true;
    };
    visitor.symbols = [&](const formats::StateSymbols& symbols) -> base::Result<void> {
        for (const formats::StateSymbol& symbol : symbols.symbols) {
            if (symbol.frame.image && *symbol.frame.image >= images->size())
                return errorf(base::ErrorCode::corrupt, "a symbol of an image that is not there");
            auto address = places_.address_of(
                symbol.frame.image ? base::ByteView((*images)[*symbol.frame.image].build_id)
                                   : base::ByteView(),
                symbol.frame.offset);
            if (!address)
                return errorf(base::ErrorCode::corrupt, "a symbol lies after its image");
            if (symbol.frame.image && (*images)[*symbol.frame.image].is_file) {
                files_.add_function(*address, symbol.bytes, symbol.name);
                continue;
            }
            if (!symbol.frame.image && places_.is_of_several())
                continue;
            auto [at, is_new] = found.emplace(*address, symbol);
            if (!is_new && (at->second.name != symbol.name || at->second.module != symbol.module))
                contradicted.insert(at->first);
        }
        return {};
    };
    visitor.states = [](const formats::StateBlock&) { return base::Result<void>(); };
    visitor.part_end = [](const formats::Digest&) { return base::Result<void>(); };
    DBK_TRY_VOID(read_all(paths_, visitor, watch));
    for (const auto& [address, symbol] : found)
        symbols_.add(address, symbol.type, contradicted.contains(address) ? "_end" : symbol.name,
                     symbol.module);
    symbols_.finish();
    unnamed_ = contradicted.size();
    return {};
}

/// Addresses of the kernel in keys of several boots: where their names lie for all of them.
class BootNames {
public:
    /// `images` has the symbols of all images.
    BootNames(const formats::SymbolTable& images, PlacesByName& places)
        : images_(images), places_(places) {}

    /// What comes is of another part.
    void begin() {
        boot_ = {};
        known_.clear();
    }
    /// Adds symbols of the part, whose addresses are those of its boot.
    base::Result<void> add(const formats::StateSymbols& added,
                           const std::vector<formats::StateImage>& images) {
        for (const formats::StateSymbol& symbol : added.symbols) {
            if (symbol.frame.image && *symbol.frame.image >= images.size())
                return errorf(base::ErrorCode::invalid, kHasChanged);
            const formats::StateImage* image =
                symbol.frame.image ? &images[*symbol.frame.image] : nullptr;
            if (!image || !image->is_file)
                boot_.add(symbol.frame.offset + (image ? image->base_address : 0), symbol.type,
                          symbol.name, symbol.module);
        }
        is_unsettled_ = true;
        return {};
    }
    /// The same when its name is not known.
    uint64_t place_of(formats::KeyTag tag, uint64_t address, bool has_image) {
        const bool is_module = tag == formats::KeyTag::module;
        if (has_image && !is_module)
            return address;
        if (std::exchange(is_unsettled_, false))
            boot_.finish();
        auto [at, is_new] = known_.emplace(std::pair(is_module, address), address);
        auto match = !is_new     ? std::nullopt
                     : has_image ? images_.find(address)
                                 : boot_.find(address);
        if (!match)
            return at->second;
        if (is_module)
            return at->second = name(places_.module(match->module), match->module, match->module);
        return at->second =
                   name(places_.symbol(match->module, match->name), match->name, match->module) +
                   match->offset_bytes;
    }
    void put(formats::SymbolTable& symbols) const {
        for (const auto& [place, text] : named_)
            symbols.add(place, 'T', text.first, text.second);
    }

private:
    uint64_t name(uint64_t place, std::string_view name, std::string_view module) {
        named_.try_emplace(place, name, module);
        return place;
    }

    const formats::SymbolTable& images_;
    PlacesByName& places_;
    formats::SymbolTable boot_;
    bool is_unsettled_ = false;
    std::map<std::pair<bool, uint64_t>, uint64_t> known_; // of the part, modules and others
    std::map<uint64_t, std::pair<std::string, std::string>> named_; // symbol and module
};

/// Adds the states of parts, each part's once.
struct MergedStates::Adder {
    AggregationTable& table;
    const std::vector<std::string>& names;
    const FramePlaces& places;
    const KernelPlaceOf& kernel_place;
    FileNames& files;
    uint32_t source;
    std::map<formats::PartIdentity, formats::Digest> seen = {};
    AggregationKey key = {};
    std::vector<uint64_t> cells = {};

    base::Result<uint32_t> variable_of(const formats::StateAggregation& aggregation) const {
        auto found = std::find(names.begin(), names.end(), aggregation.name);
        if (found == names.end())
            return errorf(base::ErrorCode::corrupt,
                          "states of @%s, which the program does not have",
                          aggregation.name.c_str());
        return static_cast<uint32_t>(found - names.begin() + 1);
    }

    base::Result<void> add(const formats::StateBlock& block) {
        DBK_TRY(uint32_t variable, variable_of(block.aggregation));
        const AggregationLayout layout = layout_of(block.aggregation, variable);
        auto number = table.intern(layout);
        auto cell_count = layout.function.cell_count();
        if (!number || !cell_count)
            return errorf(base::ErrorCode::corrupt, "states of @%s have a function that D has not",
                          block.aggregation.name.c_str());
        cells.resize(*cell_count);
        formats::StateCursor cursor(block);
        for (formats::StateView state; cursor.next(state);) {
            DBK_TRY_VOID(formats::fill_cells(block.aggregation, state, cells));
            DBK_TRY_VOID(make_table_key(state.key, layout, places, kernel_place, files, key));
            if (!table.merge(*number, source + variable, key.bytes(), cells))
                return errorf(base::ErrorCode::limit,
                              "the aggregations do not fit into memory: merge fewer files");
        }
        return {};
    }
};

base::Result<void> MergedStates::add_states(AggregationTable& table,
                                            const std::vector<std::string>& names, uint32_t source,
                                            const Watch& watch) {
    BootNames boot(symbols_, places_by_name_);
    KernelPlaceOf kernel_place = [&](formats::KeyTag tag, uint64_t address, bool has_image) {
        return boot.place_of(tag, address, has_image);
    };
    Adder adder{table, names, places_, kernel_place, files_, source};
    formats::PartIdentity current;
    formats::StateVisitor visitor;
    visitor.part = [&](const formats::StatePart& part) -> base::Result<bool> {
        current = part.identity;
        boot.begin();
        if (!parts_.contains(current))
            return errorf(base::ErrorCode::invalid, kHasChanged);
        const bool is_added =
            !adder.seen.contains(current) && !(watch.interrupted && watch.interrupted());
        added_ += is_added ? 1 : 0;
        return is_added;
    };
    visitor.symbols = [&](const formats::StateSymbols& symbols) {
        return places_.is_of_several() ? boot.add(symbols, parts_.at(current).images)
                                       : base::Result<void>();
    };
    visitor.states = [&](const formats::StateBlock& block) { return adder.add(block); };
    visitor.part_end = [&](const formats::Digest& digest) -> base::Result<void> {
        auto [at, is_new] = adder.seen.emplace(current, digest);
        if (!is_new && at->second != digest)
            return errorf(base::ErrorCode::invalid,
                          "part %s came before with other states: one of the two is wrong",
                          formats::digest_text(current.digest).c_str());
        return {};
    };
    DBK_TRY_VOID(read_all(paths_, visitor, watch));
    boot.put(symbols_);
    symbols_.finish();
    return {};
}

base::Result<std::optional<int>> MergedStates::run(ReportOptions options, Sink& sink,
                                                   const Watch& watch) {
    DBK_ASSERT(!parts_.empty());
    places_.finish();
    DBK_TRY_VOID(read_symbols(watch));
    // A part whose machine matched no clause of an aggregation does not have it.
    const formats::StatePart *first = &parts_.begin()->second, *last = first, *whole = first;
    for (const auto& [identity, part] : parts_) {
        if (part.dof.size() > whole->dof.size())
            whole = &part;
        if (part.begin_ns < first->begin_ns)
            first = &part;
        if (std::pair(part.end_ns, part.end_cpu) > std::pair(last->end_ns, last->end_cpu))
            last = &part;
    }
    DBK_TRY(formats::DofImage image, formats::parse_dof(whole->dof));
    DBK_TRY(std::unique_ptr<sim::BareHost> host, bare_host(*first, *last));
    sim::SimulationOptions how;
    how.name = "merge";
    how.release = first->release;
    how.aggregate_default = DBK_AGGREGATE_RECORD;
    how.time_limit_ns = UINT64_MAX / 2;
    how.outside_reader = true;
    DBK_TRY(std::unique_ptr<sim::Simulation> simulation,
            sim::Simulation::load(*host, whole->dof, how));
    options.symbols = &symbols_;
    options.users = files_.empty() ? nullptr : &files_;
    LiveReport report(options, sink);
    // Of several boots BEGIN and END are of no machine.
    const bool is_of_several = places_.is_of_several();
    host->set_cpu(is_of_several ? 0 : first->begin_cpu);
    DBK_TRY_VOID(simulation->start());
    feed_all(*simulation, report);
    Consumer* consumer = report.consumer();
    if (!consumer)
        return errorf(base::ErrorCode::corrupt, "the program of the states cannot be run");
    DBK_TRY_VOID(add_states(consumer->aggregations(), image.program.aggregation_names,
                            kMergedSource, watch));
    host->set_cpu(is_of_several ? 0 : last->end_cpu);
    host->clock().advance_to(std::max(first->begin_ns, last->end_ns));
    simulation->finish();
    feed_all(*simulation, report);
    report.newline();
    report.end();
    return simulation->exit_called() ? std::optional(simulation->exit_status()) : std::nullopt;
}

} // namespace daybreak::analyze
