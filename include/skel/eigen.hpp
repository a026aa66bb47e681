// Eigen's matrices, arrays and sparse matrices as tasks, results and messages. Include this header in
// each file that sends or receives them:
//
//     #include <skel/eigen.hpp>
//     #include <skel/skel.hpp>
//
//     Eigen::MatrixXd inverse(Eigen::MatrixXd const& m) { return m.inverse(); }  // a task function
//
// Plain matrices travel: of fixed and dynamic size, by rows and by columns. Expressions, maps and
// blocks do not, because they refer to other matrices: return Eigen::MatrixXd, not auto.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/transfer.hpp"
#include "skel/transfer_traits.hpp"

namespace skel {

namespace detail {

// A class, so that the message is printed once per type.
template <class Scalar>
struct eigen_scalar {
  static constexpr bool travels = transferable<Scalar>;
  static_assert(
      travels,
      "skel/eigen.hpp: the scalar type of this matrix cannot be sent: use an arithmetic or complex type, "
      "or specialise skel::transfer_traits for the scalar.");
  static constexpr bool as_bytes = route_of<Scalar> == route::raw;
  static constexpr std::size_t least_bytes = as_bytes ? sizeof(Scalar) : 1;
};

/// Reads a number of rows, columns or elements of at most `most`.
inline Eigen::Index get_eigen_size(std::span<std::byte const>& in, std::uint64_t least, std::uint64_t most) {
  auto const n = bytes::get_varint(in);
  if (n < least || n > most)
    throw protocol_error("a message holds a matrix of a size that its type does not have");
  return static_cast<Eigen::Index>(n);
}

inline constexpr auto most_eigen_size = static_cast<std::uint64_t>(std::numeric_limits<Eigen::Index>::max());

/// Reads the rows or columns of a dense matrix. `Fixed` and `Most`: of its type, or Eigen::Dynamic.
template <int Fixed, int Most>
Eigen::Index get_eigen_extent(std::span<std::byte const>& in) {
  if constexpr (Fixed != Eigen::Dynamic)
    return get_eigen_size(in, Fixed, Fixed);
  else
    return get_eigen_size(in, 0, Most != Eigen::Dynamic ? static_cast<std::uint64_t>(Most) : most_eigen_size);
}

template <class Dense>
struct dense_traits {
  using scalar = typename Dense::Scalar;
  using kind = eigen_scalar<scalar>;

