// SPDX-License-Identifier: Apache-2.0
//
// The types of D: what they are, where they come from, how they relate.
//
// A TypeTable owns every type a compilation meets and names each by a TypeId.  Types come from
// three places: D's own (int, uint64_t, string ...), declarations in the D program, and the
// kernel's BTF. The kernel is a KernelTypes, which is asked only when a name is neither of the
// first two, and whose types are converted one by one when they are used: a struct with a
// thousand pointers to other structs costs one conversion.
//
// Derived types (pointers, arrays, functions, qualifiers) made through the table are interned:
// equal ids are equal types.  The reverse does not hold for structs of different modules or a
// kernel `int` and D's: compare with compatible(), not with ==.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace daybreak::compiler {

/// A type of one TypeTable.
enum class TypeId : uint32_t { none = 0 };

enum class TypeKind : uint8_t {
    none, ///< what TypeId::none has
    void_,
    integer, ///< char, _Bool and enums' underlying types included
    floating,
    pointer,
    array,
    function,
    struct_,
    union_,
    enum_,
    forward, ///< struct, union or enum declared but not defined: incomplete
    typedef_,
    const_,
    volatile_,
    restrict_,
    string,  ///< D's string: of the size of option strsize, passed by reference
    dynamic, ///< no fixed type: what a lookup of an untyped thing gives
};

struct TypeMember {
    std::string name; ///< "": an anonymous struct or union, or padding
    TypeId type = TypeId::none;
    uint64_t offset_bits = 0;
    uint32_t bitfield_bits = 0; ///< 0: not a bit-field
};

struct TypeEnumerator {
    std::string name;
    int64_t value = 0;
};

struct TypeParameter {
    std::string name; ///< "" when not known
    TypeId type = TypeId::none;
};

/// What a forward declaration is of, and what kind of tag a lookup wants.
enum class TagKind : uint8_t { struct_, union_, enum_ };

struct Type {
    TypeKind kind = TypeKind::none;
    std::string name;       ///< base type, tag or typedef name; "" for anonymous and derived types
    std::string module;     ///< which module's BTF it is from: "vmlinux", "ext4"; "" for D's own
    uint64_t bytes = 0;     ///< of integer, floating, struct_, union_, enum_, pointer; else 0
    bool is_signed = false; ///< integer, enum_
    bool is_char = false;   ///< integer: a character type
    bool is_bool = false;   ///< integer: _Bool
    uint8_t rank = 0;       ///< integer: C conversion rank, see IntegerRank
    TagKind tag = TagKind::struct_; ///< forward: of what
    /// pointer: what it points to; array: element; function: result; typedef_, qualifiers: what
    /// they stand for; enum_: the integer that holds it.
    TypeId target = TypeId::none;
    uint64_t count = 0;                      ///< array: elements; 0 for []
    std::vector<TypeMember> members;         ///< struct_, union_
    std::vector<TypeEnumerator> enumerators; ///< enum_
    std::vector<TypeParameter> parameters;   ///< function
    bool variadic = false;                   ///< function
};

/// Type::rank of integers.
enum IntegerRank : uint8_t {
    kRankBool = 1,
    kRankChar,
    kRankShort,
    kRankInt,
    kRankLong,
    kRankLongLong
};

/// Where find_member() found a member, from the start of the outermost struct.
struct MemberLocation {
    TypeId type = TypeId::none;
    uint64_t offset_bits = 0;
    uint32_t bitfield_bits = 0;
};

struct EnumeratorLocation {
    TypeId type = TypeId::none;
    int64_t value = 0;
};

/// The kernel as a source of types.  Implemented over BTF by BtfKernelTypes (kernel_types.hpp) and
/// by fakes in tests.  Nothing is opened before the first call.
class KernelTypes;
class BtfConverter;
class Btf;

class TypeTable {
public:
    /// `kernel` may be null: then only D's own types exist.  It must outlive the table.
    explicit TypeTable(KernelTypes* kernel = nullptr);
    ~TypeTable();
    TypeTable(const TypeTable&) = delete;
    TypeTable& operator=(const TypeTable&) = delete;

    /// Returns the type; converts it first if it is a kernel type that was not used yet.  The
    /// reference stays valid as long as the table.
    const Type& get(TypeId id) const;
    const Type& operator[](TypeId id) const { return get(id); }

    /// Asks `load` to define a type by its name or tag when the program has none; whether it did.
    void set_library(std::function<bool(std::string_view)> load) { library_ = std::move(load); }

