// Limits of control groups, in folders like those of the kernel.
#include "base/control_groups.hpp"

#include <cmath>

#include "catch.hpp"
#include "observe/support.hpp"

namespace {

class groups {
 public:
  explicit groups(std::string const& of_process) {
    std::filesystem::create_directories(where.process = folder_.file("proc"));
    where.groups = folder_.file("groups");
    test::write_file((where.process / "cgroup").string(), of_process);
  }
  void set(std::string const& file, std::string const& text) const {
    auto const path = where.groups / file;
    std::filesystem::create_directories(path.parent_path());
    test::write_file(path.string(), text + "\n");
  }

 private:
  test::temporary_directory folder_;

 public:
  skel::detail::group_folders where;
};

}  // namespace

using skel::detail::cores_of_groups;
using skel::detail::memory_of_groups;

TEST_CASE("without control groups nothing is limited") {
  groups const none("");
  CHECK_FALSE(memory_of_groups(false, none.where));
  CHECK(std::isinf(cores_of_groups(none.where)));
}

TEST_CASE("limits of version 1, also of the groups around") {
  groups const g(
      "11:memory:/slurm/job_1/step_0\n5:cpu,cpuacct:/slurm/job_1/step_0\n3:cpuset:/\n1:name=systemd:/\n0::/"
      "\n");
  g.set("memory/memory.limit_in_bytes", "9223372036854771712");
  g.set("memory/memory.usage_in_bytes", "5000000");
  g.set("memory/slurm/job_1/memory.limit_in_bytes", "3000000");
  g.set("memory/slurm/job_1/memory.usage_in_bytes", "1000000");
  g.set("memory/slurm/job_1/step_0/memory.limit_in_bytes", "4000000");
  g.set("memory/slurm/job_1/step_0/memory.usage_in_bytes", "900000");
  CHECK(memory_of_groups(false, g.where) == 3000000U);
  CHECK(memory_of_groups(true, g.where) == 2000000U);
  g.set("memory/slurm/job_1/step_0/memory.usage_in_bytes", "5000000");
  CHECK(memory_of_groups(true, g.where) == 0U);

  for (std::string const folder : {"cpu,cpuacct", "cpu"}) {  // usually a link to it
    g.set(folder + "/cpu.cfs_quota_us", "-1");
    g.set(folder + "/cpu.cfs_period_us", "100000");
    g.set(folder + "/slurm/job_1/cpu.cfs_quota_us", "250000");
    g.set(folder + "/slurm/job_1/cpu.cfs_period_us", "100000");
    CHECK(cores_of_groups(g.where) == 2.5);
  }
}

TEST_CASE("limits of version 2, also of the groups around") {
  groups const g("0::/user.slice/job:1\n");
  g.set("user.slice/job:1/memory.max", "max");
  g.set("user.slice/job:1/memory.current", "10");
  g.set("user.slice/memory.max", "3000");
  g.set("user.slice/memory.current", "1000");
  CHECK(memory_of_groups(false, g.where) == 3000U);
  CHECK(memory_of_groups(true, g.where) == 2000U);
  g.set("user.slice/job:1/cpu.max", "max 100000");
  CHECK(std::isinf(cores_of_groups(g.where)));
  g.set("user.slice/cpu.max", "150000 100000");
  CHECK(cores_of_groups(g.where) == 1.5);
}
