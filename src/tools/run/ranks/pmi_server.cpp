#include "tools/run/ranks/pmi_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "program/text.hpp"
#include "skel/error.hpp"

namespace skel::commands {

namespace {

// The value of a key in a line such as `cmd=get kvsname=job key=a`. A value that the library puts has no
// blanks.
std::string_view value_of(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    auto const end = std::min(line.find(' '), line.size());
    auto const word = line.substr(0, end);
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
      return word.substr(key.size() + 1);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return {};
}

}  // namespace

pmi_server::pmi_server(process_states& states) : states_(states), processes_(states.inside.size()) {
  for (auto& p : processes_) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw error(std::string("socketpair: ") + std::strerror(errno));
    p.mine = ends[0];
    p.theirs = ends[1];
  }
  // All processes are on one host: from host 0 on, one host has this many.
  values_["PMI_process_mapping"] = "(vector,(0,1," + std::to_string(processes_.size()) + "))";
}

pmi_server::~pmi_server() {
  for (auto const& p : processes_)
    for (int const d : {p.mine, p.theirs})
      if (d >= 0) ::close(d);
}

std::vector<std::string> pmi_server::variables(unsigned rank) const {
  return {"PMI_FD=" + std::to_string(processes_[rank].theirs), "PMI_RANK=" + std::to_string(rank),
          "PMI_SIZE=" + std::to_string(processes_.size())};
}

void pmi_server::started(unsigned rank) { ::close(std::exchange(processes_[rank].theirs, -1)); }

std::vector<pollfd> pmi_server::waits() const {
  std::vector<pollfd> all;
  all.reserve(processes_.size() + 1);
  for (auto const& p : processes_) all.push_back({p.mine, POLLIN, 0});
  return all;
}

void pmi_server::serve(unsigned rank) {
  auto& p = processes_[rank];
  std::array<char, 4096> block{};
  auto const n = ::read(p.mine, block.data(), block.size());
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) {  // the process has ended, or does not use this server
    ::close(std::exchange(p.mine, -1));
    return;
  }
  p.line.append(block.data(), static_cast<std::size_t>(n));
  for (auto end = p.line.find('\n'); end != std::string::npos; end = p.line.find('\n')) {
    auto const line = p.line.substr(0, end);
    p.line.erase(0, end + 1);
    answer(rank, line);
  }
}

void pmi_server::answer(unsigned rank, std::string_view line) {
  auto const command = value_of(line, "cmd");
  auto const size = std::to_string(processes_.size());
  if (command == "init") {
    states_.inside[rank] = true;
    reply(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  } else if (command == "get_maxes") {
    reply(rank, "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024");
  } else if (command == "get_my_kvsname") {
    reply(rank, "cmd=my_kvsname rc=0 kvsname=job");
  } else if (command == "get_universe_size") {
    reply(rank, "cmd=universe_size rc=0 size=" + size);
  } else if (command == "get_appnum") {
    reply(rank, "cmd=appnum rc=0 appnum=0");
  } else if (command == "put") {
    values_.insert_or_assign(std::string(value_of(line, "key")), std::string(value_of(line, "value")));
    reply(rank, "cmd=put_result rc=0 msg=success");
  } else if (command == "get") {
    auto const found = values_.find(value_of(line, "key"));
    reply(rank, found == values_.end() ? "cmd=get_result rc=-1 msg=key_not_found value=unknown"
                                       : "cmd=get_result rc=0 msg=success value=" + found->second);
  } else if (command == "barrier_in") {
    enter_barrier(rank);
  } else if (command == "finalize") {
    states_.inside[rank] = false;
    reply(rank, "cmd=finalize_ack rc=0");
  } else if (command == "abort") {
    states_.abort(program::to_number<int>(value_of(line, "exitcode")).value_or(1));
  } else {
    refused_ = line;
    states_.abort(1);
  }
}

void pmi_server::enter_barrier(unsigned rank) {
  processes_[rank].waits = true;
  if (!std::ranges::all_of(processes_, &process::waits)) return;
  for (unsigned r = 0; r < processes_.size(); ++r) {
    processes_[r].waits = false;
    reply(r, "cmd=barrier_out rc=0");
  }
}

void pmi_server::reply(unsigned rank, std::string line) {
  line += '\n';
  auto const& p = processes_[rank];
  if (p.mine >= 0 && ::send(p.mine, line.data(), line.size(), MSG_NOSIGNAL) < 0) return;  // it has ended
}

}  // namespace skel::commands
