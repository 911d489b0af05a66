#include "observe/log/log.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/pattern_formatter.h>
#include <unistd.h>
#include <functional>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>

#include "config/choices.hpp"
#include "observe/log/descriptor_sink.hpp"
#include "observe/log/log_event.hpp"

namespace spillway::observe {
namespace {

// Texts chosen by clients are truncated so that a line fits JsonLine's block.
constexpr std::size_t kMaxPath = 256;
constexpr std::size_t kMaxMethod = 32;
constexpr std::size_t kMaxRequestId = 128;
constexpr std::size_t kMaxTenant = 64;

// The number of Log objects on which lose_none() has been called.
std::atomic<std::uint64_t> lose_none_calls{0};
// How much of its waiting time a thread has left, for the last call of lose_none().
struct Patience {
  std::uint64_t turn = 0;
  Milliseconds left{};
};

spdlog::level::level_enum to_spdlog(Level level) {
  constexpr std::array kLevels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                               spdlog::level::err};
  return kLevels[index(level)];
}

// The names used in the configuration; spdlog's own are "warning" and "error".
std::string_view name(Level level) {
  constexpr std::array<std::string_view, 4> kNames{"debug", "info", "warn", "error"};
  return kNames[index(level)];
}

struct EventName {
  std::string_view name;
  Level level;
};

EventName name(ServerEvent what) {
  constexpr std::array<EventName, 6> kNames{{{"server_ejected", Level::warn},
                                             {"server_returned", Level::info},
                                             {"circuit_opened", Level::warn},
                                             {"circuit_closed", Level::info},
                                             {"health_check_failed", Level::warn},
                                             {"health_check_passed", Level::info}}};
  return kNames[index(what)];
}

template <class Kind>
JsonLine server_line(std::string_view what, const ServerLine<Kind>& line) {
  JsonLine out = event(Level::warn, what);
  out.text("upstream", line.upstream).text("server", line.server);
  if (line.address != line.server) out.text("address", line.address);
  out.text("reason", name(line.kind));
  if (!line.detail.empty()) out.text("detail", line.detail);
  return out.integer("left_out", line.left_out);
}

// Null if the logger has another sink.
DescriptorSink* descriptor_sink(const spdlog::logger& logger) {
  return dynamic_cast<DescriptorSink*>(logger.sinks().front().get());
}

void add_signal(JsonLine& line, std::string_view key, std::optional<double> value,
                double scale = 1) {
  if (value) line.number(key, *value * scale);
}

void add_signals(JsonLine& line, const overload::OverloadSignals& signals) {
  line.open("signals");
  add_signal(line, "inflight_ratio", signals.inflight_ratio);
  add_signal(line, "queue_ratio", signals.queue_ratio);
  add_signal(line, "queue_wait_p95_ms", signals.queue_wait_p95, 1000);
  add_signal(line, "latency_p95_ms", signals.latency_p95, 1000);
  add_signal(line, "latency_p99_ms", signals.latency_p99, 1000);
  add_signal(line, "latency_p95_ratio", signals.latency_p95_ratio, 1);
  add_signal(line, "error_rate", signals.error_rate);
  add_signal(line, "total_error_rate", signals.total_error_rate);
  add_signal(line, "event_loop_lag_ms", signals.event_loop_lag, 1000);
  line.number("offered_rate", signals.offered_rate)
      .number("completed_rate", signals.completed_rate);
  line.close();
}

void add_decision(JsonLine& line, const overload::DecisionRecord& decision, TimePoint arrived) {
  line.open("decision")
      .text("state", spillway::name(decision.state))
      .text("overload", spillway::name(decision.overload))
      .text("rule", config::name(decision.rule))
      .text("verdict", overload::name(decision.verdict))
      .text("reason", spillway::name(decision.reason))
      .number("probability", decision.probability)
      .number("draw", decision.draw);
  if (decision.predicted_wait)
    line.number("predicted_wait_ms", to_milliseconds(*decision.predicted_wait));
  if (decision.deadline != kNever)
    line.number("deadline_ms", to_milliseconds(decision.deadline - arrived));
  line.integer("limit", decision.limit).close();
}

}  // namespace

JsonLine event(Level level, std::string_view what) {
  JsonLine line;
  line.text("level", name(level)).text("event", what);
  return line;
}

Log::Log(const config::Log& config)
    : Log(config, std::make_shared<DescriptorSink>(STDERR_FILENO)) {}

