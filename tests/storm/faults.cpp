#include "faults.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "bsp/role/message.hpp"
#include "divide_and_conquer/role/message.hpp"
#include "engine/wires.hpp"
#include "farm/role/message.hpp"
#include "multi_host/role/message.hpp"
#include "protocol/view_agreement.hpp"
#include "ring_steal/role/message.hpp"
#include "skel/bytes.hpp"
#include "team_farm/role/message.hpp"

namespace storm {

namespace {

namespace role = skel::role;
using bytes_of_packet = std::vector<std::byte>;

// A packet: the number of its view, then the link's header and the message; about views: 0, the view's number
// in 8 bytes, the kind, and the message (engine/views.cpp).
constexpr std::size_t before_header = 4, before_body = 4 + sizeof(skel::transport::header), before_kind = 12;

std::uint32_t view_of(bytes_of_packet const& p) {
  std::uint32_t n = 0;
  std::memcpy(&n, p.data(), sizeof n);
  return n;
}
void set_view(bytes_of_packet& p, std::uint32_t n) { std::memcpy(p.data(), &n, sizeof n); }
bool is_about_views(bytes_of_packet const& p) { return view_of(p) == 0; }

std::optional<skel::transport::header> header_of(bytes_of_packet const& p) {
  if (is_about_views(p) || p.size() <= before_body) return std::nullopt;
  skel::transport::header h;
  std::memcpy(&h, p.data() + before_header, sizeof h);
  return h;
}
std::optional<unsigned> code_at(bytes_of_packet const& p, std::size_t at) {
  return p.size() > at ? std::optional(std::to_integer<unsigned>(p[at])) : std::nullopt;
}
/// The code of a skeleton's message (protocol/codec.hpp).
std::optional<unsigned> message_of(bytes_of_packet const& p) {
  auto const h = header_of(p);
  return h && h->context() != 0 ? code_at(p, before_body) : std::nullopt;
}
/// The first byte of a message of a part of the engine.
std::optional<unsigned> control_of(bytes_of_packet const& p, skel::detail::part of) {
  auto const h = header_of(p);
  return h && h->context() == 0 && h->run() == static_cast<std::uint32_t>(of) ? code_at(p, before_body)
                                                                              : std::nullopt;
}

// --- which packets

using matcher = std::function<bool(bytes_of_packet const&)>;

template <class Variant, class Own>
constexpr unsigned index_of() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    unsigned found = 0;
    ((std::is_same_v<std::variant_alternative_t<i, Variant>, Own> ? found = i : 0U), ...);
    return found;
  }(std::make_index_sequence<std::variant_size_v<Variant>>{});
}
template <class Own>
matcher call() {
  return [](bytes_of_packet const& p) { return message_of(p) == index_of<role::call_message, Own>(); };
}
template <class Message, class Own>
matcher message() {
  return [](bytes_of_packet const& p) {
    return message_of(p) == role::first_kind<Message> + index_of<Message, Own>() - 1;
  };
}
matcher control(skel::detail::part of, unsigned kind) {
  return [of, kind](bytes_of_packet const& p) { return control_of(p, of) == kind; };
}
matcher about_views(unsigned kind) {
  return [kind](bytes_of_packet const& p) { return is_about_views(p) && code_at(p, before_kind) == kind; };
}
template <class Own>
matcher about_views() {
  return about_views(index_of<role::views::message, Own>());
}

// --- what becomes of them

fault never(std::string name, matcher which) {
  return {std::move(name), [which = std::move(which)]() -> packet_filter {
            return [which](int, int, bytes_of_packet& p) { return !which(p); };
          }};
}
fault once_lost(std::string name, int nth, matcher which) {
  return {std::move(name), [nth, which = std::move(which)]() -> packet_filter {
            return
                [nth, which, n = 0](int, int, bytes_of_packet& p) mutable { return !which(p) || ++n != nth; };
          }};
}
fault changed(std::string name, matcher which, std::function<void(int to, bytes_of_packet&)> how) {
  return {std::move(name), [which = std::move(which), how = std::move(how)]() -> packet_filter {
            return [which, how](int, int to, bytes_of_packet& p) {
              if (which(p)) how(to, p);
              return true;
            };
          }};
}
/// The last byte of the n-th such packet differs by a bit.
fault flipped(std::string name, int nth, matcher which) {
  return {std::move(name), [nth, which = std::move(which)]() -> packet_filter {
            return [nth, which, n = 0](int, int, bytes_of_packet& p) mutable {
              if (which(p) && ++n == nth) p.back() ^= std::byte{1};
              return true;
            };
          }};
}
/// The message is decoded, changed and encoded again; what follows it stays.
template <class Message, class Own>
fault altered(std::string name, std::function<void(Own&)> how) {
  return changed(std::move(name), message<Message, Own>(), [how = std::move(how)](int, bytes_of_packet& p) {
    std::span<std::byte const> rest(p);
    rest = rest.subspan(before_body);
    auto m = role::decode<Message>(rest);
    how(std::get<Own>(m));
    bytes_of_packet other(p.begin(), p.begin() + before_body);
    role::encode(m, other);
    other.insert(other.end(), rest.begin(), rest.end());
    p = std::move(other);
  });
}

