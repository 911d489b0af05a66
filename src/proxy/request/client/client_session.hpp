// The client's side of one request, whatever the version of HTTP: head, body and response. The
// implementation frames messages to the client (Http1Session: HTTP/1).
//
// Operations do not block: if one would, its caller parks on readable() or writable()
// (net/parking.hpp).
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "http/field/cookie.hpp"
#include "http/message/error.hpp"
#include "http/message/head.hpp"
#include "http/outgoing/local_response.hpp"
#include "http/outgoing/problem.hpp"
#include "http/outgoing/rewrite.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/owner/client_info.hpp"

namespace spillway::proxy {

class Successor;

// Bodies up to this size are read before a slot is taken (and can be sent again). Up to as much of
// a refused request's body is read and discarded to keep the connection.
inline constexpr std::size_t kSmallBody = 64 * 1024;

// A piece of the request's body.
struct BodyPiece {
  enum class Status : std::uint8_t { done, would_block, client_gone, invalid };
  Status status = Status::done;
  std::size_t bytes = 0;                  // done: may be 0, in a chunk's size or at the end
  http::Error error = http::Error::none;  // why it is invalid
};

// The state of a request's slot while the client should take bytes of its response.
enum class ItsSlot : std::uint8_t {
  waits_too,  // it waits for the client alone
  is_used,    // the upstream is being read, since there is room
};

class ClientSession {
 public:
  // --- The request.
  virtual http::RequestHead& request() = 0;
  virtual const ClientInfo& client() const = 0;
  // The head as received; another request can be made from it.
  virtual std::string_view head_text() const = 0;
  // Removes cookies from the head, as if the client had not sent them. Views of the head become
  // invalid; its framing must be checked again. An error if the rest is not a valid head.
  virtual http::Error extract_cookies(const http::CookieFilter& is_taken) = 0;

  // --- Its body, as forwarded to the upstream: in the framing that the head names.
  // Begins to read the body, at most `limit` bytes of content. `at_hand`: the part received with
  // the head; valid until the next receive_body().
  virtual BodyPiece start_body(std::uint64_t limit, std::string_view& at_hand) = 0;
  // `into`: must be longer than BodyReader::kMostHeld if the body is chunked.
  virtual BodyPiece receive_body(std::span<char> into) = 0;
  virtual bool is_body_complete() const = 0;
  virtual Source& readable() = 0;

  // --- The response. Each of these writes a head, which is sent with the first bytes of the body;
  // false: the largest block has no room for it. The session fills in what depends on its version
  // of HTTP and on the connection (client_version, keep_alive, dechunk, date).
  virtual bool start_relayed(const http::ResponseHead& head, http::ForwardedResponse with) = 0;
  virtual bool start_cached(const http::StoredHead& head, bool not_modified,
                            http::ForwardedResponse with) = 0;
  virtual bool start_fallback(const http::FallbackHead& head, http::ForwardedResponse with) = 0;
  // A response of the proxy itself, head and body. `is_next_known`: whether it is known where the
  // next request begins.
  virtual void start_problem(http::Problem problem, bool is_next_known) = 0;
  // The client gets an upstream's chunked body without its framing.
  virtual bool dechunks(const http::Framing& framing) const = 0;

  // Sends the rest of the head, then `body`; IoResult::bytes counts only the body.
  virtual IoResult send(std::string_view body) = 0;
  virtual IoResult send_from(Pipe& pipe) = 0;
  virtual Source& writable() = 0;
  virtual bool has_pending_head() const = 0;
  // Bytes of a final response have gone to the client.
  virtual bool has_started() const = 0;
  virtual unsigned status() const = 0;  // of that response; 0: none yet
  virtual std::uint64_t body_bytes_sent() const = 0;
  // Around each wait for the client to take bytes: its rate counts (limits.min_rate_bytes).
  // `its_slot`: whether the request's slot waits for the client too (limits.slot_rate_bytes).
  virtual void begin_client_turn(ItsSlot its_slot) = 0;
  virtual void end_client_turn() = 0;

  // Passes on an interim response if the client's version of HTTP has them. False: client gone.
  virtual Task<bool> send_interim(const http::ResponseHead& head) = 0;
  // Switches the connection to another protocol: passes on the 101.
  enum class Switched : std::uint8_t { done, head_too_large, client_gone };
  virtual Task<Switched> send_switching(const http::ResponseHead& head,
                                        const http::ForwardedSwitch& with) = 0;
  // From then on the successor owns the connection, on which the last response has begun.
  virtual void hand_over(std::unique_ptr<Successor> successor) = 0;

  // --- What happens to the connection afterwards.
  // Like Stream::give_up_after().
  virtual void give_up_after(Milliseconds untaken) = 0;
  // The connection closes after this response.
  virtual void close_after_response() = 0;
  // Closes without a response, or without the rest of it.
  virtual void close_now() = 0;
  // Closes with a reset, so that a truncated response does not look complete.
  virtual void abort() = 0;
  virtual bool is_open() const = 0;

 protected:
  ~ClientSession() = default;
};

class SendToClient final : Retry {
 public:
  SendToClient(Parking& parking, ClientSession& session, std::string_view body, Until until)
      : parking_(parking), session_(session), body_(body), until_(until) {}

  bool await_ready() { return try_again(); }
  void await_suspend(std::coroutine_handle<> coroutine) {
    is_clients_turn_ = true;
    session_.begin_client_turn(ItsSlot::waits_too);
    parking_.suspend(coroutine, until_, session_.writable(), *this);
  }
  bool await_resume() {
    if (std::exchange(is_clients_turn_, false)) session_.end_client_turn();
    return status_ == IoResult::Status::done;
  }
  // Why it ended before all was sent; then, unlike after a failure, it may be awaited again. If it
  // did not wait last, Parking::why() is of an earlier wait.
  bool was_woken() const { return would_block(Wake::ready); }  // by the pump of the request's body
  bool has_timed_out() const { return would_block(Wake::timeout); }

 private:
  bool would_block(Wake why) const {
    return status_ == IoResult::Status::would_block && parking_.why() == why;
  }

  bool try_again() override {
    while (session_.has_pending_head() || !body_.empty()) {
      const IoResult result = session_.send(body_);
      status_ = result.status;
      if (result.status != IoResult::Status::done) return status_ != IoResult::Status::would_block;
      body_.remove_prefix(result.bytes);
    }
    status_ = IoResult::Status::done;
    return true;
  }

  Parking& parking_;
  ClientSession& session_;
  std::string_view body_;
  Until until_;
  IoResult::Status status_ = IoResult::Status::would_block;
  bool is_clients_turn_ = false;
};

// Sends the rest of the response's head, and all of `body`. False: the client is gone.
[[nodiscard]] inline SendToClient send_to_client(Parking& parking, ClientSession& session,
                                                 std::string_view body, Until until = {}) {
  return {parking, session, body, until};
}

// The same while the request's body may still be on its way: when its pump ends, that wakes the
// wait.
[[nodiscard]] inline Task<bool> send_beside_body(Parking& parking, ClientSession& session,
                                                 std::string_view body = {}) {
  SendToClient rest(parking, session, body, {.client_gone = true});
  for (;;) {
    const bool sent = co_await rest;
    if (!rest.was_woken()) co_return sent;
  }
}

}  // namespace spillway::proxy
