#include "proxy/visitors/visitor_stream.hpp"

#include <array>
#include <utility>

#include "proxy/net/transfer.hpp"
#include "proxy/visitors/visitor_status.hpp"

namespace spillway::proxy {

namespace {

// How often it looks for changes of its place.
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kComment = std::chrono::seconds(15);
constexpr Duration kLongest = std::chrono::minutes(10);
constexpr Duration kLinger = std::chrono::seconds(2);
constexpr int kMostLingered = 64;  // of at most a kilobyte each

// The event for this status, by its name in webhooks; empty: none. `steps`: the steps on the way to
// the front that were sent already.
std::string_view event_of(const VisitorStatus& status, std::uint8_t steps) {
  if (status.end) return is_expiry(status.end->why) ? "expired" : "cancelled";
  switch (status.state) {
    case VisitorStatus::State::waiting: return status.view->steps > steps ? "position" : "";
    case VisitorStatus::State::processing: return "called";
    case VisitorStatus::State::fulfilled: return "fulfilled";
    case VisitorStatus::State::ended: return "cancelled";
    default: return {};
  }
}

}  // namespace

VisitorStream::VisitorStream(Services& services, Parts parts)
    : services_(services),
      parts_(std::move(parts)),
      number_(parts_.room.with(services.now(),
                               [this](waiting::WaitingRoom& room, waiting::Time) {
                                 return room.follow(parts_.ticket.id);
                               })),
      until_(services.now() + kLongest) {}

VisitorStream::News VisitorStream::news() {
  const TimePoint now = services_.now();
  SharedWaitingRoom& room = parts_.room;
  // Another tab has opened a stream. The page does not open another one, or the tabs would
  // supersede each other.
  const bool is_superseded = room.with(now, [this](waiting::WaitingRoom& its, waiting::Time) {
    return its.is_superseded(parts_.ticket.id, number_);
  });
  if (is_superseded) return {"event: superseded\ndata: {}\n\n", true};
  const VisitorStatus status =
      status_of(room.hear(parts_.ticket, now), parts_.ticket, {room, parts_.settings, now});
  const waiting::Orders notice = room.notice(parts_.settings);
  const bool waits = status.view && status.state == VisitorStatus::State::waiting;
  const bool is_news = !waits || status.view->ahead != told_.ahead ||
                       status.view->why != told_.why || notice.changes != told_.notice;
  News news;
  if (is_news) {
    const std::string data =
        "\ndata: " + to_json(status, room.name(), notice, room.time_at(now)) + "\n";
    if (const std::string_view what = event_of(status, told_.steps); !what.empty())
      news.text.append("event: ").append(what).append(data);
    news.text += "event: status" + data;
  } else if (now - told_.at >= kComment) {
    news.text = ":\n\n";  // keeps the connection alive
  }
  if (!news.text.empty()) told_.at = now;
  // Before a start that was put off, the time of an event must not reveal the visitor's position.
  news.is_last = !waits || status.view->begins;
  if (waits) {
    told_.ahead = status.view->ahead;
    told_.why = status.view->why;
    told_.notice = notice.changes;
    told_.steps = status.view->steps;
  }
  return news;
}

void VisitorStream::start(ClientPtr client) {
  services_.owner.begin(*this);
  client_ = std::move(client);
  run();
}

Detached VisitorStream::run() {
  frame_ = co_await OwnFrame{};
  auto how = observe::TunnelEnd::finished;
  TimePoint look = services_.now() + kLook;
  for (;;) {
    Source* const source = reads_ ? &client_->readable() : nullptr;
    const Wake wake = co_await parking_.park({.deadline = look}, source);
    if (wake == Wake::cancelled) break;
    if (wake == Wake::ready) {
      if (has_left()) break;
      continue;
    }
    if (services_.draining) {
      how = observe::TunnelEnd::stopped;
      break;
    }
    const News update = news();
    look = services_.now() + kLook;
    if (!update.text.empty()) {
      const Until until{.deadline =
                            services_.now() + parts_.generation->config().limits.idle_timeout};
      const Transfer sent = co_await send_all(parking_, *client_, update.text, {}, until);
      if (!sent.done()) break;
    }
    if (update.is_last || services_.now() >= until_) break;
  }
  if (!reads_ && how == observe::TunnelEnd::finished) co_await linger();
  client_->close();
  end(how);
  services_.owner.end(*this);
}

// The client has sent bytes that were not read: if the connection were closed at once, the kernel
// would reset it, and the last event might be lost (RFC 9112 section 9.6).
Task<> VisitorStream::linger() {
  client_->shutdown_send();
  const TimePoint until = services_.now() + kLinger;
  std::array<char, 1024> bytes;
  for (int received = 0; received < kMostLingered;) {
    const IoResult result = client_->receive(bytes);
    if (result.status == IoResult::Status::done) {
      ++received;
      continue;
    }
    if (result.status != IoResult::Status::would_block) co_return;
    const Wake wake = co_await parking_.park({.deadline = until}, &client_->readable());
    if (wake != Wake::ready) co_return;
  }
}

// No request follows, so nothing more is read after the first byte. From then on a client that has
// left is only noticed when the next event is sent.
bool VisitorStream::has_left() {
  char byte = 0;
  const IoResult result = client_->receive({&byte, 1});
  if (result.status == IoResult::Status::done) reads_ = false;
  return result.status == IoResult::Status::end || result.status == IoResult::Status::failed;
}

void VisitorStream::wake_if_late(TimePoint now) {
  if (parking_.parked() && parking_.deadline() <= now) parking_.wake(Wake::timeout);
}

bool VisitorStream::keeps_to(const Generation& generation) const {
  return &parts_.generation->generation() == &generation;
}

void VisitorStream::end_early() {
  if (parking_.parked()) parking_.wake(Wake::cancelled);
}

void VisitorStream::abandon() {
  frame_.destroy();
  client_->close();
}

}  // namespace spillway::proxy