    // --- D's own types ---
    TypeId void_type() const { return void_; }
    TypeId string_type() const { return string_; }
    TypeId dynamic_type() const { return dynamic_; }
    /// What xlate <T> and xlate <T *> make: dynamic types, but for their names in messages.
    TypeId translated_type() const { return translated_; }
    TypeId translated_pointer_type() const { return translated_pointer_; }
    TypeId char_type() const { return char_; }
    TypeId int_type() const { return int_; }
    TypeId unsigned_int_type() const { return unsigned_int_; }
    TypeId long_type() const { return long_; }
    TypeId unsigned_long_type() const { return unsigned_long_; }
    TypeId int64_type() const { return int64_; }   ///< typedef int64_t
    TypeId uint64_type() const { return uint64_; } ///< typedef uint64_t
    /// Returns the plain integer type of a size (1, 2, 4, 8) and sign: never a typedef.
    TypeId integer_type(uint64_t bytes, bool is_signed) const;
    /// The size of `string` (option strsize).  Set it before structs that hold strings are defined.
    void set_string_bytes(uint64_t bytes) { string_bytes_ = bytes; }
    uint64_t string_bytes() const { return string_bytes_; }

    // --- Making types ---
    TypeId pointer_to(TypeId target);
    TypeId array_of(TypeId element, uint64_t count);
    TypeId function_of(TypeId result, std::vector<TypeParameter> parameters, bool variadic);
    TypeId qualified(TypeId target, TypeKind qualifier); ///< const_, volatile_, restrict_
    /// Declares (or finds the earlier declaration of) a tag in the D program's scope.
    TypeId declare_tag(TagKind kind, const std::string& name);
    /// Whether the D program has defined that struct or union, body and all.
    bool has_own_tag(TagKind kind, const std::string& name) const;
    /// Completes a declared tag, or makes an anonymous type when `name` is empty.  Members' offsets
    /// are laid out here as the System V ABI does; what the caller put there is overwritten.
    /// TypeId::none when that tag is already defined in the D program.
    TypeId define_struct(TagKind kind, const std::string& name, std::vector<TypeMember> members);
    TypeId define_enum(const std::string& name, std::vector<TypeEnumerator> enumerators);
    /// Returns TypeId::none when the D program has that typedef with another, incompatible type.
    TypeId define_typedef(const std::string& name, TypeId target);

    // --- Finding types by name.  D's own come first, then the kernel's. ---
    /// `module` "" means anywhere: D, then vmlinux; a module's name means that module, then
    /// vmlinux. TypeId::none when there is none (or no kernel: see kernel_error()).
    TypeId find_tag(TagKind kind, std::string_view name, std::string_view module = "");
    /// Typedefs and base types: "size_t", "foo_t", "unsigned int", "uint64_t".
    TypeId find_typedef(std::string_view name, std::string_view module = "");
    /// Any type by its C name: "struct task_struct *", "const char *", "vmlinux`struct page",
    /// "unsigned long", "foo_t".  Pointers may follow; arrays and functions are not understood.
    TypeId find(std::string_view name);
    /// The base type that a set of words names, in any order: "unsigned", "long long int", "char",
    /// "double", "void", "_Bool"; TypeId::none when they do not go together.
    TypeId find_base(const std::vector<std::string_view>& words) const;
    /// The type of a kernel function, with parameter names; of a kernel variable BTF knows.
    TypeId find_function(std::string_view name, std::string_view module = "");
    TypeId find_variable(std::string_view name, std::string_view module = "");
    /// The arguments of a tracepoint, without the leading data pointer; empty when BTF has no such.
    /// `module` "" means vmlinux.
    std::optional<std::vector<TypeParameter>> tracepoint_arguments(std::string_view name,
                                                                   std::string_view module = "");
    /// Enumerators of the D program, then of the kernel (indexed at the first call that gets
    /// there).
    std::optional<EnumeratorLocation> find_enumerator(std::string_view name);
    /// The same in the D program only.
    std::optional<EnumeratorLocation> find_own_enumerator(std::string_view name) const;

    /// Whether any type of the kernel has been handed out: the program is then bound to that
    /// kernel.
    bool kernel_used() const { return kernel_used_; }
    /// Takes back what a lookup left that used no type, when `used` is what was before it.
    void set_kernel_used(bool used) { kernel_used_ = used; }
    /// Why the kernel's types could not be had, when a lookup wanted them; empty when all is well.
    const std::optional<base::Error>& kernel_error() const { return kernel_error_; }

