// A case of the conformance table: one sentence of an RFC (or one promise of ours) as a short play
// of bytes, between a client and a backend with the proxy between them.
//
//   must("9112 6.1", "Transfer-Encoding in an HTTP/1.0 request is not believed")
//       .sends("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled())
//       .refused({400})
//       .closed()
//
// The client does what it is told, in order, then reads what is due and looks whether the
// connection stays open. The backend answers each request with what the case gave it, or else with
// 200 and "ok", and keeps every byte it got. What must hold comes last; `or_else()` begins another
// list of things of which all may hold instead.
//
// Always holds, unless the case says otherwise: no more responses come than are due; nothing
// follows the last one; no response is framed in two ways; what the backend got is valid to the
// letter, and a lenient reader finds as many requests in it as a strict one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/held_table.hpp"
#include "support/message.hpp"
#include "system/wire/messages.hpp"
#include "system/wire/recording.hpp"

namespace spillway::conformance {

using Lines = std::vector<std::string>;

using support::Level;

// What came of it.
struct Seen {
  std::vector<Message> interim;    // 1xx
  std::vector<Message> responses;  // complete ones
  std::string rest;                // what came behind them
  bool closed = false;             // by the proxy, before the client said that it was done
  bool reset = false;
  bool stays_open = false;  // another request on the connection got its own answer
  bool got_early = false;   // interim or response had come before the client sent its last piece
  std::vector<Message> requests;      // complete ones, strictly read, without that other request
  std::vector<std::string> received;  // by the backend, connection by connection
  std::size_t begun = 0;              // requests that the backend got at least a byte of
  std::string backend_trouble;        // of a strict or a lenient reader
};

// What is wrong, as a clause; empty when nothing is.
using Check = std::function<std::string(const Seen&)>;

struct Act {
  enum class Kind {
    send,
    await_interim,
    await_response,
    await_backend,
    await_answered,
    half_close,
    leave
  };
  Kind kind;
  std::string bytes = {};
};

class Case {
 public:
  Case(Level level, std::string section, std::string sentence);

  // The client.
  Case& sends(std::string bytes);
  Case& awaits_interim();   // a 1xx
  Case& awaits_response();  // the first final one, or what there will be of it
  Case& awaits_backend();   // the head of the request at the backend
  Case& awaits_answered();  // the last piece of the backend's answer, received or not
  Case& half_closes();
  Case& leaves();  // closes without waiting for anything
  Case& byte_by_byte(std::string_view bytes);
  Case& asks_head();  // responses have no body: the method is HEAD
  Case& from_trusted_peer();

  // The backend.
  Case& answered(Answer answer);
  Case& answered(std::string bytes) { return answered(raw(std::move(bytes))); }

  // The outcome.
  Case& responses(std::size_t due);                  // 1 unless said
  Case& refused(std::vector<int> statuses = {400});  // and no request reached the backend whole
  Case& untouched();                                 // not a byte reached the backend
  Case& passes();                                    // 200, one request at the backend
  Case& status(std::vector<int> any_of);             // of the last response
  Case& statuses(std::vector<int> in_order);
  Case& closed();
  Case& open();
  Case& broken_off();  // no complete response but one that says 502 or 504
  Case& bad_gateway() { return status({502}); }
  Case& body(std::string bytes);
  Case& bodies(std::vector<std::string> in_order);
  Case& with(std::string name, std::string value);
  Case& with_lines(std::string name, std::vector<std::string> values);
  Case& with_part(std::string name, std::string part);
  Case& without(std::string name);
  Case& interim(std::vector<int> in_order);
  Case& interim_with(std::string name, std::string value);
  Case& interim_without(std::string name);
  Case& requests(std::size_t complete);
  Case& asked_line(std::string start_line);  // of the first request, as are these:
  Case& asked_method_and_target(std::string both);
  Case& asked_with(std::string name, std::string value);
  Case& asked_lines(std::string name, std::vector<std::string> values);
  Case& asked_part(std::string name, std::string part);
  Case& asked_without(std::string name);
  Case& asked_raw(std::string line);  // somewhere in the bytes, right behind a line end
  Case& asked_body(std::string bytes);
  Case& satisfies(Check check);
  Case& or_else();
  Case& otherwise(std::string reason);  // why Spillway does otherwise on purpose
  Case& unread_requests();  // the backend may be left with half a request, and lint is off for it

  const std::string& sentence() const { return sentence_; }
  const std::string& section() const { return section_; }
  Level level() const { return level_; }
  const std::string& reason() const { return otherwise_; }
  const std::vector<Act>& acts() const { return acts_; }
  const std::vector<Answer>& answers() const { return answers_; }
  std::size_t due() const { return due_; }
  bool is_head() const { return is_head_; }
  bool breaks_off() const;  // the client leaves or half closes
  bool is_trusted() const { return is_trusted_; }
  bool wants_open() const { return wants_open_; }
  bool wants_closed() const { return wants_closed_; }

  std::string wrong_with(const Seen& seen) const;

 private:
  std::string always_wrong_with(const Seen& seen) const;

  Level level_;
  std::string section_;
  std::string sentence_;
  std::vector<Act> acts_;
  std::vector<Answer> answers_;
  std::vector<std::vector<Check>> alternatives_{1};
  std::size_t due_ = 1;
  bool is_head_ = false;
  bool is_trusted_ = false;
  bool wants_open_ = false;
  bool wants_closed_ = false;
  bool lints_backend_ = true;
  std::string otherwise_;
};

Case must(std::string section, std::string sentence);
Case should(std::string section, std::string sentence);
Case may(std::string section, std::string sentence);
Case ours(std::string sentence);

}  // namespace spillway::conformance
