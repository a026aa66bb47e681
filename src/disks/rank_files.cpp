#include "rank_files.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/error.hpp"

namespace skel::detail {

// --- the disk of a path

rank_files::place rank_files::find(std::string const& path) const {
  for (auto const& d : disks_) {
    auto const name = d.name();
    if (path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '/'))
      return {&d, d.directory + path.substr(name.size())};
  }
  return {nullptr, path};
}

bool rank_files::here(place const& p) const {
  if (!p.disk) return true;
  if (p.disk->directory.starts_with(memory_disk)) return p.disk->ranks.front() == service_.rank();
  return p.disk->host == service_.own().name;
}

bool rank_files::lost(rank_disk const& d) const {
  return std::ranges::all_of(d.ranks, [&](int r) { return service_.lost(r); });
}

int rank_files::server_of(rank_disk const& d) const {
  for (int const r : d.ranks)
    if (!service_.lost(r)) return r;
  throw error(detail::format("{}: rank {} is lost", d.name(), service_.ranks().in_job(d.ranks.front())));
}

// The host is part of the errors of its own disk, too.
template <class Call>
auto rank_files::with_host(place const& p, Call const& call) {
  try {
    return call(service_.own().files_of(p.path));
  } catch (error const& bad) {
    if (!p.disk) throw;
    throw error(p.disk->host + ":" + bad.what());
  }
}

disk_answer rank_files::ask(place const& p, disk_request const& r) {
  return wait_for(service_, service_.ask(server_of(*p.disk), r), p.disk->host);
}

bool rank_files::gone(std::string const& directory) {
  auto const p = find(directory);
  return !here(p) && lost(*p.disk);
}

std::vector<storage::disk_use> rank_files::use_of(std::vector<std::string> const& directories) {
  std::vector<storage::disk_use> uses(directories.size(), {{}, 0});
  std::vector<disk_service::ticket> asked(directories.size());  // all, before the first answers
  auto const question = [](place const& p) { return disk_request{.what = disk_call::use, .path = p.path}; };
  for (std::size_t i = 0; i < directories.size(); ++i) {
    auto const p = find(directories[i]);
    if (here(p)) continue;
    auto const living = std::ranges::find_if(p.disk->ranks, [&](int r) { return !service_.lost(r); });
    if (living != p.disk->ranks.end()) asked[i] = service_.ask(*living, question(p));
  }
  for (std::size_t i = 0; i < directories.size(); ++i) try {
      auto const p = find(directories[i]);
      if (here(p))
        uses[i] = read_content<storage::disk_use>(service_.perform(question(p)).content.bytes());
      else if (asked[i] != 0)
        uses[i] = read_content<storage::disk_use>(wait_for(service_, asked[i], p.disk->host).content.bytes());
      if (!p.disk) uses[i].load.reset();  // its host is not known
    } catch (error const&) {              // NOLINT(bugprone-empty-catch): lost
    }
  return uses;
}

double rank_files::transfer_seconds() { return transfer_of_this_thread(); }

// --- the calls

std::unique_ptr<storage::file> rank_files::open_as(std::string const& path, remote_file::mode how) {
  if (how == remote_file::mode::create && service_.isolated()) throw error(path + ": rank 0 is lost");
  auto const p = find(path);
  if (!here(p))
    return std::make_unique<remote_file>(
        service_, remote_file::remote_path{p.disk->host, p.path, server_of(*p.disk)}, how);
  return with_host(p, [&](auto& files) {
    return how == remote_file::mode::create ? files.create(p.path) : files.open(p.path);
  });
}

std::unique_ptr<storage::file> rank_files::create(std::string const& path) {
  return open_as(path, remote_file::mode::create);
}

std::unique_ptr<storage::file> rank_files::open(std::string const& path) {
  return open_as(path, remote_file::mode::open);
}

// Only within a directory: a shard becomes visible in the directory where it was written.
void rank_files::rename(std::string const& from, std::string const& to) {
  auto const p = find(from), q = find(to);
  if (here(p)) return with_host(p, [&](auto& files) { files.rename(p.path, q.path); });
  ask(p, {.what = disk_call::rename, .path = p.path, .to = q.path});
}

