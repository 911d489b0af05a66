#include "system/wire/player.hpp"

#include <exception>
#include <utility>

#include "system/wire/client.hpp"
#include "system/wire/reading.hpp"

namespace spillway::wire {

using support::Deadline;
using support::Milliseconds;

namespace {

// For a proxy to end the connection of a client that has said it is done.
constexpr Milliseconds kFarewell{250};
// For what happens in the background.
constexpr Milliseconds kEventually{3000};

std::string another_request(bool is_head) {
  return std::string(is_head ? "HEAD " : "GET ") + std::string(kAnother) +
         " HTTP/1.1\r\nHost: a.example\r\n\r\n";
}

void read_what_is_due(const Step& step, Client& client, Observation& seen, Milliseconds patience) {
  client.read_until([&] { return client.garbled() || seen.responses.size() >= step.due(); },
                    patience);
  if (step.wants_open() && !client.ended() && seen.rest.empty()) {
    client.send(another_request(step.is_head()), patience);
    client.read_until([&] { return seen.responses.size() > step.due(); }, patience);
    if (seen.responses.size() == step.due() + 1) {
      const Message& last = seen.responses.back();
      seen.stays_open = last.status() == 200 && (step.is_head() || last.body == kAnotherBody);
      if (seen.stays_open) seen.responses.pop_back();
    }
  } else if (step.wants_closed()) {
    client.read_until([] { return false; }, patience);
  }
  seen.closed = client.ended();
  // Whatever else the proxy took for a request gets its answer now.
  client.half_close();
  client.read_until([] { return false; }, kFarewell);
}

void read_what_arrived(Origin::Recorded recorded, Observation& seen) {
  for (std::size_t n = 0; n < recorded.received.size(); ++n) {
    const std::string& bytes = recorded.received[n];
    Reading reading = read_strictly(bytes);
    if (!reading.trouble.empty()) {
      seen.origin_trouble = reading.trouble;
    } else if (const std::size_t lenient = lenient_count(bytes); lenient != reading.begun) {
      seen.origin_trouble = std::to_string(reading.begun) + " requests when it is strict and " +
                            std::to_string(lenient) + " when it is lenient";
    }
    seen.begun += reading.begun;
    for (Message& request : reading.requests) {
      if (request.target() == kAnother) continue;
      seen.requests.push_back(std::move(request));
      seen.doors.push_back(recorded.doors[n]);
    }
  }
  seen.received = std::move(recorded.received);
}

}  // namespace

Player::Player(const Case& played, std::size_t number, const Lane& lane, Milliseconds patience)
    : case_(played),
      lane_(lane),
      patience_(patience),
      base_(played.route() + "/" + std::to_string(number)) {}

void Player::go_on() {
  for (bool is_first = true; !ended(); is_first = false) {
    const Step& step = case_.steps()[next_];
    if (step.is_later() && !is_first) return;
    ++next_;
    verdict_ = verdict_on(step);
    if (case_.steps().size() > 1 && !verdict_.empty()) {
      verdict_ = "step " + std::to_string(next_) + ": " + verdict_;
    }
  }
}

Verdict Player::verdict_on(const Step& step) {
  try {
    const Deadline deadline(kEventually);
    Verdict verdict = step.verdict(play(step));
    while (step.is_eventual() && !verdict.empty() && !deadline.passed()) {
      verdict = step.verdict(play(step));
    }
    return verdict;
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

Observation Player::play(const Step& step) {
  Observation seen;
  Origin& origin = *lane_.origin;
  origin.begin(case_.answers(), turn_);
  {
    Client client(step.is_trusted() ? lane_.trusting_port : lane_.port, step.is_head(), origin,
                  seen);
    for (const Act& act : step.acts()) {
      switch (act.kind) {
        case Act::Kind::send:
          seen.got_early = !seen.interim.empty() || !seen.responses.empty();
          client.send(with_base(act.bytes, base_), patience_);
          break;
        case Act::Kind::await_interim:
          client.read_until([&] { return !seen.interim.empty() || !seen.responses.empty(); },
                            patience_);
          break;
        case Act::Kind::await_response:
          client.read_until([&] { return !seen.responses.empty(); }, patience_);
          break;
        case Act::Kind::await_origin: origin.wait_head(patience_); break;
        case Act::Kind::await_answered: origin.wait_answered(patience_); break;
        case Act::Kind::half_close: client.half_close(); break;
        case Act::Kind::leave: break;
      }
    }
    if (!step.has_left()) read_what_is_due(step, client, seen, patience_);
  }
  Origin::Recorded recorded = origin.end();
  turn_ = recorded.turn;
  read_what_arrived(std::move(recorded), seen);
  return seen;
}

}  // namespace spillway::wire
