#include "bench/crowd/crowd.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bench/crowd/live_line.hpp"
#include "bench/load/arrivals.hpp"

namespace spillway::crowd {
namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kLine{1};
constexpr Milliseconds kSiteStep{500};
constexpr Milliseconds kSessionStep{100};  // shorter than the watch's interval: each answer is seen
constexpr Milliseconds kReplaceStep{100};

}  // namespace

Crowd::Crowd(asio::io_context& io, CrowdOptions options)
    : io_(io), options_(std::move(options)), admin_(io, options_.admin) {}

void Crowd::add() {
  const Place place{io_, options_.proxy, options_.venue, counters_};
  auto visitor = std::make_shared<Visitor>(place, came_++, options_.seed);
  visitors_.push_back(visitor);
  if (stays(visitor->record().manner)) ++staying_;
  asio::co_spawn(io_, visit(*this, std::move(visitor)), asio::detached);
}

asio::awaitable<void> Crowd::visit(Crowd& crowd, std::shared_ptr<Visitor> visitor) {
  co_await Visitor::visit(visitor);
  if (stays(visitor->record().manner)) --crowd.staying_;
  if (crowd.options_.ends) co_return;
  const Heads ended = heads_of(std::span(&visitor->record(), 1));
  crowd.departed_.gone += ended.gone;
  crowd.departed_.refused += ended.refused;
  crowd.departed_.failed += ended.failed;
  if (ended.failed > 0) std::cout << "not served: " << visitor->record().failure << std::endl;
  std::erase(crowd.visitors_, visitor);
}

asio::awaitable<void> Crowd::arrive(Crowd& crowd) {
  const CrowdOptions& options = crowd.options_;
  const std::vector<load::Phase> phases{
      {"rush", options.over, static_cast<double>(options.visitors) / to_seconds(options.over)}};
  auto arrivals = load::schedule(phases, options.seed);
  asio::steady_timer timer(crowd.io_);
  for (const load::Arrival& arrival : arrivals) {
    timer.expires_at(crowd.start_ + arrival.at);
    co_await timer.async_wait(kNoThrow);
    crowd.add();
  }
  crowd.all_came_ = true;
  while (!options.ends) {
    timer.expires_after(kReplaceStep);
    co_await timer.async_wait(kNoThrow);
    // One at a time: a crowd that was told at the door comes again little by little.
    if (crowd.visitors_.size() < options.visitors) crowd.add();
  }
}

asio::awaitable<void> Crowd::watch_sessions(Crowd& crowd) {
  asio::steady_timer timer(crowd.io_);
  for (;;) {
    const auto& view = crowd.admin_.latest();
    if (view && view->room)
      crowd.most_sessions_ = std::max(crowd.most_sessions_.value_or(0), view->room->sessions);
    timer.expires_after(kSessionStep);
    co_await timer.async_wait(kNoThrow);
  }
}

asio::awaitable<void> Crowd::ask_site(Crowd& crowd, load::Connection& connection) {
  if (!connection.is_reusable()) connection.reset();
  const load::Reply reply = co_await load::Connection::ask(
      connection, crowd.options_.site, "GET /report HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  crowd.report_ = demo::parse_report(reply.response.body());
}

asio::awaitable<void> Crowd::watch_site(Crowd& crowd) {
  load::Connection connection(crowd.io_);
  asio::steady_timer timer(crowd.io_);
  for (;;) {
    co_await ask_site(crowd, connection);
    timer.expires_after(kSiteStep);
    co_await timer.async_wait(kNoThrow);
  }
}

asio::awaitable<void> Crowd::follow(Crowd& crowd) {
  std::cout << heading() << std::endl;
  asio::steady_timer timer(crowd.io_);
  std::uint64_t polls = 0;
  std::uint64_t answered = 0;
  for (TimePoint due = crowd.start_ + kLine;; due += kLine) {
    timer.expires_at(due);
    co_await timer.async_wait(kNoThrow);
    const std::vector<Record> records = crowd.records();
    Second second{.at = due - crowd.start_, .heads = heads_of(records)};
    second.heads.gone += crowd.departed_.gone;
    second.heads.refused += crowd.departed_.refused;
    second.entered = crowd.counters_.entered;
    second.polls = crowd.counters_.polls - std::exchange(polls, crowd.counters_.polls);
    if (crowd.report_)
      second.answered = crowd.report_->answered - std::exchange(answered, crowd.report_->answered);
    if (crowd.admin_.latest()) second.room = crowd.admin_.latest()->room;
    std::cout << line(second) << std::endl;
  }
}

bool Crowd::is_over() const {
  if (!options_.ends) return false;
  return (all_came_ && staying_ == 0) || Clock::now() - start_ >= options_.longest;
}

asio::awaitable<void> Crowd::run(Crowd& crowd) {
  crowd.start_ = Clock::now();
  asio::co_spawn(crowd.io_, demo::AdminWatch::follow(crowd.admin_), asio::detached);
  asio::co_spawn(crowd.io_, watch_sessions(crowd), asio::detached);
  asio::co_spawn(crowd.io_, watch_site(crowd), asio::detached);
  asio::co_spawn(crowd.io_, follow(crowd), asio::detached);
  asio::co_spawn(crowd.io_, arrive(crowd), asio::detached);
  asio::steady_timer timer(crowd.io_);
  while (!crowd.is_over()) {
    timer.expires_after(kSessionStep);
    co_await timer.async_wait(kNoThrow);
  }
  load::Connection last(crowd.io_);
  co_await ask_site(crowd, last);
  crowd.io_.stop();
}

std::vector<Record> Crowd::records() const {
  std::vector<Record> records;
  records.reserve(visitors_.size());
  for (const auto& visitor : visitors_) records.push_back(visitor->record());
  return records;
}

Findings Crowd::findings(const std::vector<Record>& records) const {
  return {.records = records,
          .active_sessions = options_.venue.active_sessions,
          .most_sessions = most_sessions_,
          .of_site = report_};
}

}  // namespace spillway::crowd
