// A thread that reloads the configuration, one attempt after the other: reading files and resolving
// names may take long and must delay neither requests nor signals nor the admin pages.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "config/problem.hpp"

namespace spillway::proxy {

struct ReloadResult {
  std::uint64_t generation = 0;  // in effect now, whatever came of it
  config::Problems problems;     // why it is the old one; empty: it is the new one
};

class Reloader {
 public:
  using Done = std::function<void(const ReloadResult&)>;

  // `tidy` is called after reloads, every second until it returns true.
  Reloader(std::function<ReloadResult()> reload, std::function<bool()> tidy);
  ~Reloader();  // stops
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

  void start();
  // Any thread, after start(). `done` is called on this one's; not at all if it is stopped before.
  // Requests that arrive during an attempt are served by one more.
  void request(Done done);
  // Waits for an attempt under way.
  void stop();

 private:
  void run();

  std::function<ReloadResult()> reload_;
  std::function<bool()> tidy_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Done> wanted_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace spillway::proxy
