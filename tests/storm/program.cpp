#include "program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "calls.hpp"
#include "engine/context_access.hpp"
#include "engine/engine.hpp"
#include "skel/skel.hpp"
#include "world.hpp"

namespace storm {

namespace {

std::string the_failure;

// --- farm

enum class sinks : std::uint8_t { each, ordered, reduced, into };
enum class sources : std::uint8_t { indices, on_root, list };

std::string text_of(std::uint64_t i) { return std::string(mix(i) % 40, static_cast<char>('a' + i % 26)); }
std::uint64_t number_of(std::uint64_t x) { return x; }
std::uint64_t number_of(std::string const& text) {
  std::uint64_t h = text.size();
  for (char const c : text) h = mix(h ^ static_cast<unsigned char>(c));
  return h;
}

class farm_call final : public call {
 public:
  explicit farm_call(dice& d) {
    static constexpr char const* schedules[] = {"blocks",
                                                "interleaved",
                                                "first-come",
                                                "first-come:chunk=3",
                                                "first-come:chunk=3,threshold=2",
                                                "first-come:chunk=2,threshold=0",
                                                "guided",
                                                "guided:min=5",
                                                "hybrid",
                                                "hybrid:cut=10,threshold=0",
                                                "hybrid:cut=100%",
                                                "ring",
                                                "ring:take=one,order=predecessors",
                                                "ring:order=doubling",
                                                "ring:copies=yes",
                                                "auto"};
    static constexpr char const* streaming[] = {"auto", "first-come", "first-come:chunk=3,threshold=2",
                                                "guided"};
    tasks_ = d.chance(0.1) ? d.below(3) : d.from_to(3, 80);
    salt_ = d.below(1'000'000);
    costs_ = costs::draw(d);
    schedule_ = d.one_of(schedules);
    source_ = static_cast<sources>(d.below(3));
    sink_ = static_cast<sinks>(d.below(4));
    if (source_ == sources::on_root) schedule_ = d.one_of(streaming);
    texts_ = sink_ != sinks::reduced && d.chance(0.3);
    if (sink_ == sinks::reduced && schedule_ == "ring:copies=yes") schedule_ = "ring";
    switch (d.below(3)) {
      case 0:
        options_.results = skel::results::streamed();
        break;
      case 1:
        options_.results = skel::results::streamed(static_cast<unsigned>(d.from_to(1, 8)));
        break;
      default:
        if (source_ != sources::on_root) options_.results = skel::results::concentrated();
    }
    options_.root_works = !d.chance(0.3);
    options_.max_losses_per_task = 0;
    fails_ = d.chance(0.1) && tasks_ > 0;
    if (fails_) fails_at_ = d.below(tasks_);
  }

  void make(skel::context& ctx, words& out) const override {
    if (!fails_) return with_source(ctx, out);
    words ignored;
    try {
      with_source(ctx, ignored);
      fail("a farm whose task throws succeeds");
    } catch (skel::task_error const& e) {
      if (e.task() != fails_at_)
        fail("another task than the one that throws is named: " + std::string(e.what()));
      if (ctx.is_root()) out.push_back(e.task());
    }
  }

  void expect(words& out) const override {
    if (fails_) {
      out.push_back(fails_at_);
      return;
    }
    words all;
    for (std::uint64_t i = 0; i < tasks_; ++i)
      all.push_back(texts_ ? number_of(text_of(i ^ salt_)) : mix(i ^ salt_));
    append(all, out);
  }

  [[nodiscard]] std::string describe() const override {
    static constexpr char const* sink_names[] = {"each", "ordered", "reduced", "into"};
    static constexpr char const* source_names[] = {"indices", "on_root", "list"};
    return "farm " + std::to_string(tasks_) + (texts_ ? " texts " : " numbers ") + schedule_ + ' ' +
           source_names[static_cast<int>(source_)] + ' ' + sink_names[static_cast<int>(sink_)] + " cost " +
           std::to_string(costs_.ordinary) + (options_.root_works ? "" : " root only serves") +
           (options_.results.concentrated ? " concentrated" : "") + (fails_ ? " fails" : "");
  }

 private:
  // In the order of tasks; a reduced sink adds them up.
  void append(words const& all, words& out) const {
    if (sink_ == sinks::reduced) {
      std::uint64_t sum = 0;
      for (auto const x : all) sum += x;
      out.push_back(sum);
    } else {
      out.insert(out.end(), all.begin(), all.end());
    }
  }

  void with_source(skel::context& ctx, words& out) const {
    auto const all = [n = tasks_] {
      words numbers(n);
      for (std::uint64_t i = 0; i < n; ++i) numbers[i] = i;
      return numbers;
    };
    switch (source_) {
      case sources::indices:
        return with_task(ctx, skel::indices(tasks_), out);
      case sources::on_root:
        return with_task(ctx, skel::on_root(all), out);
      case sources::list:
        return with_task(ctx, skel::replicated(all()), out);
    }
  }

