// The reload thread: runs reloads one after the other, so that reading files and resolving names
// delays neither requests, signals nor admin pages.
//
// Reading may block for ever and must not delay shutdown: each attempt reads on its own detached
// thread. stop() does not wait for it; its result is discarded.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "proxy/generation/read_configuration.hpp"
#include "proxy/generation/reload_result.hpp"

namespace spillway::proxy {

class Reloader {
 public:
  using Read = std::function<ReadConfiguration()>;
  using Apply = std::function<ReloadResult(ReadConfiguration)>;
  using Done = ReloadDone;

  // `read` may outlive this object: it must own everything that it uses. `apply` activates the
  // result. `collect` frees former configurations; called after a reload, then every second until
  // it returns true (nothing left).
  Reloader(Read read, Apply apply, std::function<bool()> collect);
  ~Reloader();  // stops
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void start();
  // Thread-safe, after start(). `done` is called on the reload thread; never if stop() comes first.
  // Requests that arrive during an attempt share the next one.
  void request(Done done);
  // Waits for `apply`, not for `read`.
  void stop();
  // Then `apply` should return soon.
  bool is_stopping() const { return shared_->stopping; }

 private:
  // Shared with the reading threads.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::atomic<bool> stopping{false};
    std::optional<ReadConfiguration> result;  // of the current attempt
  };

  void run();
  std::optional<ReadConfiguration> read(std::unique_lock<std::mutex>& lock);

  Read read_;
  Apply apply_;
  std::function<bool()> collect_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<Done> pending_;  // guarded by shared_->mutex
  std::thread thread_;
};

}  // namespace spillway::proxy
