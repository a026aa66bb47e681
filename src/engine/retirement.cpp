#include "retirement.hpp"

#include <cstdio>
#include <utility>

#include "skel/bytes.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {
enum retirement_control : std::uint8_t { leaves, stays, heard, remembers };
}  // namespace

void retirement::say(std::uint8_t what) {
  for (int r = 0; r < wires_.size(); ++r)
    if (r != wires_.rank()) send(r, what);
}

void retirement::send(int to, std::uint8_t what) {
  transport::packet p;
  p.body().push_back(static_cast<std::byte>(what));
  calls_.send(to, key_of(part::retirement), std::move(p));
}

void retirement::on_control(int from, std::span<std::byte const> body) {
  switch (std::to_integer<std::uint8_t>(bytes::get_bytes(body, 1)[0])) {
    case remembers:
      if (memory != nullptr) memory->take_over(body);
      break;
    case leaves:
      leaving_.insert(from);
      if (wires_.rank() != 0 || !said_) send(from, heard);
      break;
    case stays:
      leaving_.erase(from);
      break;
    case heard:
      unheard_.erase(from);
      break;
    default:
      throw protocol_error("unknown retirement of rank " + std::to_string(from));
  }
}

int retirement::heir() const {
  int r = 1;
  while (r < wires_.size() && (r == wires_.rank() || wires_.is_lost(r) || leaving_.contains(r))) ++r;
  return r;
}

std::string retirement::obstacle() const {
  bool others = false;
  for (int r = 0; r < wires_.size(); ++r)
    others = others || (r != wires_.rank() && !wires_.is_lost(r) && !leaving_.contains(r));
  if (!others) return "no other rank is left";
  if (*kept_by != '\0') return kept_by;
  if (wires_.rank() == 0 && memory == nullptr)
    return "the others cannot run the program's body again without the root";
  return {};
}

void retirement::step(bool between) {
  auto const& runs = calls_.runs();
  if (!wanted() || done_ || farewell_.begun() || farewell_.view_ended() || (runs.empty() && !between)) return;
  if (auto const why = obstacle(); !why.empty()) {
    if (!std::exchange(explained_, true))
      std::fprintf(stderr, "%s: rank %d was asked to retire, but stays: %s\n",
                   farewell_.program.empty() ? "skel" : farewell_.program.c_str(),
                   wires_.carrier().in_job(wires_.rank()), why.c_str());
    wanted_ = false;
    if (std::exchange(said_, false)) say(stays);
    unheard_.clear();
    for (auto const& [key, running] : runs) running->vacate(false);
    return;
  }
  bool all = true;
  for (auto const& [key, running] : runs) all = running->vacate(true) && all;
  if (all && !std::exchange(said_, true)) leave();
  std::erase_if(unheard_, [&](int r) { return r != 0 && wires_.is_lost(r); });  // without 0 the view ends
  if (!all || !unheard_.empty()) return;
  done_ = true;
  farewell_.end_view();
}

void retirement::leave() {
  if (int const to = heir(); to != wires_.size() && memory != nullptr) {
    transport::packet p;
    p.body().push_back(static_cast<std::byte>(remembers));
    memory->put_all(p.body());
    calls_.send(to, key_of(part::retirement), std::move(p));
  }
  say(leaves);
  for (int r = 0; r < wires_.size(); ++r)
    if (r != wires_.rank() && (r == 0 || !leaving_.contains(r))) unheard_.insert(r);  // those may be gone
}

}  // namespace skel::detail
