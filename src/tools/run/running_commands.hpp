// The commands that a supervisor runs.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "tools/run/line_relay.hpp"
#include "tools/run/own_files.hpp"
#include "tools/run/ranks.hpp"
#include "tools/run/request.hpp"

namespace skel::commands {

/// Starts what the connections ask for, passes output on, ends what is late, and answers.
class running_commands {
 public:
  /// Connections come by `main`. Commands have this limit of descriptors. Throws skel::error.
  running_commands(int main, rlimit files);
  ~running_commands();
  running_commands(running_commands const&) = delete;
  running_commands& operator=(running_commands const&) = delete;

  /// Waits for an event and handles it. False: the rank has ended.
  [[nodiscard]] bool serve();

 private:
  using clock = std::chrono::steady_clock;
  struct one {
    one(int by, request const& what)
        : connection(by), number(what.what.number), where(what.where), files(where, number) {}
    int connection;
    std::uint64_t number;
    surroundings where;
    outcome how{};
    own_files files;
    std::unique_ptr<line_relay> output, errors;
    pid_t process = 0;  ///< 0: it has ended
    clock::time_point began{};
    clock::time_point next_signal = clock::time_point::max();
  };
  using place = std::list<one>::iterator;

  [[nodiscard]] int milliseconds_left() const;
  void accept(request const& what, int connection);
  void begin(request const& what, one& command);
  void reap();
  void end(place command);
  void answer_ended();
  void answer(one& command);
  void end_late_ones();

  int main_, children_;  // children_: tells that one has ended
  rlimit files_;
  shared_output output_, errors_;
  bool one_output_;  // standard error is standard output
  std::string host_;
  std::vector<int> connections_;
  std::list<one> running_;
  ranks_starter ranks_;
};

}  // namespace skel::commands
