#include "disks.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "skel/error.hpp"

namespace storm {

namespace {

[[noreturn]] void refuse(std::string const& path, std::errc why) {
  throw skel::error(path + ": " + std::make_error_code(why).message());
}

}  // namespace

std::string owner_of_claims(int rank) { return "rank " + std::to_string(rank) + " of a storm"; }

void disks::serve(world& w, std::vector<std::string> hosts) {
  world_ = &w;
  hosts_ = std::move(hosts);
  for (auto& [name, d] : disks_) {
    d.claimed_by = -1;
    d.expelled.clear();
  }
}

disks::disk& disks::of(std::string const& directory) {
  auto const name = directory.starts_with(disk_of_all)
                        ? directory
                        : hosts_[static_cast<std::size_t>(world_->current())] + ":" + directory;
  auto const known = disks_.find(name);
  if (known != disks_.end()) return known->second;
  auto& d = disks_[name];
  d.plan = plans_[(disks_.size() - 1) % plans_.size()];
  return d;
}

template <class Torn>
void disks::begin_call(disk& d, std::string const& path, std::size_t bytes, Torn const& torn) {
  constexpr double bytes_per_second = 1e8;
  world_->check_alive();  // a dead process changes nothing while its stack unwinds
  try {
    world_->count(kill_plan::when::at_disk);
    world_->pass(seconds(d.plan.least_latency + dice_.real() * (d.plan.most_latency - d.plan.least_latency) +
                         static_cast<double>(bytes) / bytes_per_second));
  } catch (killed const&) {
    torn();
    throw;
  }
  if (world_->now() >= d.plan.fails_from && world_->now() < d.plan.fails_until)
    refuse(path, std::errc::io_error);
}

void disks::check_claim(disk const& d, std::string const& directory) const {
  if (std::ranges::find(d.expelled, world_->current()) != d.expelled.end())
    throw skel::error(directory + ": another process has taken over this store");
}

void disks::changed(disk& d) { d.between.push_back(d.now); }

class disks::open_file final : public skel::storage::file {
 public:
  open_file(disks& all, disk& on, std::string path, std::shared_ptr<content> of)
      : all_(all), disk_(on), path_(std::move(path)), of_(std::move(of)) {}

  void write(std::span<std::byte const> bytes) override {
    all_.begin_call(disk_, path_, bytes.size(),
                    [&] { append(bytes.first(all_.dice_.below(bytes.size() + 1))); });
    auto const room = disk_.plan.room - std::min(disk_.plan.room, disk_.used);
    append(bytes.first(std::min<std::uint64_t>(room, bytes.size())));
    if (room < bytes.size()) refuse(path_, std::errc::no_space_on_device);
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
    all_.begin_call(disk_, path_, bytes.size(), [] {});
    auto const& all = of_->bytes;
    if (offset >= all.size()) return 0;
    auto const n = std::min<std::size_t>(bytes.size(), all.size() - offset);
    std::memcpy(bytes.data(), all.data() + offset, n);
    return n;
  }
  std::uint64_t size() override { return of_->bytes.size(); }
  void sync() override {
    all_.begin_call(disk_, path_, 0, [] {});
    of_->synced = of_->bytes.size();
  }

 private:
  void append(std::span<std::byte const> bytes) {
    of_->bytes.insert(of_->bytes.end(), bytes.begin(), bytes.end());
    disk_.used += bytes.size();
  }