Log::Log(const config::Log& config, std::shared_ptr<spdlog::sinks::sink> sink,
         std::size_t queued_lines)
    : queued_lines_(queued_lines),
      pool_(std::make_shared<spdlog::details::thread_pool>(queued_lines, 1)),
      logger_(std::make_shared<spdlog::async_logger>(
          "spillway", std::move(sink), pool_, spdlog::async_overflow_policy::overrun_oldest)) {
  logger_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})", spdlog::pattern_time_type::utc, "\n"));
  logger_->set_level(spdlog::level::from_str(config.level));
}

// The queued lines refer to the logger: end their thread first, so that it is certainly gone before
// the logger and its sink.
Log::~Log() {
  if (DescriptorSink* sink = descriptor_sink(*logger_)) sink->finish();
  pool_.reset();
}

bool Log::is_written(Level level) const { return logger_->should_log(to_spdlog(level)); }

void Log::lose_none(Milliseconds most) {
  Milliseconds::rep none = 0;
  if (most_wait_.compare_exchange_strong(none, most.count())) ++lose_none_calls;
}

// Half of the queue is left for other threads that find room at the same time.
void Log::wait_for_room() {
  constexpr Milliseconds kLook{1};
  thread_local Patience its;
  if (const std::uint64_t turn = lose_none_calls.load(); its.turn != turn)
    its = {turn, Milliseconds(most_wait_.load())};
  for (; pool_->queue_size() >= queued_lines_ / 2 && its.left > Milliseconds{0}; its.left -= kLook)
    std::this_thread::sleep_for(kLook);
}

void Log::write(Level level, std::string_view fields) {
  if (!is_written(level)) return;
  if (most_wait_.load(std::memory_order_relaxed) > 0) wait_for_room();
  logger_->log(to_spdlog(level), spdlog::string_view_t(fields.data(), fields.size()));
}

void Log::started(std::string_view version, std::size_t workers) {
  write(
      Level::info,
      event(Level::info, "started").text("version", version).integer("workers", workers).members());
}

void Log::listening(std::string_view what, std::string_view address, std::uint16_t port) {
  write(Level::info, event(Level::info, "listening")
                         .text("listener", what)
                         .text("address", address)
                         .integer("port", port)
                         .members());
}

void Log::transition(std::string_view upstream, overload::State from, overload::State to,
                     Reason reason, const overload::OverloadSignals& signals) {
  const Level level = to > from ? Level::warn : Level::info;
  JsonLine line = event(level, "state_transition");
  line.text("upstream", upstream)
      .text("from", overload::name(from))
      .text("to", overload::name(to))
      .text("reason", spillway::name(reason));
  add_signals(line, signals);
  write(level, line.members());
}

void Log::shedding_does_not_help(std::string_view upstream,
                                 const overload::OverloadSignals& signals) {
  JsonLine line = event(Level::warn, "shedding_does_not_help");
  line.text("upstream", upstream);
  add_signals(line, signals);
  write(Level::warn, line.members());
}

void Log::errors_of_one_source(std::string_view upstream,
                               const overload::OverloadSignals& signals) {
  JsonLine line = event(Level::warn, "errors_of_one_source");
  line.text("upstream", upstream);
  if (signals.left_out) {
    line.text("source", overload::name(signals.left_out->kind))
        .text("name", signals.left_out->name.view())
        .integer("sources", signals.left_out->sources)
        .integer("failed", signals.left_out->failed)
        .integer("finished", signals.left_out->finished);
  }
  add_signals(line, signals);
  write(Level::warn, line.members());
}

void Log::errors_of_one_source_ended(std::string_view upstream,
                                     const overload::OverloadSignals& signals) {
  JsonLine line = event(Level::info, "errors_of_one_source_ended");
  line.text("upstream", upstream);
  add_signals(line, signals);
  write(Level::info, line.members());
}

void Log::limit_at_max(std::string_view upstream, std::uint32_t max,
                       const overload::OverloadSignals& signals) {
  JsonLine line = event(Level::warn, "limit_at_max");
  line.text("upstream", upstream).integer("max", max);
  add_signals(line, signals);
  write(Level::warn, line.members());
}

void Log::limit_at_max_ended(std::string_view upstream, const overload::OverloadSignals& signals) {
  JsonLine line = event(Level::info, "limit_at_max_ended");
  line.text("upstream", upstream);
  add_signals(line, signals);
  write(Level::info, line.members());
}

void Log::drain_delay(std::size_t connections, Milliseconds delay) {
  write(Level::info, event(Level::info, "drain_delay")
                         .integer("connections", connections)
                         .integer("delay_ms", static_cast<std::uint64_t>(delay.count()))
                         .members());
}

