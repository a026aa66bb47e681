#include "skel/observe/samples.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/format.hpp"
#include "base/text.hpp"
#include "skel/atomic_file.hpp"
#include "skel/error.hpp"

namespace skel::observe {

namespace {

constexpr std::string_view schema_field = "2,";
// The prefix before the two headers differ.
constexpr std::string_view schema_1_header =
    "schema,program,skeleton,schedule,results,ranks,threads_per_rank,tasks,";

// Escapes all characters that separate pairs or end a line.
std::string escaped(std::string_view text) {
  std::string result;
  for (char const c : text) {
    auto const code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f || c == '%' || c == ';' || c == '=') {
      result += detail::format("%{:02X}", code);
    } else {
      result += c;
    }
  }
  return result;
}

std::string problem_text(problem_size const& problem) {
  std::string text;
  for (auto const& [key, value] : problem) {
    if (!text.empty()) text += ';';
    text += escaped(key) + '=' + escaped(value);
  }
  return text;
}

// The sizes of the phase, followed by the run's other variables.
problem_size problem_of(phase_report const& part, problem_size const& run) {
  problem_size all;
  for (auto const& [name, value] : part.sizes) all.emplace_back(name, detail::format("{}", value));
  auto const sizes = all.size();
  for (auto const& entry : run) {
    auto const same = [&](auto const& size) { return size.first == entry.first; };
    if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(sizes), same))
      all.push_back(entry);
  }
  return all;
}

double sum(std::vector<rank_report> const& rows, double rank_report::*seconds) {
  double total = 0;
  for (auto const& row : rows) total += row.*seconds;
  return total;
}

// An open file, locked against other writers. Without the lock, two processes that both find a new
// file would both write the header.
class locked_file {
 public:
  explicit locked_file(std::string const& path) : path_(path) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    // Some network file systems have no locks; O_APPEND and a single write keep lines whole there.
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~locked_file() { ::close(descriptor_); }
  locked_file(locked_file const&) = delete;
  locked_file& operator=(locked_file const&) = delete;

  [[nodiscard]] off_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail(errno);
    return S_ISREG(status.st_mode) ? status.st_size : 0;  // a device or a pipe always counts as new
  }

  [[nodiscard]] std::string read(off_t from, std::size_t count) const {
    std::string text(count, '\0');
    auto const got = ::pread(descriptor_, text.data(), text.size(), from);
    if (got < 0) fail(errno);
    text.resize(static_cast<std::size_t>(got));
    return text;
  }

  void append(std::string const& text, off_t old_size) const {
    auto const written = ::write(descriptor_, text.data(), text.size());
    if (written == static_cast<ssize_t>(text.size())) return;
    int const code = written < 0 ? errno : ENOSPC;
    if (written > 0 && ::ftruncate(descriptor_, old_size) != 0) fail(errno);  // no half lines
    fail(code);
  }

  [[noreturn]] void fail(int code) const {
    throw error(path_ + ": " + std::generic_category().message(code));
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

void check_header(std::string const& path, locked_file const& file) {
  auto const begin = file.read(0, samples_header.size() + 1 + schema_field.size());
  if (begin.starts_with(schema_1_header) && !begin.starts_with(samples_header)) {
    throw error(path +
                ":1: samples of schema 1, this version writes schema 2 (skel-model reads both); give "
                "another file; nothing was appended");
  }
  bool const header = begin.starts_with(samples_header) &&
                      (begin.size() == samples_header.size() || begin[samples_header.size()] == '\n');
  if (!header) {
    throw error(path + ":1: not a samples file of schema 2 (its first line should be " +
                std::string(samples_header.substr(0, samples_header.find(",seconds"))) +
                ",...); nothing was appended");
  }
  auto const first = std::string_view(begin).substr(std::min(begin.size(), samples_header.size() + 1));
  if (!first.empty() && first != schema_field) {
    throw error(path + ":2: expected samples of schema 2; nothing was appended");
  }
}

}  // namespace

std::string sample_lines(std::string_view program, report const& run, problem_size const& problem) {
  auto const common = detail::format("{}{},{},{},{},{},{}", schema_field, detail::csv_field(program),
                                     detail::csv_field(run.skeleton), detail::csv_field(run.schedule),
                                     detail::csv_field(run.results), run.ranks, run.threads_per_rank);
  auto text = detail::format("{},run,,{},{},{},{},{},{},{},{}\n", common, run.tasks, run.seconds,
                             sum(run.per_rank, &rank_report::busy_seconds),
                             sum(run.per_rank, &rank_report::idle_seconds),
                             sum(run.per_rank, &rank_report::communication_seconds), run.messages, run.bytes,
                             detail::csv_field(problem_text(problem)));
  for (auto const& part : run.phases) {
    text +=
        detail::format("{},{},{},,{},,,,,{},{}\n", common, detail::csv_field(part.phase), part.level,
                       part.seconds, part.bytes, detail::csv_field(problem_text(problem_of(part, problem))));
  }
  return text;
}

void check_samples_file(std::string const& path) {
  if (::access(path.c_str(), F_OK) != 0) {
    atomic_file const probe(path);  // without the final name: another process may be about to create it
    return;
  }
  locked_file const file(path);
  if (file.size() > 0) check_header(path, file);
}

void append_sample(std::string const& path, std::string_view program, report const& run,
                   problem_size const& problem) {
  locked_file const file(path);
  auto const size = file.size();
  std::string text;
  if (size == 0) {
    text = std::string(samples_header) + '\n';
  } else {
    check_header(path, file);
    if (file.read(size - 1, 1) != "\n") text = "\n";  // the last line may lack its line end
  }
  file.append(text + sample_lines(program, run, problem), size);
}

}  // namespace skel::observe
