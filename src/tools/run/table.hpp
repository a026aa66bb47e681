// The table of results: CSV, or JSON lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/run/outcome.hpp"

namespace skel::commands {

/// A row: of a command that has ended, or, without an outcome, of one that ended its ranks or could not be
/// run.
struct row {
  command what;
  std::optional<outcome> how;
  bool ended_ranks = true;
};

/// The first line of the CSV.
[[nodiscard]] std::string csv_header();
/// A line of CSV (RFC 4180) with its end. Fields of what is unknown are empty.
[[nodiscard]] std::string csv_row(row const& r);
/// A line of JSON with its end. What is unknown is null; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_row(row const& r);

/// Rows come in any order, once for each command, and wait in a file without a name, so memory holds 16
/// bytes for each. write() puts them in the order of the commands.
class table {
 public:
  /// `path` ends with .csv or .jsonl. Throws skel::error if no file can be made beside it.
  table(std::string path, std::uint64_t commands);
  ~table();
  table(table const&) = delete;
  table& operator=(table const&) = delete;

  /// Replaces the row that the command may have.
  void add(row const& r);
  /// Writes the file at `path` atomically.
  void write();

 private:
  struct place {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;  // 0: no row
  };
  void flush();

  std::string path_;
  bool csv_;
  int file_ = -1;
  std::uint64_t end_ = 0;  // of the file, with what is buffered
  std::string buffer_;
  std::vector<place> places_;
};

}  // namespace skel::commands
