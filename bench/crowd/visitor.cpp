#include "bench/crowd/visitor.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "bench/crowd/order.hpp"
#include "bench/crowd/status.hpp"

namespace spillway::crowd {
namespace asio = boost::asio;

namespace {

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kPatience{10};  // with one answer
// As the waiting page does: never earlier than told, and not all at once.
constexpr double kJitter = 0.3;
// A visitor that polls this many times later than told may have been absent: absence begins at 2.5.
constexpr double kLate = 2;
constexpr std::string_view kNavigation =
    "Accept: text/html\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-Dest: document\r\n";
constexpr std::string_view kFetch =
    "Accept: application/json\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n"
    "Sec-Fetch-Dest: empty\r\n";

}  // namespace

Visitor::Visitor(const Place& place, std::size_t number, std::uint64_t seed)
    : place_(place),
      script_(script_of(number, seed)),
      random_(seed + number),
      connection_(place.io),
      timer_(place.io),
      deadline_(place.io),
      cookie_name_("spillway-" + place.venue.room) {
  record_.manner = script_.manner;
}

std::string Visitor::own_path(std::string_view part) const {
  return fmt::format("/_spillway/rooms/{}/{}", place_.venue.room, part);
}

void Visitor::fail(std::string what) {
  record_.failure = std::move(what);
  end(Fate::failed);
}

asio::awaitable<void> Visitor::pause(Visitor& v, Duration time) {
  v.timer_.expires_after(time);
  co_await v.timer_.async_wait(kNoThrow);
}

asio::awaitable<Visitor::Asked> Visitor::ask(Visitor& v, std::string_view method, std::string path,
                                             std::string_view fields) {
  std::string request = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}", method, path,
                                    v.place_.proxy.port(), fields);
  if (!v.cookie_.empty()) request += fmt::format("Cookie: {}={}\r\n", v.cookie_name_, v.cookie_);
  if (method == "POST") request += "Content-Length: 0\r\n";
  request += "\r\n";
  if (!v.connection_.is_reusable()) v.connection_.reset();
  v.deadline_.expires_after(kPatience);
  v.deadline_.async_wait([self = v.shared_from_this()](auto error) {
    if (!error) self->connection_.reset();
  });
  Asked asked;
  asked.span.from = Clock::now();
  asked.reply = co_await load::Connection::ask(v.connection_, v.place_.proxy, std::move(request));
  asked.span.to = Clock::now();
  v.deadline_.cancel();
  if (!asked.reply.failure.empty()) {
    v.fail(fmt::format("{} {}: {}", method, path, asked.reply.failure));
    co_return asked;
  }
  asked.status = asked.reply.response.result_int();
  if (auto cookie = cookie_of(asked.reply.response, v.cookie_name_)) v.cookie_ = std::move(*cookie);
  co_return asked;
}

asio::awaitable<Visitor::Asked> Visitor::ask_for_page(Visitor& v) {
  Asked asked = co_await ask(v, "GET", v.place_.venue.page, kNavigation);
  if (asked.status != 0 && asked.status != 200 && asked.status != 503)
    v.fail(fmt::format("the page: status {}", asked.status));
  co_return asked;
}

void Visitor::inside() {
  end(Fate::inside);
  record_.was_inside = true;
  ++place_.counters.entered;
}

asio::awaitable<void> Visitor::visit(std::shared_ptr<Visitor> v) {
  const bool is_inside = co_await come_in(*v);
  if (is_inside) {
    v->inside();
    co_await look_around(*v);
  }
  v->connection_.reset();
}

asio::awaitable<bool> Visitor::come_in(Visitor& v) {
  const Asked first = co_await ask_for_page(v);
  if (v.record_.fate == Fate::failed) co_return false;
  v.record_.arrived = first.span;
  if (first.status == 200) {
    v.record_.called = first.span;
    co_return true;
  }
  const auto poll = told_to_wait(first.reply.response);
  const std::string_view state = state_of_page(first.reply.response.body());
  if (state == "full") {
    v.end(Fate::refused);
    co_return false;
  }
  if (v.script_.manner == Manner::glancing) {
    v.end(Fate::gone);
    co_return false;
  }
  if (state.empty() || !poll) {
    v.fail("503 without a waiting page, or without Retry-After");
    co_return false;
  }
  v.end(Fate::waiting);
  const bool is_in = co_await wait_in_line(v, *poll, first.span.to);
  co_return is_in;
}

