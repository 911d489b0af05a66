// The log: one JSON object a line, written by a thread of its own.
//
// Every method may be called from any thread. None waits for the output, but at the end of the
// process (lose_none()): when the queue is full the oldest line is lost and counted. Whatever a
// client sent is escaped, so that each line is valid JSON and valid UTF-8 whatever the bytes were.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/outcome.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "jobs/job.hpp"
#include "observe/count/local_shortage.hpp"
#include "observe/count/server_failure.hpp"
#include "observe/log/operator_change.hpp"
#include "overload/admission/decision_record.hpp"
#include "overload/signals/signals.hpp"
#include "overload/signals/state.hpp"

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
namespace sinks {
class sink;
}
}  // namespace spdlog

namespace spillway::observe {

enum class Level : std::uint8_t { debug, info, warn, error };

// State changes of a server.
enum class ServerEvent : std::uint8_t {
  ejected,              // after failures in a row
  returned,             // the first success after that
  circuit_opened,       // of one worker
  circuit_closed,       // likewise
  health_check_failed,  // now unhealthy
  health_check_passed,  // healthy again
};

// What befell a request or a connection to a server. Views need to live only during the call.
template <class Kind>
struct ServerLine {
  std::string_view upstream;
  std::string_view server;
  std::string_view address;  // of the server's, the one that was asked; as written: not logged
  Kind kind{};
  std::string_view detail;     // what was wrong; empty: the kind says it all
  std::uint64_t left_out = 0;  // of the same kind and server or upstream, since the last line
};
// A server that failed a request.
using FailureLine = ServerLine<ServerFailure>;
// A connection that was not made for want of something of our own.
using ShortageLine = ServerLine<LocalShortage>;

// One request, for the access log. Views and pointers need to live only during the call.
struct AccessLine {
  struct Request {
    std::string_view id;
    std::string_view client;  // its address
    std::string_view peer;    // the proxy that the connection came from, if another address
    std::string_view method;
    std::string_view path;  // without the query; cut at 256 bytes
    std::string_view route;
    std::string_view traffic_class;
    std::string_view tenant;  // cut at 64 bytes
  };
  struct Response {
    unsigned status = 0;      // 0: closed without a response
    std::uint64_t bytes = 0;  // of the body
    std::string_view error;   // RFC 9209 error type of a proxy error; empty: none
    std::string_view detail;  // what was wrong; empty: nothing
    std::string_view mode;    // of a degraded answer; empty: not degraded
    std::string_view cache;   // result of the cache lookup; empty: the route has no cache
  };
  struct Upstream {
    std::string_view server;     // the last that was asked; empty: none
    std::uint32_t attempts = 0;  // to reach a server, failed connections included
  };

  Request request;
  Response response;
  Upstream upstream;
  Outcome outcome{};
  std::optional<Outcome> shadow;  // what enforce mode would have done, in shadow mode
  Reason reason = Reason::none;
  const overload::DecisionRecord* decision = nullptr;  // null: no decision was made
  TimePoint arrived{};                                 // the decision's deadline counts from here
  Duration wait{};
  Duration duration{};
};

// A deferred request's change of state.
struct JobLine {
  std::string_view id;     // the first half of it: the whole is the permission to read its answer
  std::string_view route;  // empty: not known, nor are tenant and attempts
  std::string_view tenant;
  jobs::JobState state{};
  jobs::Cause cause{};
  std::uint32_t attempts = 0;
  unsigned status = 0;  // of the upstream's answer; 0: none
};

class Log {
 public:
  static constexpr std::size_t kQueuedLines = 8192;
  static constexpr Milliseconds kMostWait{1000};

  // Writes lines of `config.level` and above to stderr.
  explicit Log(const config::Log& config);
  // The same to another sink.
  Log(const config::Log& config, std::shared_ptr<spdlog::sinks::sink> sink,
      std::size_t queued_lines = kQueuedLines);
  // Writes the queued lines; gives up after a second if the output blocks.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void started(std::string_view version, std::size_t workers);
  // `what` is "proxy" or "admin".
  void listening(std::string_view what, std::string_view address, std::uint16_t port);
  void transition(std::string_view upstream, overload::State from, overload::State to,
                  Reason reason, const overload::OverloadSignals& signals);
  // The tail latency is above its threshold, and no lower limit brought it down.
  void shedding_does_not_help(std::string_view upstream, const overload::OverloadSignals& signals);
  // The upstream is in no overloaded state only because the errors of `signals.left_out` do not
  // count. The second: that is no longer so.
  void errors_of_one_source(std::string_view upstream, const overload::OverloadSignals& signals);
  void errors_of_one_source_ended(std::string_view upstream,
                                  const overload::OverloadSignals& signals);
  // The limit that is found stands at `max`, and more is offered. The second: no longer.
  void limit_at_max(std::string_view upstream, std::uint32_t max,
                    const overload::OverloadSignals& signals);
  void limit_at_max_ended(std::string_view upstream, const overload::OverloadSignals& signals);
  void drain_delay(std::size_t connections, Milliseconds delay);
  void draining(std::size_t connections, Milliseconds timeout);
  void stopped(Duration uptime);
  void reloaded(std::uint64_t generation);
  void reload_failed(std::string_view path, std::string_view problem);  // once for each problem
  void set_level(const config::Log& config);
  // `reason`: the kind of its last failure, what its health check came to, "success". `detail`:
  // empty where the reason says it all.
  void server_event(ServerEvent what, std::string_view upstream, std::string_view server,
                    std::string_view reason, std::string_view detail = {});
  void server_failure(const FailureLine& line);
  void local_shortage(const ShortageLine& line);
  // A body of a slow client could not be kept in a file, and holds its slot.
  void temp_file_failed(std::string_view directory, std::string_view problem);
  void jobs_changed(const JobChange& change);
  void room_changed(const RoomChange& change);
  // That of visitors' tokens. `client`: the address that asked for it.
  void room_secret_replaced(std::string_view client, std::uint64_t number, std::string_view how);
  // By its holder, who says why.
  void ticket_cancelled(std::string_view room, std::string_view ticket, std::string_view reason);
  void job(const JobLine& line);
  // A peer that is not in trusted_peers sends X-Forwarded-For: mostly a load balancer that was
  // forgotten there, but anybody may. So it is told of the first peers only, once each.
  void untrusted_forwarding(std::string_view peer);
  bool tells_untrusted_forwarding() const {
    return untrusted_.left.load(std::memory_order_relaxed) > 0;
  }
  void message(Level level, std::string_view text);
  void access(const AccessLine& line);

  // As a process ends many requests end at once, each with a line. From here on each thread that
  // writes one waits while the queue is short of room, for `most` in all: an output that takes
  // nothing must not hold up the end, nor one worker's burst take the others' time. Only the first
  // call counts.
  void lose_none(Milliseconds most = kMostWait);

  // Lines lost since the start: the queue was full, or they could not be written.
  std::uint64_t dropped() const;

 private:
  static constexpr std::size_t kUntrustedTold = 3;
  struct Untrusted {
    std::atomic<std::size_t> left{kUntrustedTold};
    // Of the peers that were told of, by which a request of theirs sees that without a lock; 0:
    // none.
    std::array<std::atomic<std::size_t>, kUntrustedTold> hashes{};
    std::mutex mutex;
  };

  bool is_written(Level level) const;
  void write(Level level, std::string_view fields);
  void wait_for_room();

  const std::size_t queued_lines_;
  std::atomic<Milliseconds::rep> most_wait_{0};  // of lose_none(), of each thread
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::logger> logger_;
  Untrusted untrusted_;
};

}  // namespace spillway::observe
