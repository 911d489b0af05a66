// The server side of HTTP/1 (RFC 9112) on one active connection: reads one request after the other,
// passes each to an exchange, frames its response, and decides whether the connection persists. An
// idle connection has no session; a worker pools the objects.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>

#include "cache/rules/cache_key.hpp"
#include "http/message/body.hpp"
#include "http/message/request_reader.hpp"
#include "proxy/exchange/event_stream.hpp"
#include "proxy/exchange/exchange.hpp"
#include "proxy/net/block_pool.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/client/send_rate_monitor.hpp"
#include "proxy/request/client/silence.hpp"
#include "proxy/request/client/successor.hpp"
#include "proxy/request/owner/client_connection.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/swept.hpp"

namespace spillway::proxy {

class Http1Session final : public ClientSession, public Swept {
 public:
  Http1Session(Services& services, const http::HeadLimits& limits);
  ~Http1Session() = default;

  // Serves requests until the connection is idle or closed, then gives the object back to the
  // worker.
  Detached serve(ClientPtr client);

  // ClientSession:
  http::RequestHead& request() override { return head_; }
  const ClientInfo& client() const override { return client_->info(); }
  std::string_view head_text() const override { return reader_.head(block_.bytes()); }
  http::Error extract_cookies(const http::CookieFilter& is_taken) override;
  BodyPiece start_body(std::uint64_t limit, std::string_view& at_hand) override;
  BodyPiece receive_body(std::span<char> into) override;
  bool is_body_complete() const override { return body_.done(); }
  Source& readable() override { return client_->readable(); }
  bool start_relayed(const http::ResponseHead& head, http::ForwardedResponse with) override;
  bool start_cached(const http::StoredHead& head, bool not_modified,
                    http::ForwardedResponse with) override;
  bool start_fallback(const http::FallbackHead& head, http::ForwardedResponse with) override;
  void start_problem(http::Problem problem, bool is_next_known) override;
  bool dechunks(const http::Framing& framing) const override;
  IoResult send(std::string_view body) override;
  IoResult send_from(Pipe& pipe) override;
  Source& writable() override { return client_->writable(); }
  bool has_pending_head() const override { return !response_.pending.empty(); }
  bool has_started() const override { return response_.has_started; }
  unsigned status() const override {
    return response_.is_relayed && !response_.has_started ? 0 : response_.status;
  }
  std::uint64_t body_bytes_sent() const override { return response_.body_bytes; }
  void begin_client_turn(ItsSlot its_slot) override;
  void end_client_turn() override { rate_.stop(services_.now()); }
  Task<bool> send_interim(const http::ResponseHead& head) override;
  Task<Switched> send_switching(const http::ResponseHead& head,
                                const http::ForwardedSwitch& with) override;
  void hand_over(std::unique_ptr<Successor> successor) override;
  void close_after_response() override;
  void close_now() override { next_ = Next::closed; }
  void give_up_after(Milliseconds untaken) override { client_->give_up_after(untaken); }
  void abort() override;
  bool is_open() const override { return client_->open(); }

  // Owned:
  OwnedKind kind() const override { return OwnedKind::session; }
  // Swept:
  void wake_if_late(TimePoint now) override;
  int watched_client() override;
  void client_left() override { parking_.wake(Wake::client_gone); }
  std::optional<AwaitedHead> awaited_head() const override;
  bool mark_slot() override;
  bool keeps_to(const Generation& generation) const override;
  void end_early() override;
  void abandon() override;

  // Null at the very beginning and the very end.
  ClientConnection* connection() { return client_.get(); }
  const ClientConnection* connection() const { return client_.get(); }

  // Its request holds a slot, and the slot waits for its client.
  bool keeps_slot_waiting() const {
    return exchange_ && exchange_->holds_slot() &&
           (rate_.keeps_slot_waiting() || exchange_->body().awaits_client());
  }

  // What the end of the process cuts off; to be called before abandon(). A request is logged.
  enum class CutOff : std::uint8_t { nothing, request, event_stream };
  CutOff cut_off();

  // Whether, and since when, it waits for its client while the client does not wait for it.
  Silence silence(TimePoint now);
  // Ends the session to make room for new connections. `at`: from silence(). A request that has not
  // been answered gets 408, a response that is cut off ends with a reset; no lingering close.
  void give_way(Silence::At at);

 private:
  enum class Head : std::uint8_t { none, request, fault };
  // What happens to the connection after the request.
  enum class Next : std::uint8_t { keep, close, closed };
  struct Response {
    std::string_view pending;  // rest of its head, in the out block
    std::size_t content = 0;   // that many bytes at the end of `pending` are content
    unsigned status = 0;
    bool is_own = false;      // a problem or the route's fallback
    bool is_relayed = false;  // the upstream's: no status until bytes of it have gone
    bool is_final = false;
    bool has_started = false;
    std::uint64_t body_bytes = 0;
  };

  Task<Head> read_head(Fault& fault);
  Exchange& begin_exchange();
  Task<> serve_event_stream();
  Task<> end_request();
  bool has_next_request();
  Task<> close_lingering();
  bool has_unread_body() const;
  Task<bool> skip_answered_body();
  enum class Discarded : std::uint8_t { nothing, some, all, failed };
  Task<bool> discard(std::size_t most, Duration in_all, Duration without_bytes);
  template <class Receive>
  Task<bool> discard(Receive receive, Duration in_all, Duration without_bytes);
  void finish();
  void begin_request();
  bool grow_block();
  struct CheckedPiece {
    BodyPiece piece;           // as forwarded to the upstream
    std::size_t consumed = 0;  // of the received bytes
  };
  CheckedPiece check_body(std::string_view received, char* out);
  bool makes_room();
  void plan_local_reply(bool may_keep);
  bool skip_body();
  template <class Write>
  bool start(unsigned status, const Write& write);
  bool abort_if_client_too_slow(TimePoint now);
  std::optional<resilience::SlotLoad> update_slot_terms(TimePoint now);
  bool gives_slot_to_others(const resilience::SlotLoad& load, TimePoint now);
  bool sends_too_slowly_for_space(TimePoint now);
  bool abort_if_too_slow_for_space(TimePoint now);

  Services& services_;
  std::coroutine_handle<> frame_;  // serve()
  Parking parking_;
  ClientPtr client_;
  Block block_;  // holds the head, unchanged while it is served, and bytes after it
  http::RequestReader reader_;
  http::RequestHead head_;
  http::BodyReader body_{{}, 0, http::BodyReader::MessageKind::request};
  bool is_body_started_ = false;
  bool is_input_lost_ = false;  // bytes of the next request did not fit, or stay unread
  Block out_block_;
  Response response_;
  SendRateMonitor rate_;  // of the client as it receives a response
  Silence silence_;       // while a head is awaited, or after the answer
  Next next_ = Next::keep;
  std::uint32_t requests_in_a_row_ = 0;
  cache::CacheKey cache_key_;  // its memory is reused
  std::optional<Exchange> exchange_;
  std::optional<EventStream> event_stream_;
  std::unique_ptr<Successor> successor_;  // takes over the connection at the end
};

}  // namespace spillway::proxy
