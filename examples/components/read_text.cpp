// Reads SNAP's edge lists, GAPBS's .el, and the Matrix Market exchange format (Boisvert, Pozo and
// Remington, NISTIR 5935), of which it uses the pattern of a square matrix.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "program/text.hpp"
#include "skel/error.hpp"

namespace components {

using skel::program::lower;
using skel::program::to_number;

namespace {

// Replaces \r at the end of a line (old Macs) by \n. In \r\n, the \r remains and acts as a blank.
// The last byte is decided when the next one is known.
void end_lines(std::span<char> bytes) {
  if (bytes.empty()) return;
  auto const* const last = &bytes.back();
  for (auto* at = bytes.data();; ++at) {
    at = static_cast<char*>(std::memchr(at, '\r', static_cast<std::size_t>(last - at)));
    if (at == nullptr) return;
    if (at[1] != '\n') *at = '\n';
  }
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

constexpr std::uint64_t megabyte = 1 << 20;

// Reads the lines of a file through a buffer of a megabyte, or as large as the file. Lines end with \n, \r\n
// or \r.
class text_lines {
 public:
  explicit text_lines(input& in)
      : in_(in), buffer_(in.packed() ? megabyte : std::min(megabyte, in.size() + 1)) {}

  // Advances to the next line; returns false at the end of the share.
  bool next();
  // Makes next() return this line again. Requires that no word was removed from it.
  void again();
  // The following lines are those that begin in this share of the bytes ahead.
  void enter(file_share share);

  [[nodiscard]] std::string_view text() const noexcept { return line_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  // Removes and returns the next word of the line; empty at its end.
  std::string_view word();
  // Reads the next word as a number from least to most; `what` describes it in errors.
  std::uint64_t integer(std::string_view what, std::uint64_t least, std::uint64_t most);
  // Skips a number of any kind; throws usage_error if the next word is not one.
  void skip_number(std::string_view what);

  // Throws usage_error `path:line: text`.
  [[noreturn]] void fail(std::string const& text) const;
  // Throws usage_error `path:line: expected what, found "word"`.
  [[noreturn]] void fail_at_word(std::string_view what, std::string_view word) const;

 private:
  bool refill();
  [[nodiscard]] std::uint64_t position() const { return in_.position() - (end_ - begin_); }

  input& in_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread bytes
  bool at_end_ = false;
  std::string_view line_;
  std::uint64_t number_ = 0;
  std::uint64_t end_of_share_ = UINT64_MAX;
};

void text_lines::again() {
  begin_ = static_cast<std::size_t>(line_.data() - buffer_.data());
  --number_;
}

void text_lines::enter(file_share share) {
  if (share.parts == 1) return;
  auto const from = position(), bytes = in_.size() - from;
  if (auto const begin = from + begin_of(share.part, share.parts, bytes); begin > 0) {
    // The line that has the byte before belongs to the share before, even if that is its last byte.
    in_.seek(begin - 1);
    begin_ = end_ = 0;
    at_end_ = false;
    next();
  }
  end_of_share_ = from + begin_of(share.part + 1, share.parts, bytes);
}

bool text_lines::next() {
  if (position() >= end_of_share_) return false;
  for (;;) {
    auto const* const from = buffer_.data() + begin_;
    auto const* const newline = static_cast<char const*>(std::memchr(from, '\n', end_ - begin_));
    if (newline != nullptr) {
      line_ = {from, static_cast<std::size_t>(newline - from)};
      begin_ += line_.size() + 1;
      break;
    }
    if (at_end_) {  // the last line may be unterminated
      if (begin_ == end_) return false;
      line_ = {from, end_ - begin_};
      begin_ = end_;
      break;
    }
    if (!refill()) {
      ++number_;
      fail("line longer than a megabyte, expected text");
    }
  }
  if (number_++ == 0) line_ = skel::program::without_mark(line_);
  return true;
}

bool text_lines::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) return false;
  auto const got = in_.read(std::as_writable_bytes(std::span(buffer_).subspan(end_)));
  at_end_ = got < buffer_.size() - end_;
  auto const known = end_ - std::min<std::size_t>(end_, 1);
  end_ += got;
  end_lines(std::span(buffer_).subspan(known, end_ - known));
  return true;
}

std::string_view text_lines::word() {
  std::size_t i = 0;
  while (i < line_.size() && blank(line_[i])) ++i;
  std::size_t end = i;
  while (end < line_.size() && !blank(line_[end])) ++end;
  auto const found = line_.substr(i, end - i);
  line_.remove_prefix(end);
  return found;
}

std::uint64_t text_lines::integer(std::string_view what, std::uint64_t least, std::uint64_t most) {
  auto const text = word();
  auto const value = to_number<std::uint64_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  bool const whole = text.find_first_not_of("+-0123456789") == std::string_view::npos &&
                     text.find_first_of("0123456789") != std::string_view::npos;
  fail_at_word(whole ? fmt::format("{} from {} to {}", what, least, most) : what, text);
}

void text_lines::skip_number(std::string_view what) {
  auto const text = word();
  if (!to_number<double>(text) && !to_number<long double>(text)) fail_at_word(what, text);
}

void text_lines::fail(std::string const& text) const {
  throw skel::usage_error(fmt::format("{}:{}: {}", in_.path(), number_, text));
}

void text_lines::fail_at_word(std::string_view what, std::string_view word) const {
  if (word.empty()) fail(fmt::format("expected {}, found the end of the line", what));
  fail(fmt::format("expected {}, found \"{}\"", what, skel::program::printable(word)));
}

struct promise {
  std::uint64_t edges = 0, line = 0;
};

// SNAP: "# Nodes: 4039 Edges: 88234". Its number of nodes counts the numbers that occur. Other comments
// about edges promise nothing.
std::optional<promise> edges_promised(text_lines& lines) {
  auto const line = lines.number();
  for (auto word = lines.word(); !word.empty(); word = lines.word()) {
    if (word != "Nodes:" || !to_number<std::uint64_t>(lines.word()) || lines.word() != "Edges:") continue;
    auto const edges = to_number<std::uint64_t>(lines.word());
    return edges ? std::optional(promise{*edges, line}) : std::nullopt;
  }
  return std::nullopt;
}

// Reads the comments before the first edge.
std::optional<promise> read_comments(text_lines& lines) {
  std::optional<promise> promised;
  while (lines.next()) {
    auto const text = lines.text();
    auto const first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || text[first] == '%') continue;
    if (text[first] != '#') {
      lines.again();
      break;
    }
    if (!promised) promised = edges_promised(lines);
  }
  return promised;
}

// The number of values after row and column.
int values_of(text_lines& lines) {
  auto word = lines.word();
  if (!is_matrix_banner(word)) lines.fail_at_word(fmt::format("\"{}\"", matrix_magic), word);
  word = lines.word();
  if (lower(word) != "matrix") lines.fail_at_word("\"matrix\"", word);
  word = lines.word();
  if (lower(word) != "coordinate") lines.fail_at_word("\"coordinate\"", word);
  auto const field = lines.word();
  auto const name = lower(field);
  auto const symmetry = lines.word();
  auto const how = lower(symmetry);
  if (how != "general" && how != "symmetric" && how != "skew-symmetric" && how != "hermitian")
    lines.fail_at_word("general, symmetric, skew-symmetric or hermitian", symmetry);
  if (name == "pattern") return 0;
  if (name == "real" || name == "integer" || name == "double") return 1;
  if (name == "complex") return 2;
  lines.fail_at_word("pattern, real, integer or complex", field);
}

void expect_end_of_line(text_lines& lines) {
  if (auto const more = lines.word(); !more.empty()) lines.fail_at_word("the end of the line", more);
}

bool comment(std::string_view text) {
  auto const first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos || text[first] == '%';
}

}  // namespace

