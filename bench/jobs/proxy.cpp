#include "bench/jobs/proxy.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/jobs/server_start.hpp"
#include "bench/overload/metrics_page.hpp"
#include "bench/overload/peer_process.hpp"
#include "bench/overload/pinning.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/sockets.hpp"
#include "tests/support/temporary_directory.hpp"

namespace spillway::job_bench {
namespace {

constexpr std::size_t kBodyBytes = 832;  // with its head about kJobBytes

// All other keys have their defaults.
constexpr const char* kConfiguration = R"({{
  "listen": {{ "port": {} }},
  "admin": {{ "port": {} }},
  "upstreams": [{{ "name": "app", "servers": ["127.0.0.1:{}"], "response_timeout_ms": 3600000 }}],
  "routes": [{{ "name": "orders", "match": {{ "path": "/orders/**" }},
    "defer": {{ "when": "always", "concurrency": 1, "lease_ms": 3600000, "max_pending": 100000000 }} }}],
  "store": {{ "url": "{}" }}
}})";

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// What the proxy counted until now.
struct Counts {
  double accepted = 0, commits = 0, commit_seconds = 0;
};

double value_of(const std::string& page, const std::string& counter) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(counter + " ")) return std::strtod(line.c_str() + counter.size(), nullptr);
  }
  throw std::runtime_error("/metrics has no " + counter);
}

Counts counts_at(std::uint16_t admin_port) {
  const auto page = bench::metrics_page(admin_port);
  if (!page) throw std::runtime_error("Spillway's /metrics does not answer");
  return {.accepted = value_of(*page, "spillway_jobs_accepted_total"),
          .commits = value_of(*page, "spillway_store_commit_seconds_count"),
          .commit_seconds = value_of(*page, "spillway_store_commit_seconds_sum")};
}

// What load.lua prints: requests, microseconds, their median and 99th percentile, errors by kind.
struct Sent {
  double requests = 0, duration_us = 0, median_us = 0, p99_us = 0, errors = 0;
};

Sent send(const std::string& script, std::uint16_t port, std::size_t connections, long seconds) {
  const auto finished =
      support::run({"env", "BODY=" + std::to_string(kBodyBytes), "wrk", "-t1",
                    "-c" + std::to_string(connections), "-d" + std::to_string(seconds) + "s", "-s",
                    script, "http://127.0.0.1:" + std::to_string(port) + "/orders/new"},
                   std::chrono::seconds(seconds + 60));
  const auto begin = finished.out.find("FIGURES ");
  if (begin == std::string::npos) throw std::runtime_error("wrk: " + finished.out + finished.err);
  std::istringstream words(finished.out.substr(begin + 8));
  Sent sent;
  words >> sent.requests >> sent.duration_us >> sent.median_us >> sent.p99_us;
  for (double errors = 0; words >> errors;) sent.errors += errors;
  return sent;
}

}  // namespace

struct Proxy::Parts {
  std::string load;
  support::TemporaryDirectory directory;
  Descriptor backend{support::listen_on_loopback()};  // its kernel takes the connections
  std::uint16_t port = bench::free_port(), admin_port = bench::free_port();
  std::chrono::steady_clock::time_point started;
  std::unique_ptr<bench::PeerProcess> process;
};

Proxy::Proxy(const Programs& programs, const std::string& store_url)
    : parts_(std::make_unique<Parts>()) {
  Parts& it = *parts_;
  it.load = programs.load;
  const std::string file = it.directory.write(
      "spillway.json", fmt::format(kConfiguration, it.port, it.admin_port,
                                   support::port_of(it.backend.number()), store_url));
  const std::string log = it.directory.path() / "log";
  it.started = std::chrono::steady_clock::now();
  it.process = std::make_unique<bench::PeerProcess>(
      std::vector<std::string>{programs.spillway, "run", "--config", file}, log, bench::kAnyCore);
  for (const std::uint16_t port : {it.port, it.admin_port}) {
    await_server(*it.process, port, "Spillway", log);
  }
}

Proxy::~Proxy() = default;

double Proxy::first_answer_ms() {
  const Descriptor connection(support::connect_to_loopback(parts_->port));
  const support::Deadline deadline(std::chrono::minutes(1));
  support::send_all(connection.number(),
                    "POST /orders/new HTTP/1.1\r\nHost: first\r\nContent-Length: 0\r\n\r\n",
                    deadline);
  char head[12] = {};  // the status line, up to the status
  if (!support::wait_ready(connection.number(), POLLIN, deadline) ||
      ::recv(connection.number(), head, sizeof head, MSG_WAITALL) != sizeof head ||
      std::string_view(head, sizeof head) != "HTTP/1.1 202") {
    throw std::runtime_error("Spillway did not answer 202");
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                   parts_->started)
      .count();
}

std::size_t Proxy::memory_kib() const {
  std::ifstream status("/proc/" + std::to_string(parts_->process->pid()) + "/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    std::size_t kib = 0;
    status >> kib;
    return kib;
  }
  throw std::runtime_error("Spillway has ended");
}

Figures Proxy::accept(std::size_t connections, std::chrono::milliseconds time) {
  const long seconds = std::max(1L, std::lround(static_cast<double>(time.count()) / 1000));
  const Counts before = counts_at(parts_->admin_port);
  const Sent sent = send(parts_->load, parts_->port, connections, seconds);
  const Counts after = counts_at(parts_->admin_port);
  const double written = after.accepted - before.accepted, commits = after.commits - before.commits;
  // wrk ends with a request in flight on each connection.
  const bool is_all =
      written >= sent.requests && written <= sent.requests + static_cast<double>(connections);
  if (sent.requests == 0 || sent.errors > 0 || !is_all) {
    throw std::runtime_error(
        fmt::format("{:.0f} answers, {:.0f} of them errors, {:.0f} jobs written", sent.requests,
                    sent.errors, written));
  }
  return {.per_second = sent.requests * 1e6 / sent.duration_us,
          .median_ms = sent.median_us / 1000,
          .p99_ms = sent.p99_us / 1000,
          .jobs_per_commit = written / commits,
          .commit_ms = (after.commit_seconds - before.commit_seconds) * 1000 / commits};
}

}  // namespace spillway::job_bench
