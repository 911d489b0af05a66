// The body of a request on its way to the upstream.
//
// A small one is read whole before a slot is taken, so that a slow client holds no slot, and can be
// sent again. A larger one is read ahead as far as there is room (spill.hpp), unless the route
// forbids it or the rest is about to arrive; it is sent only once. The pump
// sends what is more than kSmallBody, and what is still to come, while the response is awaited or
// already relayed. A client that expects 100 (Continue) is told to go on first: were the upstream
// asked, it would hold a slot in silence. The pump is a child coroutine of the exchange and ends
// before it, by itself or stopped.
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
  // `parking`: the exchange's; woken when the pump ends.
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
  // Reads the body, or the beginning of it. A fault when the client does not send it, or sends no
  // valid one.
  Task<std::optional<Fault>> read_ahead();
  // All of it, without framing, for a request that is not sent now; at most `most` bytes and one
  // more. What was read ahead is part of it. A fault as of read_ahead(), or when neither memory nor
  // the temporary file has room. No room is held for what is still to come.
  Task<std::optional<Fault>> read_content(std::string& content, std::uint64_t most);
  // The same, of a body that has at most `most` bytes: 413 at the first that is too much, by its
  // Content-Length before any is read.
  Task<std::optional<Fault>> read_small(std::string& content, std::uint64_t most);
  // The content without a read from the client, if all of it has come and none has been sent.
  // nullopt: that is not so, or it is longer than `most`. What is returned cannot be sent any more.
  std::optional<std::string> take_content(std::uint64_t most);
  // The part sent with the head: all of it, unless the pump sends the rest.
  std::string_view at_hand() const { return at_hand_; }
  bool is_streamed() const { return is_streamed_; }
  // What is read ahead had not all come with the head.
  bool was_waited_for() const { return was_waited_for_; }

  // Sends the rest to the upstream, until it ends or stop_pump().
  void start_pump(Stream& upstream) { pump(upstream); }
  void stop_pump();
  bool is_pumping() const { return pump_ == Pump::running; }
  // The same, and more of it is to come from the client.
  bool is_receiving() const { return is_pumping() && !session_.is_body_complete(); }
  // All of it has been read from the client and sent.
  bool is_sent() const { return !is_streamed_ || pump_ == Pump::done; }
  // When the pump sent the last of it.
  TimePoint sent_at() const { return sent_at_; }
  // Why the pump failed, which ends the request.
  const std::optional<Fault>& fault() const { return fault_; }

  // For the sweep:
  void wake_if_late(TimePoint now);
  // When the client, before the slot, will have sent too little of it to keep its connection at
  // limits.connections: limits.min_rate_bytes, without grace. kNever: it is not the client's turn.
  TimePoint connection_deadline() const { return connection_rate_.deadline(); }
  // When the client, before the slot, will have sent too little of it to keep its disk space while
  // other bodies find none. kNever: it is not the client's turn.
  TimePoint space_deadline() const { return space_rate_.deadline(); }
  bool keeps_space(TimePoint now) const { return spill_.keeps_space(now); }
  // When the client will have been too slow for a slot for which others wait; then
  // take_slot_back().
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
  Spill spill_;  // what has come behind that before the slot was taken
  bool is_read_ahead_ = false;
  bool is_streamed_ = false;
  bool was_waited_for_ = false;
  bool is_kept_ = false;  // it is not sent on: none of it waits for a slot
  Pump pump_ = Pump::none;
  resilience::MinRate connection_rate_;  // of the client before that
  resilience::MinRate space_rate_;       // likewise
  resilience::MinRate slot_rate_;        // of the client while the pump runs
  bool is_clients_turn_ = false;
  TimePoint sent_at_{};
  std::optional<Fault> fault_;
};

}  // namespace spillway::proxy
