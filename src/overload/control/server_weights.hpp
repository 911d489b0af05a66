// How a found limit is divided among several servers ("concurrency": "auto"), as weights.
//
// Servers differ: a limit divided equally leaves the large ones idle and makes requests wait at the
// small ones. While requests wait all servers use all that they may, and the limit goes up and down
// (PairedDither). A server whose throughput follows it can take more; one whose throughput does not
// already has too much. So the weight of a server rises if its throughput follows by more than the
// mean of all servers, and falls if it follows by less. Anything that slows all servers alike
// cancels out, and no latency is remembered. Each judgement forgets a little of what was learned:
// otherwise noise would add up where nothing distinguishes the servers, as before a database that
// all of them wait for.
//
// This does not affect the law that finds the limit: it finds what all servers can do together.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "overload/limit/concurrency_limit.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class ServerWeights {
 public:
  // For the servers with these names.
  explicit ServerWeights(std::vector<std::string> servers);

  // Servers that existed before keep their weights relative to each other.
  void continue_from(const ServerWeights& former);

  // `limit`: the one in force during the tick. `servers`: the same ones in each tick.
  void step(const LimitSample& sample, std::uint32_t limit, std::span<const ServerTick> servers,
            TimePoint now);

  // By server, each above 0; their mean is about 1.
  std::span<const double> weights() const { return weights_; }

 private:
  // A server's work under the lower limits, or under the higher ones.
  struct Phase {
    double seconds = 0, slot_seconds = 0, succeeded = 0;

    double at_work() const { return slot_seconds / seconds; }
    double throughput() const { return succeeded / seconds; }
  };
  struct Server {
    Phase low, high;
    Phase recent;                 // under all limits; older samples count less
    std::uint64_t succeeded = 0;  // at the last tick
    TimePoint settles{};          // after its return to rotation
  };

  double longest_held() const;
  static bool is_too_small(const Server& server);
  static std::optional<double> growth(const Server& server);
  void judge();
  void normalize();

  std::vector<std::string> names_;
  std::vector<double> weights_;
  std::vector<Server> servers_;
  std::uint32_t limit_ = 0;  // of the last tick
  bool is_high_ = false;     // that limit is higher than the one before it
  bool has_turns_ = false;   // there has been another limit before
  TimePoint settled_{};      // when the requests of the former limit have ended
};

}  // namespace spillway::overload
