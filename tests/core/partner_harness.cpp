#include "partner_harness.hpp"

#include <algorithm>

#include "skel/protocol/bytes.hpp"
#include "skel/protocol/digest.hpp"

namespace partner_harness {

using protocol::peer_message;
using protocol::peer_message_kind;
using kind = event::kind;
namespace act = protocol::part_action;

namespace {

constexpr std::uint64_t call_hash = 42;

peer_message through_codec(peer_message const& m) {
  std::vector<std::byte> bytes;
  protocol::encode(m, bytes);
  std::span<std::byte const> rest(bytes);
  auto read = protocol::decode_peer_message(rest);
  require(read == m && rest.empty(), std::string("not read as written: ") + to_string(m.kind));
  return read;
}

std::string text_of(std::pair<int, int> p) {
  return std::to_string(p.first) + "-" + std::to_string(p.second);
}

}  // namespace

world::world(scenario const& s, fault* f) : scenario_(std::make_shared<scenario const>(s)), fault_(f) {
  auto const n = static_cast<std::size_t>(s.ranks);
  wires_.resize(n * n);
  lost_.resize(n * n);
  std::vector<int> ranks;
  for (int r = 0; r < s.ranks; ++r) {
    ranks.push_back(r);
    node one;
    one.role = protocol::partner({r, s.ranks, s.from, s.to, s.other_call == r ? call_hash + 1 : call_hash});
    nodes_.push_back(std::move(one));
  }
  roll_ = protocol::roll_call(ranks, call_hash);
}

// --- events

void world::apply(event const& e) {
  if (fault_ != nullptr && !fault_->hears(*this, e)) return;
  protocol::part_actions list;
  switch (e.what) {
    case kind::begin:
      begin(e.a);
      break;
    case kind::deliver:
      deliver(e.a, e.b);
      break;
    case kind::finish:
      finish(e.a, e.b);
      break;
    case kind::tick:
      tick(e.a);
      break;
    case kind::die:
      die(e.a, e.n);
      break;
    case kind::detect:
    case kind::suspect:
      if (e.what == kind::suspect) ++suspicions_;
      lose(e.a, e.b);
      break;
    case kind::heartbeat:
      lost_[wire(e.a, e.b)] = false;
      break;
    case kind::stop:
      asked_to_stop_ = true;
      at(e.a).role.please_stop(list);
      perform(e.a, list);
      break;
  }
  if (e.what != kind::die) follow_up(e.a);
  if (e.what == kind::deliver) follow_up(e.b);
}

void world::begin(int rank) {
  auto& n = at(rank);
  auto const& s = *scenario_;
  n.begun = true;
  if (s.from == problem_place::parts)
    n.problems[{rank, rank + 1}] = {rank, rank + 1};
  else if (s.from == problem_place::everywhere || rank == 0)
    n.problems[{0, s.ranks}] = {0, s.items};
  protocol::part_actions list;
  n.role.begin(list);
  perform(rank, list);
}

bool world::deliverable(int from, int to) const {
  // What waits for a suspect is sent when the suspect is heard again.
  return !wires_[wire(from, to)].empty() && at(to).begun && at(to).alive &&
         !(at(from).alive && lost_[wire(from, to)]);
}

void world::deliver(int from, int to) {
  auto& w = wires_[wire(from, to)];
  auto p = std::move(w.front());
  w.erase(w.begin());
  lost_[wire(to, from)] = false;  // whoever speaks lives
  auto& n = at(to);
  if (n.ended) return;
  if (fault_ != nullptr && !fault_->receives(*this, from, to, p.what)) return;
  if (to == 0) {
    protocol::peer_messages told;
    roll_.on(from, p.what, told);
    send_all(told);
    if (for_roll_call(p.what.kind)) return;
  }
  if (p.what.kind == peer_message_kind::finish) {
    n.result = p.solution;
    if (auto const own = n.solutions.find({0, scenario_->ranks}); own != n.solutions.end())
      n.result = own->second;
  }
  protocol::part_actions list;
  n.role.on(from, p.what, list);
  perform(to, list, p.problem, p.solution);
}

void world::finish(int rank, int which) {
  auto& n = at(rank);
  auto const j = n.jobs.at(static_cast<std::size_t>(which));
  n.jobs.erase(n.jobs.begin() + which);
  ++n.calls;
  protocol::part_actions list;
  if (scenario_->failing == static_cast<int>(calls_++)) {
    failed_ = true;
    n.role.failed(n.calls, "it throws", list);
    perform(rank, list);
    return;
  }
  std::string solution;
  if (j.what == job::kind::divide) {
    if (atomic(j.problem)) {
      n.role.whole(j.group, list);
    } else {
      int const middle = (j.problem.first + j.problem.second + 1) / 2;
      if (!n.draining) {
        n.problems.erase(j.group);
        n.problems[j.group.left()] = {j.problem.first, middle};
        n.problems[j.group.right()] = {middle, j.problem.second};
      }
      n.role.divided(j.group, list);
    }
  } else {
    solution = j.what == job::kind::solve ? text_of(j.problem) : "(" + j.left + " " + j.right + ")";
    n.role.solved(j.group, list);
  }
  perform(rank, list, {}, solution);
}

void world::die(int rank, std::uint64_t last_words) {
  auto& n = at(rank);
  ++deaths_;
  died_at_work_ = died_at_work_ || !complete_;
  n.alive = false;
  for (int r = 0; r < scenario_->ranks; ++r) {
    auto& out = wires_[wire(rank, r)];
    if (lost_[wire(rank, r)]) out.clear();
    if (last_words < out.size()) out.resize(last_words);
    wires_[wire(r, rank)].clear();
  }
  n.role = {};
  n.problems.clear();
  n.solutions.clear();
  n.jobs.clear();
}

void world::lose(int rank, int peer) {
  lost_[wire(rank, peer)] = true;
  if (!active(rank)) return;
  if (rank == 0) {
    protocol::peer_messages told;
    roll_.lost(peer, told);
    send_all(told);
  }
  protocol::part_actions list;
  at(rank).role.lost(peer, list);
  perform(rank, list);
}

void world::tick(int rank) {
  ++ticks_;
  for (int r = 0; r < scenario_->ranks; ++r)
    if (lost_[wire(rank, r)]) lose(rank, r);
  protocol::part_actions list;
  at(rank).role.tick(list);
  perform(rank, list);
}

// --- what the engine does

void world::perform(int rank, protocol::part_actions& list, items problem, std::string const& solution) {
  auto& n = at(rank);
  if (fault_ != nullptr) fault_->wants(*this, rank, list);
  for (auto const& action : std::exchange(list, {})) {
    if (auto const* const s = std::get_if<act::send>(&action)) {
      send(rank, s->to, s->what);
    } else if (auto const* d = std::get_if<act::divide>(&action)) {
      require(d->group.size() > 1, "a rank alone is divided");
      n.jobs.push_back({job::kind::divide, d->group, n.problems.at(d->group)});
    } else if (auto const* so = std::get_if<act::solve>(&action)) {
      n.jobs.push_back({job::kind::solve, so->group, n.problems.at(so->group)});
    } else if (auto const* c = std::get_if<act::combine>(&action)) {
      auto left = n.solutions.extract(c->group.left());
      auto right = n.solutions.extract(c->group.right());
      require(!left.empty() && !right.empty(), "a solution to combine is not there");
      n.jobs.push_back({job::kind::combine, c->group, {}, left.mapped(), right.mapped()});
    } else if (auto const* kp = std::get_if<act::keep_problem>(&action)) {
      require(problem.first < problem.second, "an empty problem");
      n.problems[kp->group] = problem;
    } else if (auto const* ks = std::get_if<act::keep_solution>(&action)) {
      require(!solution.empty(), "an empty solution");
      std::erase_if(n.solutions, [&](auto const& x) { return ks->group.contains(x.first); });
      n.solutions[ks->group] = solution;
    } else if (std::holds_alternative<act::complete>(action)) {
      require(rank == 0 && !complete_, "complete twice");
      complete_ = true;
      protocol::peer_messages told;
      roll_.done(1, told);
      send_all(told);
    } else if (std::holds_alternative<act::drain>(action)) {
      n.draining = true;
    } else if (auto const* e = std::get_if<protocol::end>(&action)) {
      require(!n.ended, "a rank ends twice");
      n.ended = true;
      n.how = e->how;
    } else if (auto const* failure = std::get_if<protocol::fail>(&action)) {
      n.ended = true;
      n.failure = failure->why == protocol::fail::reason::lost_root ? "lost root" : failure->text;
    }
  }
}

void world::send_all(protocol::peer_messages& list) {
  for (auto const& m : std::exchange(list, {})) send(0, m.to, m.what);
}

void world::send(int rank, int to, peer_message const& what) {
  auto& n = at(rank);
  packet p{through_codec(what), {}, {}};
  ++messages_;
  if (what.kind == peer_message_kind::problem) {
    p.problem = n.problems.at(group_of(what));
  } else if (what.kind == peer_message_kind::solution) {
    p.solution = n.solutions.at(group_of(what));
  } else if (what.kind == peer_message_kind::finish && scenario_->to == solution_place::everywhere &&
             what.result->how == protocol::outcome::status::done && !n.role.has_reached(to)) {
    p.solution = n.solutions.at({0, scenario_->ranks});
  }
  if (at(to).alive || to == rank) wires_[wire(rank, to)].push_back(std::move(p));
}

void world::follow_up(int rank) {
  auto& n = at(rank);
  if (!active(rank) || !n.draining || !n.jobs.empty()) return;
  protocol::part_actions list;
  n.role.quiet(list);
  perform(rank, list);
}

// --- what is possible

std::vector<event> world::possible(std::uint64_t ticks) const {
  std::vector<event> all;
  auto const& s = *scenario_;
  for (int a = 0; a < s.ranks; ++a) {
    auto const& n = at(a);
    for (int b = 0; b < s.ranks; ++b)
      if (deliverable(a, b)) all.push_back({kind::deliver, a, b});
    if (!n.alive) {
      for (int b = 0; b < s.ranks; ++b)
        if (active(b) && !lost_[wire(b, a)]) all.push_back({kind::detect, b, a});
      continue;
    }
    if (!n.begun) all.push_back({kind::begin, a});
    for (int b = 0; b < s.ranks; ++b) {
      if (lost_[wire(a, b)] && at(b).alive) all.push_back({kind::heartbeat, a, b});
      if (b != 0 && b != a && at(b).alive && active(a) && suspicions_ < s.suspicions && !lost_[wire(a, b)])
        all.push_back({kind::suspect, a, b});
    }
    if (a != 0 && deaths_ < s.deaths && !complete_) {
      all.push_back({kind::die, a, 0, ~0ULL});
      all.push_back({kind::die, a, 0, 0});
    }
    if (!active(a)) continue;
    for (int j = 0; j < static_cast<int>(n.jobs.size()); ++j) all.push_back({kind::finish, a, j});
    if (ticks_ < ticks) all.push_back({kind::tick, a});
  }
  return all;
}

bool world::step(std::mt19937_64& dice) {
  auto all = possible(~0ULL);
  auto const& s = *scenario_;
  auto const below = [&](std::uint64_t n) { return dice() % n; };
  if (s.stops_early && !asked_to_stop_ && below(20) == 0) {
    auto const a = static_cast<int>(below(static_cast<std::uint64_t>(s.ranks)));
    if (active(a)) all.push_back({kind::stop, a});
  }
  for (int turn = 0; turn < 20 && !all.empty(); ++turn) {
    auto e = all[below(all.size())];
    bool const rare = e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
                      e.what == kind::heartbeat || e.what == kind::detect;
    if (rare && below(10) != 0) continue;
    if (e.what == kind::die) e.n = below(4);
    apply(e);
    return true;
  }
  return !all.empty();
}

void world::settle(std::mt19937_64& dice) {
  constexpr int most_rounds = 20;
  int const most_events = 200 * scenario_->ranks;
  for (int round = 0; round < most_rounds && !ended(); ++round) {
    for (int a = 0; a < scenario_->ranks; ++a)
      for (int b = 0; b < scenario_->ranks; ++b) {
        if (active(a) && !at(b).alive && !lost_[wire(a, b)]) apply({kind::detect, a, b});
        if (lost_[wire(a, b)] && at(b).alive) apply({kind::heartbeat, a, b});
      }
    for (int i = 0; i < most_events && !ended(); ++i) {
      auto all = possible(~0ULL);
      std::erase_if(all, [](event const& e) {
        return e.what == kind::die || e.what == kind::suspect || e.what == kind::tick ||
               e.what == kind::heartbeat;
      });
      if (all.empty()) break;
      apply(all[dice() % all.size()]);
    }
    for (int a = 0; a < scenario_->ranks; ++a)
      if (active(a)) apply({kind::tick, a});
  }
  std::string text = "the run is stuck";
  for (int a = 0; a < scenario_->ranks; ++a)
    if (active(a)) text += "; rank " + std::to_string(a) + " waits for " + at(a).role.waits_for();
  require(ended(), text);
}

bool world::ended() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [](node const& n) { return n.ended || !n.alive; });
}

