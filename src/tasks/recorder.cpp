#include "recorder.hpp"

#include <limits>
#include <utility>

#include "base/format.hpp"
#include "skel/detail/steered_book.hpp"

namespace skel::detail {

namespace {

call_description description(farm_work const& work, farm_traits const& t, std::string const& label) {
  call_description d("farm");
  d.add("label", label)
      .add("tasks", t.tasks.value_or(0))
      .add("source", t.steered     ? "steered"
                     : t.payload() ? "on_root"
                                   : "replicated")
      .add("sink", t.merged ? "reduced" : "of single results")
      .add_hidden("types", hash_text(work.types()));
  if (t.steered) d.add("window of the source", *t.steered);
  add_values(d, "task function", work);
  return d;
}

template <class Number>
range_list renumbered(range_list const& ranges, Number const& number) {
  range_list all;
  for (auto const& r : ranges)
    for (std::uint64_t i = 0; i < r.count; ++i) append(all, {number(r[i]), 1, 1});
  return all;
}

}  // namespace

farm_recorder::farm_recorder(engine& of, farm_work& work, farm_traits const& traits,
                             checkpoint_options const& options, std::string const& label)
    : recorder(of, options, description(work, traits, label)), work_(work) {
  if (traits.steered) book_ = work.feed()->book();
  if (book_ != nullptr) book_->keep_journal();
  if (traits.merged) merged_.emplace([&work](auto& into, auto more) { work.merge_packed(into, more); });
  start([&](std::span<std::byte const> log) { read(log, traits); });
}

void farm_recorder::read(std::span<std::byte const> log, farm_traits const& traits) {
  constexpr auto endless = std::numeric_limits<std::uint64_t>::max() / 4;
  std::vector<std::uint64_t> position_of(work_.reordered() ? *traits.tasks : 0);
  for (std::uint64_t i = 0; i < position_of.size(); ++i) position_of[work_.task_at(i)] = i;
  for (auto const& e : read_log(log, traits.tasks.value_or(endless))) {
    if (merged_) merged_->add(e.ranges, e.results);
    result_batch batch;
    batch.ranges = e.ranges;
    if (work_.reordered()) batch.ranges = renumbered(e.ranges, [&](task_id id) { return position_of[id]; });
    if (book_ != nullptr) {
      auto journal = e.results;
      work_.skip_packed(count_tasks(e.ranges), journal);
      book_->restore(count_tasks(e.ranges), journal);
    }
    batch.packed = transport::packet::received({e.results.begin(), e.results.end()});
    batch.restored = true;
    restored_tasks_.insert(restored_tasks_.end(), batch.ranges.begin(), batch.ranges.end());
    restored_.push_back(std::move(batch));
  }
  costs().restored_tasks = count_tasks(restored_tasks_);
}

std::vector<result_batch> farm_recorder::take_restored() { return std::exchange(restored_, {}); }

void farm_recorder::add(range_list const& ranges, std::span<std::byte const> results) {
  if (work_.reordered())
    keep(renumbered(ranges, [&](std::uint64_t position) { return work_.task_at(position); }), results);
  else
    keep(ranges, results);
}

void farm_recorder::keep(range_list const& ranges, std::span<std::byte const> results) {
  changed();
  if (merged_)
    merged_->add(ranges, results);
  else if (book_ == nullptr)
    log_.add(ranges, results);
  else
    log_.add(ranges, with_journal(results));
}

// Adds what the state was asked for before it received these results.
std::span<std::byte const> farm_recorder::with_journal(std::span<std::byte const> results) {
  packed_.assign(results.begin(), results.end());
  book_->put_journal(packed_);
  return packed_;
}

void farm_recorder::save_now(double now) {
  if (merged_)
    save(now, [bytes = merged_->all()]() mutable { return std::move(bytes); });
  else
    append(now, log_.take());
}

}  // namespace skel::detail
