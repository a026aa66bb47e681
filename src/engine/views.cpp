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
constexpr double look_seconds = 0.25e-3;    // between two looks at the processes
// Kinds of messages about a view, besides those of the agreement.
constexpr std::byte alive{255};       // this rank will enter it
constexpr std::byte ends{254};        // the processes of some ranks have ended
constexpr std::byte note{253};        // of the engine, for this attempt and later ones
constexpr std::byte waits{252};       // of a spare rank, which gets an answer
constexpr std::byte end_of_job{251};  // its code, and whether abruptly

constexpr double ask_seconds = 0.25;      // between two questions of a spare rank
constexpr double heard_seconds = 2;       // a spare rank that was heard since then lives
constexpr double between_renewals = 2.5;  // if one has failed
constexpr double last_silence = 10;  // beyond the patience: of a job whose end a spare rank has not heard

std::vector<int> ranks_from_0(int n) {
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

std::vector<int> other_ranks(std::span<std::byte const> body, transport::transport const& of) {
  std::vector<int> ranks;
  while (!body.empty()) {
    auto const r = bytes::get_varint(body);
    if (r >= static_cast<std::uint64_t>(of.size()) || static_cast<int>(r) == of.rank())
      throw protocol_error("wrong rank in a message about views");
    ranks.push_back(static_cast<int>(r));
  }
  return ranks;
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
                     ended_processes ended, int spares)
    : carrier_(std::move(carrier)),
      ended_(std::move(ended)),
      patience_(patience > 0 ? patience : 5),
      restarts_(restarts),
      spares_(spares),
      agreement_(agreement_on({1, ranks_from_0(carrier_->size() - spares)})),
      entered_(agreement_.current()),
      last_tick_(carrier_->now()),
      last_look_(last_tick_) {}

role::view_agreement job_wires::agreement_on(role::view const& v) const {
  role::spare_ranks spare;
  for (int r = carrier_->size() - spares_; r < carrier_->size(); ++r) spare.ranks.push_back(r);
  if (spares_ > 0) spare.members = static_cast<std::size_t>(carrier_->size() - spares_);
  return {v, carrier_->rank(), ticks(patience_), std::move(spare)};
}

// The carrier must not wait for ranks that are gone.
job_wires::~job_wires() {
  if (agreement_.current().number > 1) carrier_->abandon();
}

bool job_wires::enter_next() {
  if (agreement_.decided()) return false;  // by the others alone
  entered_ = agreement_.current();
  agreement_.heard(agreement_.root());  // the engine of this view will judge
  root_lost_.reset();
  minority_since_.reset();
  ended_.renew();
  for (auto& a : std::exchange(early_, {})) {
    auto const of = take_number(a.what);
    put_number(of, a.what);
    (of > now().number ? early_ : ready_).push_back(std::move(a));
  }
  return true;
}

void job_wires::follow_decision() {
  // A rank that is left out stays behind; a spare one follows.
  auto const self = carrier_->rank();
  while (agreement_.decided() &&
         (is_member(*agreement_.next(), self) || !is_member(agreement_.current(), self))) {
    past_.push_back(*agreement_.next());
    agreement_ = agreement_on(past_.back());
    next_root_heard_ = carrier_->now();
    // Ranks that have ended will not be heard of again.
    role::view_messages out;
    for (int const r : ended_.all()) agreement_.lost(r, true, out);
    perform(out);
  }
}

// The engine watches the ranks of the view in which it works.
void job_wires::watch_next_root(double t) {
  role::view_messages out;
  if (t - next_root_heard_ > patience_)
    agreement_.lost(agreement_.root(), false, out);
  else
    agreement_.heard(agreement_.root());
  perform(out);
}

void job_wires::send(int to, transport::packet&& what) {
  put_number(now().number, what);
  carrier_->send(to, std::move(what));
}

std::optional<transport::transport::arrival> job_wires::receive() {
  // What came early counts, even if its sender has ended since.
  auto const next = [this] {
    if (!ready_.empty()) return take_ready();
    auto a = carrier_->receive();
    while (a && ended_.contains(a->from)) a = carrier_->receive();
    return a;
  };
  auto a = next();
  while (a && !takes(*a)) a = next();
  if (!a && ended_.unsettled()) note_ends();
  return a;
}

std::optional<transport::transport::arrival> job_wires::take_ready() {
  std::optional a(std::move(ready_.front()));
  ready_.pop_front();
  return a;
}

bool job_wires::takes(transport::transport::arrival& a) {
  auto const of = take_number(a.what);
  if (a.from == agreement_.root()) next_root_heard_ = carrier_->now();
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
  return {.failed = ended_.has_news() && ready_.empty(),
          .may_be_left = restarts_ && !lags() && agreement_.may_be_left(),
          .over = over(),
          .may_restart = restarts_,
          .may_renew = spares_ > 0 && may_renew(t),
          .notes = !notes_.empty()};
}

void job_wires::do_due(double t) {
  last_look_ = t;
  if (auto const elsewhere = ended_.look(); !elsewhere.empty()) tell_ends(elsewhere);
  if (t - last_tick_ < agreement_seconds) return;
  last_tick_ = t;
  role::view_messages out;
  if (restarts_ && lags()) watch_next_root(t);
  if (restarts_) agreement_.tick(out);
  perform(out);
  if (renews()) renews_from_ = t + between_renewals;  // calls hear of losses until then
  tell_alive();
  if (!root_lost_ || !agreement_.is_minority())
    minority_since_.reset();
  else if (!minority_since_)
    minority_since_ = t;
}

void job_wires::send_note(int to, transport::packet const& what) {
  auto p = about(now().number, note);
  auto const bytes = what.bytes();
  p.body().insert(p.body().end(), bytes.begin(), bytes.end());
  put_number(control, p);
  carrier_->send(to, std::move(p));
}

void job_wires::send_note_to_all(transport::packet const& what) {
  for (auto const* const some : {&now().members, &agreement_.spares()})
    for (int const r : *some)
      if (r != carrier_->rank() && !ended_.is_known(r)) send_note(r, what);
}

// One message to each rank, because the whole host may have ended.
void job_wires::tell_ends(std::span<int const> ranks) {
  for (int const to : now().members) {
    if (to == carrier_->rank() || ended_.is_known(to)) continue;
    auto p = about(now().number, ends);
    for (int const r : ranks) bytes::put_varint(p.body(), static_cast<std::uint64_t>(r));
    put_number(control, p);
    carrier_->send(to, std::move(p));
  }
}

// All messages of these processes have arrived, unless a network still has some.
void job_wires::note_ends() {
  role::view_messages out;
  for (int const r : ended_.settle())
    if (restarts_) agreement_.lost(r, true, out);
  perform(out);
}

bool job_wires::outlives_root() const {
  constexpr double patience = 10;  // with ranks that still hear the root
  constexpr double grace = 1;      // other ranks may be lost before it is certain that they have ended
  auto const t = carrier_->now();
  return lags() || (restarts_ && (!minority_since_ || t - *minority_since_ < grace) &&
                    (!root_lost_ || t - *root_lost_ < (2 + agreement_.passed_over()) * patience_ + patience));
}

void job_wires::lost(int rank, bool is_lost) {
  if (rank == now().members.front())
    root_lost_ = is_lost ? std::optional(root_lost_.value_or(carrier_->now())) : std::nullopt;
  if (!restarts_ || lags()) return;
  role::view_messages out;
  if (is_lost)
    agreement_.lost(rank, false, out);
  else
    agreement_.heard(rank);
  perform(out);
}

void job_wires::perform(role::view_messages const& list) {
  auto const of = agreement_.current().number;
  for (auto const& m : list) send_about(of, m.to, m.what);
  follow_decision();
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
  if (kind == alive) {
    answered_ = carrier_->now();
    return of == now().number && is_member(now(), from);
  }
  if (kind == ends) return ended_.learn(other_ranks(body, *carrier_)), false;
  if (kind == waits) return on_waiting(from, of), false;
  if (kind == end_of_job) {
    auto const code = static_cast<int>(bytes::get_varint(body));
    ended_as_ = {code, bytes::get_varint(body) != 0};
    return false;
  }
  if (kind == note) {
    auto& taken = notes_.emplace_back(from).what.body();
    taken.insert(taken.end(), body.begin(), body.end());
    return false;
  }
  std::optional<role::views::message> m;
  role::codec::get_alternative<role::views::message>(std::to_integer<unsigned>(kind), body,
                                                     [&](auto own) { m = std::move(own); });
  if (!m || !body.empty()) throw protocol_error("unknown message about views");
  auto const latest = agreement_.current().number;
  if (of < latest) {
    if (!std::holds_alternative<role::views::decided>(*m)) tell_past(from, static_cast<view_number>(of));
  } else if (of == latest) {
    role::view_messages out;
    agreement_.on(from, *m, out);
    perform(out);
  } else {  // this rank has missed a decision, with which such a message is answered
    send_about(latest, from, role::views::root_lost{});
  }
  return false;
}

// While this rank is inside a task, the next view must not take its silence for a loss.
void job_wires::tell_alive() {
  if (!lags()) return;
  auto const& next = agreement_.current();
  int const self = carrier_->rank(), root = next.members.front();
  for (int const r : next.members) {
    if (r == self || (r != root && self != root)) continue;
    auto p = about(next.number, alive);
    put_number(control, p);
    carrier_->send(r, std::move(p));
  }
}

// --- spare ranks

bool job_wires::may_renew(double t) const {
  auto const& v = now();
  if (!restarts_ || lags() || over() || renews() || t < renews_from_ ||
      v.members.front() != carrier_->rank() || t - spare_heard_ > heard_seconds || agreement_.is_minority())
    return false;
  return agreement_.living() < carrier_->size() - spares_;
}

void job_wires::renew() {
  role::view_messages out;
  agreement_.renew(out);
  perform(out);
}

void job_wires::on_waiting(int from, std::uint64_t view) {
  spare_heard_ = carrier_->now();
  auto const latest = agreement_.current().number;
  if (view < latest) return tell_past(from, static_cast<view_number>(view));
  auto p = about(latest, alive);
  put_number(control, p);
  carrier_->send(from, std::move(p));
}

// The root, unless it does not answer.
void job_wires::ask_member(double t) {
  auto const& members = agreement_.current().members;
  asks_ = t - answered_ < heard_seconds ? 0 : asks_ + 1;
  auto p = about(agreement_.current().number, waits);
  put_number(control, p);
  carrier_->send(members[asks_ % members.size()], std::move(p));
}

std::optional<job_wires::ending> job_wires::wait_until_needed() {
  double asked = -ask_seconds;
  answered_ = carrier_->now();
  while (!ended_as_) {
    double const t = carrier_->now();
    look(t);
    while (receive()) {
    }
    if (is_member(agreement_.current(), carrier_->rank())) {
      enter_next();
      return std::nullopt;
    }
    entered_ = agreement_.current();
    auto const gone = [this](int r) { return ended_.contains(r); };
    if (std::ranges::all_of(now().members, gone) || t - answered_ > patience_ + last_silence)
      return ending{1, true, true};
    if (t - asked >= ask_seconds) ask_member(asked = t);
    carrier_->wait(1e-3);
  }
  return ended_as_;
}

void job_wires::release_spares(ending how) {
  auto const waiting = agreement_.spares();
  for (int const r : waiting) {
    auto p = about(agreement_.current().number, end_of_job);
    bytes::put_varint(p.body(), static_cast<std::uint64_t>(how.code));
    bytes::put_varint(p.body(), how.abrupt ? 1 : 0);
    put_number(control, p);
    carrier_->send(r, std::move(p));
  }
  auto const unsent = [this](int r) { return !ended_.contains(r) && carrier_->unsent(r) > 0; };
  for (double const end = carrier_->now() + 1;
       carrier_->now() < end && std::ranges::any_of(waiting, unsent);) {
    while (receive()) {
    }
    carrier_->wait(1e-4);
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

std::vector<transport::transport::arrival> view_transport::take_notes() {
  auto all = job_->take_notes();
  for (auto& a : all) a.from = here(a.from);
  return all;
}

std::vector<int> view_transport::failed() {
  std::vector<int> mine;
  for (int const r : job_->failed())
    if (int const i = here(r); i >= 0) mine.push_back(i);
  return mine;
}

std::vector<int> job_wires::failed() {
  auto all = carrier_->failed();  // not for certain: their connections may have failed
  if (!ready_.empty()) return all;
  auto const news = ended_.take_news();
  all.insert(all.end(), news.begin(), news.end());
  return all;
}

}  // namespace skel::detail
