// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "compiler/types/decompress.hpp"
#include "compiler/types/kernel_image.hpp"
#include "compiler/types/kernel_types.hpp"
#include "compiler/types/type.hpp"
#include "tests/unit/compiler/btf_builder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <lzma.h>
#include <random>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

using namespace daybreak;
using namespace daybreak::compiler;
using daybreak::compiler::test::BtfBuilder;
using daybreak::compiler::test::small_kernel;

namespace {

/// A kernel whose BTF is given, and one module "ext4".
class TestKernel final : public KernelTypes {
public:
    explicit TestKernel(base::Bytes vmlinux, base::Bytes module = {}) {
        auto parsed = Btf::parse(std::move(vmlinux));
        REQUIRE(parsed.ok());
        vmlinux_ = std::move(*parsed);
        if (!module.empty()) {
            auto split = Btf::parse(std::move(module), vmlinux_.get());
            REQUIRE(split.ok());
            module_ = std::move(*split);
        }
    }
    base::Result<const Btf*> vmlinux() override {
        opened++;
        return static_cast<const Btf*>(vmlinux_.get());
    }
    base::Result<const Btf*> module(std::string_view name) override {
        return static_cast<const Btf*>(name == "ext4" ? module_.get() : nullptr);
    }
    const std::string& release() const override { return release_; }
    base::Result<BtfId> id() override { return BtfId{}; }

    unsigned opened = 0;

private:
    std::unique_ptr<Btf> vmlinux_, module_;
    std::string release_ = "6.1.0-test";
};

/// Looks at everything a BTF holds, as far as a TypeTable lets one.
void visit_all(base::Bytes bytes) {
    auto parsed = Btf::parse(std::move(bytes));
    if (!parsed.ok())
        return;
    const Btf& btf = **parsed;
    for (uint32_t id = 0; id < btf.type_end(); id++) {
        btf.type(id);
        btf.members(id);
        btf.enumerators(id);
        btf.parameters(id);
    }
    TestKernel kernel{base::Bytes(btf.bytes().begin(), btf.bytes().end())};
    TypeTable types(&kernel);
    for (const char* name : {"struct task_struct *", "struct task_struct", "pid_t", "u64"}) {
        TypeId id = types.find(name);
        types.name(id);
        types.size_of(id);
        types.align_of(id);
        types.find_member(id, "comm");
        types.find_member(types.element_of(id), "nosuch");
        types.member_names(id);
        types.compatible(id, types.find("struct task_struct *"));
        types.usual_arithmetic(types.int_type(), types.is_integer(id) ? id : types.int_type());
    }
    types.tracepoint_arguments("sched_switch");
    types.name(types.find_function("_printk"));
    types.name(types.find_variable("current_task"));
    types.find_enumerator("PIDTYPE_MAX");
}

base::Bytes bytes_of(std::string_view text) {
    auto view = base::as_bytes(text);
    return {view.begin(), view.end()};
}

} // namespace

TEST_CASE("BTF types are read as they were written", "[compiler][types][btf]") {
    auto parsed = Btf::parse(small_kernel().bytes());
    REQUIRE(parsed.ok());
    const Btf& btf = **parsed;
    uint32_t task = btf.find(BtfKind::struct_, "task_struct");
    REQUIRE(task);
    auto members = btf.members(task);
    REQUIRE(members.size() == 7);
    CHECK(members[1].name == "flag_a");
    CHECK(members[1].offset_bits == 32);
    CHECK(members[1].bitfield_bits == 3);
    CHECK(btf.find(BtfKind::union_, "task_struct") == 0);
    CHECK(btf.find(BtfKind::enum_, "big") != 0);
    CHECK(btf.find_enumerator("BIG")->second == 0x100000001);
    CHECK(btf.find_enumerator("PIDTYPE_BAD")->second == -1);
    CHECK(btf.tracepoints() == std::vector<std::string_view>{"sched_switch"});
    CHECK(btf.functions().size() == 2);
    CHECK(btf.find(BtfKind::struct_, "") == 0);
}

