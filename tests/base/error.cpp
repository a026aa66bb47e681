#include "skel/error.hpp"

#include "catch.hpp"

TEST_CASE("errors give the problem, the place, and the number of further ones") {
  CHECK(std::string(skel::task_error(17, 2, "bad thing", 3).what()) ==
        "task 17 failed on rank 2: bad thing (and 3 more)");
  CHECK(std::string(skel::task_error(0, 0, "bad thing", 0).what()) == "task 0 failed on rank 0: bad thing");
  CHECK(std::string(skel::sink_error(5, "disk full").what()) ==
        "the sink failed on the result of task 5: disk full");
  CHECK(std::string(skel::mpi_error("MPI_Isend", 15, "message truncated", 3).what()) ==
        "MPI_Isend failed on rank 3: message truncated (code 15)");
}

TEST_CASE("errors carry their parts") {
  skel::task_error const task(17, 2, "{}", 3);
  CHECK(task.task() == 17);
  CHECK(task.rank() == 2);
  CHECK(task.text() == "{}");
  CHECK(task.more() == 3);
  CHECK(skel::mpi_error("f", 15, "t", 3).code() == 15);
  CHECK(skel::sink_error(5, "t").text() == "t");
}
