#include "proxy/visitors/visitor_status.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/time_text.hpp"

namespace spillway::proxy {

std::string_view name(VisitorStatus::State state) {
  constexpr std::array<std::string_view, 11> names{"arrived",   "offered", "waiting",  "processing",
                                                   "fulfilled", "full",    "closed",   "cancelled",
                                                   "ended",     "expired", "elsewhere"};
  return names[static_cast<std::size_t>(state)];
}

VisitorStatus status_of(const waiting::TicketId& id, const waiting::WaitingRoom::View& view) {
  using State = VisitorStatus::State;
  VisitorStatus status{.state = State::waiting, .poll = view.poll, .id = id, .view = view};
  if (view.state == waiting::TicketState::processing) status.state = State::processing;
  if (view.state == waiting::TicketState::fulfilled) status.state = State::fulfilled;
  return status;
}

VisitorStatus status_of(const waiting::TicketId& id, const waiting::End& end) {
  using State = VisitorStatus::State;
  return {.state = is_expiry(end.why) ? State::expired : State::cancelled,
          .poll = {},
          .id = id,
          .view = {},
          .end = end};
}

VisitorStatus status_of(Reason limit, Milliseconds later) {
  return {.state = VisitorStatus::State::arrived,
          .poll = later,
          .id = {},
          .view = {},
          .end = {},
          .limit = limit};
}

VisitorStatus status_without_place(VisitorAt at) {
  using State = VisitorStatus::State;
  return at.room.with(
      at.now, [&at](waiting::WaitingRoom& room, waiting::Time now) -> VisitorStatus {
        if (room.orders().has_ended)
          return {.state = State::ended, .poll = at.settings.page.poll.max};
        const bool is_open = room.has_to_wait(now);
        return {.state = is_open ? State::arrived : State::closed, .poll = stamp_poll(at.settings)};
      });
}

VisitorStatus status_at_end(const waiting::TicketId& id, const waiting::End& end, VisitorAt at) {
  using State = VisitorStatus::State;
  VisitorStatus now = status_without_place(at);
  now.end = end;
  if (now.state == State::ended || (now.state == State::closed && is_expiry(end.why))) return now;
  VisitorStatus over = status_of(id, end);
  over.poll = now.poll;
  return over;
}

VisitorStatus status_of(const SharedWaitingRoom::Asked& asked, const waiting::Token& ticket,
                        VisitorAt at) {
  if (asked.later) return status_of(Reason::poll_limit, *asked.later);
  if (asked.view) return status_of(ticket.id, *asked.view);
  return asked.end ? status_at_end(ticket.id, *asked.end, at) : status_without_place(at);
}

VisitorStatus turned_away(waiting::WaitingRoom::Door door, const SharedWaitingRoom& room,
                          const config::WaitingRoom& settings, const waiting::UserKey& user) {
  using Door = waiting::WaitingRoom::Door;
  using State = VisitorStatus::State;
  VisitorStatus status{.state = State::full, .poll = settings.page.poll.max};
  if (door == Door::ended) status.state = State::ended;
  if (door != Door::taken) return status;
  status.state = State::elsewhere;
  status.id = room.held_by(user);
  return status;
}

namespace {

// Its requirement and its resource. Names have no characters that JSON escapes.
void add_allotment(std::string& text, const waiting::View& view, waiting::Time now) {
  const waiting::Allotment& its = *view.allotment;
  const auto left = [&](std::string_view name, Milliseconds time) {
    const std::int64_t count = std::max<std::int64_t>(time.count(), 0);
    text.append("\"").append(name).append("\":").append(std::to_string(count)).append(",");
  };
  text.append("\"type\":\"").append(its.type).append("\",");
  if (!its.resource.empty()) text.append("\"resource\":\"").append(its.resource).append("\",");
  left("duration_ms", its.duration);
  if (its.max_wait > Milliseconds(0))
    left("remaining_max_wait_ms", view.joined + its.max_wait - now);
  if (view.state == waiting::TicketState::fulfilled) left("session_remaining_ms", its.until - now);
}

}  // namespace

std::string to_json(const VisitorStatus& status, std::string_view room,
                    const waiting::Orders& notice, waiting::Time now, std::string_view more) {
  std::string text = "{";
  text += more;
  const auto member = [&text](std::string_view key, auto value) {
    text.append("\"").append(key).append("\":").append(std::to_string(value)).append(",");
  };
  text.append("\"room\":\"").append(room).append("\",\"state\":\"").append(name(status.state));
  text += "\",";
  if (status.id) text.append("\"id\":\"").append(to_text(*status.id)).append("\",");
  using State = VisitorStatus::State;
  const bool has_place = status.state == State::waiting || status.state == State::processing;
  if (status.view && has_place) {
    const waiting::WaitingRoom::View& view = *status.view;
    member("waited_ms", std::max<std::int64_t>((now - view.joined).count(), 0));
    if (view.may_reserve) text += "\"may_reserve\":true,";
    if (view.is_reserved) text += "\"reserved\":true,";
    if (status.state == State::waiting) {
      if (view.why != waiting::Why::none)
        text.append("\"why\":\"").append(name(view.why)).append("\",");
      if (view.begins)
        member("begins_in_ms", std::max<std::int64_t>((*view.begins - now).count(), 0));
      if (!view.is_drawn_later) {
        member("ahead", view.ahead);
        member("position", view.ahead + 1);
      }
      if (view.estimate) {
        text += "\"estimate\":{";
        member("p10_ms", view.estimate->p10.count());
        member("p90_ms", view.estimate->p90.count());
        text.back() = '}';
        text += ',';
      }
    }
    if (status.state == State::processing) {
      member("claim_remaining_ms", std::max<std::int64_t>((view.claim_until - now).count(), 0));
      member("extensions_left", view.extensions);
    }
  }
  if (status.view && status.view->allotment) add_allotment(text, *status.view, now);
  if (status.end) {
    text.append("\"reason\":\"").append(name(status.end->why)).append("\",\"ended_at\":\"");
    text.append(spillway::to_text(status.end->at)).append("\",");
  }
  if (!notice.message.empty()) {
    const nlohmann::json quoted = notice.message;
    text += "\"message\":";
    text += quoted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    text += ',';
  }
  if (status.challenge) {
    text += "\"challenge\":{\"algorithm\":\"SHA-256\",";
    member("work_bits", status.challenge->work_bits);
    text.append("\"prefix\":\"").append(status.challenge->prefix()).append("\"},");
  }
  if (status.poll > Milliseconds(0)) member("poll_ms", status.poll.count());
  text.back() = '}';
  text += '\n';
  return text;
}

}  // namespace spillway::proxy
