// Matrix Market exchange format (Boisvert, Pozo and Remington, NISTIR 5935): the pattern of a square matrix.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "graph_reader.hpp"
#include "text_lines.hpp"

namespace skel::components {

namespace {

std::string lower(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

// Numbers after row and column.
int values_of(text_lines& lines) {
  auto word = lines.word();
  if (word != matrix_magic) lines.fail_at_word(fmt::format("\"{}\"", matrix_magic), word);
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

graph read_matrix_market(input& in, node_limit nodes) {
  text_lines lines(in);
  if (!lines.next()) in.fail(fmt::format("expected \"{}\", got the end of the file", matrix_magic));
  int const values = values_of(lines);
  expect_end_of_line(lines);
  do {
    if (!lines.next()) lines.fail("expected rows, columns and entries, got the end of the file");
  } while (comment(lines.text()));
  auto const rows = lines.integer("a number of rows", 0, most_nodes);
  auto const columns = lines.integer("a number of columns", 0, most_nodes);
  if (rows != columns)
    lines.fail(fmt::format("expected as many columns as rows, got {} and {}", rows, columns));
  auto const entries = lines.integer("a number of entries", 0, UINT64_MAX);
  expect_end_of_line(lines);

  graph g;
  g.nodes = at_least(rows, nodes, in.path());
  while (lines.next()) {
    if (comment(lines.text())) continue;
    if (g.edges.size() == entries) lines.fail(fmt::format("expected {} entries, got one more", entries));
    auto const u = lines.integer("a row", 1, rows), v = lines.integer("a column", 1, rows);
    for (int i = 0; i < values; ++i) lines.skip_number("a value");
    expect_end_of_line(lines);
    g.edges.push_back({static_cast<node>(u - 1), static_cast<node>(v - 1)});
  }
  if (g.edges.size() < entries)
    lines.fail(fmt::format("expected {} entries, got {} and the end of the file", entries, g.edges.size()));
  return g;
}

}  // namespace skel::components
