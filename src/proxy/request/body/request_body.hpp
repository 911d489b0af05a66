// The body of a request on its way to the upstream.
//
// A small one is read completely before a slot is taken, so that a slow client holds no slot, and
// can be sent again. A larger one is read ahead as far as there is room (spill.hpp), unless the
// route forbids it or the rest is about to arrive; it is sent only once. The pump sends the part
// beyond kSmallBody, and bytes that are still to come, while the response is awaited or already
// relayed. A client that expects 100 (Continue) gets it before the upstream is asked: otherwise the
// request would hold a slot while the client stays silent. The pump is a child coroutine of the
// exchange and ends before it, by itself or by stop_pump().
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/block_pool.hpp"
#include "proxy/net/task.hpp"
#include "proxy/net/transfer.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/body/spill.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/client/silence.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "resilience/min_rate.hpp"
#include "resilience/slot_terms.hpp"

namespace spillway::proxy {

class RequestBody {
 public:
  // `parking`: of the exchange; woken when the pump ends.
  RequestBody(Services& services, const RequestContext& request, ClientSession& session,
              Parking& parking)
      : services_(services),
        request_(request),
        session_(session),
        parking_(parking),
        spill_(services, request),
        connection_rate_(std::max<std::uint64_t>(request.limits().min_rate_bytes, 1),
                         kLongestClientSilence, kLongestClientSilence) {}
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;
  ~RequestBody();

  bool has_any() const { return request_.head.framing.kind != http::Framing::Kind::none; }
  // Reads the body, or its beginning. A fault if the client does not send it, or sends it
  // invalid.
  Task<std::optional<Fault>> read_ahead();
  // Reads all of it, without framing, for a request that is not sent now; at most `most` bytes and
  // one more. It includes the bytes that were read ahead. A fault as from read_ahead(), or if
  // neither memory nor the temporary file has room. No room is reserved for bytes still to come.
  Task<std::optional<Fault>> read_content(std::string& content, std::uint64_t most);
  // The same for a body of at most `most` bytes: 413 at the first byte beyond, or before any is
  // read if its Content-Length says so.
  Task<std::optional<Fault>> read_small(std::string& content, std::uint64_t most);
  // The content, without reading from the client, if all of it has come and none has been sent.
  // nullopt: that is not so, or it is longer than `most`. The content cannot be sent afterwards.
  std::optional<std::string> take_content(std::uint64_t most);
  // The part sent with the head: all of it, unless the pump sends the rest.
  std::string_view at_hand() const { return at_hand_; }
  bool is_streamed() const { return is_streamed_; }
  // The part that is read ahead did not come completely with the head.
  bool was_waited_for() const { return was_waited_for_; }

  // Sends the rest to the upstream, until it ends or stop_pump().
  void start_pump(Stream& upstream) { pump(upstream); }
  void stop_pump();
  bool is_pumping() const { return pump_ == Pump::running; }
  // The same, and the client has yet to send more of it.
  bool is_receiving() const { return is_pumping() && !session_.is_body_complete(); }
  // All of it has been read from the client and sent.
  bool is_sent() const { return !is_streamed_ || pump_ == Pump::done; }
  // When the pump sent its last byte.
  TimePoint sent_at() const { return sent_at_; }
  // Why the pump failed, which ends the request.
  const std::optional<Fault>& fault() const { return fault_; }

  // For the sweep:
  void wake_if_late(TimePoint now);
  // When the client, before the slot, will have sent too little to keep its connection at
  // limits.connections: limits.min_rate_bytes, without grace. kNever: it is not the client's turn.
  TimePoint connection_deadline() const { return connection_rate_.deadline(); }
  // When the client, before the slot, will have sent too little to keep its disk space while other
  // bodies find none. kNever: it is not the client's turn.
  TimePoint space_deadline() const { return space_rate_.deadline(); }
  bool keeps_space(TimePoint now) const { return spill_.keeps_space(now); }
  // When the client will be too slow to keep a slot for which others wait; take_slot_back()
  // follows.
  TimePoint slot_deadline() const { return awaits_client() ? slot_rate_.deadline() : kNever; }
  void set_slot_terms(const resilience::SlotTerms& terms, TimePoint now) {
    slot_rate_.change(terms.rate, terms.max_credit, now);
  }
  void take_slot_back();
  // The pump waits for the client.
  bool awaits_client() const { return pump_parking_.parked() && is_clients_turn_; }
  // Ends the pump as if its deadline had passed. False: it is not parked.
  bool end_early();

 private:
  enum class Pump : std::uint8_t { none, running, done, stopped, failed };

  Task<std::optional<Fault>> read_ahead(std::uint64_t limit);
  Task<bool> send_continue();
  Task<std::optional<Fault>> read_start(resilience::MinRate& client_rate);
  bool move_at_hand();
  bool is_buffered() const;
  Task<std::optional<Fault>> read_rest(resilience::MinRate& client_rate);
  bool makes_room(std::uint64_t received, TimePoint began);
  Task<BodyPiece> receive(std::span<char> into, resilience::MinRate& client_rate,
                          bool after_others);
  // Whether there is more to send: if not, the pump has ended, with a fault if that ends the
  // request.
  enum class Pumped : std::uint8_t { goes_on, ended };
  Task<Pumped> send_spilled(Stream& upstream);
  Detached pump(Stream& upstream);
  Task<Pumped> send_on(Stream& upstream, std::string_view bytes);
  void fail(const Fault& fault);
  void wake_exchange();
  resilience::MinRate rate() const;
  TimePoint due(const resilience::MinRate& rate, TimePoint now) const;
  Fault late(const resilience::MinRate& rate);

  Services& services_;
  const RequestContext& request_;
  ClientSession& session_;
  Parking& parking_;
  Parking pump_parking_;
  Block block_;
  std::string_view at_hand_;
  Spill spill_;  // the bytes after that, received before the slot was taken
  bool is_read_ahead_ = false;
  bool is_streamed_ = false;
  bool was_waited_for_ = false;
  bool is_kept_ = false;  // the body is not forwarded now: none of it waits for a slot
  Pump pump_ = Pump::none;
  resilience::MinRate connection_rate_;  // of the client before the slot is taken
  resilience::MinRate space_rate_;       // of the client before the slot is taken
  resilience::MinRate slot_rate_;        // of the client while the pump runs
  bool is_clients_turn_ = false;
  TimePoint sent_at_{};
  std::optional<Fault> fault_;
};

}  // namespace spillway::proxy
