#include "model_file_system.hpp"

#include <algorithm>
#include <utility>

#include "skel/error.hpp"

namespace test {

namespace {

std::string parent_of(std::string const& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(std::string const& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

class model_file final : public skel::storage::file {
 public:
  model_file(model_file_system& system, std::string path, std::shared_ptr<model_file_system::inode> node)
      : system_(system), path_(std::move(path)), node_(std::move(node)) {}

  void write(std::span<std::byte const> bytes) override {
    system_.call("write", path_);
    system_.pending_.push_back({node_, node_->now.size(), {bytes.begin(), bytes.end()}, {}, {}, false});
    node_->now.insert(node_->now.end(), bytes.begin(), bytes.end());
  }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> bytes) override {
    system_.call("read_at", path_);
    if (offset >= node_->now.size()) return 0;
    auto const n = std::min<std::uint64_t>(bytes.size(), node_->now.size() - offset);
    std::copy_n(node_->now.begin() + static_cast<std::ptrdiff_t>(offset), n, bytes.begin());
    return n;
  }
  std::uint64_t size() override { return node_->now.size(); }
  void sync() override {
    system_.call("sync", path_);
    node_->durable = node_->now;
    std::erase_if(system_.pending_,
                  [&](auto const& p) { return p.node == node_ && p.created.empty() && p.removed.empty(); });
  }

 private:
  model_file_system& system_;
  std::string path_;
  std::shared_ptr<model_file_system::inode> node_;
};

model_file_system::model_file_system(std::vector<std::string> const& directories) {
  for (auto const& d : directories) directories_[d];
}
model_file_system::~model_file_system() = default;

void model_file_system::call(char const* name, std::string const& path) {
  ++calls_;
  if (refused_ && refused_(name, path)) throw skel::error(path + ": No space left on device");
  if (trouble_ == trouble::error && calls_ == trouble_at_)
    throw skel::error(path + ": No space left on device");
  if (trouble_ == trouble::kill && calls_ >= trouble_at_) throw killed();
}

void model_file_system::at_call(std::uint64_t number, trouble what) {
  calls_ = 0;
  trouble_at_ = number;
  trouble_ = what;
}

void model_file_system::restart(bool power_lost) {
  trouble_ = trouble::none;
  refused_ = nullptr;
  if (!power_lost) return;
  pending_.clear();
  for (auto& [path, d] : directories_) {
    d.now = d.durable;
    for (auto& [name, node] : d.now) node->now = node->durable;
  }
}

std::map<std::string, byte_vector> model_file_system::after_power_loss(
    std::function<bool(std::size_t)> const& survives) const {
  std::map<std::string, std::shared_ptr<inode>> nodes;
  std::map<inode const*, byte_vector> contents;
  for (auto const& [path, d] : directories_)
    for (auto const& [name, node] : d.durable) nodes[std::string(path).append("/").append(name)] = node;
  for (auto const& [path, node] : nodes) contents[node.get()] = node->durable;
  for (auto const& p : pending_) contents.try_emplace(p.node.get(), p.node->durable);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    auto const& p = pending_[i];
    if (!survives(i)) continue;
    auto& content = contents[p.node.get()];
    if (p.truncates) content.clear();
    if (!p.bytes.empty()) {
      content.resize(std::max(content.size(), p.offset + p.bytes.size()));
      std::ranges::copy(p.bytes, content.begin() + static_cast<std::ptrdiff_t>(p.offset));
    }
    if (!p.removed.empty()) nodes.erase(p.removed);
    if (!p.created.empty()) nodes[p.created] = p.node;
  }
  std::map<std::string, byte_vector> files;
  for (auto const& [path, node] : nodes) files[path] = contents[node.get()];
  return files;
}

model_file_system::directory& model_file_system::directory_of(std::string const& path) {
  auto const at = directories_.find(path);
  if (at == directories_.end()) throw skel::error(path + ": No such file or directory");
  return at->second;
}

std::shared_ptr<model_file_system::inode> model_file_system::find(std::string const& path) {
  auto const& known = directory_of(parent_of(path)).now;
  auto const at = known.find(name_of(path));
  if (at == known.end()) throw skel::error(path + ": No such file or directory");
  return at->second;
}

std::vector<std::string> model_file_system::all_paths() const {
  std::vector<std::string> paths;
  for (auto const& [path, d] : directories_)
    for (auto const& [name, node] : d.now) paths.emplace_back(path).append("/").append(name);
  return paths;
}

byte_vector& model_file_system::content(std::string const& path) { return find(path)->now; }
void model_file_system::remove_directory(std::string const& path) { directories_.erase(path); }
void model_file_system::put(std::string const& path, byte_vector const& content) {
  directory_of(parent_of(path)).now[name_of(path)] = std::make_shared<inode>(inode{content, content});
}

std::unique_ptr<skel::storage::file> model_file_system::create(std::string const& path) {
  call("create", path);
  auto& node = directory_of(parent_of(path)).now[name_of(path)];
  if (node == nullptr) {
    node = std::make_shared<inode>();
    pending_.push_back({node, 0, {}, {}, path, false});
  } else {
    pending_.push_back({node, 0, {}, {}, {}, true});
  }
  node->now.clear();
  return std::make_unique<model_file>(*this, path, node);
}

std::unique_ptr<skel::storage::file> model_file_system::open(std::string const& path) {
  call("open", path);
  return std::make_unique<model_file>(*this, path, find(path));
}

void model_file_system::rename(std::string const& from, std::string const& to) {
  call("rename", to);
  auto node = find(from);
  pending_.push_back({node, 0, {}, from, to, false});
  directory_of(parent_of(from)).now.erase(name_of(from));
  directory_of(parent_of(to)).now[name_of(to)] = std::move(node);
}

void model_file_system::remove(std::string const& path) {
  call("remove", path);
  pending_.push_back({find(path), 0, {}, path, {}, false});
  directory_of(parent_of(path)).now.erase(name_of(path));
}

std::vector<std::string> model_file_system::list(std::string const& path) {
  call("list", path);
  std::vector<std::string> found;
  for (auto const& [name, node] : directory_of(path).now) found.push_back(name);
  return found;
}

void model_file_system::sync_directory(std::string const& path) {
  call("sync_directory", path);
  auto& d = directory_of(path);
  d.durable = d.now;
  std::erase_if(pending_, [&](auto const& p) {
    return (!p.created.empty() && parent_of(p.created) == path) ||
           (!p.removed.empty() && parent_of(p.removed) == path);
  });
}

}  // namespace test
