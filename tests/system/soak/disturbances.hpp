// What happens around the clients: a backend gets slow, a server dies and returns, the
// configuration is loaded anew, right or wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "system/soak/backend.hpp"
#include "system/soak/ending.hpp"
#include "system/soak/player.hpp"
#include "system/soak/proxy_child.hpp"
#include "system/soak/random.hpp"
#include "system/soak/settings.hpp"

namespace spillway::soak {

struct Backends {
  Backend calm, busy, first, second, faulty;

  Servers servers() const {
    return {calm.port(), busy.port(), first.port(), second.port(), faulty.port()};
  }
};

class Disturbances {
 public:
  struct Counts {
    std::atomic<std::uint64_t> surges = 0;
    std::atomic<std::uint64_t> deaths = 0;
    std::atomic<std::uint64_t> reloads = 0;
    std::atomic<std::uint64_t> bad_reloads = 0;
  };

  // Begins, and goes on until end(), when everything is well again.
  Disturbances(Scene& scene, Backends& backends, ProxyChild& proxy, std::string settings_file,
               std::uint64_t seed);
  ~Disturbances() { end(); }
  Disturbances(const Disturbances&) = delete;
  Disturbances& operator=(const Disturbances&) = delete;

  void end();
  const Counts& counts() const { return counts_; }
  // The configuration in force has been read from a file while running.
  static bool can_reload(std::string_view metrics);

 private:
  void run();
  void reload();

  Scene& scene_;
  Backends& backends_;
  ProxyChild& proxy_;
  std::string settings_file_;
  Random random_;
  bool reloads_;
  Variant variant_ = Variant::first;
  Counts counts_;
  Ending ending_;
  std::thread thread_;
};

}  // namespace spillway::soak
