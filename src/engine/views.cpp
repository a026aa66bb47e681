#include "views.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "protocol/codec.hpp"
#include "skel/error.hpp"
#include "transport/link.hpp"

namespace skel::detail {

namespace {

using view_number = std::uint32_t;
constexpr view_number control = 0;          // in place of a view: a message about views
constexpr double agreement_seconds = 0.05;  // a tick of the agreement
constexpr double look_seconds = 1e-3;       // between two looks at the processes
// Kinds of messages about a view, besides those of the agreement.
constexpr std::byte alive{255};  // this rank will enter it
constexpr std::byte ends{254};   // the processes of some ranks have ended

std::vector<int> all_ranks(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

view_number take_number(transport::packet& what) {
  view_number n = 0;
  if (what.size() < sizeof n) throw protocol_error("message shorter than its header");
  std::memcpy(&n, what.bytes().data(), sizeof n);
  what.drop_front(sizeof n);
  return n;
}

bool is_member(role::view const& v, int rank) {
  return std::binary_search(v.members.begin(), v.members.end(), rank);
}

unsigned ticks(double seconds) { return static_cast<unsigned>(std::lround(seconds / agreement_seconds)); }

void put_number(view_number n, transport::packet& what) { what.prepend(std::as_bytes(std::span(&n, 1))); }

// A message about a view: its number, in full so that no packet is shorter than a header (mpi_transport),
// then the kind.
transport::packet about(std::uint64_t view, std::byte kind) {
  transport::packet p;
  bytes::put_raw(p.body(), view);
  p.body().push_back(kind);
  return p;
}

}  // namespace

job_wires::job_wires(std::unique_ptr<transport::transport> carrier, double patience, bool restarts,
                     std::function<std::vector<int>()> ended,
                     std::function<std::vector<int>()> ended_elsewhere)
    : carrier_(std::move(carrier)),
      ended_(std::move(ended)),
      ended_elsewhere_(std::move(ended_elsewhere)),
      patience_(patience > 0 ? patience : 5),
      restarts_(restarts),
      agreement_({1, all_ranks(carrier_->size())}, carrier_->rank(), ticks(patience_)),
      last_tick_(carrier_->now()),
      last_look_(last_tick_) {}

// The carrier must not wait for ranks that are gone.
job_wires::~job_wires() {
  if (now().number > 1) carrier_->abandon();
}

bool job_wires::enter_next() {
  auto next = *agreement_.next();
  int const self = carrier_->rank();
  if (!is_member(next, self)) return false;
  past_.push_back(
      *std::exchange(agreement_, role::view_agreement(std::move(next), self, ticks(patience_))).next());
  root_lost_.reset();
  minority_since_.reset();
  // Ranks that have ended will not be heard of again.
  role::view_messages out;
  failed_.assign(gone_.begin(), gone_.end());
  for (int const r : gone_) agreement_.lost(r, true, out);
  perform(out);
  for (auto& a : std::exchange(early_, {})) {
    auto const of = take_number(a.what);
    put_number(of, a.what);
    (of > now().number ? early_ : ready_).push_back(std::move(a));
  }
  return true;
}

void job_wires::send(int to, transport::packet&& what) {
  put_number(now().number, what);
  carrier_->send(to, std::move(what));
}

std::optional<transport::transport::arrival> job_wires::receive() {
  auto a = ready_.empty() ? carrier_->receive() : take_ready();
  while (a && !takes(*a)) a = ready_.empty() ? carrier_->receive() : take_ready();
  if (!a && !ending_.empty()) note_ends();
  return a;
}

std::optional<transport::transport::arrival> job_wires::take_ready() {
  std::optional a(std::move(ready_.front()));
  ready_.pop_front();
  return a;
}

bool job_wires::takes(transport::transport::arrival& a) {
  if (gone_.contains(a.from)) return false;
  auto const of = take_number(a.what);
  if (of == now().number) return true;
  if (of == control) {
    if (!on_control(a.from, a.what)) return false;
    a.what = transport::link().heartbeat();
    return true;
  }
  if (of > now().number) {
    put_number(of, a.what);
    early_.push_back(std::move(a));
  } else {
    tell_past(a.from, of);
  }
  return false;
}

transport::transport::news job_wires::look(double t) {
  if (t - last_look_ >= look_seconds) do_due(t);
  return {!failed_.empty(), restarts_ && agreement_.may_be_left(), agreement_.decided()};
}

void job_wires::do_due(double t) {
  last_look_ = t;
  if (ended_) learn_ends(ended_(), false);
  if (ended_elsewhere_) look_elsewhere();
  if (t - last_tick_ < agreement_seconds) return;
  last_tick_ = t;
  role::view_messages out;
  if (restarts_) agreement_.tick(out);
  perform(out);
  tell_alive();
  if (!root_lost_ || !agreement_.is_minority())
    minority_since_.reset();
  else if (!minority_since_)
    minority_since_ = t;
}

void job_wires::learn_ends(std::span<int const> ranks, bool elsewhere) {
  for (int const r : ranks) {
    if (gone_.contains(r) || std::ranges::find(ending_, r) != ending_.end()) continue;
    ending_.push_back(r);
    if (elsewhere) elsewhere_.insert(r);
  }
}

// One message to each rank, because the whole host may have ended.
void job_wires::look_elsewhere() {
  auto const ranks = ended_elsewhere_();
  if (ranks.empty()) return;
  learn_ends(ranks, true);
  for (int const to : now().members) {
    if (to == carrier_->rank() || gone_.contains(to) || std::ranges::find(ending_, to) != ending_.end())
      continue;
    auto p = about(now().number, ends);
    for (int const r : ranks) bytes::put_varint(p.body(), static_cast<std::uint64_t>(r));
    put_number(control, p);
    carrier_->send(to, std::move(p));
  }
}

// All messages of these processes have arrived, unless a network still has some.
void job_wires::note_ends() {
  role::view_messages out;
  for (int const r : std::exchange(ending_, {})) {
    gone_.insert(r);
    failed_.push_back(r);
    if (restarts_) agreement_.lost(r, true, out);
  }
  perform(out);
}

bool job_wires::outlives_root() const {
  constexpr double patience = 10;  // with ranks that still hear the root
  constexpr double grace = 1;      // other ranks may be lost before it is certain that they have ended
  auto const t = carrier_->now();
  return restarts_ && (!minority_since_ || t - *minority_since_ < grace) &&
         (!root_lost_ || t - *root_lost_ < (2 + agreement_.passed_over()) * patience_ + patience);
}

void job_wires::lost(int rank, bool is_lost) {
  if (rank == agreement_.root())
    root_lost_ = is_lost ? std::optional(root_lost_.value_or(carrier_->now())) : std::nullopt;
  if (!restarts_) return;
  role::view_messages out;
  if (is_lost)
    agreement_.lost(rank, false, out);
  else
    agreement_.heard(rank);
  perform(out);
}

void job_wires::perform(role::view_messages const& list) {
  for (auto const& m : list) send_about(now().number, m.to, m.what);
}

void job_wires::send_about(std::uint32_t view, int to, role::views::message const& m) {
  auto p = about(view, static_cast<std::byte>(m.index()));
  std::visit([&](auto const& own) { role::codec::put(own, p.body()); }, m);
  put_number(control, p);
  carrier_->send(to, std::move(p));
}

bool job_wires::on_control(int from, transport::packet const& what) {
  auto body = what.bytes();
  auto const of = bytes::get_raw<std::uint64_t>(body);
  auto const kind = bytes::get_bytes(body, 1)[0];
  if (kind == alive) return of == now().number && is_member(now(), from);
  if (kind == ends) {
    std::vector<int> ranks;
    while (!body.empty()) {
      auto const r = bytes::get_varint(body);
      if (r >= static_cast<std::uint64_t>(carrier_->size()) || static_cast<int>(r) == carrier_->rank())
        throw protocol_error("wrong rank in a message about views");
      ranks.push_back(static_cast<int>(r));
    }
    learn_ends(ranks, true);
    return false;
  }
  std::optional<role::views::message> m;
  role::codec::get_alternative<role::views::message>(std::to_integer<unsigned>(kind), body,
                                                     [&](auto own) { m = std::move(own); });
  if (!m || !body.empty()) throw protocol_error("unknown message about views");
  if (of < now().number) {
    if (!std::holds_alternative<role::views::decided>(*m)) tell_past(from, static_cast<view_number>(of));
  } else if (of == now().number) {  // one of a newer view is repeated
    role::view_messages out;
    agreement_.on(from, *m, out);
    perform(out);
  }
  return false;
}

// While this rank is inside a task, the next view must not take its silence for a loss.
void job_wires::tell_alive() {
  auto const next = agreement_.next();
  if (!next || !is_member(*next, carrier_->rank())) return;
  int const self = carrier_->rank(), root = next->members.front();
  for (int const r : next->members) {
    if (r == self || (r != root && self != root)) continue;
    auto p = about(next->number, alive);
    put_number(control, p);
    carrier_->send(r, std::move(p));
  }
}

// The rank still works in a view that has ended.
void job_wires::tell_past(int to, view_number of) {
  if (of != control) send_about(of, to, role::views::decided{past_[of - 1].members});
}

view_transport::view_transport(std::shared_ptr<job_wires> job)
    : transport(spare_of(job->carrier())),
      job_(std::move(job)),
      members_(job_->now().members),
      whole_(std::ssize(members_) == job_->carrier().size()),
      rank_(here(job_->carrier().rank())) {}

// -1: not a member.
int view_transport::here(int in_job) const {
  if (whole_) return in_job;
  auto const at = std::lower_bound(members_.begin(), members_.end(), in_job);
  return at != members_.end() && *at == in_job ? static_cast<int>(at - members_.begin()) : -1;
}

std::optional<transport::transport::arrival> view_transport::receive() {
  auto a = job_->receive();
  while (a && (a->from = here(a->from)) < 0) a = job_->receive();  // of a rank that is not in this view
  return a;
}

std::vector<int> view_transport::failed() {
  std::vector<int> mine;
  for (int const r : job_->failed())
    if (int const i = here(r); i >= 0) mine.push_back(i);
  return mine;
}

std::vector<int> job_wires::failed() {
  auto all = carrier_->failed();  // not for certain: their connections may have failed
  all.insert(all.end(), failed_.begin(), failed_.end());
  failed_.clear();
  return all;
}

}  // namespace skel::detail
