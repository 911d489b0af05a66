// A step of a case: what a client does on one connection, what the origin answers meanwhile, and
// what must come of it.
//
//   sends("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled())
//       .refused({400})
//       .closed()
//
// The client acts in order, then reads the responses that are due and looks whether the connection
// stays open. Expectations come last; `or_else()` begins another list of them, and one whole list
// must hold.
//
// Always expected: no more responses than are due; nothing behind the last one; no response framed
// in two ways; what reached the origin is valid to the letter, and a lenient reader finds as many
// requests in it as a strict one.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "system/wire/messages.hpp"
#include "system/wire/reading.hpp"

namespace spillway::wire {

// What a step showed to the client and to the origin.
struct Observation {
  std::vector<Message> interim;    // 1xx
  std::vector<Message> responses;  // complete ones
  std::string rest;                // the bytes behind them
  bool closed = false;             // by the proxy, before the client said that it was done
  bool reset = false;
  bool stays_open = false;  // another request on the connection got its own answer
  bool got_early = false;   // interim or response had come before the client sent its last piece
  std::vector<Message> requests;      // complete ones, strictly read, without that other request
  std::vector<Door> doors;            // of each, where it came in
  std::vector<std::string> received;  // by the origin, connection by connection
  std::size_t begun = 0;              // requests of which at least a byte reached the origin
  std::string origin_trouble;         // of a strict or a lenient reader
};

// What went wrong, as a clause; empty: nothing.
using Verdict = std::string;
using Expectation = std::function<Verdict(const Observation&)>;

struct Act {
  enum class Kind {
    send,
    await_interim,
    await_response,
    await_origin,
    await_answered,
    half_close,
    leave
  };
  Kind kind;
  std::string bytes = {};
};

class Step {
 public:
  // The client. In the bytes "{base}" stands for a path that is the case's own.
  Step& sends(std::string bytes);
  Step& byte_by_byte(std::string_view bytes);
  Step& awaits_interim();   // a 1xx
  Step& awaits_response();  // the first final one, or what there will be of it
  Step& awaits_origin();    // the head of the request at the origin
  Step& awaits_answered();  // the last piece of the origin's answer, received or not
  Step& half_closes();
  Step& leaves();  // closes without waiting for anything
  Step& from_trusted_peer();
  Step& later();       // two seconds after the step before: what was fresh for one is stale
  Step& eventually();  // again and again until all expectations hold

  // The origin.
  Step& answered(Answer answer);
  Step& answered(std::string bytes) { return answered(raw(std::move(bytes))); }
  Step& unread_requests();  // may be left with half a request, and is not checked

  // Responses.
  Step& succeeds();                  // 200, unless something is said of the status further on
  Step& responses(std::size_t due);  // 1 unless said
  Step& refused(std::vector<int> statuses = {400});  // and no request reached the origin whole
  Step& passes();                                    // 200, one request at the origin
  Step& status(std::vector<int> any_of);             // of the last response
  Step& status(int expected) { return status(std::vector{expected}); }
  Step& any_status();
  Step& statuses(std::vector<int> in_order);
  Step& bad_gateway() { return status(502); }
  Step& closed();
  Step& open();
  Step& broken_off();  // no complete response but one that says 502 or 504
  Step& body(std::string bytes);
  Step& bodies(std::vector<std::string> in_order);
  Step& with(std::string name);
  Step& with(std::string name, std::string value);
  Step& with_lines(std::string name, std::vector<std::string> values);
  Step& with_part(std::string name, std::string part);
  Step& without(std::string name);
  Step& age(long least, long most = std::numeric_limits<long>::max());  // seconds
  Step& interim(std::vector<int> in_order);
  Step& interim_with(std::string name, std::string value);
  Step& interim_without(std::string name);

  // Requests at the origin, during this step.
  Step& untouched();  // not a byte
  Step& requests(std::size_t complete);
  Step& asked();                             // once
  Step& tried();                             // once or more often
  Step& not_asked();                         // the answer is a stored one
  Step& refreshes();                         // tried, but perhaps only after the response
  Step& asked_line(std::string start_line);  // of the first request, as are these:
  Step& asked_method_and_target(std::string both);
  Step& asked_with(std::string name, std::string value);
  Step& asked_lines(std::string name, std::vector<std::string> values);
  Step& asked_list(std::string name, std::string list);  // its lines joined
  Step& asked_list_begins(std::string name, std::string begin);
  Step& asked_part(std::string name, std::string part);
  Step& asked_without(std::string name);
  Step& asked_raw(std::string line);  // somewhere in the bytes, right behind a line end
  Step& asked_body(std::string bytes);

  // Where the origin numbers its answers (numbered_body()): which one the response is.
  Step& whole();  // one of them, all of it
  Step& answers(std::size_t number) { return body(numbered_body(number)); }
  Step& from_store(std::size_t number) { return answers(number).not_asked(); }
  Step& from_origin(std::size_t number) { return answers(number).asked(); }

  Step& satisfies(Expectation expectation);
  Step& or_else();

  const std::vector<Act>& acts() const { return acts_; }
  const std::vector<Answer>& answers() const { return answers_; }
  std::size_t due() const { return due_; }
  bool is_head() const;     // the client's first request has the method HEAD
  bool breaks_off() const;  // the client leaves or half closes
  bool has_left() const { return !acts_.empty() && acts_.back().kind == Act::Kind::leave; }
  bool is_trusted() const { return is_trusted_; }
  bool is_later() const { return is_later_; }
  bool is_eventual() const { return is_eventual_; }
  bool wants_open() const { return wants_open_; }
  bool wants_closed() const { return wants_closed_; }
  bool wants_stored() const { return wants_stored_; }

  Verdict verdict(const Observation& seen) const;

 private:
  Step& act(Act act);
  void forget_default_status();
  Verdict verdict_on_rules(const Observation& seen) const;

  std::vector<Act> acts_;
  std::vector<Answer> answers_;
  std::vector<std::vector<Expectation>> alternatives_{1};
  std::size_t due_ = 1;
  bool is_trusted_ = false;
  bool is_later_ = false;
  bool is_eventual_ = false;
  bool has_default_status_ = false;  // the first expectation is that of succeeds()
  bool wants_open_ = false;
  bool wants_closed_ = false;
  bool wants_stored_ = false;
  bool checks_origin_ = true;
};

inline Step sends(std::string bytes) { return Step().sends(std::move(bytes)); }

}  // namespace spillway::wire