void rank_files::remove(std::string const& path) {
  auto const p = find(path);
  if (here(p)) return with_host(p, [&](auto& files) { files.remove(p.path); });
  ask(p, {.what = disk_call::remove, .path = p.path});
}

std::vector<std::string> rank_files::list(std::string const& directory) {
  auto const p = find(directory);
  if (here(p)) return with_host(p, [&](auto& files) { return files.list(p.path); });
  for (;;) {
    int const by = server_of(*p.disk);
    try {
      auto const t = service_.ask(by, {.what = disk_call::list, .path = p.path});
      return read_content<std::vector<std::string>>(wait_for(service_, t, p.disk->host).content.bytes());
    } catch (error const&) {
      if (!service_.lost(by)) throw;  // otherwise another rank of that host answers, if there is one
    }
  }
}

void rank_files::sync_directory(std::string const& directory) {
  auto const p = find(directory);
  if (here(p)) return with_host(p, [&](auto& files) { files.sync_directory(p.path); });
  ask(p, {.what = disk_call::sync_directory, .path = p.path});
}

// A host that is lost or does not answer is reported by those who need its disk.
std::shared_ptr<void const> rank_files::claim(std::string const& directory, std::string const& lost_owner) {
  auto const p = find(directory);
  if (here(p)) return with_host(p, [&](auto& files) { return files.claim(p.path, lost_owner); });
  transport::packet refusal;
  try {
    refusal = ask(p, {.what = disk_call::claim, .path = p.path, .to = lost_owner}).content;
  } catch (error const&) {  // NOLINT(bugprone-empty-catch): lost
  }
  if (!refusal.empty())
    throw usage_error(p.disk->host + ":" + read_content<std::vector<std::string>>(refusal.bytes()).at(0));
  return {};
}

// --- finding the disks

rank_files::~rank_files() {
  if (uses_) service_.end_use();
}

void rank_files::begin_use(std::string const& pattern) {
  static_cast<void>(expand_disk(pattern, service_.own().name, service_.own().rank));
  if (service_.ranks().left() == 1 || uses_) return;
  if (!service_.reachable())
    throw usage_error(
        detail::format("{}: ranks reach each other's disks only if MPI was initialised with "
                       "MPI_THREAD_MULTIPLE; expected directories that all ranks reach",
                       pattern == memory_disk ? "memory" : "ranks:" + pattern));
  service_.begin_use();
  uses_ = true;
}

std::vector<rank_disk> rank_files::add(std::string const& pattern, std::optional<int> only) {
  begin_use(pattern);
  disk_request const question{.what = disk_call::describe, .path = pattern};
  int const first = only.value_or(0), end = only ? first + 1 : service_.ranks().left();
  std::vector<disk_service::ticket> asked;
  for (int r = first; r < end; ++r) asked.push_back(r == service_.rank() ? 0 : service_.ask(r, question));
  std::vector<rank_disk> found;
  for (int r = first; r < end; ++r) try {
      auto const t = asked[static_cast<std::size_t>(r - first)];
      auto const a = t != 0 ? service_.wait(t) : service_.perform(question);
      auto const says = read_content<std::vector<std::string>>(a.content.bytes());
      auto const same = std::ranges::find_if(
          found, [&](auto const& d) { return d.host == says.at(0) && d.directory == says.at(1); });
      if (same != found.end())
        same->ranks.push_back(r);
      else
        found.push_back({says.at(0), says.at(1), says.at(2), {r}});
    } catch (error const&) {  // NOLINT(bugprone-empty-catch): lost
    }
  disks_.insert(disks_.end(), found.begin(), found.end());
  return found;
}

