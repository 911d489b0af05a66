#include "bench/waiting/pace.hpp"

#include <functional>
#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace spillway::waiting_bench {
namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);

// The requests `first`, `first` + connections, ... of the pace. What it was slow with is sent late,
// and the time counts.
asio::awaitable<void> send(asio::io_context& io, const Pace& pace, std::size_t first,
                           TimePoint start, Taken& taken) {
  load::Connection connection(io);
  asio::steady_timer timer(io);
  for (std::size_t n = first;; n += pace.connections) {
    const TimePoint due = start + from_seconds(static_cast<double>(n) / pace.per_second);
    if (due - start >= pace.lasts) break;
    if (due > Clock::now()) {
      timer.expires_at(due);
      co_await timer.async_wait(kNoThrow);
    }
    const load::Reply reply =
        co_await load::Connection::ask(connection, pace.proxy, pace.request(n));
    if (reply.failure.empty() && pace.is_good(reply.response)) {
      taken.times.push_back(Clock::now() - due);
    } else {
      ++taken.bad;
    }
  }
  connection.reset();
}

void keep(const Pace& pace, TimePoint start, Taken& taken) {
  asio::io_context io{1};
  for (std::size_t c = 0; c < pace.connections; ++c)
    asio::co_spawn(io, send(io, pace, c, start, taken), asio::detached);
  io.run();
  taken.lasted = Clock::now() - start;
}

}  // namespace

std::vector<Taken> keep_paces(const std::vector<Pace>& paces) {
  std::vector<Taken> taken(paces.size());
  const TimePoint start = Clock::now() + Milliseconds(100);
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < paces.size(); ++p)
    threads.emplace_back(keep, std::cref(paces[p]), start, std::ref(taken[p]));
  for (std::jthread& thread : threads) thread.join();
  return taken;
}

}  // namespace spillway::waiting_bench
