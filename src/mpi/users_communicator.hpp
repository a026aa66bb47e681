// The communicators that users get from contexts.
#pragma once

#include <mpi.h>

#include <memory>

#if SKEL_WITH_BOOST_MPI
#include <boost/mpi/communicator.hpp>
#endif

namespace skel::detail {

/// A communicator as users see it: plain, and as a boost::mpi::communicator if skel was built with Boost.MPI.
class users_communicator {
 public:
  /// One that the user owns.
  explicit users_communicator(MPI_Comm users) : users_communicator(users, false) {}
  /// One that is freed with the last copy that a user may have.
  [[nodiscard]] static users_communicator owning(MPI_Comm made) { return {made, true}; }

#if SKEL_WITH_BOOST_MPI
  [[nodiscard]] MPI_Comm plain() const { return boost_; }
  [[nodiscard]] boost::mpi::communicator const& boost() const { return boost_; }

 private:
  users_communicator(MPI_Comm comm, bool owned)
      : boost_(comm, owned ? boost::mpi::comm_take_ownership : boost::mpi::comm_attach) {}
  boost::mpi::communicator boost_;
#else
  [[nodiscard]] MPI_Comm plain() const { return *plain_; }

 private:
  users_communicator(MPI_Comm comm, bool owned)
      : plain_(new MPI_Comm(comm), [owned](MPI_Comm* c) {
          int finalized = 0;
          if (owned) MPI_Finalized(&finalized);
          if (owned && !finalized) MPI_Comm_free(c);
          delete c;
        }) {}
  std::shared_ptr<MPI_Comm> plain_;
#endif
};

}  // namespace skel::detail
