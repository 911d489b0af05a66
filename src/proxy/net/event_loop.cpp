#include "proxy/net/event_loop.hpp"

#include <algorithm>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/post.hpp>

namespace spillway::proxy {

// Concurrency hint 1: one thread runs the io_context, so its own handlers take no lock; other
// threads may still post.
EventLoop::EventLoop() : io_(1), executor_(io_.get_executor()), ready_(executor_) { await_ready(); }

EventLoop::~EventLoop() { discard(); }

void EventLoop::run() { io_.run(); }

void EventLoop::poll() {
  if (io_.stopped()) io_.restart();
  io_.poll();
}

void EventLoop::stop() { io_.stop(); }

void EventLoop::discard() {
  posted_.drain([](Posted& posted) { posted.discard(); });
}

void EventLoop::forget(Watcher& watcher) {
  ready_.forget(watcher);
  std::erase(deferred_, &watcher);
  std::replace(running_.begin(), running_.end(), &watcher, static_cast<Watcher*>(nullptr));
}

void EventLoop::defer(Watcher& watcher) {
  deferred_.push_back(&watcher);
  if (!in_turn_) schedule();
}

void EventLoop::schedule() {
  if (is_scheduled_.exchange(true, std::memory_order_acq_rel)) return;
  const std::pmr::polymorphic_allocator<> allocator(&handler_memory_);
  boost::asio::post(executor_, boost::asio::bind_allocator(allocator, [this] { on_posted(); }));
}

void EventLoop::await_ready() {
  ready_.async_wait([this](const boost::system::error_code& error) {
    if (!error) on_ready();
  });
}

void EventLoop::on_ready() {
  in_turn_ = true;
  begin_event();
  ready_.deliver_events(
      std::exchange(ran_, 0), [this] { return now(); },
      [this](Watcher& watcher, std::uint32_t events) {
        begin_event();
        watcher.on_events(events);
      });
  end_turn();
  await_ready();
}

void EventLoop::on_posted() {
  in_turn_ = true;
  is_scheduled_.exchange(false, std::memory_order_acq_rel);  // work pushed from now on schedules it
  end_turn();
}

// Work that this thread posts within a turn schedules nothing, nor does work that another thread
// pushes after it: both run here.
void EventLoop::end_turn() {
  run_posted();
  run_deferred();
  in_turn_ = false;
  if (!posted_.empty() || !deferred_.empty()) schedule();
}

void EventLoop::run_posted() {
  posted_.drain([this](Posted& posted) {
    ++ran_;
    begin_event();
    posted.run();
  });
}

void EventLoop::run_deferred() {
  running_.swap(deferred_);
  for (Watcher*& watcher : running_) {
    if (watcher == nullptr) continue;
    ++ran_;
    begin_event();
    std::exchange(watcher, nullptr)->on_events(0);
  }
  running_.clear();
}

}  // namespace spillway::proxy
