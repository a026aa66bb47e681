# cmake -P: writes the manual page PAGE of PROGRAM from its --help and --help-all, with HELP2MAN.
cmake_minimum_required(VERSION 3.22)

function(help_of into)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: ${result}\n${error}")
  endif()
  string(REPLACE "…" "..." text "${text}")  # help2man includes only ASCII
  set(${into} "${text}" PARENT_SCOPE)
endfunction()

# All options of a program or a verb.
function(full_help_of into)
  help_of(text ${ARGN} --help)
  if(text MATCHES "--help-all")
    help_of(text ${ARGN} --help-all)
  endif()
  set(${into} "${text}" PARENT_SCOPE)
endfunction()

# A program with verbs lists them in --help; each is a section of its own, as it prints it.
help_of(help --help)
set(verbs "")
if(help MATCHES "\nSubcommands:\n(.*)")
  string(REGEX REPLACE "\n\n.*" "" lines "\n${CMAKE_MATCH_1}")
  string(REGEX MATCHALL "\n  [a-z][a-z-]+ " lines "${lines}")
  foreach(line IN LISTS lines)
    string(STRIP "${line}" verb)
    full_help_of(text ${verb})
    string(REPLACE "\\" "\\e" text "${text}")
    string(REPLACE "-" "\\-" text "${text}")
    string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
    string(APPEND verbs "[${verb}]\n.nf\n${text}.fi\n\n")
  endforeach()
else()
  full_help_of(help)
endif()

# help2man recognises "Usage:" on one line. The summary is the first line that is not of the usage, up to its end.
string(REGEX REPLACE "^usage:" "Usage:" help "${help}")
while(help MATCHES "^Usage:[^\n]*\n +")
  string(REGEX REPLACE "^(Usage:[^\n]*)\n +" "\\1 " help "${help}")
endwhile()
string(REGEX REPLACE "^Usage:[^\n]*\n+" "" summary "${help}")
string(REGEX REPLACE "[.:]?\n.*" "" summary "${summary}")

set(include "")
if(verbs)
  file(WRITE ${PAGE}.verbs "${verbs}")
  set(include --include ${PAGE}.verbs)
endif()
# help2man runs a command of the page's name, so this one prints what was changed above.
get_filename_component(name ${PAGE} NAME_WE)
set(command ${PAGE}.d/${name})
file(WRITE ${command}.help "${help}")
file(WRITE ${command} "#!/bin/sh\nexec cat \"$0.help\"\n")
file(CHMOD ${command} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
execute_process(COMMAND ${HELP2MAN} --no-info --version-string=${VERSION} --name ${summary} ${include} --output ${PAGE} ./${name}
                WORKING_DIRECTORY ${PAGE}.d RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${HELP2MAN} ${PROGRAM}: ${result}")
endif()
# Long words, such as the specifications of schedules, cannot be adjusted at both margins. Lines that are indented among
# paragraphs are commands, and stay lines.
file(READ ${PAGE} page)
string(REPLACE "\n.SH NAME\n" "\n.ad l\n.SH NAME\n" page "${page}")
string(REGEX REPLACE "\n\\.IP\n(([^.\n][^\n]*\n)+)" "\n.IP\n.nf\n\\1.fi\n" page "${page}")
file(WRITE ${PAGE} "${page}")
