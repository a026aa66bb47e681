// Contexts over communicators of Boost.MPI (SKEL_BOOST_MPI).
#include <boost/mpi/communicator.hpp>
#include <utility>

#include "engine/context_access.hpp"
#include "skel/mpi.hpp"
#include "users_communicator.hpp"

namespace skel {

context::context(boost::mpi::communicator const& communicator, context_options options)
    : context(detail::make_mpi_engine(communicator, std::move(options))) {}

boost::mpi::communicator const& context::communicator() const {
  return detail::context_access::communicator_of(*this).boost();
}

}  // namespace skel
