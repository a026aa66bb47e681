#include "increments.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "call_store.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// Thrown out of a generation that is being written.
struct unreadable {
  std::size_t which;  // of the chain
  std::string why;
};
struct in_a_hurry {};

std::uint64_t bytes_of(increments::segments const& all) {
  std::uint64_t sum = 0;
  for (auto const& s : all) sum += s->size();
  return sum;
}

}  // namespace

std::size_t bases_to_keep(std::span<std::uint64_t const> sizes, std::uint64_t fresh) {
  auto keep = sizes.size();
  if (keep < longest_chain) return keep;
  do fresh += sizes[--keep];
  while (keep > 0 && 2 * sizes[keep - 1] <= fresh);
  return keep;
}

increments::increments(storage::repository const& to, storage::report_problem const& report)
    : store_(to), report_(report) {
  auto const& o = to.options();
  auto const remote = std::ranges::count(o.places, true, &storage::place::remote);
  both_ = o.placement.remote_every > 0 && remote > 0 && static_cast<std::size_t>(remote) < o.places.size();
}

increments::chain& increments::chain_of(storage::generation_plan const& plan) {
  return state_.chains[both_ && store_.goes_remote(plan) ? 1 : 0];
}

void increments::resume_from(storage::stored_generation const& from, std::vector<std::byte> const& content) {
  bool const remote = both_ && store_.lies_in(from, true);
  std::vector<storage::generation_plan> generations;
  for (auto const* g = &from; g != nullptr; g = g->base.get())
    generations.insert(generations.begin(), g->plan);
  state_.chains[remote ? 1 : 0].generations = std::move(generations);
  if (both_)
    state_.chains[remote ? 0 : 1].unsaved = {std::make_shared<std::vector<std::byte> const>(content)};
}

void increments::append(segments const& more) {
  for (std::size_t i = 0; i < (both_ ? 2 : 1); ++i)
    state_.chains[i].unsaved.insert(state_.chains[i].unsaved.end(), more.begin(), more.end());
}

void increments::begin_call(bool earlier) {
  replaces_ = false;
  for (auto& c : state_.chains) {
    c.fixed = earlier ? c.generations.size() : 0;
    c.fixed_unsaved = earlier ? c.unsaved.size() : 0;
  }
}

bool increments::merges() const {
  return !hurried_ && std::ranges::any_of(
                          state_.chains, [](auto const& c) { return c.generations.size() >= longest_chain; });
}

void increments::replace(segments const& all) {
  replaces_ = true;
  for (auto& c : state_.chains) c.unsaved.resize(c.fixed_unsaved);
  append(all);
}

// A generation of a chain as it was found.
struct increments::link {
  storage::stored_generation const* found = nullptr;  // null: lost
  std::uint64_t generation = 0, bytes = 0;
  [[nodiscard]] bool whole() const {
    return found != nullptr && found->own_state() == storage::condition::whole;
  }
};

void increments::give_up(std::uint64_t generation, std::string const& why) {
  auto const what = detail::format("generation {}, which holds earlier results, {}", generation, why);
  if (state_.found_lost.insert(generation).second) throw error(what);
  report_(what + "; a later run computes them again");
}

std::vector<increments::link> increments::find(chain const& c,
                                               std::vector<storage::stored_generation> const& all) {
  std::vector<link> links;
  for (auto const& plan : c.generations) {
    auto& l = links.emplace_back();
    l.generation = plan.generation;
    auto const at = std::ranges::find(all, plan, &storage::stored_generation::plan);
    if (at == all.end() || at->own_state() == storage::condition::lost) {
      give_up(l.generation, "is lost");
      continue;
    }
    l.found = &*at;
    l.bytes = at->parts.at(0).object.content_length;
  }
  return links;
}

increments::saved increments::write(storage::run_history const& history) {
  auto plan = store_.next(1);
  plan.generation += left_out_;
  auto done = write(plan, history);
  left_out_ = 0;
  return done;
}

increments::saved increments::write_both(storage::run_history const& history) {
  auto done = write(history);
  bool const remote = !state_.chains[1].unsaved.empty();
  auto const every = store_.options().placement.remote_every;
  // With 1, no generation is local until all remote places are lost.
  if (!both_ || (!remote && (every == 1 || state_.chains[0].unsaved.empty()))) return done;
  auto plan = store_.next(1);
  while ((plan.generation % every == 0) != remote) ++plan.generation;
  if (store_.goes_remote(plan) != remote) return done;  // no place is left there
  auto const more = write(plan, history);
  done.cost += more.cost;
  done.bytes += more.bytes;
  return done;
}

increments::saved increments::write(storage::generation_plan plan, storage::run_history const& history) {
  auto& c = chain_of(plan);
  auto const all = store_.reporting_to({}).catalogue();
  if (replaces_) c.generations.resize(c.fixed);  // the others remain in the store until this one is committed
  auto links = find(c, all);
  auto const fresh = bytes_of(c.unsaved);
  while (true) {
    std::vector<std::uint64_t> sizes;
    sizes.reserve(links.size());
    for (auto const& l : links) sizes.push_back(l.bytes);
    bool const hurried = hurried_;
    // With nothing new, a long chain is merged as if as much had come as the last time.
    auto const newest = fresh > 0 || sizes.empty() ? fresh : sizes.back();
    auto keep = hurried ? links.size() : bases_to_keep(sizes, newest);
    auto const damaged = std::ranges::find_if_not(links, &link::whole);
    bool const may_stop = damaged == links.end();
    keep = std::min(keep, static_cast<std::size_t>(damaged - links.begin()));
    plan.append_to(keep > 0 ? c.generations[keep - 1] : storage::generation_plan{});
    auto const merged = std::span(links).subspan(keep);
    saved done;
    done.bytes = fresh;
    for (auto const& l : merged) done.bytes += l.bytes;
    done.content = done.bytes;
    for (auto const& l : std::span(links).first(keep)) done.content += l.bytes;
    try {
      done.cost = prepare(plan, done.bytes, merged, c.unsaved, may_stop && !hurried);
    } catch (unreadable const& bad) {
      auto& l = links.at(bad.which + keep);
      give_up(l.generation, "cannot be read: " + bad.why);
      l = {nullptr, l.generation, 0};
      continue;
    } catch (in_a_hurry const&) {
      continue;
    }
    done.cost += commit_and_clear(store_, plan, history);
    bool const has_earlier = keep < c.fixed || c.fixed_unsaved > 0;
    c.generations.resize(keep);
    c.generations.push_back(plan);
    c.unsaved.clear();
    c.fixed_unsaved = 0;
    if (has_earlier) c.fixed = c.generations.size();
    return done;
  }
}

storage::save_cost increments::prepare(storage::generation_plan const& plan, std::uint64_t length,
                                       std::span<link const> merged, segments const& fresh, bool may_stop) {
  auto const content = [&](storage::byte_sink const& to) {
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (merged[i].found == nullptr) continue;
      try {
        store_.read_own(*merged[i].found, 0, [&](auto piece) {
          if (may_stop && hurried_) throw in_a_hurry{};
          to(piece);
        });
      } catch (error const& bad) {
        throw unreadable{i, bad.what()};
      }
    }
    for (auto const& s : fresh) to(*s);
  };
  return store_.prepare(plan, 0, "results", length, content);
}

}  // namespace skel::detail
