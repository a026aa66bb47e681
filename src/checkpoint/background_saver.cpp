#include "skel/checkpoint/background_saver.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace skel::storage {

struct background_saver::state {
  struct job {
    generation_plan plan;
    std::uint32_t part = 0;
    std::string name;
    std::vector<std::byte> bytes;
  };
  explicit state(repository from) : store(std::move(from)) {}

  repository store;
  std::mutex lock;
  std::condition_variable changed;
  std::deque<job> waiting;  // at most one, beside the one that is being written
  bool writing = false, ending = false;
  std::deque<outcome> done;
  std::vector<std::vector<std::byte>> spare;
  std::thread thread;

  void run() {
    for (;;) {
      job now;
      {
        std::unique_lock held(lock);
        changed.wait(held, [&] { return ending || !waiting.empty(); });
        if (waiting.empty()) return;
        now = std::move(waiting.front());
        waiting.pop_front();
        writing = true;
      }
      changed.notify_all();
      auto result = save(now);
      {
        std::scoped_lock const held(lock);
        writing = false;
        done.push_back(std::move(result));
        now.bytes.clear();
        if (now.bytes.capacity() != 0 && spare.size() < 2) spare.push_back(std::move(now.bytes));
      }
      changed.notify_all();
    }
  }

  outcome save(job const& what) {
    outcome result{what.plan, what.part, {}, {}, {}};
    auto const report = [&](std::string const& problem) { result.problems.push_back(problem); };
    auto const to = store.reporting_to(report);
    try {
      if (what.part == what.plan.parts) {
        to.commit(what.plan);
        to.remove_old(what.plan);
      } else {
        result.cost = to.prepare(what.plan, what.part, what.name, what.bytes);
      }
    } catch (std::exception const& bad) {
      result.error = bad.what();
    }
    return result;
  }

  void add(job next) {
    {
      std::unique_lock held(lock);
      changed.wait(held, [&] { return waiting.empty(); });
      waiting.push_back(std::move(next));
    }
    changed.notify_all();
  }

  std::optional<outcome> take() {
    if (done.empty()) return std::nullopt;
    auto first = std::move(done.front());
    done.pop_front();
    return first;
  }
};

background_saver::background_saver(repository store) : state_(std::make_unique<state>(std::move(store))) {
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

background_saver::~background_saver() {
  {
    std::scoped_lock const held(state_->lock);
    state_->ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

void background_saver::start(generation_plan const& plan, std::uint32_t part, std::string name,
                             std::vector<std::byte> bytes) {
  state_->add({plan, part, std::move(name), std::move(bytes)});
}

void background_saver::start_commit(generation_plan const& plan) { state_->add({plan, plan.parts, {}, {}}); }

std::optional<background_saver::outcome> background_saver::poll() {
  std::scoped_lock const held(state_->lock);
  return state_->take();
}

std::optional<background_saver::outcome> background_saver::wait() {
  std::unique_lock held(state_->lock);
  state_->changed.wait(
      held, [&] { return !state_->done.empty() || (state_->waiting.empty() && !state_->writing); });
  return state_->take();
}

std::vector<std::byte> background_saver::buffer() {
  std::scoped_lock const held(state_->lock);
  if (state_->spare.empty()) return {};
  auto b = std::move(state_->spare.back());
  state_->spare.pop_back();
  return b;
}

}  // namespace skel::storage
