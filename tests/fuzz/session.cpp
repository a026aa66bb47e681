// libFuzzer: any lines leave a session with a specification that can be rendered.
#include "fuzz.hpp"
#include "session_scene.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static volume::session_scene const at_first = [] {
    volume::options o;
    o.field = "wind";
    return volume::session_scene(o);
  }();
  auto scene = at_first;
  auto text = fuzz::input{data, size}.text();
  while (!text.empty()) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find("spec ") != std::string_view::npos || line.find("spec\t") != std::string_view::npos)
      continue;  // reads a file
    fuzz::expect_error_or_result([&] {
      auto next = scene;
      if (next.apply(line) == volume::session_scene::effect::volume)
        static_cast<void>(next.source().volumes());
      scene = next;
    });
  }
  static_cast<void>(volume::parse_specification(scene.specification(), "fuzz"));
  return 0;
}
