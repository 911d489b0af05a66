// Server::serve_until_signalled(): signals, draining, and the notifications to the service manager.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/server/server_parts.hpp"
#include "proxy/server/supervisor.hpp"

namespace spillway::proxy {

namespace asio = boost::asio;

namespace {

constexpr Milliseconds kDrainCheckInterval{10};
constexpr Milliseconds kAdminRetryInterval{100};
constexpr std::string_view kFinishes = "finishing what runs";

// The last part of a drain, in which jobs are closed and given back, so that the store has them
// before a supervisor's timeout kills the process. Live requests may use this time too.
constexpr Milliseconds time_to_give_back(Milliseconds drain) {
  return std::min(drain / 10, Milliseconds(1000));
}

// One line for the operator: the result of a reload, and the addresses served.
std::string status_after(const ReloadResult& result, const std::string& listening) {
  if (result.problems.empty()) return listening;
  const config::Problem& first = result.problems.front();
  const std::size_t more = result.problems.size() - 1;
  return "reload refused: " + first.path + ": " + first.message +
         (more == 0 ? "" : " (and " + std::to_string(more) + " more)") + "; as before " + listening;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

// For signals with which other servers reopen their log, or replace their program.
std::string ignored(int signal) {
  return signal == SIGUSR1
             ? "SIGUSR1 does nothing: no log file is opened again, the log goes to standard error"
             : "SIGUSR2 does nothing: no program is replaced; SIGHUP reloads the configuration, "
               "SIGTERM drains";
}

}  // namespace

// Runs on the thread that called serve_until_signalled().
class Server::SignalLoop {
  enum class End : std::uint8_t { drained, drain_timeout, at_once };

 public:
  explicit SignalLoop(Server& server) : server_(server), parts_(*server.parts_) {
    parts_.on_reload = [this](const ReloadResult& result) {
      const std::string status = status_after(result, parts_.listening_status());
      asio::post(io_, [this, status] { on_reloaded(status); });
    };
    for (const int signal : {SIGTERM, SIGQUIT, SIGINT, SIGHUP, SIGUSR1, SIGUSR2})
      signals_.add(signal);
    wait_for_signal();
  }

  // Returns when the server should stop.
  void run() {
    status_ = parts_.listening_status();
    await_admin(server_.admin_port() != 0);
    supervisor_.feed_watchdog(parts_.heartbeats());
    io_.run();
  }

  // Call it after the server was stopped.
  void log_end() const {
    const auto& [requests, tunnels] = parts_.cut_off;
    if (end_ == End::drained || (end_ == End::at_once && requests + tunnels == 0)) return;
    const std::string how =
        end_ == End::at_once
            ? "ended at once"
            : "drain timeout after " + std::to_string(drain_timeout_.count()) + " ms";
    parts_.log.message(observe::Level::warn, how + ": closed " + counted(requests, "request") +
                                                 " and " + counted(tunnels, "tunnel"));
  }

 private:
  bool is_ending() const { return parts_.phase.load() != observe::Phase::serving; }

