#include "mpi_transport.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "skel/error.hpp"

namespace skel::transport {

namespace {
constexpr int tag = 7;
constexpr int tag_of_large = 8;
// Announces the size of a large packet, which follows with the other tag. No packet is as short.
using announcement = std::uint64_t;
static_assert(sizeof(announcement) < sizeof(header));
constexpr std::size_t most_arriving = 64;  // concurrent receives
// MPI_THREAD_SERIALIZED binds the process, not a context: two contexts may run on two threads.
std::mutex one_at_a_time;                     // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::uint64_t> calls_in_and_out;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

class inside_mpi {
 public:
  inside_mpi() { count(); }
  inside_mpi(inside_mpi const&) = delete;
  inside_mpi& operator=(inside_mpi const&) = delete;
  ~inside_mpi() { count(); }

 private:
  static void count() {  // only the holder of the lock writes
    calls_in_and_out.store(calls_in_and_out.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::lock_guard<std::mutex> alone_{one_at_a_time};
};

}  // namespace

std::uint64_t mpi_transport::calls() { return calls_in_and_out.load(std::memory_order_relaxed); }

mpi_transport::mpi_transport(MPI_Comm parent, int level) : users_(parent), level_(level) {
  check(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
  // Errors are returned as codes and become mpi_error; the default handler would end the job
  // silently.
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  sent_.resize(static_cast<std::size_t>(size_));
  received_.resize(static_cast<std::size_t>(size_));
}

mpi_transport::~mpi_transport() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  // A peer that never received may be dead: keep everything.
  if (abandoned_ || !sending_.empty() || (size_ > 1 && !receive_the_rest())) {
    // MPI still refers to these. Moving a deque leaves its elements where they are.
    static_cast<void>(small_.release());
    static_cast<void>(std::make_unique<std::deque<outgoing>>(std::move(sending_)).release());
    static_cast<void>(std::make_unique<std::deque<incoming>>(std::move(arriving_)).release());
    return;
  }
  for (auto& m : small_->memory) {
    if (m.request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&m.request);
    MPI_Wait(&m.request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&comm_);
}

// The last acknowledgements may still be in flight. MPI would deliver messages for a freed
// communicator to the next one with the same number, so every rank first learns how many packets
// were sent to it and receives them. Returns false if the others did not come; the communicator
// must then be kept.
bool mpi_transport::receive_the_rest() noexcept {
  std::vector<std::uint64_t> expected(sent_.size());
  MPI_Request exchange = MPI_REQUEST_NULL;
  if (MPI_Ialltoall(sent_.data(), 1, MPI_UINT64_T, expected.data(), 1, MPI_UINT64_T, comm_, &exchange) !=
      MPI_SUCCESS)
    return false;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  int heard = 0;
  try {
    while (std::chrono::steady_clock::now() < end) {
      while (receive()) {
      }
      if (!heard) check(MPI_Test(&exchange, &heard, MPI_STATUS_IGNORE), "MPI_Test");
      if (heard && received_ == expected) return true;
      std::this_thread::yield();
    }
  } catch (std::exception const&) {
    // The transport has failed; no rank can be notified.
  }
  if (!heard) {  // MPI still refers to these
    static_cast<void>(std::make_unique<std::vector<std::uint64_t>>(std::move(expected)).release());
    static_cast<void>(std::make_unique<std::vector<std::uint64_t>>(std::move(sent_)).release());
  }
  return false;
}

void mpi_transport::check(int code, char const* call) const {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw mpi_error(call, code, std::string(text, static_cast<std::size_t>(length)), rank_);
}

// Whether a call about one peer succeeded. With ULFM a dead peer is an error code, which is not an
// error of this rank. Without ULFM some libraries report it too: MPICH over UCX returns "other"
// (connection reset by remote peer).
bool mpi_transport::reached(int code, char const* call, int peer) {
  if (code == MPI_SUCCESS) return true;
  int what = code;
  MPI_Error_class(code, &what);
  if (ulfm::means_loss(code)) {
    if (peer >= 0)
      unreachable_.push_back(peer);
    else
      note_failures();  // until a failure is acknowledged, receives from "any source" fail
    return false;
  }
  if (what == MPI_ERR_OTHER && peer >= 0) {
    unreachable_.push_back(peer);
    return false;
  }
  check(code, call);
  return true;
}

std::size_t mpi_transport::unsent(int to) const {
  return static_cast<std::size_t>(
      std::count_if(sending_.begin(), sending_.end(), [&](auto const& o) { return o.to == to; }));
}

std::size_t mpi_transport::arriving(int from) const {
  std::size_t bytes = 0;
  for (auto const& in : arriving_)
    if (in.from == from && !in.complete) bytes += in.what.size();
  return bytes;
}

std::vector<int> mpi_transport::failed() {
  inside_mpi const now;
  if (ulfm_ != nullptr) note_failures();
  return std::exchange(unreachable_, {});
}

// Asks ULFM for dead ranks. Otherwise a rank that only receives would never learn of them.
void mpi_transport::note_failures() {
  MPI_Group dead = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  if (ulfm_->acknowledge(comm_) != MPI_SUCCESS || ulfm_->acknowledged(comm_, &dead) != MPI_SUCCESS) return;
  int n = 0;
  MPI_Group_size(dead, &n);
  if (n > 0) {
    std::vector<int> in_dead(static_cast<std::size_t>(n)), in_all(static_cast<std::size_t>(n));
    std::iota(in_dead.begin(), in_dead.end(), 0);
    MPI_Comm_group(comm_, &all);
    MPI_Group_translate_ranks(dead, n, in_dead.data(), all, in_all.data());
    unreachable_.insert(unreachable_.end(), in_all.begin(), in_all.end());
    MPI_Group_free(&all);
  }
  MPI_Group_free(&dead);
}

MPI_Comm mpi_transport::shrink(MPI_Comm comm) const {
  MPI_Comm made = MPI_COMM_NULL;
  check(ulfm_->shrink(comm, &made), "MPIX_Comm_shrink");
  check(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

void mpi_transport::send(int to, packet what) {
  inside_mpi const now;
  announcement const size = what.size();
  if (size > std::numeric_limits<int>::max())
    throw mpi_error("MPI_Isend", MPI_ERR_COUNT, "a packet of more than 2 GiB", rank_);
  bool const large = size > largest_small;
  if (large) {
    auto const bytes = std::as_bytes(std::span(&size, 1));
    if (!start(to, tag, packet::received({bytes.begin(), bytes.end()}))) return;
  }
  if (start(to, large ? tag_of_large : tag, std::move(what))) ++sent_[static_cast<std::size_t>(to)];
}

// Returns false if the peer is dead.
bool mpi_transport::start(int to, int with_tag, packet what) {
  auto const bytes = what.bytes();
  MPI_Request request = MPI_REQUEST_NULL;
  if (!reached(
          MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, with_tag, comm_, &request),
          "MPI_Isend", to))
    return false;
  int done = 0;
  if (!reached(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test", to)) return false;
  if (done)
    recycle(std::move(what).release());
  else
    sending_.push_back({to, request, std::move(what)});  // moving the vector does not move its memory
  return true;
}

// Looks at few: each look gives up the core where there are more ranks than cores, and sends to a rank that
// was stopped stay. On busy cores a hundred of them took seconds, in which nothing was received.
void mpi_transport::complete_sends() {
  for (auto looks = std::min<std::size_t>(4, sending_.size()); looks > 0; --looks) {
    auto o = std::move(sending_.front());
    sending_.pop_front();
    int done = 0;
    bool const alive = reached(MPI_Test(&o.request, &done, MPI_STATUS_IGNORE), "MPI_Test", o.to);
    if (alive && !done)
      sending_.push_back(std::move(o));
    else
      recycle(std::move(o.what).release());
  }
}

// Posts a receive if none is posted in this memory. Returns false if a dead peer prevents that.
bool mpi_transport::post(small_memory& m) {
  return m.request != MPI_REQUEST_NULL || reached(MPI_Irecv(m.bytes.data(), static_cast<int>(largest_small),
                                                            MPI_BYTE, MPI_ANY_SOURCE, tag, comm_, &m.request),
                                                  "MPI_Irecv", -1);
}

// Takes one message from the network. Returns it if it is a whole packet that need not wait for an earlier
// one of its sender.
std::optional<transport::arrival> mpi_transport::take() {
  auto& [memory, turn] = *small_;
  auto& next = memory.at(turn);
  if (!post(next) || !post(memory.at(1 - turn))) return std::nullopt;
  int there = 0;
  MPI_Status status;
  int const code = MPI_Test(&next.request, &there, &status);
  if (there && next.request != MPI_REQUEST_NULL) {
    // Open MPI 5.0 with ULFM: a message that came between the notice of a loss and its acknowledgement is
    // complete, but the request keeps the error for ever.
    MPI_Request_free(&next.request);
  } else if (!reached(code, "MPI_Test", -1) || !there) {
    if (next.request == MPI_REQUEST_NULL) turn = 1 - turn;  // posted again after the other
    return std::nullopt;
  }
  turn = 1 - turn;
  int count = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  auto const size = static_cast<std::size_t>(count);
  int const from = status.MPI_SOURCE;
  if (size == sizeof(announcement)) {
    announcement large = 0;
    std::memcpy(&large, next.bytes.data(), size);
    incoming in{MPI_REQUEST_NULL, from, room_for(large), false};
    if (reached(MPI_Irecv(in.what.data(), static_cast<int>(large), MPI_BYTE, from, tag_of_large, comm_,
                          &in.request),
                "MPI_Irecv", from))
      arriving_.push_back(std::move(in));
    return std::nullopt;
  }
  arrival a{from, packet::received({next.bytes.begin(), next.bytes.begin() + count})};
  if (std::none_of(arriving_.begin(), arriving_.end(), [&](auto const& in) { return in.from == from; })) {
    ++received_[static_cast<std::size_t>(from)];
    return a;
  }
  arriving_.push_back({MPI_REQUEST_NULL, from, std::move(a.what), true});
  return std::nullopt;
}

packet mpi_transport::room_for(std::size_t bytes) {
  constexpr std::size_t large = std::size_t{64} << 10U;
  if (bytes >= large) return packet::arriving(large_messages_.take(bytes), bytes);
  auto room = buffer(bytes);
  room.resize(bytes);
  return packet::received(std::move(room));
}

std::optional<transport::arrival> mpi_transport::receive() {
  inside_mpi const now;
  if (!sending_.empty()) complete_sends();
  if (arriving_.size() < most_arriving)
    if (auto a = take()) return a;
  for (auto it = arriving_.begin(); it != arriving_.end(); ++it) {
    if (!it->complete) {
      int done = 0;
      if (!reached(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE), "MPI_Test", it->from)) {
        arriving_.erase(it);  // the sender died in the middle of this message
        return std::nullopt;
      }
      it->complete = done != 0;
    }
    if (!it->complete) continue;
    // Receives complete out of order: one that overtook an earlier one from the same rank waits.
    bool const overtook =
        std::any_of(arriving_.begin(), it, [&](auto const& earlier) { return earlier.from == it->from; });
    if (overtook) continue;
    arrival a{it->from, std::move(it->what)};
    arriving_.erase(it);
    ++received_[static_cast<std::size_t>(a.from)];
    return a;
  }
  return std::nullopt;
}

}  // namespace skel::transport
