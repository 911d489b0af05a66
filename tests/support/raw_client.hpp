// A client that says exactly the bytes it is told to and shows exactly what it gets back.
//
// Blocking, every wait with a deadline; throws std::runtime_error when something that must happen
// does not (a test case fails by it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/event.hpp"
#include "support/message.hpp"

namespace spillway::support {

class RawClient {
 public:
  // Connects to 127.0.0.1. `receive_buffer`: bytes the kernel may hold for us (0: its own choice);
  // a small one makes a slow client out of one that does not read. `from`: another address of this
  // machine to come from, e.g. "127.0.0.2". `within`: how long to try (0: as long as the kernel
  // does, for minutes where a backlog is full); then std::system_error with std::errc::timed_out.
  explicit RawClient(std::uint16_t port, int receive_buffer = 0, const char* from = nullptr,
                     Milliseconds within = Milliseconds{0});
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  RawClient& send(std::string_view bytes);
  // As much as goes out before the deadline; false when the connection was closed on us.
  bool try_send(std::string_view bytes, Milliseconds within = kPatience);

  Message read_response(Expected expected = Expected::response, Milliseconds within = kPatience);
  Message read_head(Milliseconds within = kPatience);
  std::string read_bytes(std::size_t size, Milliseconds within = kPatience);
  // Everything until end of file or reset. Throws when neither comes in time.
  std::string read_to_end(Milliseconds within = kPatience);

  // send() and read_response() in one.
  Message ask(std::string_view bytes) { return send(bytes).read_response(); }

  void half_close();  // no more from us, but we still listen
  void close();
  void reset();  // closes with RST

  // True when the other side has closed by then and sent nothing that is unread.
  bool is_closed(Milliseconds within = kPatience);
  // True after the other side ended the connection by a reset instead of an orderly close.
  bool was_reset() const { return was_reset_; }
  // True when there are bytes to read by then.
  bool has_bytes(Milliseconds within);

 private:
  enum class Read { some, end, timeout };
  Read read_some(const Deadline& deadline);

  int socket_;
  std::string pending_;
  bool ended_ = false;
  bool was_reset_ = false;
};

// "GET <target> HTTP/1.1", Host and further lines (each with its line end).
std::string get(std::string_view target = "/", std::string_view lines = {});
// A request with a body and its Content-Length.
std::string post(std::string_view target, std::string_view body, std::string_view lines = {});

}  // namespace spillway::support
