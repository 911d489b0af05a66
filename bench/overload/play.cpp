#include "bench/overload/play.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <stdexcept>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bench/load/client.hpp"
#include "bench/overload/backend_thread.hpp"
#include "bench/overload/configuration.hpp"
#include "bench/overload/metrics_page.hpp"
#include "bench/overload/peer_process.hpp"
#include "bench/overload/pinning.hpp"

namespace spillway::bench {
namespace asio = boost::asio;

namespace {

constexpr Milliseconds kLookEvery{100};
constexpr Milliseconds kBeforeStart{100};  // until the first request is due
constexpr std::size_t kLastWords = 2000;   // bytes of a contender's log
constexpr double kP1Share = 13.0 / 16;     // of the slots, for contenders with limits by class
constexpr double kP2Share = 10.0 / 16;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw std::runtime_error("cannot write " + path);
}

struct Ports {
  std::uint16_t port = 0, admin = 0, backend = 0;
};

Values values_of(const Cell& cell, const Stage& stage, const Ports& ports) {
  const double told = static_cast<double>(cell.scenario->slots) * cell.scenario->told;
  const auto number = [](double value) { return std::to_string(std::lround(value)); };
  return {{"PORT", std::to_string(ports.port)},
          {"ADMIN", std::to_string(ports.admin)},
          {"BACKEND", std::to_string(ports.backend)},
          {"CONCURRENCY", number(told)},
          {"CONCURRENCY_P1", number(told * kP1Share)},
          {"CONCURRENCY_P2", number(told * kP2Share)},
          {"TENANT_RATE", number(capacity_rps(*cell.scenario) / (kQuietTenants + 1))},
          {"WORK", stage.work}};
}

// A contender of a cell, or none for the bare backend.
class Opponent {
 public:
  Opponent(const Cell& cell, const Stage& stage, std::uint16_t backend)
      : ports_{.port = backend, .backend = backend}, log_(stage.work + "/contender.log") {
    const Contender& contender = *cell.contender;
    if (contender.program == Program::none) return;
    ports_.port = free_port();
    if (contender.program == Program::spillway) ports_.admin = free_port();
    const std::string file = stage.work + '/' + std::string(contender.configuration);
    write(file, fill_in(read(stage.configurations + '/' + std::string(contender.configuration)),
                        values_of(cell, stage, ports_)));
    process_.emplace(command_of(contender, stage.programs, file, stage.work), log_,
                     stage.pinned ? kProxyCore : kAnyCore);
    if (!process_->await_port(ports_.port, stage.stopped))
      failure_ = "it did not start: " + last_words();
  }

  std::uint16_t port() const { return ports_.port; }

  // Changes of the overload state since it started; nullopt: it is not Spillway or does not tell.
  std::optional<std::uint64_t> transitions() const {
    if (ports_.admin == 0) return std::nullopt;
    const std::optional<std::string> page = metrics_page(ports_.admin);
    return page ? sum_of(*page, "spillway_overload_transitions_total") : std::nullopt;
  }

  // Empty: it runs.
  std::string failure() {
    if (failure_.empty() && process_ && !process_->running())
      failure_ = "it ended: " + last_words();
    return failure_;
  }

 private:
  std::string last_words() const { return end_of_file(log_, kLastWords); }

  Ports ports_;
  std::string log_;
  std::optional<PeerProcess> process_;
  std::string failure_;
};

asio::awaitable<void> run_and_stop(load::Client& client, TimePoint start, asio::io_context& io) {
  co_await client.run(start);
  io.stop();
}

asio::awaitable<void> stop_when_told(asio::io_context& io, bool (*stopped)()) {
  asio::steady_timer timer(io);
  while (!stopped()) {
    timer.expires_after(kLookEvery);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  io.stop();
}

}  // namespace

void send(load::Client& client, asio::io_context& io, TimePoint start, bool (*stopped)()) {
  asio::co_spawn(io, run_and_stop(client, start, io), asio::detached);
  asio::co_spawn(io, stop_when_told(io, stopped), asio::detached);
  io.run();
}

Result play(const Cell& cell, const Stage& stage) {
  const Scenario& scenario = *cell.scenario;
  const auto arrivals =
      load::schedule(cell.phases, cell.seed, scenario.reads, sources_of(scenario, cell.load));
  const Duration from = counted_from(cell);  // and a disturbance begins
  const Duration restored = from + cell.phases[1].length;
  const Duration end = counted_until(cell);
  Result result(cell);

  BackendThread backend(backend_of(scenario, cell.seed));
  Opponent opponent(cell, stage, backend.port());
  if (result.failure = opponent.failure(); !result.failure.empty()) return result;

  asio::io_context io(1);
  load::Retries retries = scenario.retries;
  retries.seed = cell.seed;
  load::Client client(io, {asio::ip::address_v4::loopback(), opponent.port()}, arrivals,
                      result.tally, {.retries = retries, .last = end});
  const TimePoint start = Clock::now() + kBeforeStart;
  WorkTally work(start + from, start + end, client.awaited());
  const bool bare = cell.contender->program == Program::none;
  const int core = !stage.pinned ? kAnyCore : bare ? kProxyCore : kLoadCore;
  backend.start(core, scenario.disturbance, start + from, start + restored,
                [&](const load::Work& done) { work.add(done, Clock::now()); });
  send(client, io, start, stage.stopped);
  backend.stop();
  result.transitions = opponent.transitions();

  result.wasted_ratio = work.wasted_ratio();
  result.stretch = work.stretch();
  result.mean_service = work.mean_service();
  result.backend_late_p99 = work.late_p99();
  if (scenario.disturbance) {
    result.recovery = recovery(result.tally.tenths(), from, restored, end);
  }
  result.failure = stage.stopped() ? "it was interrupted" : opponent.failure();
  if (result.failure.empty()) result.failure = invalid(result, stage.late_is_fine);
  return result;
}

}  // namespace spillway::bench
