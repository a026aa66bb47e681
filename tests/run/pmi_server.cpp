#include "tools/run/ranks/pmi_server.hpp"

#include <unistd.h>

#include <array>
#include <string>

#include "catch.hpp"

using namespace skel::commands;

namespace {

// A program of processes that send lines by hand.
class program {
 public:
  explicit program(unsigned processes) : states_(processes), server_(states_) {
    for (unsigned r = 0; r < processes; ++r) {
      ends_.push_back(::dup(server_.descriptor(r)));
      server_.started(r);
    }
  }
  ~program() {
    for (int const end : ends_) ::close(end);
  }
  program(program const&) = delete;
  program& operator=(program const&) = delete;

  // Sends text, and returns what this process and perhaps the others have received then.
  std::string ask(unsigned rank, std::string const& text) {
    CHECK(::write(ends_[rank], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    server_.serve(rank);
    return received(rank);
  }
  [[nodiscard]] std::string received(unsigned rank) const {
    pollfd waits{ends_[rank], POLLIN, 0};
    if (::poll(&waits, 1, 0) != 1) return {};
    std::array<char, 1024> block{};
    auto const n = ::read(ends_[rank], block.data(), block.size());
    return {block.data(), n < 0 ? 0 : static_cast<std::size_t>(n)};
  }
  void end(unsigned rank) {
    ::close(std::exchange(ends_[rank], ::dup(0)));
    server_.serve(rank);
  }
  [[nodiscard]] process_states const& states() const { return states_; }
  [[nodiscard]] pmi_server const& server() const { return server_; }

 private:
  process_states states_;
  pmi_server server_;
  std::vector<int> ends_;
};

}  // namespace

TEST_CASE("PMI-1: a process begins and ends") {
  program p(2);
  auto const variables = p.server().variables(1);
  CHECK(variables[1] == "PMI_RANK=1");
  CHECK(variables[2] == "PMI_SIZE=2");
  CHECK(p.ask(1, "cmd=init pmi_version=1 pmi_subversion=1\n") ==
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  CHECK(p.states().inside[1]);
  CHECK_FALSE(p.states().inside[0]);
  CHECK(p.ask(1, "cmd=get_maxes\n").find("vallen_max=1024") != std::string::npos);
  CHECK(p.ask(1, "cmd=get_universe_size\n") == "cmd=universe_size rc=0 size=2\n");
  CHECK(p.ask(1, "cmd=get_appnum\n") == "cmd=appnum rc=0 appnum=0\n");
  CHECK(p.ask(1, "cmd=get kvsname=job key=PMI_process_mapping\n") ==
        "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
  CHECK(p.ask(1, "cmd=finalize\n") == "cmd=finalize_ack rc=0\n");
  CHECK_FALSE(p.states().inside[1]);
  p.end(1);
  CHECK(p.server().waits()[1].fd == -1);
  CHECK(p.server().waits()[0].fd >= 0);
}

TEST_CASE("PMI-1: values of one process reach the others, in lines that come in pieces") {
  program p(2);
  CHECK(p.ask(0, "cmd=put kvsname=job key=P0 value=a=b").empty());
  CHECK(p.ask(0, "#c$\ncmd=get_my") == "cmd=put_result rc=0 msg=success\n");
  CHECK(p.ask(0, "_kvsname\n") == "cmd=my_kvsname rc=0 kvsname=job\n");
  CHECK(p.ask(1, "cmd=get kvsname=job key=P0\n") == "cmd=get_result rc=0 msg=success value=a=b#c$\n");
  CHECK(p.ask(1, "cmd=get kvsname=job key=P1\n").starts_with("cmd=get_result rc=-1 "));
}

TEST_CASE("PMI-1: a barrier lets all processes go on together, as often as they meet") {
  program p(3);
  for (int i = 0; i < 2; ++i) {
    CHECK(p.ask(2, "cmd=barrier_in\n").empty());
    CHECK(p.ask(0, "cmd=barrier_in\n").empty());
    CHECK(p.ask(1, "cmd=barrier_in\n") == "cmd=barrier_out rc=0\n");
    CHECK(p.received(0) == "cmd=barrier_out rc=0\n");
    CHECK(p.received(2) == "cmd=barrier_out rc=0\n");
  }
}

TEST_CASE("PMI-1: an abort ends the program with its code, and never with 0") {
  for (auto const& [text, code] :
       {std::pair("exitcode=5", 5), {"exitcode=256", 1}, {"exitcode=0", 1}, {"", 1}}) {
    program p(1);
    p.ask(0, std::string("cmd=abort ") + text + "\n");
    CHECK(p.states().aborted == code);
  }
  program p(1);
  p.ask(0, "mcmd=spawn\n");
  CHECK(p.states().aborted == 1);
  CHECK(p.server().refused() == "mcmd=spawn");
}
