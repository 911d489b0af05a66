// The log: one JSON object per line, written by a thread of its own.
//
// Every method may be called from any thread. None waits for the output, except while the process
// ends (lose_none()): if the queue is full, the oldest line is dropped and counted. All texts from
// clients are escaped, so that each line is valid JSON and valid UTF-8 whatever the bytes were.
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
  circuit_opened,       // by one worker
  circuit_closed,       // likewise
  health_check_failed,  // now unhealthy
  health_check_passed,  // healthy again
};

// A failure of a request or of a connection to a server. Views must live only during the call.
template <class Kind>
struct ServerLine {
  std::string_view upstream;
  std::string_view server;
  std::string_view address;  // the one that was tried; logged only if it differs from `server`
  Kind kind{};
  std::string_view detail;     // details; empty: the kind says enough
  std::uint64_t left_out = 0;  // of the same kind and server or upstream, since the last line
};
// A server that failed a request.
using FailureLine = ServerLine<ServerFailure>;
// A connection that failed because this process or machine lacked a resource.
using ShortageLine = ServerLine<LocalShortage>;

// One request, for the access log. Views and pointers must live only during the call.
struct AccessLine {
  struct Request {
    std::string_view id;
    std::string_view client;  // its address
    std::string_view peer;    // the proxy that connected, if its address is another one
    std::string_view method;
    std::string_view path;  // without the query; truncated at 256 bytes
    std::string_view route;
    std::string_view traffic_class;
    std::string_view tenant;  // truncated at 64 bytes
  };
  struct Response {
    unsigned status = 0;      // 0: closed without a response
    std::uint64_t bytes = 0;  // of the body
    std::string_view error;   // RFC 9209 error type of a proxy error; empty: none
    std::string_view detail;  // details of the error; empty: none
    std::string_view mode;    // of a degraded answer; empty: not degraded
    std::string_view cache;   // result of the cache lookup; empty: the route has no cache
  };
  struct Upstream {
    std::string_view server;     // the last one tried; empty: none
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
  std::string_view id;     // its first half: the complete id gives permission to read the response
  std::string_view route;  // empty: not known; then neither are tenant and attempts
  std::string_view tenant;
  jobs::JobState state{};
  jobs::Cause cause{};
  std::uint32_t attempts = 0;
  unsigned status = 0;  // of the upstream's response; 0: none
};

class Log {
 public:
  static constexpr std::size_t kQueuedLines = 8192;
  static constexpr Milliseconds kMostWait{1000};

  // Writes lines of `config.level` and above to stderr.
  explicit Log(const config::Log& config);
  // The same with another sink.
  Log(const config::Log& config, std::shared_ptr<spdlog::sinks::sink> sink,
      std::size_t queued_lines = kQueuedLines);
  // Writes the queued lines, but gives up after a second if the output blocks.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void started(std::string_view version, std::size_t workers);
  // `what` is "proxy" or "admin".
  void listening(std::string_view what, std::string_view address, std::uint16_t port);
  void transition(std::string_view upstream, overload::State from, overload::State to,
                  Reason reason, const overload::OverloadSignals& signals);
  // The tail latency is above its threshold, and lowering the limit has not reduced it.
  void shedding_does_not_help(std::string_view upstream, const overload::OverloadSignals& signals);
  // The upstream is in no overloaded state only because the errors of `signals.left_out` are
  // excluded. The second: this has ended.
  void errors_of_one_source(std::string_view upstream, const overload::OverloadSignals& signals);
  void errors_of_one_source_ended(std::string_view upstream,
                                  const overload::OverloadSignals& signals);
  // The adaptive limit is at `max`, and more requests arrive. The second: this has ended.
  void limit_at_max(std::string_view upstream, std::uint32_t max,
                    const overload::OverloadSignals& signals);
  void limit_at_max_ended(std::string_view upstream, const overload::OverloadSignals& signals);
  void drain_delay(std::size_t connections, Milliseconds delay);
  void draining(std::size_t connections, Milliseconds timeout);
  void stopped(Duration uptime);
  void reloaded(std::uint64_t generation);
  void reload_failed(std::string_view path, std::string_view problem);  // once for each problem
  void set_level(const config::Log& config);
  // `reason`: the kind of its last failure, its health check's result, or "success". `detail`:
  // empty if the reason says enough.
  void server_event(ServerEvent what, std::string_view upstream, std::string_view server,
                    std::string_view reason, std::string_view detail = {});
  void server_failure(const FailureLine& line);
  void local_shortage(const ShortageLine& line);
  // A slow client's body could not be written to a file, so it keeps its slot.
  void temp_file_failed(std::string_view directory, std::string_view problem);
  void jobs_changed(const JobChange& change);
  void room_changed(const RoomChange& change);
  // The secret of visitors' tokens. `client`: the address that requested the change.
  void room_secret_replaced(std::string_view client, std::uint64_t number, std::string_view how);
  // Cancelled by its holder, with the holder's reason.
  void ticket_cancelled(std::string_view room, std::string_view ticket, std::string_view reason);
  void job(const JobLine& line);
  // A peer that is not in trusted_peers sends X-Forwarded-For: usually a load balancer that is
  // missing there, but anybody can. So only the first few peers are logged, once each.
  void untrusted_forwarding(std::string_view peer);
  bool tells_untrusted_forwarding() const {
    return untrusted_.left.load(std::memory_order_relaxed) > 0;
  }
  void message(Level level, std::string_view text);
  void access(const AccessLine& line);

  // When a process ends, many requests end at once, each with a line. From here on, each thread
  // that writes a line waits while the queue is nearly full, for at most `most` in all: a blocked
  // output must not delay the end, nor may one worker's burst use up the others' time. Only the
  // first call counts.
  void lose_none(Milliseconds most = kMostWait);

  // Lines lost since the start: the queue was full, or they could not be written.
  std::uint64_t dropped() const;

 private:
  static constexpr std::size_t kUntrustedTold = 3;
  struct Untrusted {
    std::atomic<std::size_t> left{kUntrustedTold};
    // The hashes of the peers already logged, so that their later requests need no lock; 0:
    // none.
    std::array<std::atomic<std::size_t>, kUntrustedTold> hashes{};
    std::mutex mutex;
  };

  bool is_written(Level level) const;
  void write(Level level, std::string_view fields);
  void wait_for_room();

  const std::size_t queued_lines_;
  std::atomic<Milliseconds::rep> most_wait_{0};  // of lose_none(), for each thread
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::logger> logger_;
  Untrusted untrusted_;
};

}  // namespace spillway::observe