TEST_CASE("kernel types become D's", "[compiler][types]") {
    TestKernel kernel(small_kernel().bytes());
    TypeTable types(&kernel);
    TypeId pointer = types.find("struct task_struct *");
    REQUIRE(pointer != TypeId::none);
    CHECK(types.name(pointer) == "struct task_struct *");
    TypeId task = types.element_of(pointer);
    CHECK(types.size_of(task) == 64);
    CHECK(types.get(task).module == "vmlinux");

    auto comm = types.find_member(task, "comm");
    REQUIRE(comm);
    CHECK(comm->offset_bits == 192);
    CHECK(types.declaration(comm->type, "comm") == "char comm[16]");
    CHECK(types.is_char_array(comm->type));
    CHECK(types.is_string_like(comm->type));
    CHECK(types.element_of(comm->type) == types.char_type());
    auto tgid = types.find_member(task, "tgid");
    REQUIRE(tgid);
    CHECK(tgid->offset_bits == 64);
    CHECK(types.name(tgid->type) == "pid_t");
    CHECK(types.resolve(tgid->type) == types.int_type());
    CHECK(types.find_member(task, "flag_b")->bitfield_bits == 29);
    CHECK_FALSE(types.find_member(task, "nosuch"));
    CHECK(types.member_names(task).size() == 8);
    auto mm = types.find_member(task, "mm");
    CHECK(types.name(mm->type) == "struct mm_struct *");
    CHECK_FALSE(types.is_complete(types.element_of(mm->type)));

    auto arguments = types.tracepoint_arguments("sched_switch");
    REQUIRE(arguments);
    REQUIRE(arguments->size() == 2);
    CHECK(types.declaration((*arguments)[0].type, (*arguments)[0].name) == "_Bool preempt");
    CHECK(types.declaration((*arguments)[1].type, (*arguments)[1].name) ==
          "struct task_struct *prev");
    CHECK_FALSE(types.tracepoint_arguments("nosuch"));
    TypeId function = types.find_function("_printk");
    CHECK(types.name(function) == "int (const char *, ...)");
    CHECK(types.get(function).parameters[0].name == "fmt");
    CHECK(types.name(types.find_variable("current_task")) == "struct task_struct *");
    CHECK(types.find_enumerator("PIDTYPE_MAX")->value == 4);
    CHECK(types.name(types.find_enumerator("PIDTYPE_MAX")->type) == "enum pid_type");
    CHECK_FALSE(types.find_enumerator("NOSUCH"));
    CHECK(types.kernel_used());
}

TEST_CASE("a program that needs no kernel types opens no kernel", "[compiler][types]") {
    TestKernel kernel(small_kernel().bytes());
    TypeTable types(&kernel);
    CHECK(types.find("uint64_t *") != TypeId::none);
    CHECK(types.find("unsigned long") == types.unsigned_long_type());
    CHECK(types.find("D`size_t") != TypeId::none);
    types.declare_tag(TagKind::struct_, "mine");
    CHECK(types.find("struct mine") != TypeId::none);
    CHECK(kernel.opened == 0);
    CHECK_FALSE(types.kernel_used());
    CHECK(types.find("pid_t") != TypeId::none); // D has its own
    CHECK(kernel.opened == 0);
    CHECK(types.find("vmlinux`pid_t") != types.find("pid_t"));
    CHECK(kernel.opened == 1);
}

