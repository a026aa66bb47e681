#include "tools/checkpoint/verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "program/paths.hpp"
#include "skel/checkpoint/shard_store.hpp"
#include "skel/error.hpp"
#include "skel/observe/atomic_file.hpp"
#include "skel/observe/progress.hpp"
#include "values/one_line.hpp"

namespace skel::storage {

namespace {

constexpr char const* program_name = "skel-checkpoint";

// Damage is told as it is found, on standard error, whether things go on or not.
void warn(std::string const& problem) {
  fmt::print(stderr, "{}: {}\n", program_name, skel::detail::one_line(problem));
}

std::optional<key> key_of(arguments const& a) {
  if (a.key_file.empty()) return std::nullopt;
  if (!can_seal())
    throw usage_error("--key-file: this skel was built without libsodium (on Debian: libsodium-dev)");
  return key::read(a.key_file);
}

class byte_progress {
 public:
  byte_progress(std::string const& label, arguments const& a, std::uint64_t total)
      : display_(label, a.quiet && a.progress == "auto" ? observe::progress_mode::never
                                                        : observe::parse_progress_mode(a.progress)) {
    state_.total = total / million;
    state_.unit = "MB";
  }
  void add(std::size_t bytes) {
    bytes_ += bytes;
    update();
    display_.update(state_);
  }
  void finish() {
    update();
    display_.finish(state_);
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  static constexpr std::uint64_t million = 1000000;
  void update() {
    state_.done = bytes_ / million;
    state_.seconds = seconds();
  }
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  observe::progress_display display_;
  observe::progress_state state_;
  std::uint64_t bytes_ = 0;
};

std::string bytes_in_words(double bytes) {
  for (auto const* const unit : {"B", "kB", "MB", "GB"}) {
    if (bytes < 1000) return fmt::format("{:.4g} {}", bytes, unit);
    bytes /= 1000;
  }
  return fmt::format("{:.4g} TB", bytes);
}

std::string state_in_words(stored_object const& o, std::size_t whole) {
  auto const m = o.object.code.data_shards(), n = o.object.code.shards();
  auto const spare = whole < m ? std::string("lost") : fmt::format("{} more can be lost", whole - m);
  return fmt::format("{} of {} shards, {}", whole, n, spare);
}

std::vector<stored_object> find(shard_store const& store, arguments const& a) {
  auto const name = a.name.empty() ? std::nullopt : std::optional(a.name);
  auto found = store.scan(name);
  if (a.generation) std::erase_if(found, [&](auto const& o) { return o.object.generation != *a.generation; });
  if (found.empty() && (name || a.generation)) {
    std::string const what = a.generation ? fmt::format("generation {} of ", *a.generation) : "";
    throw usage_error(fmt::format("{}: no shards of {}\"{}\"", fmt::join(a.directories, ","), what, a.name));
  }
  return found;
}

std::string title(stored_object const& o) {
  return fmt::format("{}, generation {}", o.object.name, o.object.generation);
}

// The tries in order, the newest first; what is damaged too much makes way for the one before.
stored_object restore(shard_store const& store, std::vector<stored_object> const& found,
                      std::optional<key> const& with, arguments const& a) {
  for (auto const& o : found) {
    try {
      observe::atomic_file out(a.output);
      byte_progress progress("decode " + title(o), a, o.object.content_length);
      store.get(
          o,
          [&](auto bytes) {
            out.write(bytes);
            progress.add(bytes.size());
          },
          with);
      out.commit();
      progress.finish();
      return o;
    } catch (usage_error const&) {
      throw;  // no key
    } catch (error const& bad) {
      warn(bad.what());
    }
  }
  throw error(fmt::format("{}: no generation can be given back", a.name));
}

}  // namespace

int encode(arguments const& a) {
  code const how(a.code);
  put_options options;
  options.generation = a.generation;
  options.seal_with = key_of(a);
  options.block_size = a.block_size;
  auto const name = a.name.empty() ? a.file.substr(a.file.rfind('/') + 1) : a.name;
  object_info::check_name(name);
  std::unique_ptr<file> in;
  try {
    in = real_file_system().open(a.file);
  } catch (error const& bad) {
    throw usage_error(bad.what());
  }
  auto const length = in->size();
  shard_store store(a.directories, warn);
  byte_progress progress("encode " + name, a, length);
  auto const made = store.put(
      name, how, length,
      [&](byte_sink const& to) {
        std::vector<std::byte> buffer(1U << 20U);
        for (std::uint64_t at = 0;;) {
          auto const n = in->read_at(at, buffer);
          if (n == 0) break;
          to(std::span(buffer).first(n));
          at += n;
          progress.add(n);
        }
      },
      options);
  progress.finish();
  if (a.keep != 0 && made.object.generation >= a.keep)
    store.remove_older_than(name, made.object.generation - a.keep + 1);
  if (!a.quiet)
    fmt::print("{}: {} shards of {}, {} in {:.3g} s\n", title(made), how.shards(),
               bytes_in_words(static_cast<double>(made.object.shard_bytes())),
               bytes_in_words(static_cast<double>(length)), progress.seconds());
  return 0;
}

int decode(arguments const& a) {
  auto const with = key_of(a);
  program::check_writable(a.output);
  shard_store const store(a.directories, warn);
  auto const o = restore(store, find(store, a), with, a);
  if (!a.quiet)
    fmt::print("{}: {} written to {}\n", title(o),
               bytes_in_words(static_cast<double>(o.object.content_length)), a.output);
  return 0;
}

int verify(arguments const& a) {
  bool good = true;
  shard_store const store(a.directories, [&](std::string const& problem) {
    good = false;
    warn(problem);
  });
  auto const found = find(store, a);
  for (auto const& o : found) {
    std::size_t whole = 0;
    try {
      whole = static_cast<std::size_t>(std::ranges::count(store.verify(o), true));
      if (!a.quiet) fmt::print("{}: {}: {}\n", title(o), o.object.code.to_string(), state_in_words(o, whole));
    } catch (error const& bad) {
      warn(bad.what());
    }
    good = good && whole == o.object.code.shards();
  }
  if (found.empty() && !a.quiet) fmt::print("no shards there\n");
  return good ? 0 : 1;
}

int repair(arguments const& a) {
  shard_store store(a.directories, warn);
  auto const found = find(store, a);
  std::vector<bool> whole;
  for (auto const& o : found) {
    try {
      whole = store.verify(o);
    } catch (error const& bad) {
      warn(bad.what());
      continue;
    }
    auto const written = store.repair(o, whole);
    if (!a.quiet) {
      for (auto const& path : written) fmt::print("{}: written anew\n", path);
      fmt::print("{}: all {} shards are whole\n", title(o), o.object.code.shards());
    }
    return 0;
  }
  throw error(fmt::format("{}: no generation can be repaired", a.name));
}

int list(arguments const& a) {
  shard_store const store(a.directories, warn);
  for (auto const& o : find(store, a))
    fmt::print("{}: {}, {}{}, {}\n", title(o), bytes_in_words(static_cast<double>(o.object.content_length)),
               o.object.code.to_string(), o.object.sealed == sealing::none ? "" : ", encrypted",
               state_in_words(o, o.shards.size()));
  return 0;
}

}  // namespace skel::storage
