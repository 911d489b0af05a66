// Which part of a limit that is found each of several servers has ("concurrency": "auto").
//
// Servers differ: a limit divided equally keeps the large ones idle and makes requests wait at the
// small ones. While requests wait all servers have what they may have, and the limit goes up and
// down (PairedDither). A server whose throughput follows it can take more; one whose throughput
// stays has too much already. So weights rise where throughput follows by more than the mean of all
// servers, and fall where it follows by less. What slows all alike cancels out, and no latency is
// remembered. Each judgement forgets a little of what was learned: without that, what is noise
// would add up where nothing tells the servers apart, as before a database that all of them wait
// for.
//
// The law that finds the limit is not concerned: it finds what all servers can do together.
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
  // Of the servers with these names.
  explicit ServerWeights(std::vector<std::string> servers);

  // A server that was there before keeps its weight beside those that were, too.
  void continue_from(const ServerWeights& former);

  // `limit`: in force during the tick. `servers`: the same ones in each tick.
  void step(const LimitSample& sample, std::uint32_t limit, std::span<const ServerTick> servers,
            TimePoint now);

  // By server, each above 0; their mean is about 1.
  std::span<const double> weights() const { return weights_; }

 private:
  // What a server did under the lower limits, or under the higher ones.
  struct Phase {
    double seconds = 0, slot_seconds = 0, succeeded = 0;

    double at_work() const { return slot_seconds / seconds; }
    double throughput() const { return succeeded / seconds; }
  };
  struct Server {
    Phase low, high;
    Phase recent;                 // of all limits; the older, the less it counts
    std::uint64_t succeeded = 0;  // at the last tick
    TimePoint settles{};          // back in rotation
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
  bool is_high_ = false;     // it is higher than the one before
  bool has_turns_ = false;   // there was one before
  TimePoint settled_{};      // the requests of the former limit are gone
};

}  // namespace spillway::overload