    // --- Asking about types.  "Resolved" means typedefs and qualifiers are looked through. ---
    TypeId resolve(TypeId id) const;
    TypeId unqualified(TypeId id) const; ///< strips qualifiers, keeps typedefs
    const Type& resolved(TypeId id) const { return get(resolve(id)); }
    TypeKind kind(TypeId id) const { return resolved(id).kind; }
    /// Bytes of an object of the type; nothing for void, functions, incomplete and dynamic types.
    std::optional<uint64_t> size_of(TypeId id) const;
    uint64_t align_of(TypeId id) const; ///< at least 1
    bool is_complete(TypeId id) const { return size_of(id).has_value(); }
    bool is_void(TypeId id) const { return kind(id) == TypeKind::void_; }
    bool is_integer(TypeId id) const; ///< integer or enum
    bool is_signed(TypeId id) const;  ///< of integers and enums; false for everything else
    bool is_float(TypeId id) const { return kind(id) == TypeKind::floating; }
    bool is_arithmetic(TypeId id) const { return is_integer(id) || is_float(id); }
    bool is_pointer(TypeId id) const { return kind(id) == TypeKind::pointer; }
    bool is_array(TypeId id) const { return kind(id) == TypeKind::array; }
    bool is_function(TypeId id) const { return kind(id) == TypeKind::function; }
    bool is_scalar(TypeId id) const { return is_arithmetic(id) || is_pointer(id); }
    bool is_string(TypeId id) const { return kind(id) == TypeKind::string; } ///< D's string only
    bool is_char_array(TypeId id) const;
    bool is_char_pointer(TypeId id) const;
    /// string, char[], char *: what a D string operator takes.
    bool is_string_like(TypeId id) const;
    bool is_struct_or_union(TypeId id) const;
    bool is_dynamic(TypeId id) const { return kind(id) == TypeKind::dynamic; }
    /// Passed in DIF by reference (its address in a register): string, struct, union, array.
    bool is_by_reference(TypeId id) const;
    /// Looks through pointer or array to what it is of; TypeId::none for others.
    TypeId element_of(TypeId id) const;
    /// Finds a member, in anonymous members too.  The type may be a typedef of a struct or union. A
    /// forward declaration is looked up in the kernel and the D program first.
    std::optional<MemberLocation> find_member(TypeId id, std::string_view name);
    /// Returns the definition a forward-declared tag has, if any is known; else the id itself.
    TypeId complete(TypeId id);
    /// Member names of a struct or union, anonymous members' included: for hints.
    std::vector<std::string> member_names(TypeId id);

    // --- C's rules ---
    TypeId promoted(TypeId id) const; ///< integer promotion
    /// The usual arithmetic conversions; both must be arithmetic.
    TypeId usual_arithmetic(TypeId left, TypeId right) const;
    /// C compatibility, qualifiers looked through: same kind, size and sign, same tags, compatible
    /// targets.  A forward declaration is compatible with a definition of the same tag.
    bool compatible(TypeId left, TypeId right) const;
    /// Whether a value of `from` may be given to an object of `to`: arithmetic to arithmetic,
    /// string-like to string, compatible structs, pointers to compatible or void types.
    bool assignable(TypeId to, TypeId from) const;
    /// Whether both are pointers (or an array that decays) to compatible types or one to void.
    bool pointers_compatible(TypeId left, TypeId right) const;

    // --- Names ---
    /// Returns C text: "struct task_struct *", "char [16]", "int (*)(void)", "uint64_t".
    std::string name(TypeId id) const;
    /// Returns C text of a declaration of `declarator`: "char comm[16]".
    std::string declaration(TypeId id, const std::string& declarator) const;

private:
    friend class BtfConverter;
    struct Tables;

    TypeId add(Type type) const;
    TypeId add_typedef(const char* name, TypeId target);
    void add_builtin_types();
    TypeId intern(TypeKind kind, TypeId target, uint64_t count);
    void lay_out(Type& type) const;
    const Btf* kernel_btf(std::string_view module);
    template <typename Find>
    TypeId find_in_kernel(std::string_view module, Find find);
    bool compatible_at(TypeId left, TypeId right, unsigned depth) const;
    bool same_functions(const Type& left, const Type& right, unsigned depth) const;
    std::optional<MemberLocation> find_member_at(TypeId id, std::string_view name, unsigned depth,
                                                 size_t& budget);
    void member_names_at(TypeId id, unsigned depth, std::vector<std::string>& names);
    std::string declaration_at(TypeId id, std::string declarator, unsigned depth) const;

    KernelTypes* kernel_;
    std::unique_ptr<Tables> tables_; ///< storage and indexes, see type_tables.hpp
    uint64_t string_bytes_ = 256;    // DTrace guide, "Options": default strsize
    bool kernel_used_ = false;
    std::optional<base::Error> kernel_error_;
    std::function<bool(std::string_view)> library_;
    TypeId void_{}, string_{}, dynamic_{}, translated_{}, translated_pointer_{};
    TypeId int64_{}, uint64_{};
    TypeId last_builtin_{}; // of those that D has itself
    TypeId bool_{}, char_{}, signed_char_{}, unsigned_char_{}, short_{}, unsigned_short_{}, int_{},
        unsigned_int_{}, long_{}, unsigned_long_{}, long_long_{}, unsigned_long_long_{};
    TypeId float_{}, double_{}, long_double_{};
};

} // namespace daybreak::compiler