  template <class Source>
  void with_task(skel::context& ctx, Source source, words& out) const {
    auto const begun = [this, &ctx](std::uint64_t i) {
      begin_task();
      spend(ctx, costs_.of(i));
      if (fails_ && i == fails_at_) throw std::runtime_error("no luck");
    };
    if (texts_)
      with_sink<std::string>(
          ctx, std::move(source), [&](std::uint64_t i) { return begun(i), text_of(i ^ salt_); }, out);
    else
      with_sink<std::uint64_t>(
          ctx, std::move(source), [&](std::uint64_t i) { return begun(i), mix(i ^ salt_); }, out);
  }

  template <class Result, class Source, class Task>
  void with_sink(skel::context& ctx, Source source, Task const& task, words& out) const {
    skel::any_schedule const how(schedule_);
    auto options = options_;
    options.checkpoint = checkpoint();
    words all;
    switch (sink_) {
      case sinks::each: {
        std::vector<std::optional<std::uint64_t>> got(tasks_);
        skel::farm(
            ctx, std::move(source), task, how,
            [&](skel::task_id id, Result const& x) {
              begin_sink();
              if (id >= got.size() || got[id])
                fail("a sink gets a result that it has, or that does not exist");
              if (id < got.size()) got[id] = number_of(x);
            },
            options);
        for (auto const& x : got)
          if (x) all.push_back(*x);
        break;
      }
      case sinks::ordered:
        skel::farm(ctx, std::move(source), task, how, skel::ordered([&](skel::task_id id, Result const& x) {
                     begin_sink();
                     if (id != all.size()) fail("an ordered sink gets results out of order");
                     all.push_back(number_of(x));
                   }),
                   options);
        break;
      case sinks::reduced:
        if constexpr (std::is_same_v<Result, std::uint64_t>) {
          std::uint64_t sum = 0;
          skel::farm(ctx, std::move(source), task, how, skel::reduced(sum, std::plus<>{}), options);
          if (ctx.is_root()) out.push_back(sum);
        }
        return;
      case sinks::into: {
        std::vector<Result> values;
        skel::farm(ctx, std::move(source), task, how, skel::into(values), options);
        for (auto const& x : values) all.push_back(number_of(x));
        break;
      }
    }
    if (ctx.is_root())
      append(all, out);
    else if (!all.empty())
      fail("a rank that is not the root gets results");
  }

  std::uint64_t tasks_ = 0, salt_ = 0, fails_at_ = 0;
  costs costs_;
  std::string schedule_;
  sources source_{};
  sinks sink_{};
  bool texts_ = false, fails_ = false;
  skel::farm_options options_;
};

}  // namespace

std::unique_ptr<call> draw_farm(dice& d) { return std::make_unique<farm_call>(d); }

void begin_task() { current_world()->count(kill_plan::when::at_task); }
void begin_sink() { current_world()->count(kill_plan::when::at_sink); }

void fail(std::string const& text) {
  auto const* const w = current_world();
  if (w != nullptr && w->current() >= 0 && w->is_dead(w->current())) return;
  if (!the_failure.empty()) return;
  the_failure = text;
  if (w != nullptr && w->current() >= 0) the_failure += " (rank " + std::to_string(w->current()) + ")";
}

std::optional<skel::checkpoint_options>& present_store() {
  static std::optional<skel::checkpoint_options> of_job;
  return of_job;
}

std::string take_failure() { return std::exchange(the_failure, {}); }

// As a rank's helper would, it answers messages meanwhile.
void spend(skel::context const& ctx, double s) {
  if (s <= 0) return;
  auto& w = *current_world();
  auto& engine = skel::detail::context_access::engine_of(ctx);
  auto const end = w.now() + seconds(s);
  while (w.now() < end) {
    double const tick = engine.driver().next_tick();
    auto const next = std::max(w.now() + 1000, tick < 1e6 ? seconds(tick) : end);
    bool const arrived = w.sleep_until(std::min(end, next));
    if (arrived || engine.now() >= engine.driver().next_tick()) engine.helper().serve();
  }
}

program program::draw(dice& d) {
  program p;
  for (auto n = d.chance(0.4) ? 1 : d.from_to(1, 6); n > 0; --n)
    p.calls.push_back(d.chance(0.4) ? draw_farm(d) : draw_other(d));
  return p;
}

words program::expected() const {
  words all;
  for (auto const& c : calls) c->expect(all);
  return all;
}

std::string program::describe() const {
  std::string text;
  for (auto const& c : calls) text += "\n  " + c->describe() + (c->saves ? ", saves" : "");
  return text;
}

void program::run(skel::context& ctx, words& out) const {
  for (auto const& c : calls) c->make(ctx, out);
}

}  // namespace storm
