// ULFM's functions are found in the process at run time, whatever MPI skel was compiled with. This program
// has some of its own, which the loader prefers to those of the MPI.
#include "mpi/ulfm.hpp"

#include <cstdlib>
#include <string_view>

#include "catch.hpp"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
int MPIX_Comm_failure_ack(MPI_Comm) { return 101; }
int MPIX_Comm_failure_get_acked(MPI_Comm, MPI_Group*) { return 102; }
int MPIX_Comm_revoke(MPI_Comm) { return 103; }
int MPIX_Comm_shrink(MPI_Comm, MPI_Comm*) { return 104; }
// NOLINTEND(readability-identifier-naming)
}

TEST_CASE("the functions of ULFM are looked up, and used with Open MPI only") {
  ::setenv("OMPI_MCA_mpi_ft_enable", "1", 1);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  auto const* const found = skel::transport::ulfm::active();
  REQUIRE((found != nullptr) == std::string_view(text).starts_with("Open MPI"));
  if (found == nullptr) return;
  MPI_Group none = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  CHECK(found->acknowledge(MPI_COMM_WORLD) == 101);
  CHECK(found->acknowledged(MPI_COMM_WORLD, &none) == 102);
  CHECK(found->revoke(MPI_COMM_WORLD) == 103);
  CHECK(found->shrink(MPI_COMM_WORLD, &made) == 104);
  CHECK(skel::transport::ulfm::active() == found);
}
