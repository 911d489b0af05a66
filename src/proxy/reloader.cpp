#include "proxy/reloader.hpp"

#include <utility>

namespace spillway::proxy {

namespace {
constexpr Milliseconds kTidyPeriod{1000};
}

Reloader::Reloader(std::function<ReloadResult()> reload, std::function<bool()> tidy)
    : reload_(std::move(reload)), tidy_(std::move(tidy)) {}

Reloader::~Reloader() { stop(); }

void Reloader::request(Done done) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    wanted_.push_back(std::move(done));
  }
  changed_.notify_all();
}

void Reloader::start() {
  thread_ = std::thread([this] { run(); });
}

void Reloader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  wanted_.clear();  // while those who asked are still there
}

void Reloader::run() {
  std::unique_lock lock(mutex_);
  bool tidy = true;
  const auto is_due = [this] { return stopping_ || !wanted_.empty(); };
  while (true) {
    if (tidy) {
      changed_.wait(lock, is_due);
    } else if (!changed_.wait_for(lock, kTidyPeriod, is_due)) {
      lock.unlock();
      tidy = tidy_();
      lock.lock();
      continue;
    }
    if (stopping_) return;
    const std::vector<Done> asked = std::exchange(wanted_, {});
    lock.unlock();
    const ReloadResult result = reload_();
    for (const Done& done : asked) done(result);
    tidy = tidy_();
    lock.lock();
  }
}

}  // namespace spillway::proxy
