# SPDX-License-Identifier: Apache-2.0
# The engine's two gates: what probe-context code may call, and what the userspace build may import.
# The objects are compiled once more without sanitizers, whose calls are not the engine's.
file(GLOB engine_lint_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engine/*/*.c)
list(FILTER engine_lint_sources EXCLUDE REGEX "/engine/sim/")
add_library(daybreak_engine_lint STATIC ${engine_lint_sources})
target_compile_options(daybreak_engine_lint PRIVATE -ffreestanding -fno-strict-aliasing -O2
  -fno-sanitize=all -fno-stack-protector -fno-pic)
foreach(lint probe_ctx panic_path probe_stack hardening)
  add_test(NAME lint_${lint}_self_test
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${lint}.py --self-test)
  set_tests_properties(lint_${lint}_self_test PROPERTIES LABELS lint)
endforeach()
add_test(NAME lint_engine_imports
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/probe_ctx.py --imports
                 $<TARGET_FILE:daybreak_engine_lint>)
# Joined into one object first, so that calls between files are seen as what they are.
add_test(NAME lint_engine_probe_ctx
         COMMAND sh -c "ld -r -o $<TARGET_FILE:daybreak_engine_lint>.o --whole-archive $<TARGET_FILE:daybreak_engine_lint> && \
                 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/probe_ctx.py $<TARGET_FILE:daybreak_engine_lint>.o")
set_tests_properties(lint_engine_imports lint_engine_probe_ctx
                     PROPERTIES LABELS lint)