TEST_CASE("a module's types go on where the kernel's end", "[compiler][types][btf]") {
    BtfBuilder base = small_kernel();
    BtfBuilder split(base.type_end(), base.string_end());
    auto kernel_btf = Btf::parse(base.bytes());
    uint32_t task = (*kernel_btf)->find(BtfKind::struct_, "task_struct");
    uint32_t task_pointer = split.reference(2, "", task);
    uint32_t inode = split.structure(4, "ext4_inode_info", 8, {{"owner", task_pointer, 0}});
    split.reference(2, "", inode);
    TestKernel kernel(base.bytes(), split.bytes());
    TypeTable types(&kernel);
    TypeId info = types.find("ext4`struct ext4_inode_info");
    REQUIRE(info != TypeId::none);
    CHECK(types.get(info).module == "ext4");
    auto owner = types.find_member(info, "owner");
    REQUIRE(owner);
    // One struct, whichever module it is reached from.
    CHECK(types.element_of(owner->type) == types.find("struct task_struct"));
    CHECK(types.find("struct ext4_inode_info") == TypeId::none);
    CHECK(types.find("ext4`struct task_struct") == types.find("vmlinux`struct task_struct"));
    CHECK(types.find("nosuch`struct task_struct") == types.find("struct task_struct"));
    // Alone it is not understood.
    auto alone = Btf::parse(split.bytes());
    REQUIRE_FALSE(alone.ok());
    CHECK(alone.error().message().find("needs its kernel's") != std::string::npos);
}