  disks& all_;
  disk& disk_;
  std::string path_;
  std::shared_ptr<content> of_;
};

std::unique_ptr<skel::storage::file> disks::create(std::string const& path) {
  auto const directory = directory_of(path);
  auto& d = of(directory);
  auto const make = [&] {
    auto& c = d.now[name_of(path)];
    if (c) d.used -= c->bytes.size();
    c = std::make_shared<content>();
    changed(d);
    return c;
  };
  begin_call(d, path, 0, [&] {
    if (dice_.chance(0.5)) make();
  });
  check_claim(d, directory);
  return std::make_unique<open_file>(*this, d, path, make());
}

std::unique_ptr<skel::storage::file> disks::open(std::string const& path) {
  auto& d = of(directory_of(path));
  begin_call(d, path, 0, [] {});
  auto const at = d.now.find(name_of(path));
  if (at == d.now.end()) refuse(path, std::errc::no_such_file_or_directory);
  if (auto& bytes = at->second->bytes; !bytes.empty() && dice_.chance(d.plan.rots))
    bytes[dice_.below(bytes.size())] ^= std::byte{1} << static_cast<int>(dice_.below(8));
  return std::make_unique<open_file>(*this, d, path, at->second);
}

void disks::rename(std::string const& from, std::string const& to) {
  auto const directory = directory_of(to);
  auto& d = of(directory);
  auto const move = [&] {
    auto const at = d.now.find(name_of(from));
    if (at == d.now.end()) refuse(from, std::errc::no_such_file_or_directory);
    auto const what = at->second;
    d.now.erase(at);
    auto& there = d.now[name_of(to)];
    if (there) d.used -= there->bytes.size();
    there = what;
    changed(d);
  };
  begin_call(d, to, 0, [&] {
    if (d.now.contains(name_of(from)) && dice_.chance(0.5)) move();
  });
  check_claim(d, directory);
  move();
}

void disks::remove(std::string const& path) {
  auto const directory = directory_of(path);
  auto& d = of(directory);
  auto const erase = [&] {
    auto const at = d.now.find(name_of(path));
    if (at == d.now.end()) refuse(path, std::errc::no_such_file_or_directory);
    d.used -= at->second->bytes.size();
    d.now.erase(at);
    changed(d);
  };
  begin_call(d, path, 0, [&] {
    if (d.now.contains(name_of(path)) && dice_.chance(0.5)) erase();
  });
  check_claim(d, directory);
  erase();
}

std::vector<std::string> disks::list(std::string const& directory) {
  auto& d = of(directory);
  begin_call(d, directory, 0, [] {});
  std::vector<std::string> all;
  for (auto const& [name, c] : d.now) all.push_back(name);
  return all;
}

void disks::sync_directory(std::string const& directory) {
  auto& d = of(directory);
  begin_call(d, directory, 0, [] {});
  d.synced = d.now;
  d.between.clear();
}

// As storage/claim.cpp: an owner that lives has some time to give its claim up.
std::shared_ptr<void const> disks::claim(std::string const& directory, std::string const& lost_owner) {
  constexpr double look_again = 0.1, last_breath = 3, last_breath_left_out = 0.3;
  auto& d = of(directory);
  begin_call(d, directory, 0, [] {});
  int const self = world_->current();
  auto const begin = world_->now();
  while (d.claimed_by >= 0 && d.claimed_by != self && !world_->has_ended(d.claimed_by)) {
    bool const is_lost = owner_of_claims(d.claimed_by) == lost_owner;
    if (world_->now() < begin + seconds(is_lost ? last_breath_left_out : last_breath)) {
      world_->pass(seconds(look_again));
    } else if (is_lost) {
      d.expelled.push_back(d.claimed_by);
      break;
    } else {
      throw skel::usage_error(directory + ": another job uses this store: " + owner_of_claims(d.claimed_by));
    }
  }
  d.claimed_by = self;
  return {this, [&d, self](void const*) {
            if (d.claimed_by == self) d.claimed_by = -1;
          }};
}

// The journal of a file system keeps the order of changes to a directory, and of the bytes of a file.
void disks::lose_power() {
  for (auto& [name, d] : disks_) {
    if (auto const kept = dice_.below(d.between.size() + 1); kept > 0)
      d.now = d.between[kept - 1];
    else
      d.now = d.synced;
    d.synced = d.now;
    d.between.clear();
    d.used = 0;
    for (auto& [file, c] : d.now) {
      c->bytes.resize(c->synced + dice_.below(c->bytes.size() - c->synced + 1));
      c->synced = c->bytes.size();
      d.used += c->bytes.size();
    }
  }
}

}  // namespace storm
