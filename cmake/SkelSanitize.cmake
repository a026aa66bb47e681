# SKEL_SANITIZE: flags for everything built here, including those that make the reports readable.

# Must be called before targets that compute little and include much: optimising them costs more than it saves. `level`: how
# much Release optimises them.
macro(skel_quick_to_compile level)
  set(skel_precompiled skel_precompiled_quick)
  if(SKEL_SANITIZE)
    add_compile_options(-O0)
  else()
    add_compile_options($<$<CONFIG:Release>:${level}>)
  endif()
endmacro()

if(NOT SKEL_SANITIZE)
  return()
endif()
add_compile_options(-fsanitize=${SKEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
add_link_options(-fsanitize=${SKEL_SANITIZE})
if(SKEL_SANITIZE MATCHES "address")
  add_compile_definitions(SKEL_ADDRESS_SANITIZER)  # compilers have different names for it
endif()
if(SKEL_SANITIZE MATCHES "address" AND SKEL_MPI)
  add_library(skel_name_leaks OBJECT ${CMAKE_CURRENT_LIST_DIR}/name_leaks.cpp)
  link_libraries($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:skel_name_leaks>>)
endif()
