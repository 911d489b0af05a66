#include "bench/jobs/group_writer.hpp"

#include <stdexcept>

namespace spillway::job_bench {

GroupWriter::GroupWriter(store::JobStore& store) : store_(store), thread_([this] { run(); }) {}

GroupWriter::~GroupWriter() { end(); }

std::size_t GroupWriter::await_room(std::size_t outstanding) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return outstanding_ < outstanding || failure_; });
  throw_failure();
  return outstanding - outstanding_;
}

void GroupWriter::put(std::vector<store::Command>& commands) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  for (store::Command& command : commands) waiting_.push_back({std::move(command), now});
  outstanding_ += commands.size();
  changed_.notify_all();
}

std::vector<double> GroupWriter::finish() {
  end();
  throw_failure();
  return std::move(times_ms_);
}

void GroupWriter::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GroupWriter::throw_failure() const {
  if (failure_) throw std::runtime_error(*failure_);
}

// False: there is nothing more to come.
bool GroupWriter::take(std::vector<Waiting>& batch) {
  std::unique_lock lock(mutex_);
  if (waiting_.empty()) {
    lock.unlock();
    store_.rest();
    lock.lock();
  }
  changed_.wait(lock, [&] { return is_over_ || !waiting_.empty(); });
  while (!waiting_.empty() && batch.size() < kMostJobs) {
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return !batch.empty();
}

void GroupWriter::run() {
  std::vector<Waiting> batch;
  std::vector<store::Command*> commands;
  for (; take(batch); batch.clear(), commands.clear()) {
    for (Waiting& one : batch) commands.push_back(&one.command);
    const auto failure = store_.execute(
        commands,
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()));
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    if (failure) failure_ = failure->text;
    for (const Waiting& one : batch) {
      times_ms_.push_back(std::chrono::duration<double, std::milli>(now - one.since).count());
    }
    outstanding_ -= batch.size();
    changed_.notify_all();
    if (failure_) return;
  }
}

}  // namespace spillway::job_bench
