// What travels: the byte format of a search's statements, and the tasks of a loan.
#include <limits>

#include "catch.hpp"
#include "ring_steal/books.hpp"
#include "skel/error.hpp"
#include "skel/ring_steal.hpp"

using skel::detail::steal_statement;

namespace {

using task_list = std::vector<std::uint64_t>;

// Its result is the tasks in the order in which they ran.
struct list_tasks {
  using task = std::uint64_t;
  using result = task_list;
  static void run(task n, skel::spawner<task>& /*more*/, task_list& ran) { ran.push_back(n); }
  static task_list merge(task_list a, task_list b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

}  // namespace

TEST_CASE("a loan is every other task, from the oldest on, or every other block of them") {
  for (std::uint64_t const n : {1, 2, 3, 4, 5, 64, 127, 128, 129, 255, 256, 1000, 100'000}) {
    skel::task_numbers tasks(n);
    list_tasks const job;
    skel::detail::steal_work_of work(tasks, job);
    skel::detail::steal_books books(work, 1);
    work.open_source(*books.open(0).waiting);
    std::vector<std::byte> sent;
    books.pack_loan(1, 0, true, sent);
    books.act(skel::role::steal::accept{1}, sent);
    auto const tasks_of = [&](skel::role::debt_id id) {
      skel::detail::typed_merged<task_list> ran;
      std::uint64_t done = 0;
      work.run(*books.find(id)->waiting, ran, std::numeric_limits<std::uint64_t>::max(), done, {});
      return task_list(ran.value.rbegin(), ran.value.rend());  // the newest runs first
    };
    auto const kept = tasks_of(0), given = tasks_of(1);
    INFO(n << " tasks, " << given.size() << " given");
    std::uint64_t const block = n / 128 + 1;
    task_list expected_kept, expected_given;
    for (std::uint64_t i = 0; i < n; ++i) {
      // A block that no other follows stays.
      bool const gives = n == 1 || (i / block % 2 == 0 && i / block * block + block < n);
      (gives ? expected_given : expected_kept).push_back(i);
    }
    CHECK(given == expected_given);
    CHECK(kept == expected_kept);
  }
}

TEST_CASE("decoding inverts encoding and reads nothing beyond the statement") {
  std::vector<std::byte> const some{std::byte{1}, std::byte{0}, std::byte{255}};
  for (auto const& s : {steal_statement{}, steal_statement{300, some, 0, {}}, steal_statement{0, {}, 2, some},
                        steal_statement{1ULL << 40U, some, 1, std::vector<std::byte>(1000)}}) {
    std::vector<std::byte> bytes;
    skel::detail::encode(s, bytes);
    bytes.push_back(std::byte{7});
    std::span<std::byte const> in(bytes);
    auto const read = skel::detail::decode_statement(in);
    CHECK(read.tasks == s.tasks);
    CHECK(read.sum == s.sum);
    CHECK(read.bags == s.bags);
    CHECK(read.waiting == s.waiting);
    CHECK(in.size() == 1);
  }
}

TEST_CASE("a statement truncated at any byte is refused") {
  std::vector<std::byte> bytes;
  skel::detail::encode({500, std::vector<std::byte>(9), 3, std::vector<std::byte>(20)}, bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::span<std::byte const> in(bytes.data(), n);
    CHECK_THROWS_AS(static_cast<void>(skel::detail::decode_statement(in)), skel::protocol_error);
  }
}
