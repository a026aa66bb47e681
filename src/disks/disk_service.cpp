#include "disk_service.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/claim.hpp"

namespace skel::detail {

namespace {
// A failed job ends together (farewell.cpp); its ranks answer for this long.
constexpr auto still_answers = std::chrono::seconds(10);
constexpr auto look_again = std::chrono::milliseconds(100);

host_info with_memory(host_info host, storage::file_system& memory) {
  host.memory = &memory;
  return host;
}
}  // namespace

disk_service::disk_service(int rank, std::vector<int> ranks, int ranks_of_job, host_info host,
                           std::shared_ptr<kept_disks> kept, bool reachable, std::function<void()> wake)
    : rank_(rank),
      ranks_(std::move(ranks), ranks_of_job),
      kept_(std::move(kept)),
      host_(with_memory(std::move(host), kept_->memory)),
      reachable_(reachable),
      outbox_(std::move(wake)),
      lost_(static_cast<std::size_t>(ranks_.left())),
      server_(host_, outbox_) {}

// --- the requesting side

// A rank without hope gets nothing.
void disk_service::send(int rank, std::uint64_t number, disk_request const& r) {
  if (!hopeless(rank)) outbox_.post(rank, encode(number, r));
}

disk_service::ticket disk_service::ask(int rank, disk_request const& r) {
  ticket t = 0;
  {
    std::lock_guard const held(mutex_);
    t = asked_.ask(rank, hopeless(rank));
    send(rank, t, r);
  }
  outbox_.wake();
  return t;
}

void disk_service::tell(int rank, disk_request const& r) {
  {
    std::lock_guard const held(mutex_);
    send(rank, 0, r);
  }
  outbox_.wake();
}

void disk_service::tell_all(bool begins) {
  {
    std::lock_guard const held(mutex_);
    for (int r = 0; r < ranks_.left(); ++r)
      if (r != rank_) outbox_.post(r, encode_use(begins));  // a suspected rank may receive it later
  }
  outbox_.wake();
}

void disk_service::release_claims() { storage::release_claims(); }

// A rank that lost the root is isolated: the others may have declared it dead.
bool disk_service::hopeless(int rank) const {
  return lost_[static_cast<std::size_t>(rank)] || lost_[0] ||
         (failed_since_ && clock::now() - *failed_since_ > still_answers);
}

disk_answer disk_service::wait(ticket t) {
  std::unique_lock held(mutex_);
  auto const& sent = asked_.of(t);
  while (!sent.answer && !sent.given_up && !hopeless(sent.to)) changed_.wait_for(held, look_again);
  auto taken = asked_.take(t);
  if (!taken->answer) throw error(detail::format("rank {} is lost", ranks_.in_job(taken->to)));
  return std::move(*taken->answer);
}

void disk_service::forget(ticket t) {
  std::lock_guard const held(mutex_);
  asked_.take(t);
}

bool disk_service::lost(int rank) const {
  std::lock_guard const held(mutex_);
  return hopeless(rank);
}

bool disk_service::isolated() const {
  std::lock_guard const held(mutex_);
  return lost_[0];
}

// --- the engine

void disk_service::on_message(int from, transport::packet message) {
  std::unique_lock held(mutex_);
  auto const body = message.bytes();
  switch (kind_of(body)) {
    case disk_message::answer: {
      auto [t, a] = decode_answer(std::move(message));
      asked_.answered(t, std::move(a));
      break;
    }
    case disk_message::request:
      server_.take(from, std::move(message));
      break;
    case disk_message::begins:
      users_.use(from, 1);
      break;
    case disk_message::ends:
      users_.use(from, -1);
  }
  held.unlock();
  changed_.notify_all();
}

std::vector<transport::packet> disk_service::on_note(int from, std::span<std::byte const> body) {
  std::vector<transport::packet> answer;
  switch (note_of(body)) {
    case store_note::opened:
      kept_->opened.add(decode_opened_store(body));
      break;
    case store_note::question:
      for (auto const& s : kept_->opened.all()) answer.push_back(encode(s));
      answer.push_back(encode(store_note::end_of_answer));
      break;
    case store_note::end_of_answer:
      answered_.insert(from);
  }
  return answer;
}

void disk_service::set_lost(int rank, bool lost) {
  std::unique_lock held(mutex_);
  if (lost && !lost_[static_cast<std::size_t>(rank)]) server_.close_files_of(rank);
  lost_[static_cast<std::size_t>(rank)] = lost;
  if (lost) {
    ++losses_;
    auto const given_up = [this](int r) { return hopeless(r); };
    asked_.give_up(given_up);
    users_.end(given_up);
  }
  held.unlock();
  changed_.notify_all();
}

void disk_service::set_failed() {
  std::lock_guard const held(mutex_);
  if (!failed_since_) failed_since_ = clock::now();
}

}  // namespace skel::detail
