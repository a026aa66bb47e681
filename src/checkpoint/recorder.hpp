// What the root of a farm or of ring_steal records during a call, for the next checkpoint.
#pragma once

#include <string>

#include "call/timed.hpp"
#include "skel/error.hpp"
#include "store_writer.hpp"

namespace skel::detail {

class recorder : public store_writer {
 public:
  virtual ~recorder() = default;
  void save_if_due(double now) {
    if (!due(now) || !(changed_ || owes())) return;
    timed const t(costs().blocked_seconds);
    changed_ = false;
    save_now(now);
  }
  /// Call after the run, however it ended. On return, everything recorded is durable if the store permits.
  void close() {
    timed const t(costs().blocked_seconds);
    hurry();
    finish();
    // What is lost of earlier results fails the first attempt, and the second goes on without it.
    for (int attempt = 0; attempt < 2 && (changed_ || owes()); ++attempt) {
      changed_ = false;
      save_now(0);
      finish();
    }
    report_failure();
  }

 protected:
  using store_writer::store_writer;
  /// Opens the store, gives `read` what an earlier run left of this call, and writes the first checkpoint.
  /// Throws usage_error if the store does not fit the options, or if `read` throws a protocol_error.
  template <class Read>
  void start(Read const& read) {
    if (auto const left = open()) try {
        read(*left);
      } catch (protocol_error const& bad) {
        throw usage_error(std::string("the checkpoint cannot be used: ") + bad.what());
      }
    begin_saving();
    changed_ = false;
  }
  /// Call when something was recorded.
  void changed() { changed_ = true; }

 private:
  /// Saves everything recorded.
  virtual void save_now(double now) = 0;

  bool changed_ = false;  // since the latest checkpoint began
};

}  // namespace skel::detail
