// Eigen's types as bytes and back, hostile bytes, and a farm of matrices.
#include "skel/eigen.hpp"

#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "farm/over_hub.hpp"
#include "skel/skel.hpp"
#include "values.hpp"

namespace {

using test::packed;

template <class T>
T travelled(T const& value) {
  auto const bytes = packed(value);
  std::span<std::byte const> in = bytes;
  T back = skel::unpack<T>(in);
  CHECK(in.empty());
  // Every shorter message is refused, whatever is cut off.
  for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 50) {
    std::span<std::byte const> cut(bytes.data(), n);
    CHECK_THROWS_AS(skel::unpack<T>(cut), skel::protocol_error);
  }
  return back;
}

template <class Dense>
void check_dense(Eigen::Index rows, Eigen::Index cols) {
  Dense m;
  m.resize(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i)
    m.data()[i] = typename Dense::Scalar(static_cast<float>(3 * i + 1));
  auto const back = travelled(m);
  REQUIRE(back.rows() == rows);
  REQUIRE(back.cols() == cols);
  CHECK((back == m || back.size() == 0));
}

template <class T>
void refused(std::vector<std::uint64_t> const& numbers) {
  std::vector<std::byte> bytes;
  for (auto const n : numbers) skel::bytes::put_varint(bytes, n);
  std::span<std::byte const> in = bytes;
  CHECK_THROWS_AS(skel::unpack<T>(in), skel::protocol_error);
}

using sparse = Eigen::SparseMatrix<double>;
using sparse_rows = Eigen::SparseMatrix<float, Eigen::RowMajor, std::int64_t>;

}  // namespace

TEST_CASE("dense matrices and vectors of fixed and dynamic size travel") {
  check_dense<Eigen::MatrixXd>(5, 7);
  check_dense<Eigen::MatrixXd>(0, 7);
  check_dense<Eigen::MatrixXd>(0, 0);
  check_dense<Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(3, 4);
  check_dense<Eigen::VectorXf>(9, 1);
  check_dense<Eigen::RowVector3d>(1, 3);
  check_dense<Eigen::Matrix4f>(4, 4);
  check_dense<Eigen::Matrix<double, 3, Eigen::Dynamic>>(3, 11);
  check_dense<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>>(2, 4);
  check_dense<Eigen::MatrixXcd>(2, 3);
}

TEST_CASE("arrays travel") {
  auto const check_array = [](auto const& a) {
    auto const back = travelled(a);
    CHECK((back == a).all());
  };
  check_array(Eigen::ArrayXXd::Random(4, 3).eval());
  check_array(Eigen::Array3f(1, 2, 3));
}

TEST_CASE("sparse matrices travel, compressed or not") {
  std::mt19937 dice(1);
  sparse m(50, 40);
  for (int i = 0; i < 200; ++i)
    m.coeffRef(static_cast<int>(dice() % 50), static_cast<int>(dice() % 40)) =
        static_cast<double>(dice() % 1000);
  CHECK_FALSE(m.isCompressed());
  auto const back = travelled(m);
  CHECK(back.isCompressed());
  CHECK(Eigen::MatrixXd(back) == Eigen::MatrixXd(m));
  CHECK(back.nonZeros() == m.nonZeros());
  m.makeCompressed();
  CHECK(packed(m) == packed(back));

  sparse_rows rows(3, 1000000);
  rows.insert(0, 999999) = 1.5F;
  rows.insert(2, 0) = -2;
  auto const rows_back = travelled(rows);
  CHECK(rows_back.coeff(0, 999999) == 1.5F);
  CHECK(rows_back.coeff(2, 0) == -2);
  CHECK(rows_back.nonZeros() == 2);
  CHECK(travelled(sparse(0, 0)).rows() == 0);
  CHECK(travelled(sparse(4, 3)).nonZeros() == 0);
}

TEST_CASE("hostile sizes are refused before memory is allocated") {
  auto constexpr huge = std::uint64_t{1} << 62;
  refused<Eigen::MatrixXd>({huge, 4});
  refused<Eigen::MatrixXd>({4, huge});
  refused<Eigen::MatrixXd>({huge, huge});
  refused<Eigen::MatrixXd>({~std::uint64_t{0}, 0});
  refused<Eigen::Matrix4f>({4, 5});
  refused<Eigen::Vector3d>({2, 1});
  refused<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>>({5, 1});
  refused<sparse>({10, huge});
  refused<sparse>({10, 1000000});                       // columns that are not there
  refused<sparse>({10, 2, huge, 0, 0, 0});              // elements that are not there
  refused<sparse>({10, 2, 1, 10, 0, 0, 0, 0, 0, 0});    // row 10 of 10
  refused<sparse>({10, 2, 2, 9, 0, 0, 0, 0, 0, 0, 0});  // row 9, then row 10
  refused<sparse>({10, 2, 1, ~std::uint64_t{0}, 0});
}

TEST_CASE("matrices are parts of other types") {
  using parts =
      std::tuple<std::optional<Eigen::Matrix2d>, std::variant<int, Eigen::VectorXd>,
                 std::map<std::string, std::pair<Eigen::Array2f, sparse>>, std::vector<Eigen::Vector3d>>;
  parts p;
  std::get<0>(p) = Eigen::Matrix2d::Identity();
  std::get<1>(p) = Eigen::VectorXd::LinSpaced(5, 0, 1).eval();
  std::get<2>(p)["a"] = {Eigen::Array2f(1, 2), sparse(2, 2)};
  std::get<3>(p).assign(3, Eigen::Vector3d(1, 2, 3));
  auto const back = travelled(p);
  CHECK(*std::get<0>(back) == *std::get<0>(p));
  CHECK(std::get<Eigen::VectorXd>(std::get<1>(back)) == std::get<Eigen::VectorXd>(std::get<1>(p)));
  CHECK(std::get<2>(back).at("a").first(1) == 2);
  CHECK(std::get<3>(back).at(2) == Eigen::Vector3d(1, 2, 3));
}

TEST_CASE("a farm of matrices") {
  std::vector<Eigen::MatrixXd> tasks;
  for (int i = 1; i < 30; ++i) tasks.emplace_back(Eigen::MatrixXd::Constant(i, 2, i));
  hub::job job(3, 2);
  auto const found = job.run_well([&](skel::context& ctx) {
    std::vector<Eigen::Matrix2d> mine;
    skel::farm(
        ctx, skel::on_root([&] { return tasks; }),
        [](Eigen::MatrixXd const& m) -> Eigen::Matrix2d { return m.transpose() * m; },
        skel::schedule::guided{}, skel::into(mine));
    return mine;
  });
  REQUIRE(found.size() == tasks.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Eigen::Matrix2d(tasks[i].transpose() * tasks[i]));
}
