// SPDX-License-Identifier: Apache-2.0
//
// Reading a file of partial states.
#include "formats/aggstate/reader.hpp"

#include "base/sha256.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"
#include "formats/trace/raw_budget.hpp"

#include <cinttypes>

namespace daybreak::formats {

namespace {

using base::errorf;

class StateFileReader {
public:
    StateFileReader(const std::shared_ptr<base::ByteSource>& file, const std::string& name,
                    const StateVisitor& visitor)
        : file_(*file), name_(name), visitor_(visitor), scanner_(*file, findings_) {
        budget_.add_file(file->size());
    }

    Result<void> run() {
        for (BlockView block; scanner_.next(block); blocks_++) {
            auto taken = take(block);
            // What a damaged block had is missed by those after it.
            if (!is_whole() && (taken.ok() || taken.error().code() == ErrorCode::corrupt))
                return damaged();
            if (!taken.ok())
                return named(taken.error());
        }
        if (blocks_ == 0)
            return errorf(ErrorCode::invalid, "%s is not a file of partial states", name_.c_str());
        if (!is_whole())
            return damaged();
        if (!has_end_)
            return errorf(ErrorCode::truncated, "%s is cut off: its end is not there",
                          name_.c_str());
        return {};
    }

private:
    Error named(const Error& error) const {
        return errorf(error.code(), "%s: %s", name_.c_str(), error.message().c_str());
    }

    bool is_whole() const {
        return scanner_.blocks_lost() == 0 && scanner_.bytes_skipped() == 0 &&
               scanner_.bytes_cut() == 0 && findings_.list().empty();
    }

    Error damaged() const {
        return errorf(ErrorCode::corrupt, "%s is damaged: of partial states all or nothing counts",
                      name_.c_str());
    }

    Result<Bytes> unpack(const BlockView& block, uint64_t bytes_max) {
        if (!has_known_version(block.header))
            return errorf(ErrorCode::unsupported,
                          "version is %u, this program reads %s: write it again with daybreak "
                          "replay --partial of the same version",
                          block.header.version, versions_text(block.header.type).c_str());
        if (block.header.raw_bytes > bytes_max || !budget_.take(block.header.raw_bytes))
            return errorf(ErrorCode::limit, "block %u unpacks to %u bytes: too much",
                          block.header.number, block.header.raw_bytes);
        return unpack_block(block);
    }

    Result<void> take(const BlockView& block) {
        if (has_end_)
            return errorf(ErrorCode::corrupt, "something comes after its end");
        switch (block.header.type) {
        case DBK_TRACE_PART:
        case DBK_TRACE_STATES: {
            DBK_TRY(Bytes raw, unpack(block, kStateRawBytesMax));
            return block.header.type == DBK_TRACE_PART ? take_part(raw) : take_states(raw);
        }
        case DBK_TRACE_END: {
            DBK_TRY_VOID(end_part());
            DBK_TRY(Bytes raw, unpack(block, kStateRawBytesMax));
            DBK_TRY(TraceEnd end, decode_end(raw));
            has_end_ = true;
            if (end.blocks != blocks_ || end.bytes != block.offset_bytes)
                return errorf(ErrorCode::corrupt, "its end does not fit what comes before it");
            return {};
        }
        case DBK_TRACE_SCHEMA:
        case DBK_TRACE_HEADER:
            return errorf(ErrorCode::invalid,
                          "this is a recording: daybreak replay --partial makes partial states of "
                          "it");
        default:
            return errorf(ErrorCode::unsupported, "a block of type %u does not belong here",
                          block.header.type);
        }
    }

    Result<void> take_part(ByteView raw) {
        DBK_TRY_VOID(end_part());
        DBK_TRY(StateMessage message, decode_state_message(raw));
        StatePart* part = std::get_if<StatePart>(&message);
        if (!part)
            return errorf(ErrorCode::corrupt, "a message is not of its block's kind");
        has_part_ = true;
        digest_ = {};
        images_ = part->images.size();
        DBK_TRY(is_wanted_, visitor_.part(std::move(*part)));
        return {};
    }

    Result<void> take_states(ByteView raw) {
        if (!has_part_)
            return errorf(ErrorCode::corrupt, "states come before what they are of");
        std::array<Digest, 2> chain{digest_, base::sha256(raw)};
        digest_ = base::sha256(std::as_bytes(std::span(chain)));
        if (!is_wanted_)
            return {};
        DBK_TRY(StateMessage message, decode_state_message(raw));
        if (auto* symbols = std::get_if<StateSymbols>(&message)) {
            for (const StateSymbol& symbol : symbols->symbols)
                if (symbol.frame.image && *symbol.frame.image >= images_)
                    return errorf(ErrorCode::corrupt, "a symbol of an image that is not there");
            return visitor_.symbols(*symbols);
        }
        if (auto* states = std::get_if<StateBlock>(&message))
            return visitor_.states(*states);
        return errorf(ErrorCode::corrupt, "a message is not of its block's kind");
    }

    Result<void> end_part() {
        if (!std::exchange(has_part_, false))
            return {};
        return visitor_.part_end(digest_);
    }

    base::ByteSource& file_;
    const std::string& name_;
    const StateVisitor& visitor_;
    Findings findings_;
    BlockScanner scanner_;
    RawBudget budget_;
    uint64_t blocks_ = 0;
    size_t images_ = 0;
    Digest digest_{};
    bool has_part_ = false, is_wanted_ = false, has_end_ = false;
};

} // namespace

Result<void> read_states(const std::shared_ptr<base::ByteSource>& untrusted_file,
                         const std::string& name, const StateVisitor& visitor) {
    return StateFileReader(untrusted_file, name, visitor).run();
}

} // namespace daybreak::formats
