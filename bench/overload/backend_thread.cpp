#include "bench/overload/backend_thread.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "bench/overload/pinning.hpp"

namespace spillway::bench {
namespace asio = boost::asio;

namespace {

void at(asio::io_context& io, TimePoint when, std::function<void()> what) {
  auto timer = std::make_shared<asio::steady_timer>(io, when);
  timer->async_wait([timer, what = std::move(what)](auto error) {
    if (!error) what();
  });
}

}  // namespace

BackendThread::BackendThread(const load::BackendOptions& options)
    : backend_(io_, {asio::ip::address_v4::loopback(), 0}, options), slots_(options.slots) {}

void BackendThread::start(int core, const std::optional<Disturbance>& disturbance, TimePoint from,
                          TimePoint until, std::function<void(const load::Work&)> finished) {
  backend_.on_finished(std::move(finished));
  if (disturbance) {
    at(io_, from, [this, change = *disturbance] {
      backend_.set_slots(
          static_cast<std::size_t>(std::lround(static_cast<double>(slots_) * change.slots)));
      backend_.set_speed(change.speed);
    });
    at(io_, until, [this] {
      backend_.set_speed(1);
      backend_.set_slots(slots_);
    });
  }
  backend_.start();
  thread_ = std::thread([this, core] {
    pin_to(core);
    io_.run();
  });
}

void BackendThread::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace spillway::bench