std::string world::expected(rank_span s, items p) const {
  if (scenario_->from == problem_place::parts) {
    if (s.single()) return text_of({s.first, s.last});
  } else if (s.single() || atomic(p)) {
    return text_of(p);
  }
  int const middle = (p.first + p.second + 1) / 2;
  return "(" + expected(s.left(), {p.first, middle}) + " " + expected(s.right(), {middle, p.second}) + ")";
}

// The solutions of the parts in the order of the ranks.
std::string world::expected_parts(rank_span s, items p) const {
  auto text = expected(s, p);
  std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
  return text;
}

void world::check_end() const {
  using status = protocol::outcome::status;
  auto const& s = *scenario_;
  auto const& root = at(0);
  if (s.other_call) {
    if (at(*s.other_call).begun && !root.failure.empty()) return;
    require(!at(*s.other_call).alive || suspicions_ > 0, "another call is not noticed");
  }
  require(root.failure.empty(), "the root fails: " + root.failure);
  for (auto const& n : nodes_)
    require(!n.alive || (n.how.has_value() && n.how == root.how), "ranks end differently");
  rank_span const all{0, s.ranks};
  items const problem{0, s.items};
  switch (root.how->how) {
    case status::done:
      if (s.to == solution_place::parts) {
        std::string text;
        for (auto const& n : nodes_)
          for (auto const& [group, part] : n.solutions) text += (text.empty() ? "" : " ") + part;
        require(deaths_ > 0 || text == expected_parts(all, problem), "wrong parts: " + text);
        break;
      }
      for (int r = 0; r < s.ranks; ++r)
        if (at(r).alive && (r == 0 || s.to == solution_place::everywhere))
          require(at(r).result == expected(all, problem), "a wrong solution: " + at(r).result);
      break;
    case status::task_failed:
      require(failed_, "a failure out of nothing");
      break;
    case status::stopped_early:
      require(asked_to_stop_, "an early stop that nobody wanted");
      break;
    case status::part_lost:
      require(s.may_lose_parts() && (deaths_ > 0 || suspicions_ > 0), "a lost part, out of nothing");
      break;
    default:
      require(false, "an outcome that cannot be");
  }
}

