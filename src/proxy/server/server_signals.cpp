// Server::serve_until_signalled(): signals, draining, and the notifications to the service manager.
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <string>

#include "proxy/server/server_parts.hpp"
#include "proxy/server/supervisor.hpp"

namespace spillway::proxy {

namespace asio = boost::asio;

namespace {

constexpr Milliseconds kDrainCheckInterval{10};

// One line for the operator: the result of a reload, and what is served.
std::string status_after(const ReloadResult& result, const std::string& listening) {
  if (result.problems.empty()) return listening;
  const config::Problem& first = result.problems.front();
  const std::size_t more = result.problems.size() - 1;
  return "reload refused: " + first.path + ": " + first.message +
         (more == 0 ? "" : " (and " + std::to_string(more) + " more)") + "; as before " + listening;
}

}  // namespace

// Runs on the thread that called serve_until_signalled().
class Server::SignalLoop {
 public:
  explicit SignalLoop(Server& server) : server_(server), parts_(*server.parts_) {
    parts_.on_reload = [this](const ReloadResult& result) {
      const std::string status = status_after(result, parts_.listening_status());
      asio::post(io_, [this, status] { on_reloaded(status); });
    };
    wait_for_signal();
  }

  // Returns when the server is to be stopped.
  void run() {
    status_ = parts_.listening_status();
    supervisor_.ready(status_);
    supervisor_.feed_watchdog(parts_.heartbeats());
    io_.run();
  }

 private:
  bool is_draining() const { return drain_until_ != kNever; }

  void wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code&, int signal) {
      on_signal(signal);
      wait_for_signal();
    });
  }

  void on_signal(int signal) {
    if (signal == SIGINT || (signal == SIGTERM && is_draining())) {
      supervisor_.stopping("ending at once");
      io_.stop();
    } else if (signal == SIGTERM) {
      supervisor_.stopping("finishing what runs");
      drain_until_ = Clock::now() + parts_.generations.current()->config.limits.drain_timeout;
      server_.begin_drain();
      check_drained();
    } else if (is_draining()) {
      parts_.log.reload_failed("$", "draining: the configuration stays as it is");
    } else {
      reload();
    }
  }

  void reload() {
    supervisor_.reloading(Clock::now());
    ++reloading_;
    parts_.reloader.request([this](const ReloadResult&) {
      asio::post(io_, [this] {
        // READY=1 ends the last of overlapping reloads, and must not follow STOPPING=1.
        if (--reloading_ == 0 && !is_draining()) supervisor_.ready(status_);
      });
    });
  }

  // A reload by SIGHUP reports its status with READY=1, one by POST /reload reports it here.
  void on_reloaded(const std::string& status) {
    status_ = status;
    if (reloading_ == 0 && !is_draining()) supervisor_.status(status_);
  }

  void check_drained() {
    if (server_.drained()) return io_.stop();
    if (Clock::now() >= drain_until_) {
      parts_.log.message(observe::Level::warn, "drain timeout: closing the rest");
      return io_.stop();
    }
    timer_.expires_after(kDrainCheckInterval);
    timer_.async_wait([this](const boost::system::error_code&) { check_drained(); });
  }

  Server& server_;
  Parts& parts_;
  asio::io_context io_{1};
  asio::signal_set signals_{io_, SIGTERM, SIGINT, SIGHUP};
  asio::steady_timer timer_{io_};
  Supervisor supervisor_{io_};
  TimePoint drain_until_ = kNever;
  int reloading_ = 0;  // reloads by SIGHUP that have not ended
  std::string status_;
};

int Server::serve_until_signalled() {
  SignalLoop loop(*this);  // before start(): it handles signals from here on
  start();
  loop.run();
  stop();
  parts_->log.stopped(Clock::now() - parts_->started);
  return 0;
}

}  // namespace spillway::proxy
