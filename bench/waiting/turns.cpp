#include "bench/waiting/turns.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/random.hpp"
#include "bench/crowd/status.hpp"
#include "bench/load/connection.hpp"
#include "bench/waiting/line.hpp"
#include "bench/waiting/stream.hpp"

namespace spillway::waiting_bench {
namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr Milliseconds kClaim{120'000};    // the default of claim_ms
constexpr Milliseconds kPageWaits{400};    // as the waiting page does once it is called
constexpr Milliseconds kLongest{120'000};  // after which it has failed
constexpr std::size_t kMore = 20;          // than turns wait in line

struct Course {
  asio::io_context& io;
  load::Endpoint proxy;
  double per_second = 0;
  std::vector<std::string> inside{};
  std::vector<TimePoint> ends{};
  std::vector<TimePoint> calls{};
  std::vector<std::unique_ptr<EventStream>> streams{};
  std::size_t turns = 0;
  std::size_t open = 0;  // streams
  Turns taken{};
  std::string failure{};

  bool is_over() const { return !failure.empty() || taken.to_site.size() >= turns; }
};

asio::awaitable<void> pause(Course& course, Duration time) {
  asio::steady_timer timer(course.io);
  timer.expires_after(time);
  co_await timer.async_wait(kNoThrow);
}

// The first request gets a pass, the second makes a session of it.
asio::awaitable<void> come_in(Course& course, std::size_t sessions) {
  load::Connection connection(course.io);
  for (std::size_t n = 0; n < sessions && course.failure.empty(); ++n) {
    const load::Reply first =
        co_await load::Connection::ask(connection, course.proxy, page_request(kPage, ""));
    const auto pass = crowd::cookie_of(first.response, kCookie);
    std::string cookie = std::string(kCookie) + "=" + pass.value_or("");
    const load::Reply second =
        co_await load::Connection::ask(connection, course.proxy, page_request(kPage, cookie));
    if (const auto next = crowd::cookie_of(second.response, kCookie))
      cookie = std::string(kCookie) + "=" + *next;
    if (second.response.result_int() != 200) course.failure = "a visitor did not come in";
    course.inside.push_back(std::move(cookie));
  }
  connection.reset();
}

// As its page: it follows events, and enters soon after it is called.
asio::awaitable<void> wait_for_call(Course& course, EventStream& stream, std::string cookie) {
  const bool is_open = co_await EventStream::open(stream, course.proxy, cookie);
  if (!is_open) course.failure = "a visitor in line got no events";
  ++course.open;
  const auto data = co_await EventStream::next(stream, "called");
  if (!data) co_return;
  const TimePoint heard = Clock::now();
  const auto status = crowd::parse_status(*data);
  if (!status || !status->claim_remaining) {
    course.failure = "a call without its time: " + *data;
    co_return;
  }
  const TimePoint called = heard - (kClaim - *status->claim_remaining);
  course.calls.push_back(called);
  load::Connection connection(course.io);
  load::Reply page;
  do {
    co_await pause(course, kPageWaits);
    page = co_await load::Connection::ask(connection, course.proxy, page_request(kPage, cookie));
  } while (page.response.result_int() == 503 && !course.is_over());
  connection.reset();
  if (page.response.result_int() == 200) course.taken.to_site.push_back(Clock::now() - called);
}

asio::awaitable<void> leave_one_by_one(Course& course, std::size_t turns) {
  load::Connection connection(course.io);
  Random random(1);
  for (std::size_t n = 0; n < turns && course.failure.empty(); ++n) {
    const double gap = -std::log(1 - random.uniform()) / course.per_second;
    co_await pause(course, from_seconds(gap));
    std::string request =
        "POST /_spillway/rooms/sale/leave HTTP/1.1\r\nHost: shop.example\r\nCookie: " +
        course.inside[n] + "\r\nSpillway-Leave: 1\r\nContent-Length: 0\r\n\r\n";
    const load::Reply left =
        co_await load::Connection::ask(connection, course.proxy, std::move(request));
    course.ends.push_back(Clock::now());
    if (left.response.result_int() != 204) course.failure = "a visitor could not leave";
  }
  connection.reset();
}

asio::awaitable<void> watch(Course& course) {
  const TimePoint end = Clock::now() + kLongest;
  while (course.failure.empty() && course.open < course.streams.size())
    co_await pause(course, Milliseconds(10));
  asio::co_spawn(course.io, leave_one_by_one(course, course.turns), asio::detached);
  while (!course.is_over() && Clock::now() < end) co_await pause(course, Milliseconds(10));
  if (!course.is_over()) course.failure = "those who were called did not all come in";
  for (const auto& stream : course.streams) stream->close();
}

// The n-th call is for the n-th session that ended.
std::vector<Duration> times_to_call(std::vector<TimePoint> ends, std::vector<TimePoint> calls) {
  std::ranges::sort(calls);
  std::vector<Duration> times;
  for (std::size_t n = 0; n < std::min(ends.size(), calls.size()); ++n)
    times.push_back(std::max(calls[n] - ends[n], Duration::zero()));
  return times;
}

}  // namespace

Turns take_turns(asio::io_context& io, const std::string& spillway, std::size_t sessions,
                 std::size_t turns, double per_second) {
  const Site site(spillway, {.sessions = sessions, .when = "full"});
  Course course{.io = io, .proxy = site.endpoint(), .per_second = per_second};
  course.turns = std::min(turns, sessions);
  io.restart();
  asio::co_spawn(io, come_in(course, sessions), asio::detached);
  io.run();
  if (!course.failure.empty()) throw std::runtime_error(course.failure);
  const StandingLine line = stand_in_line(io, site.endpoint(), course.turns + kMore);
  io.restart();
  for (const std::string& cookie : line.cookies) {
    EventStream& stream = *course.streams.emplace_back(std::make_unique<EventStream>(io));
    asio::co_spawn(io, wait_for_call(course, stream, cookie), asio::detached);
  }
  asio::co_spawn(io, watch(course), asio::detached);
  io.run();
  if (!course.failure.empty()) throw std::runtime_error(course.failure);
  course.taken.to_call = times_to_call(course.ends, course.calls);
  return std::move(course.taken);
}

}  // namespace spillway::waiting_bench