std::uint64_t world::again() const {
  std::uint64_t n = 0;
  for (auto const& x : nodes_) n += x.role.taken_over();
  return n;
}

std::uint64_t world::hash() const {
  protocol::digest d;
  auto const add_text = [&](std::string const& text) {
    for (char const c : text) d.add(static_cast<unsigned char>(c));
    d.add(text.size());
  };
  auto const add_span = [&](rank_span s) { d.add(static_cast<std::uint64_t>(s.first * 64 + s.last)); };
  for (auto const& n : nodes_) {
    d.add(n.role.hash());
    for (auto const& [s, p] : n.problems) add_span(s);
    for (auto const& [s, text] : n.solutions) {
      add_span(s);
      add_text(text);
    }
    for (auto const& j : n.jobs) {
      d.add(static_cast<std::uint64_t>(j.what));
      add_span(j.group);
    }
    d.add((n.begun ? 1U : 0U) + (n.alive ? 2U : 0U) + (n.ended ? 4U : 0U) + (n.draining ? 8U : 0U));
  }
  d.add(roll_.hash());
  for (auto const& w : wires_) {
    for (auto const& p : w) {
      d.add(static_cast<std::uint64_t>(p.what.kind)).add(p.what.number);
      for (auto const id : p.what.ids) d.add(id);
      add_text(p.solution);
    }
    d.add(w.size());
  }
  for (bool const l : lost_) d.add(l);
  d.add(static_cast<std::uint64_t>(deaths_)).add(static_cast<std::uint64_t>(suspicions_)).add(ticks_);
  return d.value();
}

}  // namespace partner_harness