  static std::size_t size(Dense const& m) {
    return 2 * bytes::most_varint + static_cast<std::size_t>(m.size()) * kind::least_bytes;
  }
  static void pack(Dense const& m, std::vector<std::byte>& out) {
    bytes::put_varint(out, static_cast<std::uint64_t>(m.rows()));
    bytes::put_varint(out, static_cast<std::uint64_t>(m.cols()));
    auto const n = static_cast<std::size_t>(m.size());
    if constexpr (kind::as_bytes)
      bytes::put_bytes(out, m.data(), n * sizeof(scalar));
    else if constexpr (kind::travels)
      for (scalar const& s : std::span(m.data(), n)) skel::pack(s, out);
  }
  static Dense unpack(std::span<std::byte const>& in) {
    auto const rows = get_eigen_extent<Dense::RowsAtCompileTime, Dense::MaxRowsAtCompileTime>(in);
    auto const cols = get_eigen_extent<Dense::ColsAtCompileTime, Dense::MaxColsAtCompileTime>(in);
    // Before anything is allocated.
    if (rows > 0 &&
        static_cast<std::size_t>(cols) > in.size() / kind::least_bytes / static_cast<std::size_t>(rows))
      throw protocol_error("a message holds fewer elements than it announces");
    Dense m;
    m.resize(rows, cols);
    auto const n = static_cast<std::size_t>(m.size());
    if constexpr (kind::as_bytes) {
      auto const from = bytes::get_bytes(in, n * sizeof(scalar));
      if (n > 0) std::memcpy(static_cast<void*>(m.data()), from.data(), from.size());
    } else if constexpr (kind::travels) {
      for (scalar& s : std::span(m.data(), n)) s = skel::unpack<scalar>(in);
    }
    return m;
  }
};

// A declared function: with a lambda, every type satisfies the concept under clang 16.
template <class D>
void takes_eigen(Eigen::EigenBase<D> const& /*m*/);
template <class T>
concept eigen_type = requires(T const& t) { detail::takes_eigen(t); };

}  // namespace detail

/// Rejects all types of Eigen but those below: they refer to other matrices.
template <detail::eigen_type T>
struct transfer_traits<T> {
  static_assert(
      sizeof(T) == 0,
      "skel/eigen.hpp: this type of Eigen is an expression, a map or a block, or is not supported: send a "
      "matrix, for instance by returning Eigen::MatrixXd instead of auto.");
};

/// Dense matrices and vectors: rows, columns and the scalars in their order in memory.
template <class S, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
struct transfer_traits<Eigen::Matrix<S, Rows, Cols, Options, MaxRows, MaxCols>>
    : detail::dense_traits<Eigen::Matrix<S, Rows, Cols, Options, MaxRows, MaxCols>> {};

/// Arrays, likewise.
template <class S, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
struct transfer_traits<Eigen::Array<S, Rows, Cols, Options, MaxRows, MaxCols>>
    : detail::dense_traits<Eigen::Array<S, Rows, Cols, Options, MaxRows, MaxCols>> {};

/// Sparse matrices: for each column (or row) the number of its elements and their indices, then all
/// values. They arrive compressed.
template <class S, int Options, class Index>
struct transfer_traits<Eigen::SparseMatrix<S, Options, Index>> {
  /// The type that travels.
  using matrix = Eigen::SparseMatrix<S, Options, Index>;
  /// Appends the matrix. Throws skel::error if the indices of a column do not ascend.
  static void pack(matrix const& m, std::vector<std::byte>& out) {
    bytes::put_varint(out, static_cast<std::uint64_t>(m.rows()));
    bytes::put_varint(out, static_cast<std::uint64_t>(m.cols()));
    for (Eigen::Index o = 0; o < m.outerSize(); ++o) {
      std::uint64_t count = 0;
      for (typename matrix::InnerIterator it(m, o); it; ++it) ++count;
      bytes::put_varint(out, count);
      Eigen::Index before = -1;
      for (typename matrix::InnerIterator it(m, o); it; ++it) {
        if (it.index() <= before) throw error("a sparse matrix whose indices do not ascend cannot be sent");
        bytes::put_varint(out, static_cast<std::uint64_t>(it.index() - before - 1));
        before = it.index();
      }
    }
    if constexpr (detail::eigen_scalar<S>::travels)
      for (Eigen::Index o = 0; o < m.outerSize(); ++o)
        for (typename matrix::InnerIterator it(m, o); it; ++it) skel::pack(it.value(), out);
  }
  /// Reads a matrix. Throws protocol_error for bytes that hold none.
  [[nodiscard]] static matrix unpack(std::span<std::byte const>& in) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    auto const rows = detail::get_eigen_size(in, 0, most);
    auto const cols = detail::get_eigen_size(in, 0, most);
    auto const outer = matrix::IsRowMajor ? rows : cols;
    auto const inner = static_cast<std::uint64_t>(matrix::IsRowMajor ? cols : rows);
    // Each column has at least one byte, so the memory is a small multiple of the message at most.
    if (static_cast<std::uint64_t>(outer) > in.size())
      throw protocol_error("a message holds fewer columns of a matrix than it announces");
    matrix m(rows, cols);
    for (Eigen::Index o = 0; o < outer; ++o) {
      m.startVec(o);
      std::uint64_t at = 0;
      for (auto n = bytes::get_varint(in); n > 0; --n) {
        auto const gap = bytes::get_varint(in);
        if (at >= inner || gap >= inner - at || static_cast<std::uint64_t>(m.nonZeros()) >= most)
          throw protocol_error("a message holds an element outside of its matrix");
        at += gap;
        m.insertBackByOuterInner(o, static_cast<Eigen::Index>(at)) = S{};
        ++at;
      }
    }
    m.finalize();
    if constexpr (detail::eigen_scalar<S>::travels)
      for (Eigen::Index i = 0; i < m.nonZeros(); ++i) m.valuePtr()[i] = skel::unpack<S>(in);
    return m;
  }
};

}  // namespace skel
