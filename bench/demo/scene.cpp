#include "scene.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "admin_watch.hpp"
#include "bench/load/client.hpp"

namespace spillway::demo {
namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kRow{1};
constexpr Milliseconds kRedraw{200};
constexpr Milliseconds kBacklogStep{500};           // longer than the watch's interval
constexpr std::chrono::seconds kMostPatience{120};  // with a backlog

std::string_view phase_at(std::span<const load::Phase> phases, Duration at) {
  for (const load::Phase& phase : phases) {
    if (at <= phase.length) return phase.name;
    at -= phase.length;
  }
  return "drain";
}

// A redrawn row must not wrap, or every redraw would start a new line.
bool fits_terminal(std::size_t width) {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= width;
}

class Screen {
 public:
  Screen(const Scene& scene, Tally& tally, const AdminWatch* admin, const Paint& paint)
      : scene_(scene), tally_(tally), admin_(admin), paint_(paint) {
    redraws_ =
        paint.on && fits_terminal(row(kRow, "", {}, kRow, std::nullopt, Paint{}).size() + 50);
  }

  static asio::awaitable<void> follow(Screen& screen, asio::io_context& io, TimePoint start) {
    asio::steady_timer timer(io);
    const Duration step = screen.redraws_ ? Duration(kRedraw) : Duration(kRow);
    for (TimePoint due = start + step;; due += step) {
      timer.expires_at(due);
      co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
      screen.update(due - start);
    }
  }

 private:
  void update(Duration at) {
    const CountsByKind recent = tally_.take_recent();
    for (std::size_t kind = 0; kind < load::kKindCount; ++kind) second_[kind].add(recent[kind]);
    const bool complete = at % kRow == Duration::zero();
    const Duration span = complete ? Duration(kRow) : at % kRow;
    const std::optional<ProxyView> view = admin_ != nullptr ? admin_->latest() : std::nullopt;
    if (redraws_) std::cout << "\r\x1b[K";
    std::cout << row(at, phase_at(scene_.phases, at), second_, span, view, paint_);
    if (complete) {
      std::cout << '\n';
      second_ = {};
    }
    std::cout << std::flush;
  }

  const Scene& scene_;
  Tally& tally_;
  const AdminWatch* admin_;
  const Paint& paint_;
  bool redraws_;
  CountsByKind second_;
};

// Until everything that the proxy has deferred is done.
asio::awaitable<void> await_backlog(const AdminWatch& admin, Tally& tally) {
  const TimePoint ended = Clock::now();
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (Clock::now() - ended < kMostPatience) {
    timer.expires_after(kBacklogStep);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    const std::optional<ProxyView> view = admin.latest();
    if (!view || !view->deferred || *view->deferred == 0) co_return;
    Backlog backlog{*view->deferred, view->done.value_or(0), std::nullopt};
    const bool is_empty = backlog.done >= backlog.deferred;
    if (is_empty) backlog.empty_after = Clock::now() - ended;
    tally.set_backlog(backlog);
    if (is_empty) co_return;
  }
}

asio::awaitable<void> run_and_stop(load::Client& client, TimePoint start, asio::io_context& io,
                                   const AdminWatch* admin, Tally& tally) {
  co_await client.run(start);
  if (admin != nullptr) co_await await_backlog(*admin, tally);
  io.stop();
}

}  // namespace

Tally play(const Scene& scene, std::string_view title, const Paint& paint) {
  std::cout << '\n' << paint.strong(std::string(title)) << '\n' << heading(paint) << std::endl;
  Tally tally(scene.phases.size());
  asio::io_context io(1);
  load::Client client(io, scene.target, scene.arrivals, tally);
  std::optional<AdminWatch> admin;
  if (scene.admin) {
    admin.emplace(io, *scene.admin);
    asio::co_spawn(io, AdminWatch::follow(*admin), asio::detached);
  }
  Screen screen(scene, tally, admin ? &*admin : nullptr, paint);
  const TimePoint start = Clock::now();
  asio::co_spawn(io, Screen::follow(screen, io, start), asio::detached);
  asio::co_spawn(io, run_and_stop(client, start, io, admin ? &*admin : nullptr, tally),
                 asio::detached);
  io.run();
  if (paint.on) std::cout << '\n';
  return tally;
}

}  // namespace spillway::demo
