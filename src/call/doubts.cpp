#include "doubts.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace skel::detail {

bool call_doubts::of_another_call(int rank, std::uint64_t hash) {
  if (hash == own_.hash()) return false;
  ask(rank, {});
  return true;
}

void call_doubts::cannot_read(int from, std::string const& text) {
  if (entry_.ctx.is_root())
    ask(from, text);
  else
    calls().tell_doubt(entry_.key, entry_.ranks.to_wire(from), text);
}

void call_doubts::ask(int rank, std::string const& why) {
  if (over_ || rank == entry_.ctx.rank() || !asked_.try_emplace(rank, question{why}).second) return;
  calls().ask_call(entry_.ranks.to_wire(rank), entry_.key);
}

void call_doubts::on_doubt(int wire_rank, int wire_about, std::string const& text) {
  for (int const r : {entry_.ranks.from_wire(wire_rank), entry_.ranks.from_wire(wire_about)})
    if (r != team::none) ask(r, text);
}

void call_doubts::on_description(int wire_rank, std::string const& theirs) {
  int const rank = entry_.ranks.from_wire(wire_rank);
  auto const asked = asked_.find(rank);
  if (over_ || asked == asked_.end()) return;
  if (auto const how = difference(theirs, own_.text()); !how.empty())
    calls().fail_call({entry_.key, call_failure::kind::protocol,
                       detail::format("rank {} made another skeleton call than the root: {}", rank, how)});
  else if (asked->second.answered = true; std::all_of(asked_.begin(), asked_.end(), [&](auto const& q) {
             return q.second.answered || entry_.has_lost(q.first);
           }))
    calls().fail_call({entry_.key, call_failure::kind::protocol, asked->second.why});
}

}  // namespace skel::detail
