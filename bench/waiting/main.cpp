// spillway-bench-waiting: a long line before a waiting room, its polls, and what they cost. Exit
// status 0; 1 if a request was not answered as it should be; 2 on bad usage.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/random.hpp"
#include "bench/load/descriptors.hpp"
#include "bench/load/percentile.hpp"
#include "bench/overload/backend_thread.hpp"
#include "bench/overload/peer_process.hpp"
#include "bench/overload/pinning.hpp"
#include "bench/waiting/line.hpp"
#include "bench/waiting/pace.hpp"
#include "bench/waiting/process.hpp"

namespace spillway::waiting_bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string spillway = "build/bench/spillway";
  std::size_t visitors = 100'000;
  double polls = 10'000;   // a second
  double forwarded = 200;  // requests a second of a route without a waiting room
  std::size_t connections = 256;
  double seconds = 20;
};

// All other keys have their defaults. No session begins, so the line does not move.
constexpr const char* kConfiguration = R"({{
  "listen": {{ "port": {} }},
  "admin": {{ "port": {} }},
  "store": {{ "url": "sqlite:jobs.db" }},
  "upstreams": [{{ "name": "shop", "servers": ["127.0.0.1:{}"] }}],
  "routes": [
    {{ "name": "sale", "match": {{ "path": "/sale/**" }}, "class": "P1",
      "waiting_room": {{ "active_sessions": 1, "when": "always", "max_tickets": {}, "joins_per_second": 1000000,
        "secure_cookie": false }} }},
    {{ "name": "free", "match": {{ "path": "/free/**" }}, "class": "P1" }}
  ]
}})";

// Removed with all that is in it.
class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / "spillway-waiting-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The proxy, and a shop behind it.
class Site {
 public:
  explicit Site(const Options& options)
      : backend_({.slots = 64, .service = Milliseconds(1), .sigma = 0}), port_(bench::free_port()) {
    backend_.start(bench::kAnyCore, std::nullopt, {}, {}, [](const load::Work&) {});
    const std::string file = folder_.path() + "/spillway.json";
    std::ofstream(file) << fmt::format(kConfiguration, port_, bench::free_port(), backend_.port(),
                                       options.visitors + 1000);
    const std::string log = folder_.path() + "/log";
    proxy_.emplace(std::vector<std::string>{options.spillway, "run", "--config", file}, log,
                   bench::kAnyCore);
    if (!proxy_->await_port(port_, [] { return false; }))
      throw std::runtime_error("the proxy does not start: " + bench::end_of_file(log, 2000));
  }

  load::Endpoint endpoint() const { return {boost::asio::ip::address_v4::loopback(), port_}; }
  pid_t proxy() const { return proxy_->pid(); }

 private:
  Folder folder_;
  bench::BackendThread backend_;
  std::uint16_t port_;
  std::optional<bench::PeerProcess> proxy_;
};

bool is_ok(const load::Response& response) { return response.result_int() == 200; }
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

Cost measure(boost::asio::io_context& io, pid_t proxy, const std::vector<Pace>& paces) {
  const Duration before = cpu_of(proxy);
  Cost cost{.taken = keep_paces(io, paces)};
  cost.cores = to_seconds(cpu_of(proxy) - before) / to_seconds(cost.taken.front().lasted);
  return cost;
}

std::string row(std::string_view what, const Taken& taken) {
  const auto ms = [&](double share) {
    return to_seconds(load::percentile(taken.times, share)) * 1000;
  };
  return fmt::format("{:<28} {:>6.0f}/s   p50 {:>7.3f} ms   p99 {:>7.3f} ms   {} wrong\n", what,
                     static_cast<double>(taken.times.size()) / to_seconds(taken.lasted), ms(0.5),
                     ms(0.99), taken.bad);
}

int run(const Options& options) {
  load::raise_descriptor_limit();
  const Site site(options);
  const load::Endpoint to = site.endpoint();
  boost::asio::io_context io{1};

  const Cost alone = measure(io, site.proxy(), {forwarded(options, to)});
  const Cost cheapest = measure(io, site.proxy(), {local(options, to)});
  const double before = memory_kib_of(site.proxy());
  const StandingLine line = stand_in_line(io, to, options.visitors);
  const double grown = memory_kib_of(site.proxy()) - before;
  const Cost polled = measure(io, site.proxy(), {polls(options, to, line), forwarded(options, to)});

  const auto visitors = static_cast<double>(options.visitors);
  const auto us = [&](double cores) { return cores / options.polls * 1e6; };
  const double of_polls = polled.cores - alone.cores;
  std::cout << fmt::format("{} visitors in line: {:.0f} joined a second, {:.0f} B of memory each\n",
                           options.visitors, visitors / to_seconds(line.took),
                           grown * 1024 / visitors)
            << row("forwarded, alone", alone.taken[0])
            << row("forwarded, beside the polls", polled.taken[1]) << row("polls", polled.taken[0])
            << row("a 404 of the proxy", cheapest.taken[0])
            << fmt::format("cores: polls {:.3f}, {:.1f} us each; 404s {:.3f}, {:.1f} us each\n",
                           of_polls, us(of_polls), cheapest.cores, us(cheapest.cores));
  std::size_t wrong = 0;
  for (const Cost* cost : {&alone, &cheapest, &polled}) {
    for (const Taken& taken : cost->taken) wrong += taken.bad;
  }
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
  CLI11_PARSE(app, argc, argv);
  try {
    return spillway::waiting_bench::run(options);
  } catch (const std::exception& error) {
    std::cerr << "spillway-bench-waiting: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
