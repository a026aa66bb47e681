// Results and tasks of a farm that cannot be sent.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mistake.hpp"

namespace types {

template <class T>
void return_it(skel::context& ctx) {
  skel::farm(
      ctx, skel::indices(10), [](std::uint64_t) { return T{}; }, [](skel::task_id, T&&) {});
}
template <class T>
void send_it(skel::context& ctx) {
  skel::farm(
      ctx, skel::on_root([] { return std::vector<T>(3); }), [](T const&) { return 1; },
      [](skel::task_id, int) {});
}

// A pointer to something else, and no serialize function.
// error: skel::farm: the result type cannot be sent.
struct picture {
  MISTAKE(int, std::shared_ptr<int>) pixels{};
};
void result_not_sendable(skel::context& ctx) { return_it<picture>(ctx); }

// error: needs Boost.Serialization: #include <skel/serialization.hpp> in the file that sends it.
struct reading {
  MISTAKE(char, std::string) name{};
#ifdef SKEL_COMPILE_FAIL
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name;
  }
#endif
};
void serialize_without_header(skel::context& ctx) { return_it<reading>(ctx); }

// error: skel::farm: the task type of an on_root or steered source cannot be sent.
void task_not_sendable(skel::context& ctx) { send_it<MISTAKE(int, std::shared_ptr<int>)>(ctx); }

// Fields that are partly in a base class.
// error: skel: this type has a base class, so its fields cannot be found
struct named {
  std::string name;
};
struct person MISTAKE(, : named) {
  MISTAKE(named base;)
  int age = 0;
};
void result_has_base(skel::context& ctx) { return_it<person>(ctx); }

// The characters would not be sent.
// error: skel: this type holds an address (pointer, reference, view, iterator)
void result_is_view(skel::context& ctx) { return_it<MISTAKE(std::string, std::string_view)>(ctx); }

// The elements would not be sent.
// error: skel: this type holds an address (pointer, reference, view, iterator)
void result_is_span(skel::context& ctx) { return_it<MISTAKE(std::vector<int>, std::span<int>)>(ctx); }

// Views deep inside.
// error: skel: this type holds an address (pointer, reference, view, iterator)
using text = MISTAKE(std::string, std::string_view);
void result_holds_views(skel::context& ctx) {
  return_it<std::vector<std::pair<int, std::optional<text>>>>(ctx);
}

// Could be copied as bytes, but for a pointer in a member of a member.
// error: skel: this type holds an address (pointer, reference, view, iterator)
struct part {
  double weight[3] = {};
  MISTAKE(char, char const*) name{};
};
struct task {
  int number = 0;
  std::array<part, 2> parts{};
};
void task_holds_pointer(skel::context& ctx) { send_it<task>(ctx); }

// One field cannot be sent.
// error: skel: this type holds an address (pointer, reference, view, iterator)
struct item {
  std::string name;
  MISTAKE(double, double*) values{};
};
void field_is_pointer(skel::context& ctx) { return_it<item>(ctx); }

// A value to broadcast that every rank has made.
// error: skel::broadcast: the value comes from skel::on_root(function)
void broadcast_plain_value(skel::context& ctx) {
  static_cast<void>(
      skel::broadcast(ctx, MISTAKE(skel::on_root([] { return std::string(); }), std::string())));
}

// error: skel::gather: the type cannot be sent.
using gathered = MISTAKE(int, std::unique_ptr<int>);
void gather_part_not_sendable(skel::context& ctx) {
  static_cast<void>(skel::gather(ctx, skel::result<gathered>{}));
}

}  // namespace types
