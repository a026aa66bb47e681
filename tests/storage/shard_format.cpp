// Tests the bytes of a shard, and files that are not shards.
#include "storage/shard_format.hpp"

#include <algorithm>

#include "catch.hpp"
#include "codes_support.hpp"
#include "skel/error.hpp"
#include "storage/object_writer.hpp"

using namespace skel::storage;

namespace {

std::vector<test::byte_vector> shards_of(object_info const& o, std::span<std::byte const> data,
                                         std::size_t piece = 1000, kernel k = default_kernel()) {
  std::vector<test::byte_vector> shards(o.code.shards());
  std::vector<byte_sink> sinks;
  sinks.reserve(shards.size());
  for (auto& s : shards)
    sinks.emplace_back([&s](auto bytes) { s.insert(s.end(), bytes.begin(), bytes.end()); });
  object_writer w(o, sinks, k);
  for (; !data.empty(); data = data.subspan(std::min(piece, data.size())))
    w.write(data.first(std::min(piece, data.size())));
  w.finish();
  return shards;
}

object_info info(std::string const& code, std::uint64_t length, std::uint32_t block = 64) {
  return {"state", 7, skel::storage::code(code), length, length, block, sealing::none};
}

std::string refused_header(std::span<std::byte const> bytes) {
  try {
    (void)shard_header::decode(bytes);
  } catch (skel::error const& bad) {
    return bad.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the first m shards are the data, block by block") {
  auto const data = test::random_bytes(64 * 3 * 2 + 10, 1);  // two stripes, and 10 bytes: blocks of 4, 4, 2
  auto const o = info("ida:3,2", data.size());
  CHECK(o.stripes() == 3);
  CHECK(o.block_bytes(2) == 4);
  CHECK(o.shard_bytes() == 64 + 64 + 4);
  auto const shards = shards_of(o, data);
  auto const header = shard_header{o, 1}.encode();
  shard_layout const where{header.size(), &o};
  REQUIRE(shards[1].size() == where.file_bytes());
  auto const at = [&](std::uint64_t stripe) {
    return shards[1].begin() + static_cast<std::ptrdiff_t>(where.block_at(stripe));
  };
  CHECK(std::equal(header.begin(), header.end(), shards[1].begin()));
  CHECK(std::equal(data.begin() + 64, data.begin() + 128, at(0)));
  CHECK(std::equal(data.begin() + 256, data.begin() + 320, at(1)));
  CHECK(std::equal(data.begin() + 384 + 4, data.begin() + 384 + 8, at(2)));
}

TEST_CASE("shards are the same bytes for every kernel and every size of writes") {
  auto const data = test::random_bytes(5000, 2);
  auto const o = info("ida:4,3,matrix=cauchy", data.size(), 100);
  auto const expected = shards_of(o, data, 5000, kernel::table);
  for (auto const k : kernels())
    for (std::size_t const piece : {1U, 7U, 400U, 401U, 5000U})
      CHECK(shards_of(o, data, piece, k) == expected);
}

TEST_CASE("a writer accepts exactly the announced length") {
  auto const data = test::random_bytes(100, 3);
  CHECK_THROWS_AS(shards_of(info("ida:3,2", 99), data), std::length_error);
  CHECK_THROWS_AS(shards_of(info("ida:3,2", 101), data), std::length_error);
}

TEST_CASE("a header is read as it was written") {
  for (auto const* const code : {"ida:8,2", "ida:100,156,matrix=zfec", "parity:9", "replicate:3"})
    for (std::uint64_t const length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40U}) {
      shard_header h{info(code, length), 1};
      h.object.name = std::string(longest_name, 'n');
      auto const bytes = h.encode();
      CHECK(bytes.size() <= shard_header::longest);
      CHECK(shard_header::decode(bytes) == h);
    }
  CHECK(shard_header{info("ida:8,2", 5), 9}.file_name() == "state.7.009.shard");
}

TEST_CASE("no bit of a header can change unnoticed") {
  auto const bytes = shard_header{info("ida:8,2", 1000), 3}.encode();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    if (refused_header(damaged) == "accepted") FAIL("bit " << bit);
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (refused_header(std::span(bytes).first(size)) == "accepted") FAIL(size << " bytes");
  }
}

TEST_CASE("errors describe the defect of a header") {
  auto const bytes = shard_header{info("ida:8,2", 1000), 3}.encode();
  auto changed = bytes;
  changed[0] = std::byte{'x'};
  CHECK(refused_header(changed) == "not a shard");
  changed = bytes;
  changed[8] = std::byte{3};
  CHECK(refused_header(changed) == "found shard format 3, expected format 1 or 2");
  changed = bytes;
  changed[20] ^= std::byte{1};
  CHECK(refused_header(changed) == "hash of the header does not match");
  CHECK(refused_header(std::span(bytes).first(40)) == "header too short");
  for (auto const* const bad : {"", ".hidden", "a/b", "a\nb"})
    CHECK_THROWS_AS(object_info::check_name(bad), skel::usage_error);
}

// Headers with forged hashes must fail the checks behind the hash.
TEST_CASE("an invalid header with a matching hash is refused") {
  auto const with = [](auto const& change) {
    shard_header h{info("ida:8,2", 1000), 3};
    change(h);
    return refused_header(h.encode());
  };
  CHECK(with([](auto& h) { h.index = 10; }) == "invalid header: shard index");
  CHECK(with([](auto& h) { h.object.block_size = 0; }) == "invalid header: block size");
  CHECK(with([](auto& h) { h.object.block_size = largest_block + 1; }) == "invalid header: block size");
  CHECK(with([](auto& h) { h.object.length = ~std::uint64_t{0}; }) == "invalid header: length");
  CHECK(with([](auto& h) { h.object.content_length = 999; }) == "invalid header: content length");
  CHECK(with([](auto& h) { h.object.sealed = sealing::xchacha20_poly1305; }) ==
        "invalid header: content length");
  CHECK(with([](auto& h) { h.object.sealed = static_cast<sealing>(9); }) ==
        "invalid header: unknown encryption");
  CHECK(with([](auto& h) { h.object.belongs_to = {1, 2, 0, 1, 5, 7, 3}; }) == "invalid header: base");
  CHECK(with([](auto& h) { h.object.belongs_to = {1, 2, 0, 1, 5, 6, 3}; }) == "accepted");
}

TEST_CASE("the base of an increment is in its header, which older readers refuse") {
  shard_header h{info("ida:8,2", 1000), 3};
  h.object.belongs_to = {1, 2, 0, 1};
  CHECK(h.encode().at(8) == std::byte{1});
  h.object.belongs_to.base = 6;
  h.object.belongs_to.base_stamp = 9;
  CHECK(h.encode().at(8) == std::byte{2});
  CHECK(shard_header::decode(h.encode()) == h);
}
