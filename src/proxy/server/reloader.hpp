// A thread that reloads the configuration, one attempt after the other: reading files and looking
// up names may take long and must delay neither requests nor signals nor the admin pages.
//
// Nor must they delay the end of the process: they have a thread for each attempt, which stop()
// does not wait for. It goes on by itself with what it holds, and what it reads is thrown away.
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

  // `read` may outlive this and whoever made it: it must hold all that it uses. `apply` puts into
  // effect what it brings. `tidy` is called after reloads, every second until it returns true.
  Reloader(Read read, Apply apply, std::function<bool()> tidy);
  ~Reloader();  // stops
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void start();
  // Any thread, after start(). `done` is called on this one's; not at all if it is stopped before.
  // Requests that arrive during an attempt are served by one more.
  void request(Done done);
  // Waits for what is being put into effect, not for what is being read.
  void stop();
  // For `apply`: not to be slow about it.
  bool is_stopping() const { return shared_->stopping; }

 private:
  // With the threads that read.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::atomic<bool> stopping{false};
    std::optional<ReadConfiguration> result;  // of the attempt under way
  };

  void run();
  std::optional<ReadConfiguration> read(std::unique_lock<std::mutex>& lock);

  Read read_;
  Apply apply_;
  std::function<bool()> tidy_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<Done> wanted_;  // under its lock
  std::thread thread_;
};

}  // namespace spillway::proxy
