#include "tools/model/simulated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "skel/error.hpp"

extern char** environ;  // NOLINT: POSIX declares it in no header

namespace skel::model {

namespace {

namespace fs = std::filesystem;

class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (fs::temp_directory_path() / "skel-model-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw error("cannot create a temporary folder " + name);
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  [[nodiscard]] std::string file(char const* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Prefers the program beside this one; otherwise uses PATH.
std::string simulator() {
  std::error_code failed;
  auto const self = fs::read_symlink("/proc/self/exe", failed);
  if (!failed && fs::exists(self.parent_path() / "skel-simulate"))
    return (self.parent_path() / "skel-simulate").string();
  return "skel-simulate";
}

std::string text_of(std::string const& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs the simulator, with its standard error redirected to a file.
void run(std::vector<std::string> words, std::string const& errors) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  int const failed = ::posix_spawnp(&child, arguments.front(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0)
    throw error(
        "skel-simulate not found (it is built if SimGrid is installed): the prediction needs a simulation");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    auto text = text_of(errors);
    text.erase(text.find_last_not_of("\n ") + 1);
    throw usage_error(text.empty() ? "skel-simulate failed" : text);
  }
}

std::string platform_of(machine const* where, int ranks, std::string const& kind) {
  if (where == nullptr) throw usage_error("--simulate: expected --machine FILE.json or --platform");
  std::string ignored;
  auto const m = where->for_ranks(ranks, kind, ignored);
  nlohmann::ordered_json p;
  p["name"] = "calibrated";
  p["hosts"] = {{{"name", "node"}, {"count", ranks}}};
  p["network"] = {{"kind", "switch"}, {"latency_seconds", m.latency_seconds}};
  if (m.gap_seconds_per_byte > 0) p["network"]["bandwidth_bytes_per_second"] = 1 / m.gap_seconds_per_byte;
  return p.dump();
}

}  // namespace

double simulated_seconds(skeleton_model const& m, machine const* where, point const& sizes,
                         simulation const& what, std::string const& kind) {
  if (what.skeleton != "farm" && what.skeleton != "ring_steal")
    throw usage_error(
        fmt::format("--simulate: expected farm or ring_steal, found {}: omit the option, or see "
                    "skel-simulate --skeleton {}",
                    what.skeleton, what.skeleton));
  auto const* const work = m.find("run", "busy_seconds");
  point at = sizes;
  at["P"] = what.ranks;
  // For a search, the cost of a node is that of the largest sample. The tree determines the number
  // of nodes.
  if (what.skeleton == "ring_steal" && !at.contains("tasks") && work != nullptr)
    if (auto const seen = work->curve.range.find("tasks"); seen != work->curve.range.end())
      at["tasks"] = seen->second.second;
  auto const tasks = at.find("tasks");
  if (tasks == at.end() || tasks->second < 1 || tasks->second > 1e9)
    throw usage_error("--simulate: missing number of tasks, expected for example --set tasks=1000");
  if (work == nullptr && what.costs.empty())
    throw usage_error(m.name() +
                      ": the model has no cost per task (no busy seconds in the samples), expected --costs");
  temporary_folder const folder;
  auto costs = what.costs;
  if (costs.empty())
    costs = fmt::format("constant:{:.15f}", std::max(work->curve(at) / tasks->second, 1e-12));
  auto platform = what.platform;
  if (platform.empty()) {
    platform = folder.file("platform.json");
    std::ofstream(platform) << platform_of(where, what.ranks, kind);
  }
  auto const report = folder.file("report.json");
  std::vector<std::string> words{
      simulator(),   "--platform", platform, "--ranks", std::to_string(what.ranks), "--skeleton",
      what.skeleton, "--costs",    costs,    "--seed",  std::to_string(what.seed),  "--report",
      report,        "--quiet"};
  if (what.skeleton == "farm") {
    double result_bytes = 8;
    if (auto const* const bytes = m.find("run", "bytes"); bytes != nullptr)
      result_bytes = std::clamp(bytes->curve(at) / tasks->second, 0.0, 1e9);
    words.insert(words.end(), {"--schedule", what.schedule, "--tasks", fmt::format("{:.0f}", tasks->second),
                               "--result-bytes", fmt::format("{:.0f}", result_bytes)});
    if (!what.results.empty()) words.insert(words.end(), {"--results", what.results});
  }
  if (!what.tree.empty()) words.insert(words.end(), {"--tree", what.tree});
  run(std::move(words), folder.file("errors"));
  return nlohmann::json::parse(text_of(report)).at("seconds").get<double>();
}

}  // namespace skel::model
