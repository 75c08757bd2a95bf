/* SPDX-License-Identifier: Apache-2.0 */
/* long: calls a function whose mangled name has more than 300 bytes, three times */
namespace a_namespace_with_quite_a_name_of_its_own {

struct a_type_that_is_named_by_what_it_means_in_full {};
struct another_type_that_is_named_in_the_same_way {};
struct the_third_of_these_types_and_not_the_last_one {};
struct the_last_of_them_with_which_it_is_long_enough {};
template <class... Types> struct holder_of_all_the_types_that_it_is_given {};

template <class... Types>
__attribute__((noinline)) int called_with(int number, holder_of_all_the_types_that_it_is_given<Types...> *)
{
	__asm__ volatile("" ::: "memory");
	return number;
}

} // namespace a_namespace_with_quite_a_name_of_its_own

int main()
{
	using namespace a_namespace_with_quite_a_name_of_its_own;
	using inner = holder_of_all_the_types_that_it_is_given<a_type_that_is_named_by_what_it_means_in_full,
							       another_type_that_is_named_in_the_same_way>;
	holder_of_all_the_types_that_it_is_given<inner, the_third_of_these_types_and_not_the_last_one,
						 the_last_of_them_with_which_it_is_long_enough> *none = nullptr;
	int sum = 0;

	for (int i = 1; i <= 3; i++)
		sum += called_with(i, none);
	return sum != 6;
}
