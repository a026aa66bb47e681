# Warnings are errors for those who work on skel, not for its users, nor for packages (SKEL_WERROR=OFF).
add_library(skel_warnings INTERFACE)
target_compile_options(skel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wnon-virtual-dtor -Woverloaded-virtual)
if(SKEL_WERROR)
  target_compile_options(skel_warnings INTERFACE -Werror)
endif()
# After inlining, GCC's flow-sensitive warnings report false errors inside std::string, std::variant and std::vector
# that differ between versions (GCC bugs 105651, 105562, 107852). The sanitizer builds detect real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(skel_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
                                                 -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Clang's -Wconversion includes signs, its -Wshadow the names of other files of a unity build; GCC's do not.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(skel_warnings INTERFACE -Wno-sign-conversion -Wno-shadow)
endif()
# The same bytes for every optimisation level and number of ranks: no contraction to fused operations.
target_compile_options(skel_warnings INTERFACE -ffp-contract=off)
