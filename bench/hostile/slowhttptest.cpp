#include "bench/hostile/slowhttptest.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/hostile/traffic.hpp"
#include "bench/overload/peer_process.hpp"

namespace spillway::hostile {
namespace {

constexpr Milliseconds kLook{100};

struct Mode {
  SlowMode shown;
  std::string_view path;
  std::vector<std::string> options;
};

const std::vector<Mode>& modes() {
  static const std::vector<Mode> all{
      {{"slowhttptest-H", "slow heads"},
       "/checkout",
       {"-H", "-c", "900", "-r", "900", "-i", "1", "-x", "24", "-t", "GET"}},
      {{"slowhttptest-B", "slow bodies"},
       "/checkout",
       {"-B", "-c", "900", "-r", "900", "-i", "1", "-x", "10", "-s", "8192", "-t", "POST"}},
      {{"slowhttptest-X", "slow readers"},
       "/export/large",
       {"-X", "-c", "150", "-r", "150", "-w", "512", "-y", "1024", "-n", "1", "-z", "32"}}};
  return all;
}

}  // namespace

std::vector<SlowMode> slow_modes() {
  std::vector<SlowMode> shown;
  for (const Mode& mode : modes()) shown.push_back(mode.shown);
  return shown;
}

std::vector<std::string> slow_command(std::string_view mode, std::uint16_t port) {
  const auto found = std::find_if(modes().begin(), modes().end(),
                                  [&](const Mode& one) { return one.shown.name == mode; });
  if (found == modes().end()) throw std::out_of_range(std::string(mode));
  std::vector<std::string> command{"slowhttptest"};
  command.insert(command.end(), found->options.begin(), found->options.end());
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + std::string(found->path);
  for (const std::string& word : {std::string("-l"), std::string("3600"), std::string("-p"),
                                  std::string("3"), std::string("-u"), url}) {
    command.push_back(word);
  }
  return command;
}

SlowHttpTest::SlowHttpTest(std::vector<std::string> command, std::uint16_t port, std::string log,
                           int core)
    : command_(std::move(command)), port_(port), log_(std::move(log)), core_(core) {}

void SlowHttpTest::start() {
  started_ = Clock::now();
  thread_ = std::thread([this] { run(); });
}

// The thread that starts the program also sees to its end: a child dies with its parent's thread.
void SlowHttpTest::run() {
  while (!stopping_) {
    bench::PeerProcess process(command_, log_, core_);
    while (!stopping_ && process.running()) {
      look();
      std::this_thread::sleep_for(kLook);
    }
    look();
  }
}

// Bytes of a connection that came and went between two looks are missing.
void SlowHttpTest::look() {
  const auto now = connections_to(port_);
  used_.connections = std::max(used_.connections, now.size());
  for (const auto& [connection, bytes] : now) seen_[connection] = bytes;
}

Usage SlowHttpTest::stop() {
  if (!thread_.joinable()) return used_;
  used_.seconds = to_seconds(Clock::now() - started_);
  stopping_ = true;
  thread_.join();
  used_.opened = seen_.size();
  for (const auto& [connection, bytes] : seen_) used_.bytes += bytes;
  return used_;
}

}  // namespace spillway::hostile