bool is_matrix_banner(std::string_view text) {
  auto const word = lower(text.substr(0, text.find_first_of(" \t\r\n")));
  return word == lower(matrix_magic) || word == lower(matrix_magic + 1);  // one % or two
}

// The first line is "nodes edges [format [constraints]]". Each of the next lines has a node's own numbers and
// then its neighbours from 1 on, perhaps with weights; each edge occurs twice. An edge list rarely fulfils
// all that, and reading soon ends.
bool is_metis(input& in) {
  text_lines lines(in);
  auto const next = [&] {
    while (lines.next())
      if (!lines.text().starts_with('%')) return true;
    return false;
  };
  if (!next()) return false;
  auto const nodes = to_number<std::uint64_t>(lines.word()), edges = to_number<std::uint64_t>(lines.word());
  auto const format = lines.word();
  auto const constraints = to_number<std::uint64_t>(lines.word()).value_or(1);
  if (!nodes || !edges || *nodes == 0 || format.find_first_not_of("01") != std::string_view::npos)
    return false;
  auto const has = [&](std::size_t place) {
    return format.size() > place && format[format.size() - 1 - place] == '1';
  };
  std::uint64_t const own = (has(1) ? constraints : 0) + (has(2) ? 1 : 0), each = has(0) ? 2 : 1;
  std::uint64_t read = 0, ends = 0;
  for (; read < *nodes && next(); ++read) {
    std::uint64_t at = 0;
    for (auto word = lines.word(); !word.empty(); word = lines.word(), ++at) {
      auto const number = to_number<std::uint64_t>(word);
      if (!number) return false;
      if (at < own || (at - own) % each != 0) continue;
      if (*number < 1 || *number > *nodes || ++ends / 2 > *edges) return false;
    }
  }
  while (next())
    if (!lines.word().empty()) return false;
  return read == *nodes && ends == 2 * *edges;
}

