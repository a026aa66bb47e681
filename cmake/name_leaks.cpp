// Linked into every program of a build with AddressSanitizer, so that cmake/lsan.supp can name Open
// MPI's leaks.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// Open MPI closes its plug-ins when MPI ends. Their leaks are reported later, from unmapped
// addresses that no suppression can match, so plug-ins are never closed.
extern "C" int dlclose(void*) { return 0; }

// The C library has no frame pointers and, on a bare system, no symbols, so stacks of allocations
// by asprintf end in it. This replacement gives them a frame. Defined plainly and as called by
// glibc's _FORTIFY_SOURCE.
extern "C" int skel_print_allocated(char** to, char const* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  int const length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  *to = length < 0 ? nullptr : static_cast<char*>(std::malloc(static_cast<std::size_t>(length) + 1));
  if (*to == nullptr) return -1;
  return std::vsnprintf(*to, static_cast<std::size_t>(length) + 1, format, arguments);
}

extern "C" int vasprintf(char** to, char const* format, std::va_list arguments) {
  return skel_print_allocated(to, format, arguments);
}

extern "C" int __vasprintf_chk(char** to, int, char const* format, std::va_list arguments) {  // NOLINT
  return skel_print_allocated(to, format, arguments);
}

extern "C" int asprintf(char** to, char const* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  int const length = skel_print_allocated(to, format, arguments);
  va_end(arguments);
  return length;
}

extern "C" int __asprintf_chk(char** to, int, char const* format, ...) {  // NOLINT
  std::va_list arguments;
  va_start(arguments, format);
  int const length = skel_print_allocated(to, format, arguments);
  va_end(arguments);
  return length;
}
