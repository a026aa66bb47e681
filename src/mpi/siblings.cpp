#include "siblings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/format.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"

namespace skel::detail {

namespace {

// One look may miss a process, a rank that ends slightly earlier is no loss, and a busy launcher
// may take its time between two ranks.
constexpr double sure_after = 1;
constexpr double start_patience = 15;

std::string proc(pid_t pid, char const* file) { return detail::format("/proc/{}/{}", pid, file); }

std::string contents(std::string const& path) { return read_file(path).value_or(""); }

std::string variable(char const* name) {
  char const* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

std::optional<int> number(std::string_view text) {
  auto const n = detail::to_number<int>(text);
  return n && *n >= 0 ? n : std::nullopt;
}

// The value of a variable in a list of NAME=VALUE entries that end with a zero byte.
std::string_view value_in(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    auto const entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return {};
}

// The rank of a process in the job; empty if it belongs to no job or to another one.
std::optional<int> rank_in(std::string const& job, pid_t pid) {
  auto const environment = contents(proc(pid, "environ"));
  if (value_in(environment, "PMIX_NAMESPACE") != job) return std::nullopt;
  return number(value_in(environment, "PMIX_RANK"));
}

struct process_state {
  char letter = 'Z';  // as shown by ps
  pid_t parent = 0;
};

process_state state_of(pid_t pid) {
  process_state s;
  auto const stat = contents(proc(pid, "stat"));
  auto const name_end = stat.rfind(')');  // a program's name may have blanks and parentheses
  if (name_end != std::string::npos) std::istringstream(stat.substr(name_end + 1)) >> s.letter >> s.parent;
  return s;
}

// The running children. A hanging launcher leaves the others as zombies.
std::set<pid_t> children_of(pid_t pid) {
  std::set<pid_t> pids;
  std::error_code error;  // for instance if it ends meanwhile
  std::filesystem::directory_iterator thread(proc(pid, "task"), error);
  for (; !error && thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    std::ifstream list(thread->path() / "children");
    for (pid_t child = 0; list >> child;)
      if (state_of(child).letter != 'Z') pids.insert(child);
  }
  return pids;
}

}  // namespace

siblings::siblings() : job_(variable("PMIX_NAMESPACE")), rank_(number(variable("PMIX_RANK")).value_or(-1)) {
  if (job_.empty() || rank_ < 0) return;
  expected_ = static_cast<std::size_t>(number(variable("OMPI_COMM_WORLD_LOCAL_SIZE")).value_or(0));
  all_here_ = variable("OMPI_COMM_WORLD_LOCAL_SIZE") == variable("OMPI_COMM_WORLD_SIZE");
  launcher_ = getppid();
  while (launcher_ > 1 && rank_in(job_, launcher_) == rank_)
    launcher_ = state_of(launcher_).parent;  // a script
  if (launcher_ <= 1) launcher_ = 0;
  // What cannot be read may be a program between the launcher and this rank alone.
  if (launcher_ != 0 && !std::ifstream("/proc/" + std::to_string(launcher_) + "/environ")) expected_ = 0;
}

std::string siblings::what_is_wrong(double now) {
  if (launcher_ == 0) return {};
  last_look_ = now;
  auto const children = children_of(launcher_);
  if (children.empty()) return {};  // the system does not report them
  for (pid_t const pid : children)
    if (!seen_.contains(pid))
      if (auto const rank = rank_in(job_, pid)) seen_[pid] = {*rank};
  std::set<int> died;
  for (auto& [pid, p] : seen_) {
    if (children.contains(pid))
      p.gone_since = -1;
    else if (p.gone_since < 0)
      p.gone_since = now;
    if (has_died(p)) died.insert(p.rank);
  }
  // Children of the launcher that do not run the program yet count too.
  if (children.size() >= expected_)
    few_since_ = -1;
  else if (few_since_ < 0)
    few_since_ = now;
  bool const too_few = few_since_ >= 0 && now - few_since_ >= start_patience;
  if (died.empty() && too_few && all_here_) {  // died before they were seen
    for (int rank = 0; rank < static_cast<int>(expected_); ++rank) died.insert(rank);
    for (auto const& [pid, p] : seen_) died.erase(p.rank);
  }
  if (!died.empty())
    return detail::format("{} {} died before all ranks had started", died.size() == 1 ? "rank" : "ranks",
                          join(died, ", "));
  if (!too_few) return {};
  return detail::format("{} of the {} ranks on this host died before all ranks had started",
                        expected_ - children.size(), expected_);
}

bool siblings::has_died(process const& p) const {
  return p.gone_since >= 0 && last_look_ - p.gone_since >= sure_after;
}

bool siblings::is_spokesman() const {
  for (auto const& [pid, p] : seen_)
    if (p.rank < rank_ && !has_died(p)) return false;
  return true;
}

}  // namespace skel::detail
