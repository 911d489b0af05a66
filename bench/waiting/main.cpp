// spillway-bench-waiting: a long line before a waiting room, its polls, and what they cost. Exit
// status 0; 1 if a request was not answered as it should be; 2 on bad usage.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>

#include "base/random.hpp"
#include "bench/load/descriptors.hpp"
#include "bench/load/percentile.hpp"
#include "bench/waiting/line.hpp"
#include "bench/waiting/pace.hpp"
#include "bench/waiting/process.hpp"
#include "bench/waiting/site.hpp"
#include "bench/waiting/stream.hpp"
#include "bench/waiting/turns.hpp"

namespace spillway::waiting_bench {
namespace {

// Sessions that end in a second, at most, and of each: half of what the pace allows at first.
constexpr double kMostEnds = 2;
constexpr double kEndsOfEach = 0.025;

// Of each kind of measurement 0 leaves it out.
struct Options {
  std::string spillway = "build/bench/spillway";
  std::size_t visitors = 100'000;
  double polls = 10'000;   // a second
  double forwarded = 200;  // requests a second of a route without a waiting room
  std::size_t connections = 256;
  double seconds = 20;
  double flood = 5'000;  // first contacts a second
  std::size_t streams = 1'000;
  std::size_t turns = 100;
  std::size_t sessions = 200;  // of the room in which they are taken
};

bool is_ok(const load::Response& response) { return response.result_int() == 200; }
bool has_to_wait(const load::Response& response) { return response.result_int() == 503; }
bool is_unknown(const load::Response& response) { return response.result_int() == 404; }
// One of them is called, and never comes.
bool has_place(const load::Response& response) {
  const std::string& status = response.body();
  return is_ok(response) && (status.find("\"position\":") != std::string::npos ||
                             status.find("\"processing\"") != std::string::npos);
}

// Requests of a route without a waiting room.
Pace forwarded(const Options& options, load::Endpoint proxy) {
  return {.proxy = proxy,
          .per_second = options.forwarded,
          .connections = 8,
          .lasts = from_seconds(options.seconds),
          .request = [text = page_request("/free/page", "")](std::size_t) { return text; },
          .is_good = is_ok};
}

// As many requests as there are polls, for the cheapest response of the proxy itself: one that
// looks nothing up.
Pace local(const Options& options, load::Endpoint proxy) {
  return {.proxy = proxy,
          .per_second = options.polls,
          .connections = options.connections,
          .lasts = from_seconds(options.seconds),
          .request = [](std::size_t) -> std::string {
            return "GET /_spillway/rooms/sale/else HTTP/1.1\r\nHost: shop.example\r\n\r\n";
          },
          .is_good = is_unknown};
}

// Of any of those who stand in line.
Pace polls(const Options& options, load::Endpoint proxy, const StandingLine& line) {
  return {.proxy = proxy,
          .per_second = options.polls,
          .connections = options.connections,
          .lasts = from_seconds(options.seconds),
          .request =
              [&line, random = Random(1)](std::size_t) mutable {
                return poll_request(line.cookies[random.next() % line.cookies.size()]);
              },
          .is_good = has_place};
}

struct Cost {
  std::vector<Taken> taken;  // of each pace
  double cores = 0;          // of the proxy meanwhile
};

Cost measure(pid_t proxy, const std::vector<Pace>& paces) {
  const Duration before = cpu_of(proxy);
  Cost cost{.taken = keep_paces(paces)};
  cost.cores = to_seconds(cpu_of(proxy) - before) / to_seconds(cost.taken.front().lasted);
  return cost;
}

double rate_of(const Taken& taken) {
  return static_cast<double>(taken.times.size()) / to_seconds(taken.lasted);
}

std::string row(std::string_view what, const Taken& taken) {
  const auto ms = [&](double share) {
    return to_seconds(load::percentile(taken.times, share)) * 1000;
  };
  return fmt::format("{:<28} {:>6.0f}/s   p50 {:>7.3f} ms   p99 {:>7.3f} ms   {} wrong\n", what,
                     rate_of(taken), ms(0.5), ms(0.99), taken.bad);
}

std::size_t wrong_of(const Cost& cost) {
  std::size_t wrong = 0;
  for (const Taken& taken : cost.taken) wrong += taken.bad;
  return wrong;
}

// Each returns how many were not answered as they should be.
std::size_t poll_long_line(boost::asio::io_context& io, const Options& options) {
  // No session begins, so the line does not move.
  const Site site(options.spillway, {.sessions = 100, .max_tickets = options.visitors + 1000});
  const load::Endpoint to = site.endpoint();
  const Cost alone = measure(site.proxy(), {forwarded(options, to)});
  const Cost cheapest = measure(site.proxy(), {local(options, to), forwarded(options, to)});
  const double before = memory_kib_of(site.proxy());
  const StandingLine line = stand_in_line(io, to, options.visitors);
  const double grown = memory_kib_of(site.proxy()) - before;
  const Cost polled = measure(site.proxy(), {polls(options, to, line), forwarded(options, to)});

  const auto visitors = static_cast<double>(options.visitors);
  const auto us = [](double cores, const Taken& of) { return cores / rate_of(of) * 1e6; };
  const double of_polls = polled.cores - alone.cores;
  const double of_local = cheapest.cores - alone.cores;
  std::cout << fmt::format("{} visitors in line: {:.0f} joined a second, {:.0f} B of memory each\n",
                           options.visitors, visitors / to_seconds(line.took),
                           grown * 1024 / visitors)
            << row("forwarded, alone", alone.taken[0])
            << row("forwarded, beside the 404s", cheapest.taken[1])
            << row("forwarded, beside the polls", polled.taken[1]) << row("polls", polled.taken[0])
            << row("a 404 of the proxy", cheapest.taken[0])
            << fmt::format("cores: polls {:.3f}, {:.1f} us each; 404s {:.3f}, {:.1f} us each\n",
                           of_polls, us(of_polls, polled.taken[0]), of_local,
                           us(of_local, cheapest.taken[0]))
            << std::flush;
  return wrong_of(alone) + wrong_of(cheapest) + wrong_of(polled);
}

// First contacts that keep no cookie.
std::size_t flood(boost::asio::io_context& io, const Options& options) {
  const Site site(options.spillway, {});
  const double before = memory_kib_of(site.proxy());
  const Pace pace{.proxy = site.endpoint(),
                  .per_second = options.flood,
                  .connections = options.connections,
                  .lasts = from_seconds(options.seconds),
                  .request = [text = page_request(kPage, "")](std::size_t) { return text; },
                  .is_good = has_to_wait};
  const Cost cost = measure(site.proxy(), {pace});
  const double grown = memory_kib_of(site.proxy()) - before;
  const std::size_t tickets = site.tickets(io);
  std::cout << row("contacts without cookies", cost.taken[0])
            << fmt::format(
                   "their flood: {} tickets, {:.1f} MiB of memory more, {:.3f} cores, {:.1f} us "
                   "each\n",
                   tickets, grown / 1024, cost.cores, cost.cores / rate_of(cost.taken[0]) * 1e6)
            << std::flush;
  return wrong_of(cost) + tickets;
}

std::size_t hold_streams(boost::asio::io_context& io, const Options& options) {
  const Site site(options.spillway, {.max_tickets = options.streams + 1000});
  const StandingLine line = stand_in_line(io, site.endpoint(), options.streams);
  const double before = memory_kib_of(site.proxy());
  std::vector<std::unique_ptr<EventStream>> streams;
  std::size_t open = 0;
  io.restart();
  for (const std::string& cookie : line.cookies) {
    EventStream& stream = *streams.emplace_back(std::make_unique<EventStream>(io));
    boost::asio::co_spawn(io, EventStream::open(stream, site.endpoint(), cookie),
                          [&open](const std::exception_ptr&, bool is_open) { open += is_open; });
  }
  io.run();
  const Duration cpu = cpu_of(site.proxy());
  std::this_thread::sleep_for(from_seconds(options.seconds));
  const double cores = to_seconds(cpu_of(site.proxy()) - cpu) / options.seconds;
  const double grown = memory_kib_of(site.proxy()) - before;
  std::cout << fmt::format(
                   "{} event streams: {:.2f} KiB of memory each, {:.1f} us of CPU a second\n", open,
                   grown / static_cast<double>(open), cores * 1e6 / static_cast<double>(open))
            << std::flush;
  return options.streams - open;
}

void see_turns(boost::asio::io_context& io, const Options& options) {
  const double ends = std::min(kMostEnds, kEndsOfEach * static_cast<double>(options.sessions));
  const Turns turns = take_turns(io, options.spillway, options.sessions, options.turns, ends);
  const auto line = [](std::string_view what, const std::vector<Duration>& times, double share) {
    return fmt::format("{:<28} {} of them   p50 {:>6.0f} ms   p{:.0f} {:>6.0f} ms\n", what,
                       times.size(), to_seconds(load::percentile(times, 0.5)) * 1000, share * 100,
                       to_seconds(load::percentile(times, share)) * 1000);
  };
  std::cout << line("a session ends -> a call", turns.to_call, 0.99)
            << line("a call -> the site, streams", turns.to_site, 0.95) << std::flush;
}

int run(const Options& options) {
  load::raise_descriptor_limit();
  boost::asio::io_context io{1};
  std::size_t wrong = 0;
  if (options.visitors > 0) wrong += poll_long_line(io, options);
  if (options.flood > 0) wrong += flood(io, options);
  if (options.streams > 0) wrong += hold_streams(io, options);
  if (options.turns > 0) see_turns(io, options);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace spillway::waiting_bench

int main(int argc, char** argv) {
  spillway::waiting_bench::Options options;
  CLI::App app{"A long line before a waiting room, and what its polls cost"};
  app.add_option("--spillway", options.spillway, "the proxy's program")->capture_default_str();
  app.add_option("--visitors", options.visitors, "in line")->capture_default_str();
  app.add_option("--polls", options.polls, "a second")->capture_default_str();
  app.add_option("--connections", options.connections, "of the polls")->capture_default_str();
  app.add_option("--seconds", options.seconds, "of each measurement")->capture_default_str();
  app.add_option("--flood", options.flood, "first contacts a second")->capture_default_str();
  app.add_option("--streams", options.streams, "event streams")->capture_default_str();
  app.add_option("--turns", options.turns, "sessions that end")->capture_default_str();
  app.add_option("--sessions", options.sessions, "of that room")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return spillway::waiting_bench::run(options);
  } catch (const std::exception& error) {
    std::cerr << "spillway-bench-waiting: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
