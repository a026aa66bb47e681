#include "remote_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "skel/error.hpp"

namespace skel::detail {

namespace {
constexpr std::size_t write_bytes = std::size_t{256} << 10;
constexpr std::size_t most_writes = 4;
constexpr std::size_t read_bytes = std::size_t{1} << 20;
constexpr std::size_t most_reads = 4;
}  // namespace

double& transfer_of_this_thread() {
  thread_local double seconds = 0;
  return seconds;
}

disk_answer wait_for(disk_service& disks, disk_service::ticket t, std::string const& host) {
  auto const begin = std::chrono::steady_clock::now();
  auto a = [&] {
    try {
      return disks.wait(t);
    } catch (error const& lost) {
      throw error(host + ": " + lost.what());
    }
  }();
  double const waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  transfer_of_this_thread() += std::max(0.0, waited - a.seconds);
  if (!a.error.empty()) throw error(host + ":" + a.error);
  return a;
}

remote_file::remote_file(disk_service& disks, remote_path where, mode how)
    : disks_(disks), where_(std::move(where)), number_(disks.next_file()) {
  auto const a =
      call({.what = how == mode::create ? disk_call::create : disk_call::open, .path = where_.path});
  if (how == mode::create) return;
  auto o = read_content<opened_file>(a.content.bytes());
  size_ = o.size;
  tail_.offset = size_ - o.tail.size();
  head_.content = transport::packet::received(std::move(o.head));
  tail_.content = transport::packet::received(std::move(o.tail));
}

remote_file::~remote_file() {
  for (auto const t : under_way_) disks_.forget(t);
  for (auto const& p : ahead_) disks_.forget(p.answer);
  disks_.tell(where_.rank, {.what = disk_call::close, .file = number_});
}

disk_answer remote_file::call(disk_request r) {
  r.file = number_;
  return wait_for(disks_, disks_.ask(where_.rank, r), where_.host);
}

// --- writing

void remote_file::write(std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const now = bytes.first(std::min(bytes.size(), write_bytes - written_.size()));
    written_.insert(written_.end(), now.begin(), now.end());
    bytes = bytes.subspan(now.size());
    size_ += now.size();
    if (written_.size() == write_bytes) send_written();
  }
}

void remote_file::send_written() {
  settle(most_writes - 1);
  under_way_.push_back(
      disks_.ask(where_.rank, {.what = disk_call::write, .file = number_, .content = written_}));
  written_.clear();
}

void remote_file::settle(std::size_t most_under_way) {
  while (under_way_.size() > most_under_way) {
    auto const t = under_way_.front();
    under_way_.pop_front();
    static_cast<void>(wait_for(disks_, t, where_.host));
  }
}

void remote_file::sync() {
  if (!written_.empty()) send_written();
  settle(0);
  call({.what = disk_call::sync});
}

// --- reading

remote_file::piece const& remote_file::piece_at(std::uint64_t offset) {
  for (auto const* const p : {&head_, &tail_, &latest_})
    if (p->holds(offset)) return *p;
  bool const in_order = offset == latest_.end() || offset == head_.end();
  for (; !ahead_.empty() && ahead_.front().offset != offset; ahead_.pop_front())
    disks_.forget(ahead_.front().answer);
  ask_ahead(offset, in_order ? most_reads : 1);
  auto const answer = ahead_.front().answer;
  ahead_.pop_front();
  latest_ = {offset, wait_for(disks_, answer, where_.host).content};
  return latest_;
}

void remote_file::ask_ahead(std::uint64_t offset, std::size_t pieces) {
  if (!ahead_.empty()) offset = ahead_.back().offset + read_bytes;
  for (; ahead_.size() < pieces && offset < size_; offset += read_bytes)
    ahead_.push_back(
        {offset, disks_.ask(where_.rank, {.what = disk_call::read,
                                          .file = number_,
                                          .offset = offset,
                                          .length = std::min<std::uint64_t>(read_bytes, size_ - offset)})});
}

std::size_t remote_file::read_at(std::uint64_t offset, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size() && offset < size_) {
    auto const& from = piece_at(offset);
    if (!from.holds(offset)) break;  // truncated since it was opened
    auto const at = static_cast<std::size_t>(offset - from.offset);
    auto const n = std::min(bytes.size() - done, from.content.size() - at);
    std::memcpy(bytes.data() + done, from.content.bytes().data() + at, n);
    done += n;
    offset += n;
  }
  return done;
}

}  // namespace skel::detail
