#include "tools/run/supervisor.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "catch.hpp"
#include "observe/support.hpp"
#include "skel/error.hpp"

using namespace skel::commands;

namespace {

// Runs commands one after the other.
class commands {
 public:
  outcome run(std::string const& line, surroundings const& where = {}) {
    return supervisor_.run(connection_, {{number_++, line}, where});
  }

 private:
  supervisor supervisor_;
  supervisor::connection connection_;
  std::uint64_t number_ = 0;
};

surroundings files_in(std::string const& folder) {
  surroundings where;
  where.files = folder;
  return where;
}

bool runs(pid_t process) { return ::kill(process, 0) == 0; }

bool is_written(std::string const& file) {
  std::error_code missing;
  return std::filesystem::file_size(file, missing) > 0 && !missing;
}

pid_t process_in(std::string const& file) {
  for (int i = 0; i < 1000; ++i) {
    auto const text = std::filesystem::exists(file) ? test::read_file(file) : "";
    if (text.ends_with('\n')) return static_cast<pid_t>(std::stol(text));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

// A pipe that is standard output for a while. A supervisor that is made meanwhile keeps it.
class piped_output {
 public:
  piped_output() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    reader_ = ends[0];
    before_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
  }
  ~piped_output() {
    restore();
    close_reader();
  }
  piped_output(piped_output const&) = delete;
  piped_output& operator=(piped_output const&) = delete;

  void restore() {
    if (before_ < 0) return;
    ::dup2(before_, STDOUT_FILENO);
    ::close(std::exchange(before_, -1));
  }
  void close_reader() {
    if (reader_ >= 0) ::close(std::exchange(reader_, -1));
  }
  [[nodiscard]] bool is_full() const {
    int bytes = 0;
    return ::ioctl(reader_, FIONREAD, &bytes) == 0 && bytes > 30'000;  // not all of its pages are
  }
  // Up to its end.
  [[nodiscard]] std::string read(std::chrono::milliseconds pause = {}) const {
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t n = 0; (n = ::read(reader_, block.data(), block.size())) > 0;) {
      text.append(block.data(), static_cast<std::size_t>(n));
      std::this_thread::sleep_for(pause);
    }
    return text;
  }

 private:
  int reader_ = -1, before_ = -1;
};

template <class Condition>
bool comes_true(Condition const& condition) {
  for (int i = 0; i < 3000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

// Runs `what` in a process of its own, and returns whether it ended with code 0.
template <class Work>
bool succeeds_in_process(Work const& what) {
  pid_t const process = ::fork();
  if (process == 0) {
    bool done = false;
    try {
      done = what();
    } catch (std::exception const& bad) {
      std::fprintf(stderr, "%s\n", bad.what());
    }
    ::_exit(done ? 0 : 1);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Commands that run together: how many ended well, and how many could not be run.
std::pair<int, int> run_together(int many, std::string const& line) {
  supervisor s;
  std::atomic<int> well = 0, refused = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < many; ++i)
    all.emplace_back([&, i] {
      supervisor::connection mine;
      try {
        if (!s.run(mine, {{static_cast<std::uint64_t>(i), line}, {}}).failed()) ++well;
      } catch (skel::error const&) {
        ++refused;
      }
    });
  for (auto& t : all) t.join();
  return {well, refused};
}

}  // namespace

TEST_CASE("the outcome says how a command ended") {
  commands c;
  CHECK(c.run("true").exit_code == 0);
  CHECK_FALSE(c.run("true").failed());
  CHECK(c.run("false").exit_code == 1);
  CHECK(c.run("exit 7").exit_code == 7);
  CHECK(c.run("kill -TERM $$").signal == SIGTERM);
  test::temporary_directory const directory;
  CHECK(c.run("no-such-command", files_in(directory.file("f"))).exit_code == 127);
  CHECK(c.run("./no-such-file", files_in(directory.file("f"))).exit_code == 127);
  CHECK(c.run("/", files_in(directory.file("f"))).exit_code == 126);
}

TEST_CASE("a command's time and memory are measured") {
  commands c;
  auto const slept = c.run("sleep 0.2");
  CHECK(slept.seconds >= 0.2);
  CHECK(slept.user + slept.system < 0.15);
  CHECK(slept.began > 1.7e9);
  auto const worked = c.run("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
  CHECK(worked.user > 0);
  CHECK(worked.user + worked.system <= worked.seconds + 0.02);
  auto const large = c.run("dd if=/dev/zero of=/dev/null bs=64M count=1 status=none");
  CHECK(large.peak >= 64U << 20U);
  CHECK(c.run("true").peak < 64U << 20U);  // the process that starts it counts, sanitized or not
  CHECK_FALSE(large.host.empty());
}

TEST_CASE("a command's output is in its files") {
  test::temporary_directory const directory;
  commands c;
  auto const folder = directory.file("out");
  CHECK(c.run("printf 'a\\nb'; echo c >&2", files_in(folder)).exit_code == 0);
  CHECK(test::read_file(folder + "/0.out") == "a\nb");
  CHECK(test::read_file(folder + "/0.err") == "c\n");
  c.run("cat; printf \"$SKEL_TASK $SKEL_FROM\"", files_in(folder));  // standard input is empty
  CHECK(test::read_file(folder + "/1.out") == "1 " + std::filesystem::current_path().string());
  c.run("no-such-command x", files_in(folder));
  CHECK(test::read_file(folder + "/2.err").find("not found") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 6);
}

TEST_CASE("a command has a folder of its own") {
  test::temporary_directory const directory;
  surroundings where;
  where.folders = directory.file("runs");
  {
    commands c;
    std::filesystem::create_directories(where.folders + "/0");
    test::write_file(where.folders + "/0/old", "");
    CHECK(c.run("touch new; echo x", where).exit_code == 0);
    CHECK(test::read_file(where.folders + "/0/stdout") == "x\n");
    CHECK(std::filesystem::exists(where.folders + "/0/new"));
    CHECK_FALSE(std::filesystem::exists(where.folders + "/0/old"));
    CHECK(std::distance(std::filesystem::directory_iterator(where.folders), {}) == 1);
  }
  where.folders = "/dev/null/x";
  commands c;
  CHECK_THROWS_AS(c.run("true", where), skel::error);
}

TEST_CASE("commands do not know that they run under an MPI launcher") {
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  ::setenv("PMIX_RANK", "3", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  for (auto const* const gone : {"STEP_NUM_TASKS", "STEP_ID", "STEPID", "STEP_NODELIST", "NTASKS",
                                 "NTASKS_PER_NODE", "NPROCS", "PROCID", "LOCALID", "NODEID", "JOBID",
                                 "NODELIST", "JOB_NODELIST", "NNODES", "JOB_NUM_NODES", "TASKS_PER_NODE"})
    ::setenv((std::string("SLURM_") + gone).c_str(), "4", 1);
  ::setenv("SLURM_JOB_ID", "7", 1);
  ::setenv("SLURM_CPUS_PER_TASK", "2", 1);
  test::temporary_directory const directory;
  commands c;
  c.run("echo \"$OMPI_COMM_WORLD_RANK$PMIX_RANK$OMPI_ALLOW_RUN_AS_ROOT\"", files_in(directory.file("f")));
  CHECK(test::read_file(directory.file("f/0.out")) == "1\n");
  c.run("env | grep ^SLURM_ | sort", files_in(directory.file("f")));
  CHECK(test::read_file(directory.file("f/1.out")) == "SLURM_CPUS_PER_TASK=2\nSLURM_JOB_ID=7\n");
}

TEST_CASE("a command that runs for too long is ended with all of its processes") {
  test::temporary_directory const directory;
  commands c;
  surroundings where;
  auto const a = directory.file("a"), b = directory.file("b");
  // A child in the process group, and one in a session of its own. A busy machine may need longer to start
  // them.
  for (where.limit_seconds = 0.2; !(is_written(a) && is_written(b)); where.limit_seconds *= 2) {
    auto line = "sleep 1000 & echo $! > " + a;
    line += "; setsid sh -c 'echo $$ > " + b;
    line += "; exec sleep 1000' & wait";
    auto const late = c.run(line, where);
    CHECK(late.late);
    CHECK(late.failed());
    CHECK(late.seconds < 900);
  }
  for (auto const& file : {a, b}) {
    auto const process = process_in(file);
    CHECK(process > 0);
    for (int i = 0; i < 1000 && runs(process); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(runs(process));
  }
  outcome stubborn;
  for (where.limit_seconds = 0.2; stubborn.signal != SIGKILL && where.limit_seconds < 100;
       where.limit_seconds *= 2)
    stubborn = c.run("trap '' TERM; while :; do sleep 1; done", where);
  CHECK(stubborn.late);
  CHECK(stubborn.signal == SIGKILL);
  where.limit_seconds = 900;
  CHECK_FALSE(c.run("true", where).late);
}

TEST_CASE("what a command leaves behind ends with it, or with the job") {
  test::temporary_directory const directory;
  auto c = std::make_unique<commands>();
  c->run("sleep 100 & echo $! > " + directory.file("a"));
  auto const background = process_in(directory.file("a"));
  c->run("setsid sh -c 'echo $$ > " + directory.file("b") +
         "; exec sleep 100' >/dev/null 2>&1 & while [ ! -s " + directory.file("b") +
         " ]; do sleep 0.01; done");
  auto const daemon = process_in(directory.file("b"));
  for (int i = 0; i < 1000 && runs(background); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(runs(background));
  CHECK(daemon > 0);
  CHECK(runs(daemon));
  c.reset();
  CHECK_FALSE(runs(daemon));
}

TEST_CASE("many commands run at once") {
  test::temporary_directory const directory;
  supervisor s;
  constexpr int threads = 8, each = 20;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      supervisor::connection mine;
      for (int i = 0; i < each; ++i) {
        auto const number = static_cast<std::uint64_t>(t * each + i);
        if (s.run(mine, {{number, "echo $SKEL_TASK; exit $((SKEL_TASK % 3))"}, files_in(directory.file("f"))})
                .exit_code != static_cast<int>(number % 3))
          test::write_file(directory.file("wrong"), "");
      }
    });
  for (auto& t : all) t.join();
  CHECK_FALSE(std::filesystem::exists(directory.file("wrong")));
  for (int i = 0; i < threads * each; ++i)
    CHECK(test::read_file(directory.file("f/" + std::to_string(i) + ".out")) == std::to_string(i) + "\n");
}

TEST_CASE("output that is not read holds up no time limit and no other command") {
  test::temporary_directory const directory;
  piped_output output;
  std::future<std::string> text;
  {
    supervisor s;
    output.restore();
    auto const run = [&](std::uint64_t number, std::string const& line, surroundings const& where) {
      supervisor::connection mine;
      return s.run(mine, {{number, line}, where});
    };
    surroundings streamed, files = files_in(directory.file("f"));
    streamed.limit_seconds = files.limit_seconds = 0.5;
    auto printing = std::async(std::launch::async, run, 7, "yes", streamed);
    CHECK(comes_true([&] { return output.is_full(); }));
    auto silent = std::async(std::launch::async, run, 8, "sleep 1000", files);
    CHECK(silent.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    CHECK(printing.wait_for(std::chrono::milliseconds(0)) == std::future_status::timeout);
    text = std::async(std::launch::async, [&] { return output.read(); });
    CHECK(silent.get().late);
    auto const printed = printing.get();
    CHECK(printed.late);
    CHECK(printed.seconds < 15);  // to its end, not to that of its output
    CHECK_FALSE(run(9, "printf end", {}).failed());
  }
  auto const all = text.get();
  std::size_t at = 0;
  while (all.compare(at, 5, "7: y\n") == 0) at += 5;
  CHECK(at > 30'000);
  CHECK(all.substr(at).ends_with("9: end\n"));
  CHECK(all.size() - at < 20);  // the command was killed in the middle of a line, perhaps
}

TEST_CASE("commands end with their rank although their output is not read") {
  test::temporary_directory const directory;
  piped_output output;
  auto const file = directory.file("process");
  pid_t const rank = ::fork();
  if (rank == 0) {
    commands().run("echo $$ > " + file + "; exec yes");
    ::_exit(1);
  }
  output.restore();
  auto const process = process_in(file);
  CHECK(comes_true([&] { return output.is_full(); }));
  ::kill(rank, SIGKILL);
  ::waitpid(rank, nullptr, 0);
  CHECK(process > 0);
  CHECK(comes_true([&] { return !runs(process); }));
}

TEST_CASE("a command ends although a process that it has left prints for ever") {
  piped_output output;
  auto c = std::make_unique<commands>();
  output.restore();
  // A slow reader: the pipe of the command is never empty.
  auto text = std::async(std::launch::async, [&] { return output.read(std::chrono::milliseconds(1)); });
  auto ended = std::async(std::launch::async, [&] { return c->run("setsid yes & sleep 0.1"); });
  bool const in_time = ended.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  CHECK(in_time);
  if (!in_time) std::_Exit(1);
  CHECK_FALSE(ended.get().failed());
  c.reset();
  CHECK(text.get().ends_with("0: y\n"));
}

TEST_CASE("output without a reader fails the command") {
  piped_output output;
  output.close_reader();
  commands c;
  output.restore();
  CHECK_THROWS_WITH(c.run("echo x"), "what it printed is incomplete: Broken pipe: echo x");
  CHECK_FALSE(c.run("true").failed());
}

TEST_CASE("commands do not use up the descriptors of the rank") {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  auto const limited_to = [&](rlim_t most) {
    rlimit const lower{60, most};
    return ::setrlimit(RLIMIT_NOFILE, &lower) == 0;
  };
  if (limit.rlim_max < 200) return;
  // Three for each command. They have the limit that the rank had.
  CHECK(succeeds_in_process([&] {
    return limited_to(limit.rlim_max) &&
           run_together(40, "sleep 1; exit $(($(ulimit -n) - 60))") == std::pair(40, 0);
  }));
  // Without any left, commands fail and the rank lives.
  CHECK(succeeds_in_process([&] {
    if (!limited_to(60)) return false;
    auto const [well, refused] = run_together(40, "sleep 1");
    return well > 0 && refused > 0 && well + refused == 40 && run_together(1, "true") == std::pair(1, 0);
  }));
}
