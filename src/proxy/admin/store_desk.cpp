#include "proxy/admin/store_desk.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <utility>

namespace spillway::proxy {

namespace asio = boost::asio;

// The way back; null once the event loop is about to end.
struct StoreDesk::Door {
  std::mutex mutex;
  asio::io_context* io = nullptr;
};

// A call, and the coroutine that awaits it. The timer serves as an event.
struct StoreDesk::Wait {
  explicit Wait(store::Command command) : call(std::move(command)) {}

  StoreCall call;
  // On the event loop's thread only:
  asio::steady_timer* over = nullptr;  // null: the answer is no longer awaited
  bool is_done = false;
};

StoreDesk::StoreDesk(asio::io_context& io, Submit submit, std::chrono::milliseconds patience)
    : io_(io), submit_(std::move(submit)), patience_(patience), door_(std::make_shared<Door>()) {
  door_->io = &io;
}

void StoreDesk::close() {
  const std::lock_guard lock(door_->mutex);
  door_->io = nullptr;
}

asio::awaitable<StoreDesk::Answer> StoreDesk::ask(store::Command command, Then then) {
  if (!submit_) co_return Answer{};
  if (calls_ >= kMostCalls) co_return Answer{Result::busy, nullptr};
  asio::steady_timer over(io_, patience_);
  const auto wait = std::make_shared<Wait>(std::move(command));
  // The coroutine may be destroyed while it waits, when the server stops.
  struct Awaiting {
    Awaiting(Wait& of, asio::steady_timer& timer, std::size_t& count) : wait(of), calls(count) {
      wait.over = &timer;
      ++calls;
    }
    ~Awaiting() {
      wait.over = nullptr;
      --calls;
    }
    Wait& wait;
    std::size_t& calls;
  } const awaiting(*wait, over, calls_);

  // The call owns itself until it is done. (A plain capture of `wait` would be const, and stay.)
  wait->call.done = [self = wait, door = door_, then = std::move(then)]() mutable {
    const std::shared_ptr<Wait> own = std::move(self);
    if (then && !own->call.failure) then(own->call);
    const std::lock_guard lock(door->mutex);
    if (door->io == nullptr) return;
    asio::post(*door->io, [own] {
      own->is_done = true;
      if (own->over != nullptr) own->over->cancel();
    });
  };
  if (!submit_(wait->call)) {
    wait->call.done = nullptr;
    co_return Answer{};
  }
  co_await over.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!wait->is_done) co_return Answer{Result::late, nullptr};
  if (wait->call.failure) co_return Answer{};
  co_return Answer{Result::executed, std::shared_ptr<const StoreCall>(wait, &wait->call)};
}

}  // namespace spillway::proxy
