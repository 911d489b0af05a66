// The log: one JSON object a line, written by a thread of its own.
//
// Every method may be called from any thread and never waits for the output: when the queue is
// full the oldest line is lost and counted. Whatever a client sent is escaped, so that each line
// is valid JSON and valid UTF-8 whatever the bytes were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/outcome.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "observe/server_failure.hpp"
#include "overload/decision_record.hpp"
#include "overload/signals.hpp"
#include "overload/state.hpp"

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

// What became of one server, for all requests.
enum class ServerEvent : std::uint8_t {
  ejected,              // it failed too often in a row
  returned,             // the first success after that
  circuit_opened,       // of one worker
  circuit_closed,       // likewise
  health_check_failed,  // it is unwell from now on
  health_check_passed,  // it is well again
};

// A server that failed a request. Views need to live only during the call.
struct FailureLine {
  std::string_view upstream;
  std::string_view server;
  ServerFailure kind{};
  std::string_view detail;     // what was wrong; empty: the kind says it all
  std::uint64_t left_out = 0;  // of the same kind and server, since the last line
};

// One request, for the access log. Views and pointers need to live only during the call.
struct AccessLine {
  std::string_view client;  // its address
  std::string_view peer;    // who spoke for it, where that is another
  std::string_view method;
  std::string_view path;  // without the query; cut at 256 bytes
  std::string_view route;
  std::string_view traffic_class;
  std::string_view tenant;  // cut at 64 bytes
  unsigned status = 0;      // 0: closed without an answer
  Outcome outcome{};
  std::optional<Outcome> shadow;  // how it would have ended if this were not shadow mode
  Reason reason = Reason::none;
  std::string_view error;      // RFC 9209 error type of an answer of our own; empty: it was none
  std::string_view detail;     // what was wrong; empty: nothing
  std::string_view server;     // the last that was asked, which gave the answer if any did
  std::uint32_t attempts = 0;  // how often servers were asked, connections that failed included
  const overload::DecisionRecord* decision = nullptr;  // null: it came to none
  TimePoint arrived{};                                 // what the record's deadline counts from
  Duration wait{};
  Duration duration{};
  std::string_view request_id;
  std::uint64_t bytes = 0;  // of the response's body
  std::string_view mode;    // of a degraded answer; empty: it was none
  std::string_view cache;   // what the route's cache did for it; empty: the route has none
};

class Log {
 public:
  static constexpr std::size_t kQueuedLines = 8192;

  // Writes to stderr what `config.level` admits.
  explicit Log(const config::Log& config);
  // The same to another sink.
  Log(const config::Log& config, std::shared_ptr<spdlog::sinks::sink> sink,
      std::size_t queued_lines = kQueuedLines);
  // Writes what is still queued; where nobody reads it, for a second at most.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void started(std::string_view version, std::size_t workers);
  // `what` is "proxy" or "admin".
  void listening(std::string_view what, std::string_view address, std::uint16_t port);
  void transition(std::string_view upstream, overload::State from, overload::State to,
                  Reason reason, const overload::OverloadSignals& signals);
  void draining(std::size_t connections, Milliseconds timeout);
  void stopped(Duration uptime);
  void reloaded(std::uint64_t generation);
  void reload_failed(std::string_view path, std::string_view problem);  // once for each problem
  void set_level(const config::Log& config);
  // `reason`: the kind of its last failure, the result of its health check, "success".
  void server_event(ServerEvent what, std::string_view upstream, std::string_view server,
                    std::string_view reason);
  void server_failure(const FailureLine& line);
  void message(Level level, std::string_view text);
  void access(const AccessLine& line);

  // Lines lost since the start: the queue was full, or they could not be written.
  std::uint64_t dropped() const;

 private:
  void write(Level level, std::string_view fields);

  std::shared_ptr<spdlog::details::thread_pool> pool_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace spillway::observe
