#include "tools/run/table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace skel::commands {

namespace {

std::string status_of(row const& r) {
  if (!r.how) return r.ended_ranks ? "lost" : "failed";
  return r.how->late ? "late" : r.how->failed() ? "failed" : "ok";
}

[[noreturn]] void fail(std::string const& path, int code) { throw error(path + ": " + std::strerror(code)); }

}  // namespace

std::string csv_header() {
  return "number,status,exit_code,signal,began,seconds,user_seconds,system_seconds,peak_bytes,rank,host,"
         "command\n";
}

std::string csv_row(row const& r) {
  auto text = fmt::format("{},{},", r.what.number, status_of(r));
  if (auto const& o = r.how)
    text += fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.6f},{},{},{},",
                        o->signal == 0 ? std::to_string(o->exit_code) : "",
                        o->signal == 0 ? "" : std::to_string(o->signal), o->began, o->seconds, o->user,
                        o->system, o->peak, o->rank, detail::csv_field(o->host));
  else
    text += ",,,,,,,,,";
  return text + detail::csv_field(r.what.line) + '\n';
}

std::string json_row(row const& r) {
  nlohmann::ordered_json j{{"number", r.what.number}, {"status", status_of(r)}};
  for (auto const* const key : {"exit_code", "signal", "began", "seconds", "user_seconds", "system_seconds",
                                "peak_bytes", "rank", "host"})
    j[key] = nullptr;
  if (auto const& o = r.how) {
    if (o->signal == 0)
      j["exit_code"] = o->exit_code;
    else
      j["signal"] = o->signal;
    j["began"] = o->began;
    j["seconds"] = o->seconds;
    j["user_seconds"] = o->user;
    j["system_seconds"] = o->system;
    j["peak_bytes"] = o->peak;
    j["rank"] = o->rank;
    j["host"] = o->host;
  }
  j["command"] = r.what.line;
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

table::table(std::string path, std::uint64_t commands)
    : path_(std::move(path)), csv_(detail::lower(path_).ends_with(".csv")), places_(commands) {
  auto name = path_ + ".XXXXXX";
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail(path_, errno);
  ::unlink(name.c_str());
}

table::~table() { ::close(file_); }

void table::add(row const& r) {
  auto const text = csv_ ? csv_row(r) : json_row(r);
  places_.at(r.what.number) = {end_, text.size()};
  end_ += text.size();
  buffer_ += text;
  constexpr std::size_t enough = 1 << 16;
  if (buffer_.size() >= enough) flush();
}

void table::flush() {
  for (std::string_view rest = buffer_; !rest.empty();) {
    auto const n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno != EINTR) fail(path_, errno);
    if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
}

void table::write() {
  flush();
  atomic_file file(path_);
  if (csv_) file.write(csv_header());
  if (end_ > 0) {
    void* const all = ::mmap(nullptr, end_, PROT_READ, MAP_SHARED, file_, 0);
    if (all == MAP_FAILED) fail(path_, errno);
    for (auto const& p : places_)
      file.write(std::string_view(static_cast<char const*>(all) + p.begin, p.size));
    ::munmap(all, end_);
  }
  file.commit();
}

}  // namespace skel::commands
