// An upstream whose behaviour is a play: a function called for each connection, on a thread of its
// own, that reads and answers as the test wants. Everything received is kept.
//
//   Event go;
//   ScriptedPeer peer([&](PeerConnection& proxy) {
//     while (proxy.read_request()) {
//       if (!proxy.wait(go)) return;
//       proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
//     }
//   });
//
// The connection is closed when the function returns. The peer's end interrupts every wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/event.hpp"
#include "support/message.hpp"

namespace spillway::support {

class ScriptedPeer;

class PeerConnection {
 public:
  // Which connection of the peer's this is, from 0 in the order they were accepted.
  std::size_t number() const { return number_; }

  // A whole request; nullopt when the connection ends (or the peer does) instead.
  std::optional<Message> read_request();
  // Its head alone; what follows is read with read_bytes() or read_until().
  std::optional<Message> read_head();
  std::optional<std::string> read_bytes(std::size_t size);
  // Up to and including `end`.
  std::optional<std::string> read_until(std::string_view end);
  // Reads and forgets; false when the connection ended first. For bodies too large to keep.
  bool skip_bytes(std::uint64_t size);

  // False when the proxy has closed the connection.
  bool send(std::string_view bytes);
  // True when the event came; false when the peer ends or patience does.
  bool wait(const Event& event);
  // True when the proxy closes the connection in time; what it sends before that is read.
  bool wait_closed(Milliseconds within = kPatience);
  // The connection ended by a reset instead of the end of the stream.
  bool was_reset() const { return was_reset_; }
  // True when the other side's kernel has taken all that was sent; false after a reset, or too
  // late.
  bool wait_taken();

  void half_close();
  void reset();  // closes with RST; return from the script after that

 private:
  friend class ScriptedPeer;
  PeerConnection(ScriptedPeer& peer, int socket, std::size_t number)
      : peer_(peer), socket_(socket), number_(number) {}
  // False at the end of the connection, of the peer or of patience.
  bool read_some(const Deadline& deadline);
  bool wait_ready_or_end(int descriptor, short events, const Deadline& deadline);

  ScriptedPeer& peer_;
  int socket_;
  std::size_t number_;
  std::string pending_;
  bool ended_ = false;
  bool was_reset_ = false;
  bool keep_ = true;
};

class ScriptedPeer {
 public:
  using Script = std::function<void(PeerConnection&)>;

  // What the peer has seen so far.
  struct Seen {
    std::size_t connections = 0;        // in all
    std::size_t open = 0;               // now
    std::size_t most_open = 0;          // at once
    std::size_t requests = 0;           // heads read
    std::vector<std::string> received;  // bytes by connection
  };

  // Listens on a free port of 127.0.0.1.
  explicit ScriptedPeer(Script script);
  // Answers every request with these bytes.
  explicit ScriptedPeer(std::string response);
  ~ScriptedPeer();
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  Seen seen() const;
  std::size_t open() const;      // as seen().open, without a copy of all bytes
  std::size_t requests() const;  // likewise
  bool wait_until(const std::function<bool(const Seen&)>& condition,
                  Milliseconds within = kPatience) const;

 private:
  friend class PeerConnection;
  void accept_all();
  void play(int socket, std::size_t number);

  Script script_;
  std::uint16_t port_ = 0;
  int listener_;
  Event ending_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Seen seen_;
  std::list<std::thread> players_;  // only touched by the acceptor until it has ended
  std::thread acceptor_;
};

// A port of 127.0.0.1 that refuses connections for as long as this lives.
class RefusingPort {
 public:
  RefusingPort();
  // This one, as a server that has just died there: nobody else is given it meanwhile.
  explicit RefusingPort(std::uint16_t port);
  ~RefusingPort();
  RefusingPort(const RefusingPort&) = delete;
  RefusingPort& operator=(const RefusingPort&) = delete;
  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  std::uint16_t port_ = 0;
  int socket_;
};

}  // namespace spillway::support