template <class Own>
matcher farm() {
  return message<role::farm_message, Own>();
}
template <class Own>
matcher steal() {
  return message<role::steal_message, Own>();
}
template <class Own>
matcher divide() {
  return message<role::divide_message, Own>();
}
template <class Own>
matcher group() {
  return message<role::group_message, Own>();
}
template <class Own>
matcher bsp() {
  return message<role::bsp_message, Own>();
}
template <class Own>
matcher team() {
  return message<role::team_message, Own>();
}

std::vector<fault> all_faults() {
  using skel::detail::part;
  namespace views = role::views;
  constexpr unsigned bye = 1, decision = 2, alive = 255;  // engine/farewell.cpp, engine/views.cpp
  std::vector<fault> all;
  auto const add = [&all](fault f) { all.push_back(std::move(f)); };

  // Views and attempts.
  add(never("views: no rank is asked for a promise", about_views<views::prepare>()));
  add(never("views: no promise is given", about_views<views::promise>()));
  add(never("views: nothing is proposed", about_views<views::propose>()));
  add(never("views: no proposal is accepted", about_views<views::accept>()));
  add(never("views: the decision is not told", about_views<views::decided>()));
  add(never("views: ranks inside tasks give no sign of life", about_views(alive)));
  add(changed(
      "views: ranks hear different decisions", about_views<views::decided>(), [](int to, bytes_of_packet& p) {
        if (to % 2 == 1 && p.size() > before_kind + 2) {  // one member less
          p.pop_back();
          p[before_kind + 1] = static_cast<std::byte>(std::to_integer<unsigned>(p[before_kind + 1]) - 1);
        }
      }));
  add({"views: packets of an older view count", [] {
         return packet_filter(
             [newest = std::map<int, std::uint32_t>()](int from, int to, bytes_of_packet& p) mutable {
               if (is_about_views(p)) return true;
               auto& mine = newest[from];
               mine = std::max(mine, view_of(p));
               if (auto const theirs = newest[to]; theirs > view_of(p)) set_view(p, theirs);
               return true;
             });
       }});
  add({"views: packets of a newer view are dropped", [] {
         return packet_filter(
             [newest = std::map<int, std::uint32_t>()](int from, int to, bytes_of_packet& p) mutable {
               if (is_about_views(p)) return true;
               auto& mine = newest[from];
               mine = std::max(mine, view_of(p));
               return view_of(p) <= std::max(1U, newest[to]);
             });
       }});
  add({"views: packets keep the number of the first view", [] {
         return packet_filter([](int, int, bytes_of_packet& p) {
           if (!is_about_views(p)) set_view(p, 1);
           return true;
         });
       }});

  // The engine.
  add(never("farewell: ranks leave without a word", control(part::farewell, bye)));
  add(never("farewell: the verdict is not told", control(part::farewell, decision)));
  add(changed("farewell: the verdict is another one", control(part::farewell, decision),
              [](int, bytes_of_packet& p) { p[before_body + 2] ^= std::byte{1}; }));
  add(changed(
      "peers: the root tells of the loss of another rank",
      [](bytes_of_packet const& p) { return control_of(p, part::peers).value_or(0) > 0; },
      [](int, bytes_of_packet& p) { p.back() ^= std::byte{1}; }));
  add(never("peers: the root does not tell of losses",
            [](bytes_of_packet const& p) { return control_of(p, part::peers).value_or(0) > 0; }));
  add({"link: every 40th message is lost", [] {
         return packet_filter(
             [n = 0](int, int, bytes_of_packet& p) mutable { return !header_of(p) || ++n % 40 != 0; });
       }});
  add({"link: a message goes to the wrong call", [] {
         return packet_filter([n = 0](int, int, bytes_of_packet& p) mutable {
           auto h = header_of(p);
           if (!h || h->context() == 0 || ++n % 50 != 0) return true;
           skel::transport::header const other(h->context(), h->run() + 1, h->more(), h->sequence,
                                               h->acknowledged);
           std::memcpy(p.data() + before_header, &other, sizeof other);
           return true;
         });
       }});
  add({"link: nothing is acknowledged", [] {
         return packet_filter([](int, int, bytes_of_packet& p) {
           if (is_about_views(p) || p.size() < before_body) return true;
           skel::transport::header h;
           std::memcpy(&h, p.data() + before_header, sizeof h);
           h.acknowledged = 0;
           std::memcpy(p.data() + before_header, &h, sizeof h);
           return true;
         });
       }});

  // Calls.
  add(never("call: ranks do not say hello", call<role::hello>()));
  add(never("call: a task's failure is not told", call<role::failed>()));
  add(never("call: ranks do not say that they have stopped", call<role::stopped>()));
  add(never("call: ranks are not told to stop", call<role::stop>()));
  add(never("call: ranks are not told of the end", call<role::finish>()));
  add(once_lost("call: one rank does not say that it has stopped", 3, call<role::stopped>()));
  add(changed("call: a rank makes another call", call<role::hello>(),
              [](int, bytes_of_packet& p) { p[before_body + 1] ^= std::byte{1}; }));

  // Farms.
  add(never("farm: grants are lost", farm<role::farm::grant>()));
  add(never("farm: results are lost", farm<role::farm::results>()));
  add(flipped("farm: a result is wrong", 2, farm<role::farm::results>()));
  add(once_lost("farm: stolen tasks are lost", 1, farm<role::farm::give>()));
  add(never("farm: ranks do not say what they hold", farm<role::farm::stock>()));
  add(never("farm: no stock is taken", farm<role::farm::take_stock>()));
  add(altered<role::farm_message, role::farm::stock>("farm: ranks claim tasks that they do not hold",
                                                     [](auto& m) {
                                                       m.held = {{0, 1000, 1}};
                                                     }));
  add(altered<role::farm_message, role::farm::grant>("farm: other tasks are granted", [](auto& m) {
    if (!m.ranges.empty()) m.ranges.front().first += 1;
  }));
  add(altered<role::farm_message, role::farm::results>("farm: results are of other tasks", [](auto& m) {
    if (!m.ranges.empty()) m.ranges.front().first ^= 1;
  }));

  // ring_steal.
  add(never("ring_steal: loans are not paid back", steal<role::steal::paid>()));
  add(flipped("ring_steal: a loan's result is wrong", 1, steal<role::steal::paid>()));
  add(never("ring_steal: no rank says what it holds", steal<role::steal::held>()));
  add(never("ring_steal: what a leaver hands back is lost", steal<role::steal::bequeaths>()));
  add(never("ring_steal: a borrower hears of no new lender", steal<role::steal::inherits>()));

  // divide_and_conquer.
  add(never("divide: problems are lost", divide<role::divide::problem>()));
  add(never("divide: solutions are lost", divide<role::divide::solution>()));
  add(flipped("divide: a solution is wrong", 1, divide<role::divide::solution>()));
  add(never("divide: a missing problem is not asked for", divide<role::divide::need_problem>()));
  add(never("divide: a missing solution is not asked for", divide<role::divide::need_solution>()));
  add(never("divide: the root allows no takeover", divide<role::divide::allow_takeover>()));

  // multi_host.
  add(once_lost("multi_host: a packet is lost", 1, group<role::group::packet>()));
  add(once_lost("multi_host: results are lost", 1, group<role::group::returned>()));
  add(flipped("multi_host: a result is wrong", 1, group<role::group::returned>()));
  add(never("multi_host: no host is appointed", group<role::group::lead>()));
  add(never("multi_host: workers have no host", group<role::group::serve>()));
  add(never("multi_host: hosts do not say that a unit is done", group<role::group::unit_done>()));

  // bsp.
  add(never("bsp: epochs do not begin", bsp<role::bsp::restart>()));
  add(once_lost("bsp: a message is lost", 2, bsp<role::bsp::bundle>()));
  add(flipped("bsp: a message is wrong", 1, bsp<role::bsp::bundle>()));
  add(once_lost("bsp: a barrier's message is lost", 2, bsp<role::bsp::tally>()));

  // Farms of teams.
  add(never("teams: tasks are lost", team<role::team::run>()));
  add(never("teams: a lost team is not cancelled", team<role::team::cancel>()));
  add(never("teams: results are lost", team<role::team::ended>()));
  add(flipped("teams: a result is wrong", 1, team<role::team::ended>()));
  return all;
}

}  // namespace

std::vector<fault> const& faults() {
  static auto const all = all_faults();
  return all;
}

}  // namespace storm
