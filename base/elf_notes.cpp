// SPDX-License-Identifier: Apache-2.0
#include "base/elf_notes.hpp"

#include <algorithm>
#include <elf.h>

namespace daybreak::base {

bool ElfNotes::next(ElfNote& note) {
    Result<Elf64_Nhdr> head = reader_.read<Elf64_Nhdr>();
    if (!head.ok())
        return false;
    // The last one may end without its padding.
    auto padded = [this](uint32_t length) -> Result<ByteView> {
        DBK_TRY(ByteView bytes, reader_.bytes(length));
        DBK_TRY_VOID(reader_.skip(std::min<size_t>((4 - length % 4) % 4, reader_.remaining())));
        return bytes;
    };
    Result<ByteView> name = padded(head->n_namesz);
    if (!name.ok())
        return false;
    Result<ByteView> content = padded(head->n_descsz);
    if (!content.ok())
        return false;
    note.type = head->n_type;
    note.name = {reinterpret_cast<const char*>(name->data()), name->size()};
    note.name = note.name.substr(0, note.name.find('\0'));
    note.content = *content;
    return true;
}

ByteView build_id_of(ByteView untrusted_notes) {
    ElfNotes notes(untrusted_notes);
    for (ElfNote note; notes.next(note);)
        if (note.type == NT_GNU_BUILD_ID && note.name == "GNU" &&
            note.content.size() <= kBuildIdBytesMax)
            return note.content;
    return {};
}

} // namespace daybreak::base
