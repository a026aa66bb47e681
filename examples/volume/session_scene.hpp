// The commands of a session [Storm95, §6.3, user pattern 1]: lines that change what is rendered, and
// `render FILE`. docs/reference/volume.md lists them.
#pragma once

#include <string>
#include <string_view>

#include "options.hpp"

namespace volume {

/// What the next picture shows. To lose nothing by a wrong line, apply lines to a copy.
class session_scene {
 public:
  enum class effect : unsigned char { none, scene, volume, render, quit };

  /// The scene of the command line. Throws usage_error as parse_specification().
  explicit session_scene(options const& o);

  /// Executes a line. Keys of the specification take JSON, which is merged into the specification
  /// (RFC 7396); other words take the value of the option of that name. Throws usage_error
  /// `word: ..., expected ...`. Reads no file except that of `spec FILE`.
  effect apply(std::string_view line);

  /// The specification of the next picture, as JSON.
  [[nodiscard]] std::string const& specification() const noexcept { return specification_; }
  /// The options that name the volume, its time and variable, and the number of frames.
  [[nodiscard]] options const& source() const noexcept { return options_; }
  /// The file of the last `render`.
  [[nodiscard]] std::string const& output() const noexcept { return output_; }

 private:
  void read(std::string const& path);
  void merge(std::string const& key, std::string const& value);
  void set_option(std::string const& word, std::string const& value);
  void use_size_and_background();

  options options_;
  std::string specification_, output_;
};

/// The part of a specification that prepared_volume depends on, as text.
[[nodiscard]] std::string preparation_of(std::string const& specification);

}  // namespace volume
