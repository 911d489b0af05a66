#include "proxy/server/reloader.hpp"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace spillway::proxy {

namespace {
constexpr Milliseconds kCollectInterval{1000};
}

Reloader::Reloader(Read read, Apply apply, std::function<bool()> collect)
    : read_(std::move(read)), apply_(std::move(apply)), collect_(std::move(collect)) {}

Reloader::~Reloader() { stop(); }

void Reloader::request(Done done) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopping) return;
    pending_.push_back(std::move(done));
  }
  shared_->changed.notify_all();
}

void Reloader::start() {
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "reload");
    run();
  });
}

void Reloader::stop() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
  pending_.clear();  // their captures may not outlive the callers of request()
}

void Reloader::run() {
  std::unique_lock lock(shared_->mutex);
  bool collected = true;
  const auto is_due = [this] { return shared_->stopping || !pending_.empty(); };
  while (true) {
    if (collected) {
      shared_->changed.wait(lock, is_due);
    } else if (!shared_->changed.wait_for(lock, kCollectInterval, is_due)) {
      lock.unlock();
      collected = collect_();
      lock.lock();
      continue;
    }
    if (shared_->stopping) return;
    const std::vector<Done> requests = std::exchange(pending_, {});
    std::optional<ReadConfiguration> wanted = read(lock);
    if (!wanted) return;
    lock.unlock();
    const ReloadResult result = apply_(std::move(*wanted));
    for (const Done& done : requests) done(result);
    collected = collect_();
    lock.lock();
  }
}

// nullopt: stopped before it was read.
std::optional<ReadConfiguration> Reloader::read(std::unique_lock<std::mutex>& lock) {
  shared_->result.reset();
  try {
    std::thread([shared = shared_, read = read_] {
      ::pthread_setname_np(::pthread_self(), "configuration");
      ReadConfiguration result = read();
      {
        const std::lock_guard its_lock(shared->mutex);
        shared->result = std::move(result);
      }
      shared->changed.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    return ReadConfiguration{{}, {}, {{"$", error.what()}}};
  }
  shared_->changed.wait(lock, [this] { return shared_->stopping || shared_->result; });
  if (shared_->stopping) return std::nullopt;
  return std::exchange(shared_->result, std::nullopt);
}

}  // namespace spillway::proxy
