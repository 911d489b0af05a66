#include "bench/hostile/play.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "bench/hostile/crowd.hpp"
#include "bench/hostile/places.hpp"
#include "bench/hostile/slowhttptest.hpp"
#include "bench/load/client.hpp"
#include "bench/overload/configuration.hpp"
#include "bench/overload/peer_process.hpp"
#include "bench/overload/pinning.hpp"
#include "bench/overload/play.hpp"

namespace spillway::hostile {
namespace asio = boost::asio;

namespace {

constexpr Milliseconds kBeforeStart{50};  // until the first request is due
constexpr std::size_t kLastWords = 2000;  // bytes of a contender's log
constexpr double kP1Share = 0.5;          // of the workers, for contenders with limits by class
constexpr double kP2Share = 0.25;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text).flush()) throw std::runtime_error("cannot write " + path);
}

bench::Values values_of(const Stage& stage, std::uint16_t port, std::uint16_t backend) {
  const auto workers = static_cast<double>(BackendOptions().workers);
  const auto number = [](double value) { return std::to_string(std::lround(value)); };
  return {{"PORT", std::to_string(port)},
          {"BACKEND", std::to_string(backend)},
          {"ADMIN", "0"},
          {"CONCURRENCY", number(workers)},
          {"CONCURRENCY_P1", number(workers * kP1Share)},
          {"CONCURRENCY_P2", number(workers * kP2Share)},
          {"WORK", stage.work}};
}

// The contender of a cell as a process.
class Proxy {
 public:
  Proxy(const Cell& cell, const Stage& stage, std::uint16_t backend)
      : port_(bench::free_port()),
        log_(stage.work + "/contender.log"),
        file_(configure(cell, stage, port_, backend)),
        process_(bench::command_of(*cell.contender, stage.programs, file_, stage.work), log_,
                 stage.pinned ? bench::kProxyCore : bench::kAnyCore),
        started_(process_.await_port(port_, stage.stopped)) {}

  std::uint16_t port() const { return port_; }

  // Empty: it runs.
  std::string failure() {
    if (started_ && process_.running()) return {};
    return (started_ ? "it ended: " : "it did not start: ") + bench::end_of_file(log_, kLastWords);
  }

 private:
  static std::string configure(const Cell& cell, const Stage& stage, std::uint16_t port,
                               std::uint16_t backend) {
    const bench::Contender& contender = *cell.contender;
    const std::string file = stage.work + '/' + std::string(contender.configuration);
    const std::string given = stage.configurations + '/' + std::string(contender.configuration);
    std::string text = bench::fill_in(read(given), values_of(stage, port, backend));
    const Manner* const manner = find_manner(cell.behaviour);
    if (manner != nullptr && manner->places > 0)
      text = with_places(contender.program, std::move(text), manner->places);
    write(file, text);
    return file;
  }

  std::uint16_t port_;
  std::string log_;
  std::string file_;
  bench::PeerProcess process_;
  bool started_;
};

class NoAttacker final : public Attacker {
 public:
  void start() override {}
  Usage stop() override { return {}; }
};

std::unique_ptr<Attacker> attacker_of(const Cell& cell, const Stage& stage, std::uint16_t port) {
  const int core = stage.pinned ? bench::kLoadCore : bench::kAnyCore;
  if (cell.behaviour == kNoAttack) return std::make_unique<NoAttacker>();
  if (const Manner* const manner = find_manner(cell.behaviour)) {
    return std::make_unique<Crowd>(*manner,
                                   CrowdOptions{.target = {asio::ip::address_v4::loopback(), port},
                                                .addresses = cell.addresses,
                                                .core = core});
  }
  return std::make_unique<SlowHttpTest>(slow_command(cell.behaviour, port), port,
                                        stage.work + "/attacker.log", core);
}

}  // namespace

Result play(const Cell& cell, const Stage& stage) {
  Result result{.cell = cell};
  const auto arrivals =
      probe_schedule(cell.warm_up, cell.counted, kP0PerSecond, kP1PerSecond, cell.seed);
  Backend backend({.seed = cell.seed});
  backend.start(stage.pinned ? bench::kLoadCore : bench::kAnyCore);
  Proxy proxy(cell, stage, backend.port());
  if (result.failure = proxy.failure(); !result.failure.empty()) return result;

  asio::io_context io(1);
  load::Client client(io, {asio::ip::address_v4::loopback(), proxy.port()}, arrivals,
                      result.probes);
  const auto attacker = attacker_of(cell, stage, proxy.port());
  const TimePoint start = Clock::now() + kBeforeStart;
  asio::steady_timer attack(io, start + cell.warm_up);
  attack.async_wait([&](auto error) {
    if (!error) attacker->start();
  });
  bench::send(client, io, start, stage.stopped);
  result.usage = attacker->stop();
  if (stage.stopped()) result.failure = "it was interrupted";
  result.ended = proxy.failure();
  backend.stop();
  result.backend = backend.counters();
  if (result.failure.empty()) result.failure = invalid(result);
  if (result.failure.empty() && result.ended.empty() && late(result) && !stage.late_is_fine) {
    result.failure = "the machine was busy: load or backend were late";
  }
  return result;
}

}  // namespace spillway::hostile
