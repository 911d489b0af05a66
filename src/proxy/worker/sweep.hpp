// A worker's two coarse timers, which replace a timer per operation.
//
// Every 10 ms: how late the timer itself fires is the event-loop lag, waiters at the gates whose
// time has run out are answered, and exchanges that paused before another attempt go on. Every
// 50 ms: exchanges past their deadline are woken, clients that left are noticed, idle connections
// past their time are closed.
#pragma once

#include <poll.h>

#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "overload/lag.hpp"
#include "proxy/net/event_loop.hpp"
#include "proxy/net/parking.hpp"

namespace spillway::proxy {

class LocalGeneration;
class Worker;
class Exchange;
class Tunnel;

class Sweep {
 public:
  explicit Sweep(Worker& worker);

  void start();

 private:
  static constexpr Milliseconds kSweepPeriod{50};

  void arm();
  void on_timer();
  void sweep(TimePoint now);
  void wake_late(TimePoint now);
  void wake_abandoned();
  void break_tunnels();
  void publish_ages(TimePoint now);
  void close_idle(TimePoint now);

  Worker& worker_;
  LoopTimer timer_;
  overload::LoopLag lag_;
  TimePoint due_{};
  TimePoint next_sweep_{};
  std::vector<Parking*> late_;
  std::vector<pollfd> polled_;
  std::vector<Exchange*> watched_;
  std::vector<Tunnel*> tunnels_;
  struct Awaiting {  // a request whose response head is due
    const LocalGeneration* local;
    UpstreamId upstream;
    Duration age;
  };
  std::vector<Awaiting> awaiting_;
  std::vector<Duration> ages_;
};

}  // namespace spillway::proxy
