# Run by ctest (cmake -P): the README shows the very text of examples/readme.
file(READ ${SOURCE}/README.md readme)
foreach(shown CMakeLists.txt main.cpp)
  file(READ ${SOURCE}/examples/readme/${shown} text)
  string(FIND "${readme}" "\n${text}```" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "README.md does not show examples/readme/${shown} as it is")
  endif()
endforeach()
