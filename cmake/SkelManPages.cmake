# Manual pages, made by help2man from what the programs print, and completion for bash, which asks them at run time.
set(commands ${skel_programs} skel-mpiexec skel-view)
foreach(command IN LISTS commands)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/bash_completion DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME ${command})
endforeach()

find_program(SKEL_HELP2MAN help2man)
mark_as_advanced(SKEL_HELP2MAN)
if(NOT SKEL_HELP2MAN OR CMAKE_CROSSCOMPILING OR SKEL_SANITIZE)  # sanitized programs are not installed
  return()
endif()
set(pages)
foreach(command IN LISTS commands)
  set(page ${PROJECT_BINARY_DIR}/man/${command}.1)
  if(TARGET ${command})
    set(executable $<TARGET_FILE:${command}>)
    set(made_from ${command})
  else()
    set(executable ${PROJECT_SOURCE_DIR}/scripts/${command})
    set(made_from ${executable})
  endif()
  add_custom_command(OUTPUT ${page}
                     COMMAND ${CMAKE_COMMAND} -D PROGRAM=${executable} -D HELP2MAN=${SKEL_HELP2MAN} -D PAGE=${page}
                             -D VERSION=${PROJECT_VERSION} -P ${PROJECT_SOURCE_DIR}/cmake/man_page.cmake
                     DEPENDS ${made_from} ${PROJECT_SOURCE_DIR}/cmake/man_page.cmake
                     COMMENT "Writing the manual page of ${command}")
  list(APPEND pages ${page})
endforeach()
add_custom_target(skel_man ALL DEPENDS ${pages})
# OPTIONAL: a build of one target (scripts/demo.sh) makes none.
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
