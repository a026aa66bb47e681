// libFuzzer: two processes of an MPI program send any lines; each complete line has at most one answer.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "fuzz.hpp"
#include "tools/run/ranks/pmi_server.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace skel::commands;
  process_states states(2);
  pmi_server server(states);
  std::array<int, 2> const ends{::dup(server.descriptor(0)), ::dup(server.descriptor(1))};
  std::array<std::ptrdiff_t, 2> open{};  // lines without an answer
  for (unsigned r = 0; r < 2; ++r) server.started(r);
  std::string const text(fuzz::input{data, size}.text());
  constexpr std::size_t piece = 50;
  for (std::size_t at = 0; at < text.size() && server.refused().empty(); at += piece) {
    auto const sent = text.substr(at, piece);
    unsigned const from = at / piece % 2;
    if (::write(ends[from], sent.data(), sent.size()) != static_cast<ssize_t>(sent.size())) std::abort();
    server.serve(from);
    open[from] += std::count(sent.begin(), sent.end(), '\n');
    for (unsigned r = 0; r < 2; ++r) {
      std::array<char, 4096> block{};
      auto const n = ::recv(ends[r], block.data(), block.size(), MSG_DONTWAIT);
      if (n > 0) open[r] -= std::count(block.begin(), block.begin() + n, '\n');
      if (open[r] < 0) std::abort();
    }
  }
  for (int const end : ends) ::close(end);
  return 0;
}
