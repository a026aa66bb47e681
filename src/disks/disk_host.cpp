#include "disk_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/format.hpp"
#include "base/memory.hpp"
#include "skel/error.hpp"

namespace skel::detail {

namespace {

// Large enough for a shard's header and footer, and for small files as a whole.
constexpr std::uint64_t head_bytes = 8192, tail_bytes = 256;
constexpr std::uint64_t most_read = std::uint64_t{1} << 24;

// Leaves `room` bytes in front.
std::vector<std::byte> read_some(storage::file& f, std::uint64_t offset, std::uint64_t length,
                                 std::size_t room = 0) {
  std::vector<std::byte> bytes(room + std::min(length, most_read));
  bytes.resize(room + f.read_at(offset, std::span(bytes).subspan(room)));
  return bytes;
}

// Over the last minute. Includes this job's own threads: they use the host, too.
double system_load() {
  double running = 0;
  auto const cores = sysconf(_SC_NPROCESSORS_ONLN);
  return getloadavg(&running, 1) == 1 && cores > 0 ? running / static_cast<double>(cores) : 0;
}

opened_file look_at(storage::file& f) {
  opened_file o;
  o.size = f.size();
  o.head = read_some(f, 0, std::min(o.size, head_bytes));
  auto const tail = std::min(o.size, tail_bytes);
  o.tail = read_some(f, o.size - tail, tail);
  return o;
}

}  // namespace

std::string expand_disk(std::string const& pattern, std::string const& host, int rank) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    char const which = ++i < pattern.size() ? pattern[i] : ' ';
    if (which == 'h')
      text += host;
    else if (which == 'r')
      text += std::to_string(rank);
    else if (which == '%')
      text += '%';
    else
      throw usage_error(detail::format("\"{}\": expected %h (host), %r (rank) or %%", pattern));
  }
  return text;
}

storage::file_system& host_info::files_of(std::string const& path) const {
  return path.starts_with(memory_disk) ? *memory : storage::real_file_system();
}

disk_answer disk_host::perform(int from, disk_request const& r) {
  auto const begin = std::chrono::steady_clock::now();
  disk_answer a;
  try {
    a.content = result(from, r);
  } catch (std::exception const& bad) {
    a.error = bad.what();
  }
  a.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

transport::packet disk_host::result(int from, disk_request const& r) {
  using transport::packet;
  auto& files = host_.files_of(r.path);
  switch (r.what) {
    case disk_call::describe:
      return packet::received(describe(r.path));
    case disk_call::use:
      return packet::received(content_of(use_of(r.path)));
    case disk_call::create:
      open_[{from, r.file}] = files.create(r.path);
      break;
    case disk_call::open: {
      auto file = files.open(r.path);
      auto look = content_of(look_at(*file));
      open_[{from, r.file}] = std::move(file);
      return packet::received(std::move(look));
    }
    case disk_call::write:
      file_of(from, r.file).write(r.content);
      break;
    case disk_call::read:
      return packet::with_head_room(read_some(file_of(from, r.file), r.offset, r.length, packet::head_room));
    case disk_call::sync:
      file_of(from, r.file).sync();
      break;
    case disk_call::close:
      open_.erase({from, r.file});
      break;
    case disk_call::rename:
      files.rename(r.path, r.to);
      break;
    case disk_call::remove:
      files.remove(r.path);
      break;
    case disk_call::list:
      return packet::received(content_of(files.list(r.path)));
    case disk_call::sync_directory:
      files.sync_directory(r.path);
      break;
    case disk_call::claim:
      return packet::received(claim(from, r.path, r.to));
    case disk_call::close_all:
      std::erase_if(claims_, [&](auto const& c) { return c.second.by == from; });
      std::erase_if(open_, [&](auto const& f) { return f.first.first == from; });
      break;
  }
  return {};
}

// Creates the directory if it is missing, because users do not log in to each host. Whether it is
// writable is found out on first use, as for any directory.
std::vector<std::byte> disk_host::describe(std::string const& pattern) const {
  if (pattern == memory_disk)
    return content_of(std::vector{host_.name, pattern + std::to_string(host_.rank), host_.cluster});
  std::error_code ignored;
  auto directory =
      std::filesystem::absolute(expand_disk(pattern, host_.name, host_.rank), ignored).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();  // strips a trailing slash
  std::filesystem::create_directories(directory, ignored);
  return content_of(std::vector{host_.name, directory.string(), host_.cluster});
}

storage::disk_use disk_host::use_of(std::string const& directory) const {
  if (directory.starts_with(memory_disk)) return {host_.load.value_or(system_load()), available_memory()};
  std::error_code missing;
  auto const space = std::filesystem::space(directory, missing);
  return {host_.load.value_or(system_load()), missing ? 0 : space.available};
}

// Returns why it is refused; empty: it is not.
std::vector<std::byte> disk_host::claim(int from, std::string const& directory,
                                        std::string const& lost_owner) {
  try {
    auto& c = claims_[directory];
    if (c.kept && c.by != from)
      throw usage_error(detail::format("{}: rank {} of this job uses this store", directory, c.by));
    if (!c.kept) c = {from, host_.files_of(directory).claim(directory, lost_owner)};
    return {};
  } catch (usage_error const& used) {
    return content_of(std::vector<std::string>{used.what()});
  }
}

storage::file& disk_host::file_of(int from, std::uint64_t number) {
  auto const at = open_.find({from, number});
  if (at == open_.end() || !at->second) throw error("file is not open");
  return *at->second;
}

}  // namespace skel::detail