namespace {

// Removes @CLUSTER from the end of DIR@CLUSTER. A slash after the @ makes it part of the directory.
std::optional<std::string> cut_cluster(std::string& pattern) {
  auto const at = pattern.rfind('@');
  if (at == std::string::npos || pattern.find('/', at) != std::string::npos) return {};
  auto cluster = pattern.substr(at + 1);
  pattern.resize(at);
  return cluster;
}

struct disk_name {
  std::string pattern;
  std::optional<int> rank{};             // its number in the job; empty: of all ranks
  std::optional<std::string> cluster{};  // empty: of any
};

// Parses memory, ranks:DIR, ranks:DIR@CLUSTER and rank:N:DIR. Empty: a directory that all ranks reach.
std::optional<disk_name> disk_named(std::string_view text, int ranks) {
  constexpr std::string_view of_all = "ranks:", of_one = "rank:";
  disk_name d;
  if (text == "memory") {
    d.pattern = memory_disk;
  } else if (text.starts_with(of_all)) {
    d.pattern = text.substr(of_all.size());
    d.cluster = cut_cluster(d.pattern);
  } else if (text.starts_with(of_one)) {
    auto rest = text.substr(of_one.size());
    d.rank = take_number<int>(rest);
    if (!d.rank || !rest.starts_with(':') || *d.rank < 0 || *d.rank >= ranks)
      throw usage_error(detail::format("\"{}\": expected rank:N:DIR with N from 0 to {}", text, ranks - 1));
    d.pattern = rest.substr(1);
  } else {
    return {};
  }
  if (d.pattern.empty())
    throw usage_error(
        detail::format("\"{}\": missing directory, expected {}DIR", text, d.rank ? text : of_all));
  return d;
}

void check_cluster(std::string const& named, disk_name const& disk, bool remote) {
  auto const refuse = [&](std::string_view why) {
    throw usage_error(detail::format("\"{}\": {}", named, why));
  };
  if (disk.cluster && disk.cluster->empty()) refuse("missing cluster, expected ranks:DIR@CLUSTER");
  if (disk.cluster && remote) refuse("remote directories have no cluster, expected ranks:DIR");
}

void warn_of_cluster(store_places& s, std::string const& of_cluster) {
  auto const elsewhere =
      static_cast<std::size_t>(std::ranges::count(s.places, true, &storage::place::remote));
  if (elsewhere == s.places.size())
    s.warning = of_cluster + ": no rank is of this cluster";
  else if (elsewhere == 0)
    s.warning = of_cluster + ": all ranks are of this cluster, so no checkpoint is kept elsewhere";
}

}  // namespace

store_places find_places(disk_service& of, checkpoint_options const& options) {
  store_places s;
  std::string of_cluster;
  auto files = std::make_unique<rank_files>(of);
  std::vector<disk_name> gone;  // disks of ranks that are lost
  auto const add = [&](std::string const& named, bool remote) {
    auto const disk = disk_named(named, of.ranks().all());
    if (!disk) {
      s.places.push_back({named, {}, remote});
      return;
    }
    check_cluster(named, *disk, remote);
    auto const& cluster = disk->cluster;
    auto const only = disk->rank ? of.ranks().rank_of(*disk->rank) : std::nullopt;
    std::vector<rank_disk> found;
    if (only || !disk->rank) found = files->add(disk->pattern, only);
    if (disk->rank && found.empty()) {
      gone.push_back(*disk);
      return;
    }
    bool some_cluster = false;
    for (auto const& d : found) {
      some_cluster = some_cluster || !d.cluster.empty();
      s.places.push_back({d.name(), d.host, remote || (cluster && *cluster != d.cluster)});
    }
    s.home = of.own().name;
    if (!cluster) return;
    if (!some_cluster && of.ranks().left() == of.ranks().all())
      throw usage_error(detail::format("\"{}\": no rank has a cluster, set SKEL_CLUSTER", named));
    of_cluster = named;
  };
  for (auto const& d : options.store) add(d, false);
  for (auto const& d : options.remote.store) add(d, true);
  if (s.places.empty() && !gone.empty()) {
    for (auto const& d : files->add(gone[0].pattern, 0)) s.places.push_back({d.name(), d.host, false});
    if (s.places.empty()) throw lost_rank_error(0, "lost the root (rank 0)");
    s.home = of.own().name;
    s.warning =
        detail::format("rank {} is lost, and with its disk all checkpoints: rank {} stores the next ones",
                       *gone[0].rank, of.ranks().in_job(0));
  }
  if (!of_cluster.empty()) warn_of_cluster(s, of_cluster);
  s.files = std::move(files);
  return s;
}

}  // namespace skel::detail