TEST_CASE("every truncation of BTF is refused or smaller", "[compiler][types][btf]") {
    base::Bytes whole = small_kernel().bytes();
    for (size_t length = 0; length < whole.size(); length++) {
        auto parsed =
            Btf::parse(base::Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
        CHECK_FALSE(parsed.ok());
    }
}

TEST_CASE("mutated BTF never leads out of its bytes", "[compiler][types][btf]") {
    base::Bytes whole = small_kernel().bytes();
    constexpr uint64_t kSeed = 1;
    INFO("seed " << kSeed);
    std::mt19937_64 random(kSeed);
    for (int round = 0; round < 4000; round++) {
        base::Bytes bytes = whole;
        for (uint64_t changes = 1 + random() % 6; changes > 0; changes--) {
            size_t at = random() % bytes.size() & ~size_t{3};
            uint32_t value = static_cast<uint32_t>(random() % 4 ? random() % 64 : random());
            if (at + sizeof(value) <= bytes.size())
                std::memcpy(&bytes[at], &value, random() % 2 ? 1 : sizeof(value));
        }
        visit_all(std::move(bytes));
    }
}

TEST_CASE("types that contain themselves end somewhere", "[compiler][types]") {
    BtfBuilder b;
    b.reference(8, "loop_a", 2);                                       // 1
    b.reference(8, "loop_b", 1);                                       // 2
    b.reference(2, "", 3);                                             // 3: pointer to itself
    b.array(4, 4, 1000);                                               // 4: array of itself
    b.structure(4, "inner", 8, {{"", 5, 0}, {"", 5, 0}, {"x", 5, 0}}); // 5
    b.prototype(7, {{"a", 7}, {"b", 7}, {"c", 7}});                    // 6
    b.reference(2, "", 6);                                             // 7
    b.reference(8, "fn", 7);                                           // 8
    b.reference(8, "ptr", 3);                                          // 9
    b.reference(8, "arr", 4);                                          // 10
    b.reference(18, "t", 11);                                          // 11
    b.reference(8, "tag", 11);                                         // 12
    TestKernel kernel(b.bytes());
    TypeTable types(&kernel);
    for (const char* name : {"loop_a", "fn", "ptr", "arr", "tag", "struct inner"}) {
        INFO(name);
        TypeId id = types.find(name);
        types.size_of(id);
        types.align_of(id);
        types.name(id);
        types.find_member(id, "nosuch");
        types.compatible(id, types.find("ptr"));
    }
    SUCCEED();
}

namespace {

base::Bytes gzip(base::ByteView in) {
    z_stream stream = {};
    deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    base::Bytes out(in.size() + 1000);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

base::Bytes xz(base::ByteView in) {
    base::Bytes out(in.size() + 1000);
    size_t written = 0;
    REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, nullptr,
                                    reinterpret_cast<const uint8_t*>(in.data()), in.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &written,
                                    out.size()) == LZMA_OK);
    out.resize(written);
    return out;
}

base::Bytes zstd(base::ByteView in) {
    base::Bytes out(ZSTD_compressBound(in.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
    return out;
}

/// The kernel's lz4 format: one block of literals only.
base::Bytes lz4(base::ByteView in) {
    base::Bytes block;
    block.push_back(std::byte{0xf0});
    size_t rest = in.size() - 15;
    for (; rest >= 255; rest -= 255)
        block.push_back(std::byte{255});
    block.push_back(static_cast<std::byte>(rest));
    block.insert(block.end(), in.begin(), in.end());
    base::Bytes out = bytes_of(std::string_view("\x02\x21\x4c\x18", 4));
    auto length = static_cast<uint32_t>(block.size());
    const auto* start = reinterpret_cast<const std::byte*>(&length);
    out.insert(out.end(), start, start + sizeof(length));
    out.insert(out.end(), block.begin(), block.end());
    return out;
}

template <typename T>
void put(base::Bytes& bytes, size_t at, T value) {
    if (bytes.size() < at + sizeof(value))
        bytes.resize(at + sizeof(value));
    std::memcpy(&bytes[at], &value, sizeof(value));
}

/// An ELF file with nothing but a .BTF section, and what lies before it in none.
base::Bytes elf_with(base::ByteView btf, const char* section = ".BTF", base::ByteView before = {}) {
    std::string names = std::string("\0.shstrtab\0", 11) + section + std::string(1, '\0');
    base::Bytes elf(64);
    const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    std::memcpy(elf.data(), ident, sizeof(ident));
    put<uint16_t>(elf, 16, 1);  // relocatable
    put<uint16_t>(elf, 18, 62); // x86-64
    put<uint32_t>(elf, 20, 1);
    put<uint16_t>(elf, 52, 64);
    put<uint16_t>(elf, 58, 64);
    put<uint16_t>(elf, 60, 3);
    put<uint16_t>(elf, 62, 1);
    size_t names_at = elf.size();
    for (char c : names)
        elf.push_back(static_cast<std::byte>(c));
    elf.insert(elf.end(), before.begin(), before.end());
    elf.resize((elf.size() + 7) & ~size_t{7});
    size_t btf_at = elf.size();
    elf.insert(elf.end(), btf.begin(), btf.end());
    elf.resize((elf.size() + 7) & ~size_t{7});
    size_t headers = elf.size();
    put<uint64_t>(elf, 40, headers);
    elf.resize(headers + 3 * 64);
    auto header = [&](size_t index, uint32_t name, uint32_t type, size_t at, size_t size) {
        put<uint32_t>(elf, headers + index * 64, name);
        put<uint32_t>(elf, headers + index * 64 + 4, type);
        put<uint64_t>(elf, headers + index * 64 + 24, at);
        put<uint64_t>(elf, headers + index * 64 + 32, size);
        put<uint64_t>(elf, headers + index * 64 + 48, 1);
    };
    header(1, 1, 3, names_at, names.size());
    header(2, 11, 1, btf_at, btf.size());
    return elf;
}

/// A vmlinuz around a packed vmlinux.
base::Bytes bzimage_with(const base::Bytes& packed, uint32_t unpacked_bytes) {
    base::Bytes image(5 * 512);
    put<uint32_t>(image, 0x202, 0x53726448);
    put<uint16_t>(image, 0x206, 0x020f);
    put<uint8_t>(image, 0x1f1, 0); // means 4
    put<uint32_t>(image, 0x248, 64);
    put<uint32_t>(image, 0x24c, static_cast<uint32_t>(packed.size() + 4));
    image.resize(5 * 512 + 64);
    image.insert(image.end(), packed.begin(), packed.end());
    put<uint32_t>(image, image.size(), unpacked_bytes);
    return image;
}

} // namespace

TEST_CASE("BTF is found in every kind of kernel file", "[compiler][types][image]") {
    base::Bytes btf = small_kernel().bytes();
    base::Bytes elf = elf_with(btf);
    auto size = static_cast<uint32_t>(elf.size());
    CHECK(*extract_btf(btf, "raw") == btf);
    CHECK(*extract_btf(elf, "vmlinux") == btf);
    CHECK(*extract_btf(bzimage_with(gzip(elf), size), "gzip") == btf);
    CHECK(*extract_btf(bzimage_with(xz(elf), size), "xz") == btf);
    CHECK(*extract_btf(bzimage_with(zstd(elf), size), "zstd") == btf);
    CHECK(*extract_btf(bzimage_with(lz4(elf), size), "lz4") == btf);
    CHECK(*extract_btf(bzimage_with(elf, size), "not packed") == btf);
    CHECK(*extract_btf(xz(elf), "ext4.ko.xz") == btf);

    auto none = extract_btf(elf_with(btf, ".text"), "vmlinux");
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().code() == base::ErrorCode::not_found);
    auto text = extract_btf(bytes_of("hello"), "x.txt");
    CHECK(text.error().message() == "x.txt: neither BTF, nor vmlinux, vmlinuz or kernel module");
    CHECK_FALSE(extract_btf({}, "empty").ok());
    // A size that lies, in both directions.
    CHECK(extract_btf(bzimage_with(xz(elf), size - 1), "x").error().code() ==
          base::ErrorCode::corrupt);
    CHECK(extract_btf(bzimage_with(xz(elf), size + 1), "x").error().code() ==
          base::ErrorCode::corrupt);
    CHECK(extract_btf(bzimage_with(zstd(elf), 16), "x").error().code() == base::ErrorCode::limit);
    CHECK(extract_btf(bzimage_with(xz(elf), UINT32_MAX), "x").error().code() ==
          base::ErrorCode::limit);
}

TEST_CASE("the types of a program in the kernel are not the kernel's", "[compiler][types][image]") {
    BtfBuilder program, large;
    program.structure(4, "of_hid_bpf", 8, {});
    for (int i = 0; i < 6000; i++)
        large.structure(4, "kernel_" + std::to_string(i), 8, {});
    const uint32_t size = 12 << 20; // it is looked at in steps of 4 MiB
    for (const base::Bytes& btf : {small_kernel().bytes(), large.bytes()}) {
        base::Bytes elf = elf_with(btf, ".BTF", program.bytes());
        elf.resize(size);
        CHECK((*extract_btf(bzimage_with(zstd(elf), size), "zstd") == btf));
    }
    // Where a kernel's are whole, it is not unpacked further: not as far as its size is seen to
    // lie.
    base::Bytes elf = elf_with(large.bytes(), ".BTF", program.bytes());
    elf.resize(size);
    CHECK((*extract_btf(bzimage_with(zstd(elf), size + 1), "zstd") == large.bytes()));
}

TEST_CASE("unpacking is bounded and survives damage", "[compiler][types][image]") {
    base::Bytes zeros(3u << 20);
    for (const base::Bytes& packed : {gzip(zeros), xz(zeros), zstd(zeros)}) {
        CHECK(decompress(packed, "zeros")->size() == zeros.size());
        CHECK(decompress(packed, "zeros", zeros.size())->size() == zeros.size());
        size_t seen = 0;
        auto enough = [&](base::ByteView so_far) { return (seen = so_far.size()) > 0; };
        auto front = decompress(packed, "zeros", zeros.size(), enough);
        CHECK((front->size() == zeros.size() || front->size() == seen));
        auto limited = decompress(packed, "zeros", zeros.size() - 1);
        REQUIRE_FALSE(limited.ok());
        CHECK(limited.error().code() == base::ErrorCode::limit);
    }
    base::Bytes elf = elf_with(small_kernel().bytes());
    std::mt19937_64 random(7);
    for (const base::Bytes& packed : {gzip(elf), xz(elf), zstd(elf), lz4(elf)}) {
        for (size_t length = 0; length < packed.size(); length += 1 + length / 16)
            (void)decompress(base::ByteView(packed).first(length), "cut");
        for (int round = 0; round < 300; round++) {
            base::Bytes damaged = packed;
            damaged[random() % damaged.size()] = static_cast<std::byte>(random());
            (void)decompress(damaged, "damaged", 1u << 20);
            (void)extract_btf(bzimage_with(damaged, static_cast<uint32_t>(elf.size())), "damaged");
        }
    }
    for (int round = 0; round < 2000; round++) {
        base::Bytes damaged = elf;
        for (int i = 0; i < 3; i++)
            damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        (void)extract_btf(damaged, "damaged");
    }
    SUCCEED();
}

TEST_CASE("a release is looked for where distributions put it", "[compiler][types][image]") {
    namespace fs = std::filesystem;
    fs::path root = fs::temp_directory_path() / ("dbk-kernel-test." + std::to_string(::getpid()));
    auto write = [&](const std::string& path, const base::Bytes& bytes) {
        fs::create_directories((root / path).parent_path());
        std::ofstream(root / path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    };
    base::Bytes btf = small_kernel().bytes(), elf = elf_with(btf);
    BtfBuilder kernel = small_kernel(), split(kernel.type_end(), kernel.string_end());
    split.structure(4, "ext4_thing", 4, {});
    write("boot/vmlinuz-9.9", bzimage_with(xz(elf), static_cast<uint32_t>(elf.size())));
    write("lib/modules/9.9/modules.dep",
          bytes_of("kernel/fs/ext4/ext4.ko: x\nkernel/snd-pcm.ko.xz:\n"));
    write("lib/modules/9.9/kernel/fs/ext4/ext4.ko", elf_with(split.bytes()));
    write("lib/modules/9.9/kernel/snd-pcm.ko.xz", xz(elf_with(split.bytes())));
    write("lib/modules/8.8/kernel/a/fuse.ko", elf_with(split.bytes()));
    write("boot/vmlinux-8.8", elf);

    BtfKernelTypes known({"9.9", "", root.string()});
    REQUIRE(known.vmlinux().ok());
    CHECK(known.path() == root.string() + "/boot/vmlinuz-9.9");
    auto digest = base::sha256(btf);
    auto id = known.id();
    REQUIRE(id.ok());
    CHECK(std::equal(id->begin(), id->end(), digest.begin()));
    REQUIRE(known.module("ext4").ok());
    CHECK((*known.module("ext4"))->find(BtfKind::struct_, "ext4_thing") != 0);
    CHECK(*known.module("snd_pcm") != nullptr);
    CHECK(*known.module("nosuch") == nullptr);
    CHECK(*known.module("../ext4") == nullptr);
    CHECK(*known.module("vmlinux") == *known.vmlinux());

    BtfKernelTypes no_depmod({"8.8", "", root.string()});
    CHECK(*no_depmod.module("fuse") != nullptr);

    BtfKernelTypes unknown({"7.7", "", root.string()});
    REQUIRE_FALSE(unknown.vmlinux().ok());
    CHECK(unknown.vmlinux().error().code() == base::ErrorCode::not_found);
    CHECK(unknown.vmlinux().error().message().find("--kernel") != std::string::npos);

    write("proc/sys/kernel/osrelease", bytes_of("6.6\n"));
    write("sys/kernel/btf/vmlinux", btf);
    BtfKernelTypes running({"", "", root.string()});
    REQUIRE(running.vmlinux().ok());
    CHECK(running.release() == "6.6");
    CHECK(running.path() == root.string() + "/sys/kernel/btf/vmlinux");

    TypeTable types(&unknown);
    CHECK(types.find("struct task_struct") == TypeId::none);
    REQUIRE(types.kernel_error());
    CHECK_FALSE(types.kernel_used());
    fs::remove_all(root);
}

TEST_CASE("the running kernel's BTF is read and indexed", "[compiler][types][btf]") {
    if (!std::filesystem::exists("/sys/kernel/btf/vmlinux")) {
        WARN("skipped: no /sys/kernel/btf/vmlinux here");
        return;
    }
    BtfKernelTypes kernel({});
    TypeTable types(&kernel);
    TypeId task = types.find("struct task_struct");
    REQUIRE(task != TypeId::none);
    auto comm = types.find_member(task, "comm");
    REQUIRE(comm);
    CHECK(types.declaration(comm->type, "comm") == "char comm[16]");
    REQUIRE(types.tracepoint_arguments("sched_switch"));
    CHECK(types.tracepoint_arguments("sched_switch")->size() >= 3);
    for (std::string_view function : (*kernel.vmlinux())->functions())
        types.name(types.find_function(function));
}
