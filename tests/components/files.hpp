// Graph files for tests.
#pragma once

#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "graph_file.hpp"
#include "skel/error.hpp"

namespace files {

/// A file that is removed by the destructor.
class temporary {
 public:
  explicit temporary(std::string const& name, std::string const& content)
      : path_("/tmp/skel-components-" + std::to_string(::getpid()) + "-" + name) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~temporary() { std::remove(path_.c_str()); }
  temporary(temporary const&) = delete;
  temporary& operator=(temporary const&) = delete;
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
};

inline components::graph read(std::string const& name, std::string const& content,
                              std::optional<std::uint64_t> nodes = {}) {
  temporary const file(name, content);
  return components::read_graph(file.path(), nodes);
}

inline std::string gzipped(std::string const& text) {
  temporary const file("packed.gz", "");
  auto* const out = gzopen(file.path().c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  std::ifstream in(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the error without the path.
inline std::string error_of(std::string const& name, std::string const& content,
                            std::optional<std::uint64_t> nodes = {}) {
  temporary const file(name, content);
  try {
    (void)components::read_graph(file.path(), nodes);
  } catch (skel::usage_error const& e) {
    std::string const text = e.what();
    return text.starts_with(file.path()) ? name + text.substr(file.path().size()) : text;
  }
  return "no error";
}

template <class... T>
std::string bytes_of(T... values) {
  std::string text;
  (text.append(reinterpret_cast<char const*>(&values), sizeof values), ...);
  return text;
}

}  // namespace files
