#include "storage/part_name.hpp"

#include "base/format.hpp"
#include "base/text.hpp"

namespace skel::storage {

namespace {

bool take_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

// Cuts off and returns the text behind the last dot.
std::optional<std::string_view> take_field(std::string_view& text) {
  auto const dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  auto const field = text.substr(dot + 1);
  text = text.substr(0, dot);
  return field;
}

constexpr auto decimal = [](std::string_view digits) { return detail::from_digits<std::uint64_t>(digits); };

bool is_part(std::string_view text) {
  auto const of = text.find("-of-");
  return of != std::string_view::npos && decimal(text.substr(0, of)) && decimal(text.substr(of + 4));
}

}  // namespace

std::optional<part_name> part_name::parse(std::string_view file_name) {
  part_name p;
  p.temporary = file_name.starts_with('.') && take_ending(file_name, ".writing");
  if (p.temporary) file_name.remove_prefix(1);
  if (!take_ending(file_name, ".shard")) return std::nullopt;
  auto const index = take_field(file_name);
  auto const part = index ? take_field(file_name) : std::nullopt;
  auto const generation = part ? take_field(file_name) : std::nullopt;
  if (!generation || !decimal(*index) || !is_part(*part) || !decimal(*generation)) return std::nullopt;
  p.object = file_name;
  p.generation = *decimal(*generation);
  return p;
}

std::string attempt_name::file_name() const {
  return detail::format(".skel-attempt.{}.{}.{}", generation, stamp, number);
}

std::optional<attempt_name> attempt_name::parse(std::string_view file_name) {
  auto const n = take_field(file_name);
  auto const stamp = n ? take_field(file_name) : std::nullopt;
  auto const generation = stamp ? take_field(file_name) : std::nullopt;
  if (file_name != ".skel-attempt" || !generation || !decimal(*n) || !decimal(*stamp) ||
      !decimal(*generation))
    return std::nullopt;
  return attempt_name{*decimal(*generation), *decimal(*stamp), *decimal(*n)};
}

}  // namespace skel::storage