void Log::draining(std::size_t connections, Milliseconds timeout) {
  write(Level::info, event(Level::info, "draining")
                         .integer("connections", connections)
                         .integer("timeout_ms", static_cast<std::uint64_t>(timeout.count()))
                         .members());
}

void Log::stopped(Duration uptime) {
  write(Level::info,
        event(Level::info, "stopped").number("uptime_seconds", to_seconds(uptime)).members());
}

void Log::reloaded(std::uint64_t generation) {
  write(Level::info, event(Level::info, "reloaded").integer("generation", generation).members());
}

void Log::reload_failed(std::string_view path, std::string_view problem) {
  write(Level::error,
        event(Level::error, "reload_failed").text("path", path).text("message", problem).members());
}

void Log::set_level(const config::Log& config) {
  logger_->set_level(spdlog::level::from_str(config.level));
}

void Log::server_event(ServerEvent what, std::string_view upstream, std::string_view server,
                       std::string_view reason, std::string_view detail) {
  const EventName named = name(what);
  JsonLine line = event(named.level, named.name);
  line.text("upstream", upstream).text("server", server).text("reason", reason);
  if (!detail.empty()) line.text("detail", detail);
  write(named.level, line.members());
}

void Log::server_failure(const FailureLine& line) {
  write(Level::warn, server_line("server_failure", line).members());
}

void Log::local_shortage(const ShortageLine& line) {
  write(Level::warn, server_line("local_shortage", line).members());
}

void Log::temp_file_failed(std::string_view directory, std::string_view problem) {
  write(Level::warn, event(Level::warn, "temp_file_failed")
                         .text("directory", directory)
                         .text("message", problem)
                         .members());
}

void Log::untrusted_forwarding(std::string_view peer) {
  const std::size_t hash = std::max<std::size_t>(std::hash<std::string_view>{}(peer), 1);
  const auto is_told = [&] {
    return std::ranges::any_of(untrusted_.hashes, [&](const std::atomic<std::size_t>& one) {
      return one.load(std::memory_order_relaxed) == hash;
    });
  };
  if (is_told()) return;
  {
    const std::lock_guard lock(untrusted_.mutex);
    const std::size_t left = untrusted_.left.load(std::memory_order_relaxed);
    if (left == 0 || is_told()) return;
    untrusted_.hashes[left - 1].store(hash, std::memory_order_relaxed);
    untrusted_.left.store(left - 1, std::memory_order_relaxed);
  }
  const std::string message =
      std::string(peer) +
      " sends X-Forwarded-For and is not in trusted_peers: its forwarding fields are ignored";
  write(Level::warn, event(Level::warn, "untrusted_forwarding")
                         .text("peer", peer)
                         .text("message", message)
                         .members());
}

void Log::message(Level level, std::string_view text) {
  write(level, event(level, "message").text("message", text).members());
}

void Log::access(const AccessLine& line) {
  if (!logger_->should_log(spdlog::level::info)) return;
  JsonLine out = event(Level::info, "access");
  const AccessLine::Request& request = line.request;
  out.text("request_id", request.id.substr(0, kMaxRequestId)).text("client", request.client);
  if (!request.peer.empty()) out.text("peer", request.peer);
  out.text("method", request.method.substr(0, kMaxMethod))
      .text("path", request.path.substr(0, kMaxPath))
      .text("route", request.route)
      .text("class", request.traffic_class)
      .text("tenant", request.tenant.substr(0, kMaxTenant));
  const AccessLine::Response& response = line.response;
  out.integer("status", response.status)
      .text("outcome", spillway::name(line.outcome))
      .text("reason", spillway::name(line.reason))
      .number("wait_ms", to_milliseconds(line.wait))
      .number("duration_ms", to_milliseconds(line.duration))
      .integer("bytes", response.bytes);
  if (!response.error.empty()) out.text("error", response.error);
  if (!response.detail.empty()) out.text("detail", response.detail);
  if (!line.upstream.server.empty()) out.text("server", line.upstream.server);
  out.integer("attempts", line.upstream.attempts);
  if (!response.mode.empty()) out.text("mode", response.mode);
  if (!response.cache.empty()) out.text("cache", response.cache);
  if (line.shadow) out.text("shadow", spillway::name(*line.shadow));
  if (line.decision != nullptr) add_decision(out, *line.decision, line.arrived);
  write(Level::info, out.members());
}

std::uint64_t Log::dropped() const {
  const DescriptorSink* const sink = descriptor_sink(*logger_);
  return pool_->overrun_counter() + (sink == nullptr ? 0 : sink->lost());
}

}  // namespace spillway::observe
