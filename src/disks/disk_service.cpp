#include "disk_service.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
// A failed job ends together (farewell.cpp); its ranks answer for this long.
constexpr auto still_answers = std::chrono::seconds(10);
constexpr auto look_again = std::chrono::milliseconds(100);
}  // namespace

disk_service::disk_service(int rank, int size, host_info host, bool reachable, std::function<void()> wake)
    : rank_(rank),
      host_(std::move(host)),
      reachable_(reachable),
      wake_(std::move(wake)),
      lost_(static_cast<std::size_t>(size)),
      disk_(rank, host_) {}

disk_service::~disk_service() {
  {
    std::lock_guard const held(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// --- the requesting side

void disk_service::post(int rank, transport::packet what) {
  outgoing_.push_back({rank, std::move(what)});
  has_outgoing_ = true;
}

disk_service::ticket disk_service::ask(int rank, disk_request const& r) {
  ticket t = 0;
  {
    std::lock_guard const held(mutex_);
    t = ++tickets_;
    asked_[t] = rank;
    ++unfinished_;
    if (!hopeless(rank)) post(rank, encode(t, r));
  }
  wake_();
  return t;
}

void disk_service::tell(int rank, disk_request const& r) {
  {
    std::lock_guard const held(mutex_);
    if (!hopeless(rank)) post(rank, encode(0, r));
  }
  wake_();
}

void disk_service::tell_all(bool begins) {
  {
    std::lock_guard const held(mutex_);
    for (int r = 0; r < static_cast<int>(lost_.size()); ++r)
      if (r != rank_) post(r, encode_use(begins));  // a suspected rank may receive it later
  }
  wake_();
}

// A rank that lost the root is isolated: the others may have declared it dead.
bool disk_service::hopeless(int rank) const {
  return lost_[static_cast<std::size_t>(rank)] || lost_[0] ||
         (failed_since_ && clock::now() - *failed_since_ > still_answers);
}

disk_answer disk_service::wait(ticket t) {
  std::unique_lock held(mutex_);
  int const rank = asked_.at(t);
  while (!answers_.contains(t) && !hopeless(rank)) changed_.wait_for(held, look_again);
  asked_.erase(t);
  --unfinished_;
  auto const at = answers_.extract(t);
  if (at.empty()) throw error(detail::format("rank {} is lost", rank));
  return std::move(at.mapped());
}

void disk_service::forget(ticket t) {
  std::lock_guard const held(mutex_);
  if (asked_.erase(t) > 0) --unfinished_;
  answers_.erase(t);
}

bool disk_service::lost(int rank) const {
  std::lock_guard const held(mutex_);
  return hopeless(rank);
}

// --- the engine

void disk_service::on_message(int from, std::span<std::byte const> body) {
  std::unique_lock held(mutex_);
  switch (kind_of(body)) {
    case disk_message::answer: {
      auto [t, a] = decode_answer(body);
      if (asked_.contains(t)) answers_[t] = std::move(a);
      break;
    }
    case disk_message::request:
      take(from, body);
      break;
    case disk_message::begins:
      use(from, 1);
      break;
    case disk_message::ends:
      use(from, -1);
  }
  held.unlock();
  changed_.notify_all();
}

// A rank that was declared dead and returned has already ended all of its uses.
void disk_service::use(int from, int stores) {
  auto& n = stores_of_[from];
  stores = std::max(stores, -n);
  n += stores;
  users_ += stores;
}

void disk_service::take(int from, std::span<std::byte const> body) {
  requests_.push_back({from, {body.begin(), body.end()}});
  ++unfinished_;
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
}

std::vector<disk_service::outgoing> disk_service::take_outgoing() {
  if (!has_outgoing_) return {};
  std::lock_guard const held(mutex_);
  has_outgoing_ = false;
  return std::exchange(outgoing_, {});
}

void disk_service::set_lost(int rank, bool lost) {
  std::unique_lock held(mutex_);
  if (lost && thread_.joinable() && !lost_[static_cast<std::size_t>(rank)])
    take(rank, encode(0, disk_request{.what = disk_call::close_all}).bytes());
  lost_[static_cast<std::size_t>(rank)] = lost;
  if (lost)
    for (auto const& [r, stores] : stores_of_)
      if (hopeless(r)) use(r, -stores);
  held.unlock();
  changed_.notify_all();
}

void disk_service::set_failed() {
  std::lock_guard const held(mutex_);
  if (!failed_since_) failed_since_ = clock::now();
}

// --- the serving side

void disk_service::serve() {
  std::unique_lock held(mutex_);
  for (;;) {
    changed_.wait(held, [&] { return ending_ || !requests_.empty(); });
    if (ending_) return;
    auto const next = std::move(requests_.front());
    requests_.pop_front();
    held.unlock();
    std::optional<transport::packet> answer;
    try {
      auto const [number, r] = decode_request(next.message);
      auto const a = disk_.perform(next.from, r);
      if (number != 0) answer = encode(number, a);
    } catch (protocol_error const&) {  // NOLINT(bugprone-empty-catch): a malformed request gets no answer
    }
    held.lock();
    --unfinished_;
    if (answer) post(next.from, std::move(*answer));
    held.unlock();
    wake_();
    held.lock();
  }
}

}  // namespace skel::detail
