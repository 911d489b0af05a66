#include "bench/hostile/crowd.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "base/random.hpp"
#include "bench/overload/pinning.hpp"

namespace spillway::hostile {
namespace asio = boost::asio;

namespace {

constexpr std::uint32_t kAddresses = 0x7f000201;  // 127.0.2.1

}  // namespace

Crowd::Crowd(const Manner& manner, const CrowdOptions& options)
    : manner_(manner),
      options_(options),
      behaviour_(manner.make()),
      means_{.connects = Pace(manner.connects_per_second), .bytes = Pace(kAllowedBytesPerSecond)} {}

void Crowd::start() {
  for (std::size_t member = 0; member < manner_.connections; ++member) {
    asio::co_spawn(io_, attack(*this, member), asio::detached);
  }
  started_ = Clock::now();
  thread_ = std::thread([this] {
    bench::pin_to(options_.core);
    io_.run();
  });
}

asio::awaitable<void> Crowd::attack(Crowd& crowd, std::size_t member) {
  Random random(member + 1);
  const auto address = kAddresses + static_cast<std::uint32_t>(member % crowd.options_.addresses);
  const Route route{.to = crowd.options_.target,
                    .from = asio::ip::make_address_v4(address),
                    .receive_buffer = crowd.manner_.receive_buffer};
  while (!crowd.stopping_) {
    Connection connection(crowd.io_, crowd.means_, crowd.ledger_);
    crowd.open_.insert(&connection);
    const bool opened = co_await connection.open(route);
    if (opened) co_await crowd.behaviour_->use(connection, random);
    crowd.open_.erase(&connection);
  }
}

Usage Crowd::stop() {
  if (!thread_.joinable()) return used_;
  const double seconds = to_seconds(Clock::now() - started_);
  asio::post(io_, [this] {
    stopping_ = true;
    for (Connection* each : open_) each->end();
  });
  thread_.join();
  used_ = ledger_.usage();
  used_.seconds = seconds;
  return used_;
}

}  // namespace spillway::hostile