  void wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code&, int signal) {
      on_signal(signal);
      wait_for_signal();
    });
  }

  void on_signal(int signal) {
    const bool drains = signal == SIGTERM || signal == SIGQUIT;
    if (signal == SIGUSR1 || signal == SIGUSR2) {
      parts_.log.message(observe::Level::warn, ignored(signal));
    } else if (signal == SIGINT || (drains && is_ending())) {
      supervisor_.stopping("ending at once");
      stop(End::at_once);
    } else if (drains) {
      begin_end();
    } else if (is_ending()) {
      parts_.log.reload_failed("$", "draining: the configuration stays as it is");
    } else {
      reload();
    }
  }

  // First a load balancer can notice that the end is near, if a delay is configured.
  void begin_end() {
    const Milliseconds delay = parts_.generations.current()->config.limits.drain_delay;
    if (delay == Milliseconds{0}) {
      supervisor_.stopping(kFinishes);
      return drain();
    }
    supervisor_.stopping("not ready, but serving for " + std::to_string(delay.count()) +
                         " ms more");
    server_.begin_drain_delay(delay);
    timer_.expires_after(delay);
    timer_.async_wait([this](const boost::system::error_code&) {
      supervisor_.status(kFinishes);
      drain();
    });
  }

  void drain() {
    drain_timeout_ = parts_.generations.current()->config.limits.drain_timeout;
    drain_until_ = Clock::now() + drain_timeout_;
    jobs_until_ = drain_until_ - time_to_give_back(drain_timeout_);
    server_.begin_drain();
    check_drained();
  }

  void reload() {
    supervisor_.reloading(Clock::now());
    ++reloading_;
    parts_.reloader.request([this](const ReloadResult&) {
      asio::post(io_, [this] {
        if (--reloading_ == 0) end_reload();
      });
    });
  }

  // READY=1 ends the last of overlapping reloads. It must not follow STOPPING=1, nor come before
  // the admin port accepts connections.
  void end_reload() {
    if (is_ending()) return;
    if (server_.admin_port() == 0) return supervisor_.status(status_);
    supervisor_.ready(status_);
  }

  // A reload by SIGHUP reports its status with READY=1, one by POST /reload reports it here.
  void on_reloaded(const std::string& status) {
    status_ = status;
    if (reloading_ == 0 && !is_ending()) supervisor_.status(status_);
  }

  // Ready once both ports accept connections. During the delay before the drain a load balancer
  // still asks for /readyz; during the drain the port is left to the next process.
  void await_admin(bool is_started) {
    if (is_started) {
      if (!is_ending()) supervisor_.ready(status_);
      return;
    }
    admin_timer_.expires_after(kAdminRetryInterval);
    admin_timer_.async_wait([this](const boost::system::error_code&) {
      if (parts_.phase.load() != observe::Phase::draining) await_admin(starts_admin());
    });
  }

  // Requests are served meanwhile: any failure is tried again.
  bool starts_admin() {
    try {
      return parts_.start_admin();
    } catch (const std::exception& error) {
      if (std::exchange(admin_failure_, error.what()) != error.what())
        parts_.log.message(observe::Level::warn, admin_failure_ + "; it is tried again");
      return false;
    }
  }

  void check_drained() {
    if (server_.drained()) return stop(End::drained);
    const TimePoint now = Clock::now();
    if (now >= drain_until_) return stop(End::drain_timeout);
    if (now >= jobs_until_) give_back_jobs();
    timer_.expires_after(kDrainCheckInterval);
    timer_.async_wait([this](const boost::system::error_code&) { check_drained(); });
  }

  void give_back_jobs() {
    jobs_until_ = kNever;
    for (const auto& worker : parts_.workers.all()) worker->give_back_jobs([] {});
  }

  void stop(End end) {
    end_ = end;
    io_.stop();
  }

  Server& server_;
  Parts& parts_;
  asio::io_context io_{1};
  asio::signal_set signals_{io_};
  asio::steady_timer timer_{io_};
  asio::steady_timer admin_timer_{io_};
  std::string admin_failure_;  // the last one that was logged
  Supervisor supervisor_{io_};
  TimePoint drain_until_ = kNever;
  TimePoint jobs_until_ = kNever;  // until then jobs in hand may run; never: they were given back
  Milliseconds drain_timeout_{0};
  End end_ = End::drained;
  int reloading_ = 0;  // reloads by SIGHUP that have not ended
  std::string status_;
};

int Server::serve_until_signalled() {
  SignalLoop loop(*this);  // before start(): it handles signals from here on
  start();
  loop.run();
  stop();
  loop.log_end();
  parts_->log.stopped(Clock::now() - parts_->started);
  return 0;
}

}  // namespace spillway::proxy
