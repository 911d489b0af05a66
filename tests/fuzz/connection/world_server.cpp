// The server's side of a world.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fuzz/chunk_reference.hpp"
#include "fuzz/claim.hpp"
#include "fuzz/connection/reading.hpp"
#include "fuzz/connection/socket_end.hpp"
#include "fuzz/connection/stand_in.hpp"
#include "fuzz/connection/world.hpp"
#include "fuzz/plain_head.hpp"

namespace spillway::fuzz {
namespace {

constexpr std::size_t kMostPieces = 300;

}  // namespace

bool World::move_server(Connection& connection) {
  if (connection.descriptor < 0) return false;
  bool any = false;
  if (!connection.proxy_ended) {
    const Got got = receive(connection.descriptor, connection.received);
    connection.proxy_ended = got == Got::end;
    if (got == Got::something) read_requests(connection);
    any = got != Got::nothing;
    if (got == Got::end) close(connection);
  }
  return answer(connection) || any;
}

void World::read_requests(Connection& connection) {
  while (connection.reading != nullptr ? go_on_reading(connection) : begin_arrival(connection)) {
  }
}

// A head has come.
bool World::begin_arrival(Connection& connection) {
  const std::string_view rest = std::string_view(connection.received).substr(connection.read);
  if (connection.tunnel != nullptr) {
    connection.tunnel->tunnelled += rest;
    connection.read = connection.received.size();
    return false;
  }
  const std::size_t end = rest.find("\r\n\r\n");
  if (end == rest.npos) return false;
  if (!connection.unanswered.empty()) cut_short(connection);
  Arrival& arrival = arrivals_.emplace_back();
  arrival.connection = static_cast<std::size_t>(
      std::distance(connections_.begin(),
                    std::find_if(connections_.begin(), connections_.end(),
                                 [&](const Connection& each) { return &each == &connection; })));
  arrival.head = rest.substr(0, end + 4);
  arrival.framing = plain_framing(plain_head(arrival.head));
  connection.read += arrival.head.size();
  connection.reading = &arrival;
  AnswerPlan plan;
  if (!plans_.empty()) {
    plan = plans_.front();
    plans_.pop_front();
  }
  const std::vector<unsigned> ids = marks_in(arrival.head, 'q');
  arrival.answer = plan.text(ids.empty() ? 0 : ids.front(), arrival.head.starts_with("HEAD "));
  arrival.is_tunnel = plan.switches() && asks_for_tunnel(arrival.head);
  if (arrival.is_tunnel) connection.tunnel = &arrival;
  connection.unanswered.push_back(&arrival);
  connection.plans.push_back(plan);
  connection.due.push_back(plan.when == When::head ? simulated_now() : kNever);
  return true;
}

// A request has come. What is left of the answer before it is not part of that, or it came too
// soon.
void World::cut_short(Connection& connection) {
  Arrival& former = *connection.unanswered.front();
  former.answer.resize(former.answer_sent);
  connection.answered = &former;
  const SentAnswer sent = read_answer(std::string_view(former.answer).substr(0, former.answer_sent),
                                      former.head.starts_with("HEAD "), false);
  require(former.is_complete && sent.is_complete,
          "a request comes once the one before it was answered", connection.received);
  connection.unanswered.pop_front();
  connection.plans.pop_front();
  connection.due.pop_front();
}

// False: the request goes on.
bool World::go_on_reading(Connection& connection) {
  Arrival& arrival = *connection.reading;
  const std::string_view rest = std::string_view(connection.received).substr(connection.read);
  if (arrival.framing.kind == http::Framing::Kind::chunked) {
    const Decoded decoded = decode_chunked(rest, UINT64_MAX, true);
    require(decoded.verdict != Decoded::Verdict::refused, "what is sent on is in chunks", rest);
    arrival.content = decoded.content;
    arrival.is_complete = decoded.verdict == Decoded::Verdict::complete;
    if (arrival.is_complete) connection.read += decoded.consumed;
  } else {
    arrival.content = rest.substr(0, arrival.framing.length);
    arrival.is_complete = arrival.content.size() == arrival.framing.length;
    if (arrival.is_complete) connection.read += arrival.content.size();
  }
  if (!arrival.is_complete) return false;
  connection.reading = nullptr;
  if (!connection.due.empty() && connection.due.front() == kNever) {
    const When when = connection.plans.front().when;
    const Milliseconds delay{when == When::soon ? 30 : when == When::late ? 1200 : 0};
    connection.due.front() = simulated_now() + delay;
  }
  return true;
}

// Sends the next piece of the answer that is due.
bool World::answer(Connection& connection) {
  if (connection.unanswered.empty() || connection.descriptor < 0 || connection.has_half_closed ||
      connection.due.front() > simulated_now())
    return false;
  Arrival& arrival = *connection.unanswered.front();
  const AnswerPlan& plan = connection.plans.front();
  const std::size_t whole = arrival.answer.size();
  const std::size_t end = plan.ending == Ending::cut       ? whole * 2 / 3
                          : plan.ending == Ending::nothing ? 0
                                                           : whole;
  if (arrival.answer_sent < end) {
    const std::string_view rest = std::string_view(arrival.answer)
                                      .substr(arrival.answer_sent, end - arrival.answer_sent)
                                      .substr(0, std::max(plan.piece, whole / kMostPieces));
    const std::size_t taken = send(connection.descriptor, rest);
    arrival.answer_sent += taken;
    if (arrival.answer_sent < end) return taken > 0;
  }
  end_answer(connection);
  return true;
}

void World::end_answer(Connection& connection) {
  const AnswerPlan plan = connection.plans.front();
  Arrival& arrival = *connection.unanswered.front();
  std::string more;
  if (plan.ending == Ending::extra) more = stray_text(0);
  if (plan.ending == Ending::garbage) more = "garbage\r\n";
  arrival.answer.resize(arrival.answer_sent);
  arrival.answer.append(more, 0, send(connection.descriptor, more));
  arrival.answer_sent = arrival.answer.size();
  connection.answered = &arrival;
  connection.unanswered.pop_front();
  connection.plans.pop_front();
  connection.due.pop_front();
  // Only by its end does a client know that of an answer without a length.
  const bool is_until_close = !arrival.is_tunnel &&
                              arrival.answer.find("Content-Length") == std::string::npos &&
                              arrival.answer.find("chunked") == std::string::npos;
  if (plan.ending == Ending::half_close) {
    ::shutdown(connection.descriptor, SHUT_WR);
    connection.has_half_closed = arrival.has_server_closed = true;
  }
  if (plan.ending == Ending::close || plan.ending == Ending::cut ||
      plan.ending == Ending::nothing || is_until_close) {
    arrival.has_server_closed = true;
    close(connection);
  }
}

void World::close(Connection& connection) {
  if (connection.descriptor < 0) return;
  ::close(std::exchange(connection.descriptor, -1));
  for (Arrival* const arrival : connection.unanswered) arrival->has_server_closed = true;
  if (connection.answered != nullptr) connection.answered->has_server_closed = true;
}

}  // namespace spillway::fuzz
