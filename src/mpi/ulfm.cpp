#include "ulfm.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <optional>
#include <string_view>

namespace skel::transport {

namespace {

// MPICH has the same functions, but they abort the job.
bool is_open_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  return MPI_Get_library_version(text, &length) == MPI_SUCCESS &&
         std::string_view(text).starts_with("Open MPI");
}

bool is_enabled() {
  char const* const asked = std::getenv("OMPI_MCA_mpi_ft_enable");
  if (asked != nullptr && (std::string_view(asked) == "1" || std::string_view(asked) == "true")) return true;
  int index = 0;
  // Open MPI 5 makes the level that is asked for here that of MPI itself.
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (MPI_T_init_thread(level, &level) != MPI_SUCCESS) return false;
  bool enabled = false;
  MPI_T_cvar_handle handle = nullptr;
  int count = 0;
  if (MPI_T_cvar_get_index("mpi_ft_enable", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    int value[16] = {};
    if (count <= 16 && MPI_T_cvar_read(handle, value) == MPI_SUCCESS) enabled = value[0] != 0;
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return enabled;
}

template <class F>
bool find(F*& function, char const* name) {
  function = reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

std::optional<ulfm> find_active() {
  ulfm all{};
  if (find(all.acknowledge, "MPIX_Comm_failure_ack") &&
      find(all.acknowledged, "MPIX_Comm_failure_get_acked") && find(all.revoke, "MPIX_Comm_revoke") &&
      find(all.shrink, "MPIX_Comm_shrink") && is_open_mpi() && is_enabled())
    return all;
  return std::nullopt;
}

}  // namespace

ulfm const* ulfm::active() {
  static std::optional<ulfm> const found = find_active();
  return found ? &*found : nullptr;
}

bool ulfm::means_loss(int code) {
  if (active() == nullptr) return false;
  // By name, because the numbers are those of the MPI that runs, not of the headers: "MPI_ERR_PROC_FAILED:
  // …", "MPI_ERR_PROC_FAILED_PENDING: …", "MPI_ERR_REVOKED: …".
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, what = code;
  MPI_Error_class(code, &what);
  if (MPI_Error_string(what, text, &length) != MPI_SUCCESS) return false;
  std::string_view const name(text);
  return name.find("ERR_PROC_FAILED") != std::string_view::npos ||
         name.find("ERR_REVOKED") != std::string_view::npos;
}

}  // namespace skel::transport
