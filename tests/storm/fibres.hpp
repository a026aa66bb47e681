// Cooperative fibres: many ranks of blocking code on one thread.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace storm {

/// Runs a function on a stack of its own. resume() and yield() switch between it and the thread's own stack.
class fibre {
 public:
  explicit fibre(std::function<void()> what);
  ~fibre();
  fibre(fibre const&) = delete;
  fibre& operator=(fibre const&) = delete;

  /// Runs the function until it yields or returns. Must not be called from a fibre.
  void resume();
  /// From within the function: returns from resume().
  void yield();
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  static void enter();
  void live();
  void leave();

  // The exceptions that are being handled belong to a fibre, but the runtime keeps them per thread (Itanium
  // C++ ABI, 2.2.2: a pointer and a count).
  struct exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  void swap_exceptions();

  std::function<void()> what_;
  void* stack_;
  ucontext_t own_{}, caller_{};
  exceptions of_the_other_{};
  void* fake_stack_ = nullptr;  // of AddressSanitizer
  void const* caller_bottom_ = nullptr;
  std::size_t caller_size_ = 0;
  bool ended_ = false;
};

}  // namespace storm