asio::awaitable<bool> Visitor::wait_in_line(Visitor& v, Duration poll, TimePoint heard) {
  const TimePoint began = heard;
  for (;;) {
    co_await pause(v, from_seconds(to_seconds(poll) * (1 + kJitter * v.random_.uniform())));
    const bool is_tired =
        v.script_.manner == Manner::impatient && Clock::now() - began >= v.script_.patience;
    if (is_tired) {
      v.end(Fate::gone);
      co_return false;
    }
    const Asked polled = co_await ask(v, "GET", v.own_path("ticket"), kFetch);
    ++v.place_.counters.polls;
    if (to_seconds(polled.span.to - heard) > kLate * to_seconds(poll)) v.record_.was_late = true;
    heard = polled.span.to;
    const Turn turn = v.read(polled);
    if (turn == Turn::never) co_return false;
    poll = told_to_wait(polled.reply.response).value_or(poll);
    if (turn == Turn::not_yet) continue;
    const Asked page = co_await ask_for_page(v);
    if (v.record_.fate == Fate::failed) co_return false;
    if (page.status == 200) {
      v.record_.entered = page.span;
      co_return true;
    }
    poll = told_to_wait(page.reply.response).value_or(poll);  // called, and no room yet
    heard = page.span.to;
  }
}

// What it is told, and whether it asks for the page itself now.
Visitor::Turn Visitor::read(const Asked& polled) {
  if (record_.fate == Fate::failed) return Turn::never;
  const auto status = parse_status(polled.reply.response.body());
  if (polled.status != 200 || !status) {
    fail(fmt::format("its status: {}", polled.status));
    return Turn::never;
  }
  const std::string& state = status->state;
  if (state == "full") {
    end(Fate::refused);
    return Turn::never;
  }
  if (state == "arrived" || state == "expired" || state == "cancelled") {
    // Three calls missed, and its ticket has ended.
    if (script_.manner == Manner::elsewhere && record_.called) {
      end(Fate::gone);
    } else {
      fail("lost its place");
    }
    return Turn::never;
  }
  const bool is_in_line = state == "waiting" || state == "processing";
  if (is_in_line && !record_.joined) record_.joined = polled.span;
  if (state == "waiting") return Turn::not_yet;
  if (!record_.called) {
    record_.called = status->claim_remaining
                         ? called_at(polled.span, place_.venue.claim, *status->claim_remaining)
                         : polled.span;
  }
  return script_.manner == Manner::elsewhere ? Turn::not_yet : Turn::enter;
}

asio::awaitable<void> Visitor::look_around(Visitor& v) {
  const bool is_short = v.script_.manner == Manner::glancing;
  for (std::size_t look = 1; look <= v.script_.looks && !is_short; ++look) {
    co_await pause(v, v.script_.pause);
    const bool is_order = v.script_.buys && look == v.script_.looks;
    const std::string_view method = is_order ? "POST" : "GET";
    const Asked asked =
        co_await ask(v, method, v.place_.venue.page + (is_order ? "/buy" : "/sold"), kFetch);
    if (v.record_.fate == Fate::failed) co_return;
    if (asked.status != 200) {
      v.fail(fmt::format("inside, and then {} {} was answered {}", method, v.place_.venue.page,
                         asked.status));
      co_return;
    }
  }
  if (v.script_.manner != Manner::closing && !is_short) {
    const Asked left = co_await ask(v, "POST", v.own_path("leave"), "Spillway-Leave: 1\r\n");
    if (v.record_.fate == Fate::failed) co_return;
    if (left.status != 204) {
      v.fail(fmt::format("leaving was answered {}", left.status));
      co_return;
    }
  }
  v.end(Fate::left);
}

}  // namespace spillway::crowd
