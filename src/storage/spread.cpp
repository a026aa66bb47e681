#include "storage/spread.hpp"

#include <chrono>
#include <set>

#include "base/format.hpp"
#include "skel/error.hpp"
#include "storage/paths.hpp"

namespace skel::storage {

namespace {

// Measures its own lifetime: adds the time of transfers to `transfer` and the rest to `total`.
class stopwatch {
 public:
  stopwatch(file_system& files, double& total, double& transfer)
      : files_(files), total_(total), transfer_(transfer) {}
  ~stopwatch() {
    double const moved = files_.transfer_seconds() - moved_before_;
    transfer_ += moved;
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() - moved;
  }
  stopwatch(stopwatch const&) = delete;
  stopwatch& operator=(stopwatch const&) = delete;

 private:
  file_system& files_;
  double &total_, &transfer_;
  double moved_before_ = files_.transfer_seconds();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

// After one failure a shard is not tried again, and neither is its place.
template <class Action>
void spread::attempt(shard& s, double& seconds, Action const& action) {
  if (!s.good) return;
  stopwatch const watch(files_, seconds, cost_.transfer);
  try {
    action();
  } catch (error const& bad) {
    if (!moves_) throw;
    last_problem_ = bad.what();
    report_(last_problem_);
    s.good = false;
    failed_[s.place] = true;
    abandon(s);
  }
}

void spread::abandon(shard& s) noexcept {
  s.open.reset();
  try {
    files_.remove(temporary_of(places_[s.place].directory, s.name));
  } catch (...) {  // NOLINT(bugprone-empty-catch): it is renamed already or cannot be removed
  }
}

// All shards are complete before the first becomes visible.
void spread::show(std::vector<shard>& shards) {
  auto const directory = [&](shard const& s) { return places_[s.place].directory; };
  for (auto& s : shards)
    attempt(s, cost_.sync, [&] {
      s.open->sync();
      s.open.reset();
    });
  for (auto& s : shards)
    attempt(s, cost_.sync,
            [&] { files_.rename(temporary_of(directory(s), s.name), in_directory(directory(s), s.name)); });
  std::set<std::size_t> synced;
  for (auto& s : shards)
    attempt(s, cost_.sync, [&] {
      if (!synced.contains(s.place)) files_.sync_directory(directory(s));
      synced.insert(s.place);
    });
}

std::map<std::uint32_t, std::string> spread::try_write(object_info const& object,
                                                       std::map<std::uint32_t, std::size_t> const& wanted,
                                                       shard_source const& source) {
  std::vector<shard> shards;
  shards.reserve(wanted.size());
  for (auto const& [index, place] : wanted)
    shards.push_back({index, place, shard_header{object, index}.file_name(), nullptr, !failed_[place]});
  std::vector<byte_sink> sinks(object.code.shards());
  try {
    for (auto& s : shards) {
      attempt(s, cost_.write,
              [&] { s.open = files_.create(temporary_of(places_[s.place].directory, s.name)); });
      if (s.good)
        sinks[s.index] = [&](auto bytes) { attempt(s, cost_.write, [&] { s.open->write(bytes); }); };
    }
    double all = 0, moved = 0;
    auto const written_before = cost_.write;
    {
      stopwatch const watch(files_, all, moved);
      source(sinks);
    }
    cost_.code += all - (cost_.write - written_before);
    show(shards);
  } catch (...) {
    for (auto& s : shards) abandon(s);
    throw;
  }
  std::map<std::uint32_t, std::string> written;
  for (auto const& s : shards)
    if (s.good) written[s.index] = in_directory(places_[s.place].directory, s.name);
  return written;
}

std::map<std::uint32_t, std::string> spread::write(object_info const& object,
                                                   std::map<std::uint32_t, std::size_t> const& wanted,
                                                   std::vector<std::size_t> taken,
                                                   shard_source const& source) {
  std::map<std::uint32_t, std::string> written;
  auto left = wanted;
  while (!left.empty()) {
    for (auto const& [index, path] : try_write(object, left, source)) {
      written[index] = path;
      taken.push_back(left.at(index));
      left.erase(index);
    }
    for (auto& [index, place] : left) {
      auto const other = spare_place(places_, place, taken, failed_);
      if (!other) {
        for (auto const& [i, path] : written) try {
            files_.remove(path);
          } catch (error const&) {  // NOLINT(bugprone-empty-catch): nothing else can be done
          }
        throw error(last_problem_);
      }
      report_(detail::format("{}: receives shard {} of {}, generation {} in place of {}",
                             places_[*other].directory, index, object.name, object.generation,
                             places_[place].directory));
      place = *other;
      taken.push_back(place);
    }
    // They are counted again when they are rewritten.
    taken.resize(taken.size() - left.size());
  }
  return written;
}

}  // namespace skel::storage
