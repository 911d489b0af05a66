// slowhttptest as an attacker: a program that others wrote for this purpose, in three of its modes.
// It comes from 127.0.0.1 and is started again when it has given up.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "bench/hostile/attacker.hpp"

namespace spillway::hostile {

struct SlowMode {
  std::string_view name;  // as in result lines
  std::string_view sentence;
};

// slowhttptest-H: slow heads, -B: slow bodies, -X: slow readers.
std::vector<SlowMode> slow_modes();

// The command that attacks this port. Throws std::out_of_range for a name that is not in
// slow_modes().
std::vector<std::string> slow_command(std::string_view mode, std::uint16_t port);

class SlowHttpTest final : public Attacker {
 public:
  // What the program says goes to the file `log`.
  SlowHttpTest(std::vector<std::string> command, std::uint16_t port, std::string log, int core);
  ~SlowHttpTest() override { stop(); }

  void start() override;
  Usage stop() override;

 private:
  void run();
  void look();

  std::vector<std::string> command_;
  std::uint16_t port_;
  std::string log_;
  int core_;
  std::map<std::uint64_t, std::uint64_t> seen_;  // bytes of each connection
  Usage used_;
  std::atomic<bool> stopping_ = false;
  TimePoint started_;
  std::thread thread_;
};

}  // namespace spillway::hostile
