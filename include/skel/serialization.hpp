// Types with a serialize() function travel through Boost.Serialization. Include this header, after
// skel/skel.hpp or alone, in each file that sends or receives such a type:
//
//     #include <skel/serialization.hpp>
//     #include <skel/skel.hpp>
//
//     class spectrum {
//       friend class boost::serialization::access;
//       template <class Archive>
//       void serialize(Archive& archive, unsigned) {
//         archive& name_& values_;
//       }
//       std::string name_;
//       std::map<int, double> values_;
//     };
//
// Other types do not need this header and compile faster without it.
#pragma once

// The containers of Boost 1.74 use a type that only this header defines.
#include <boost/serialization/library_version_type.hpp>
// clang-format off
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/access.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/deque.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/list.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/set.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/tracking.hpp>
#include <boost/serialization/unordered_map.hpp>
#include <boost/serialization/unordered_set.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
// clang-format on

#include <cstddef>
#include <span>
#include <streambuf>
#include <string>
#include <vector>

#include "skel/bytes.hpp"
#include "skel/error.hpp"
#include "skel/immutable.hpp"
#include "skel/storage/machine.hpp"
#include "skel/transfer.hpp"

namespace skel::detail {

inline unsigned const noted_archives = [] {
  auto const version = boost::archive::BOOST_ARCHIVE_VERSION();
  return storage::note_archives(version);
}();

class append_buffer final : public std::streambuf {
 public:
  explicit append_buffer(std::vector<std::byte>& out) : out_(out) {}

 protected:
  std::streamsize xsputn(char const* text, std::streamsize n) override {
    auto const* const bytes = reinterpret_cast<std::byte const*>(text);
    out_.insert(out_.end(), bytes, bytes + n);
    return n;
  }
  int_type overflow(int_type c) override {
    out_.push_back(static_cast<std::byte>(c));
    return c;
  }

 private:
  std::vector<std::byte>& out_;
};

class span_buffer final : public std::streambuf {
 public:
  explicit span_buffer(std::span<std::byte const> in) {
    auto* const begin =
        const_cast<char*>(reinterpret_cast<char const*>(in.data()));  // only read; setg takes no const
    setg(begin, begin, begin + in.size());
  }
};

inline constexpr unsigned archive_flags =
    boost::archive::no_header | boost::archive::no_codecvt | boost::archive::no_xml_tag_checking;

// Packs a value through an archive, preceded by its length, because an archive does not announce
// how much it will read.
template <class T>
struct archive_codec {
  static void pack(T const& value, std::vector<std::byte>& out) {
    std::vector<std::byte> body;
    {
      append_buffer buffer(body);
      boost::archive::binary_oarchive archive(buffer, archive_flags);
      archive << value;
    }
    bytes::put_block(out, body);
  }
  static T unpack(std::span<std::byte const>& in) {
    span_buffer buffer(bytes::get_bytes(in, bytes::get_varint(in)));
    try {
      boost::archive::binary_iarchive archive(buffer, archive_flags);
      T value{};
      archive >> value;
      return value;
    } catch (boost::archive::archive_exception const& e) {
      throw protocol_error(std::string("cannot read a value from a message: ") + e.what());
    }
  }
};

}  // namespace skel::detail

namespace boost::serialization {

// An immutable<T> adds nothing to T's bytes: the archive records neither the class nor the object.
template <class T>
struct implementation_level_impl<skel::immutable<T> const> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<object_serializable>;
  static constexpr int value = type::value;
};
template <class T>
struct tracking_level<skel::immutable<T>> {
  using tag = mpl::integral_c_tag;
  using type = mpl::int_<track_never>;
  static constexpr int value = type::value;
};

}  // namespace boost::serialization