file_facts read_edge_list(input& in, node_limit nodes, file_share share, edge_sink const& sink) {
  constexpr std::string_view what = "a node number";
  auto const most = nodes.value_or(most_nodes) - 1;
  text_lines lines(in);
  auto const promised = read_comments(lines);
  lines.enter(share);
  edge_buffer edges(sink);
  node largest = 0;
  while (lines.next()) {
    auto const text = lines.text();
    auto const first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || text[first] == '#' || text[first] == '%') continue;
    auto const u = static_cast<node>(lines.integer(what, 0, most));
    auto const v = static_cast<node>(lines.integer(what, 0, most));
    for (int more = 0; lines.text().find_first_not_of(" \t\r") != std::string_view::npos; ++more) {
      if (lines.text().substr(lines.text().find_first_not_of(" \t\r")).starts_with('{'))
        break;  // of networkx
      if (more == 2) lines.fail_at_word("2 to 4 numbers", lines.word());
      lines.skip_number("a number after the two nodes");
    }
    largest = std::max({largest, u, v});
    edges.add({u, v});
  }
  edges.flush();
  file_facts facts;
  facts.edges = edges.count();
  if (promised) facts.expected = promised->edges;
  if (promised && share.parts == 1 && promised->edges != facts.edges)
    lines.fail(
        fmt::format("{} edges, expected {} from line {}", facts.edges, promised->edges, promised->line));
  facts.nodes = nodes.value_or(facts.edges == 0 ? 0 : std::uint64_t{largest} + 1);
  return facts;
}

file_facts read_matrix_market(input& in, node_limit nodes, file_share share, edge_sink const& sink) {
  text_lines lines(in);
  if (!lines.next()) in.fail(fmt::format("expected \"{}\", found the end of the file", matrix_magic));
  int const values = values_of(lines);
  expect_end_of_line(lines);
  do {
    if (!lines.next()) lines.fail("expected rows, columns and entries, found the end of the file");
  } while (comment(lines.text()));
  auto const rows = lines.integer("a number of rows", 0, most_nodes);
  auto const columns = lines.integer("a number of columns", 0, most_nodes);
  if (rows != columns)
    lines.fail(fmt::format("expected as many columns as rows, found {} and {}", rows, columns));
  auto const entries = lines.integer("a number of entries", 0, UINT64_MAX);
  expect_end_of_line(lines);

  file_facts facts;
  facts.nodes = at_least(rows, nodes, in.path());
  facts.expected = entries;
  lines.enter(share);
  edge_buffer edges(sink);
  while (lines.next()) {
    if (comment(lines.text())) continue;
    if (edges.count() == entries) lines.fail(fmt::format("expected {} entries, found one more", entries));
    auto const u = lines.integer("a row", 1, rows), v = lines.integer("a column", 1, rows);
    for (int i = 0; i < values; ++i) lines.skip_number("a value");
    expect_end_of_line(lines);
    edges.add({static_cast<node>(u - 1), static_cast<node>(v - 1)});
  }
  edges.flush();
  facts.edges = edges.count();
  if (share.parts == 1 && facts.edges < entries)
    lines.fail(fmt::format("expected {} entries, found {} and the end of the file", entries, facts.edges));
  return facts;
}

}  // namespace components
