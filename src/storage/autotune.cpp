#include "storage/autotune.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <utility>

namespace skel::storage {

namespace {

constexpr std::size_t smallest_tuned = 256U << 10U;  // bytes of a job: a smaller one takes microseconds
constexpr std::size_t trial_bytes = 4U << 20U;
constexpr std::size_t long_trial_bytes = 32U << 20U;  // what is written through the caches costs time later
constexpr unsigned short_turns = 4, long_turns = 2;   // the fastest counts, since disturbances only slow
constexpr double hopeless = 1.15;                     // times the fastest: not tried again
constexpr double better = 0.97;                       // times what was best: more than chance
constexpr double much_better = 0.9;  // since even after a long trial some is still to be written
constexpr std::chrono::duration<double> most_spent{0.05};

std::size_t bytes_of(product_job const& job) { return (job.rows + job.columns) * (job.end - job.begin); }

// Whether sources and outputs together exceed the caches.
bool larger_than_caches(std::size_t bytes) { return bytes >= (4U << 20U); }

product_shape shape_of(product_job const& job) {
  return {job.rows, job.columns, job.add, job.plain, static_cast<unsigned>(std::bit_width(bytes_of(job)))};
}

// Sums need no products, so kernels of equal vectors are equal.
bool differs(kernel k, product_shape const& shape) {
  return k != kernel::table && !(shape.plain && (k == kernel::avx2_gfni || k == kernel::avx512_gfni));
}

autotuner& tuner_of(product_shape const& shape) {
  static std::mutex guard;
  static std::map<product_shape, autotuner> tuners;
  std::lock_guard const lock(guard);
  return tuners.try_emplace(shape, shape, kernels()).first->second;
}

strategy usual(kernel with, product_shape const& shape) {
  auto const bytes = std::size_t{1} << (shape.magnitude - 1);
  auto const written = bytes / (shape.rows + shape.columns) * shape.rows;
  return {with, {.streamed = !shape.add && larger_than_caches(bytes) && written >= (1U << 20U)}};
}

void execute(product_job& job, strategy const& how) {
  job.how = how.how;
  function_of(how.with)(job);
}

}  // namespace

autotuner::autotuner(product_shape const& shape, std::vector<kernel> const& kernels)
    : shape_(shape), best_(usual(kernels.back(), shape)) {
  std::ranges::copy_if(kernels, std::back_inserter(kernels_), [&](kernel k) { return differs(k, shape); });
  if (kernels_.empty()) return;  // without vectors there is nothing to vary
  varied_ = property::kernel;
  candidates_ = candidates();
}

// The best so far comes first.
std::vector<autotuner::candidate> autotuner::candidates() const {
  std::vector<candidate> all{{best_}};
  auto const add = [&](auto pass_options::*what, auto value) {
    if (best_.how.*what != value) all.emplace_back(best_).how.how.*what = value;
  };
  switch (varied_) {
    case property::kernel:
    case property::kernel_again:  // since the others have changed
      for (auto const k : kernels_)
        if (k != best_.with) all.emplace_back(best_).how.with = k;
      break;
    case property::most_rows:
      if (shape_.rows > 4) add(&pass_options::most_rows, std::size_t{4});
      break;
    case property::ahead:
      for (std::size_t const ahead : {0U, 512U, 8192U}) add(&pass_options::ahead, ahead);
      break;
    case property::streamed:
      if (best_.how.streamed) add(&pass_options::streamed, false);
      break;
    case property::none:
      break;
  }
  return all;
}

void autotuner::vary() {
  do {
    varied_ = static_cast<property>(static_cast<unsigned>(varied_) + 1);
    candidates_ = candidates();
  } while (varied_ != property::none && candidates_.size() < 2);
  next_ = 0;
  turns_ = 0;
}

strategy autotuner::best() const {
  std::lock_guard const lock(mutex_);
  return best_;
}

std::optional<autotuner::trial> autotuner::start_trial() {
  std::lock_guard const lock(mutex_);
  if (running_ || varied_ == property::none) return std::nullopt;
  running_ = true;
  return trial{candidates_[next_].how, varied_ == property::streamed ? long_trial_bytes : trial_bytes};
}

void autotuner::end_trial(std::chrono::duration<double> time, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  running_ = false;
  spent_ += time;
  warm_ = !warm_ && varied_ == property::streamed;
  if (!warm_) {
    auto& tried = candidates_[next_++];
    tried.least = std::min(tried.least, time.count() / static_cast<double>(bytes));
  }
  if (next_ == candidates_.size()) {
    next_ = 0;
    ++turns_;
    auto const& before = candidates_.front();
    auto const& fastest = *std::ranges::min_element(candidates_, {}, &candidate::least);
    auto const gain = varied_ == property::streamed ? much_better : better;
    best_ = fastest.least < gain * before.least ? fastest.how : before.how;
    auto const limit = hopeless * fastest.least;
    candidates_.erase(std::remove_if(candidates_.begin() + 1, candidates_.end(),
                                     [&](candidate const& c) { return c.least > limit; }),
                      candidates_.end());
    if (turns_ == (varied_ == property::streamed ? long_turns : short_turns) || candidates_.size() == 1)
      vary();
  }
  if (spent_ > most_spent) varied_ = property::none;
}

strategy tuned_strategy(product_shape const& shape) { return tuner_of(shape).best(); }

void run_product(product_job job, kernel with) {
  if (with != kernel::automatic || bytes_of(job) < smallest_tuned) {
    execute(job, usual(with == kernel::automatic ? kernels().back() : with, shape_of(job)));
    return;
  }
  auto& tuner = tuner_of(shape_of(job));
  auto const end = job.end;
  auto const across = job.rows + job.columns;
  while (job.begin < end) {
    auto const trial = tuner.start_trial();
    if (trial)
      job.end = std::min(end, job.begin + std::max<std::size_t>(trial->bytes / across / 4096, 1) * 4096);
    auto const start = std::chrono::steady_clock::now();
    execute(job, trial ? trial->how : tuner.best());
    if (trial) tuner.end_trial(std::chrono::steady_clock::now() - start, job.end - job.begin);
    job.begin = std::exchange(job.end, end);
  }
}

}  // namespace skel::storage
