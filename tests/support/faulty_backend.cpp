#include "support/faulty_backend.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

namespace spillway::support {

namespace {

using std::string_literals::operator""s;

// One request of those at work, until its answer begins.
class Work {
 public:
  Work(std::atomic<std::size_t>& now, std::atomic<std::size_t>& most) : now_(now) {
    const std::size_t with_this = ++now_;
    std::size_t before = most;
    while (before < with_this && !most.compare_exchange_weak(before, with_this)) {
    }
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() { end(); }
  void end() {
    if (!std::exchange(is_over_, true)) --now_;
  }

 private:
  std::atomic<std::size_t>& now_;
  bool is_over_ = false;
};

// One request, its head read.
struct Asked {
  PeerConnection& proxy;
  const Message& head;
  std::size_t served;  // requests answered before on this connection
  std::size_t times;   // that its target has been asked for, this one included
  Work& work;
  const Event& work_ends;

  std::string target() const { return head.target(); }
  bool take_body() const {
    if (head.field("Expect") && !proxy.send("HTTP/1.1 100 Continue\r\n\r\n")) return false;
    if (const auto length = head.field("Content-Length")) {
      return proxy.skip_bytes(std::strtoull(length->c_str(), nullptr, 10));
    }
    return !head.field("Transfer-Encoding") || proxy.read_until("0\r\n\r\n").has_value();
  }
  // A client that has the answer may send its next request at once.
  bool send(std::string_view bytes) const {
    work.end();
    return proxy.send(bytes);
  }
};

const std::string kOk = "HTTP/1.1 200 OK\r\n";

std::string head_for(const Asked& asked) {
  const bool fresh = asked.target().starts_with("/cached/");
  return kOk + (fresh ? "Cache-Control: max-age=600\r\n" : "") + "X-Target: " + asked.target() +
         "\r\nContent-Length: " + std::to_string(body_of(asked.target()).size()) + "\r\n\r\n";
}

std::string chunked_head(const Asked& asked) {
  return kOk + "X-Target: " + asked.target() + "\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string whole(const Asked& asked) {
  return asked.head.method() == "HEAD" ? head_for(asked)
                                       : head_for(asked) + body_of(asked.target());
}

// True: the connection goes on.
using Play = std::function<bool(const Asked&)>;

// Takes the request, says this and closes in order.
Play says(std::function<std::string(const Asked&)> bytes) {
  return [bytes = std::move(bytes)](const Asked& asked) {
    if (asked.take_body()) asked.send(bytes(asked));
    return false;
  };
}
Play says(std::string bytes) {
  return says([bytes = std::move(bytes)](const Asked&) { return bytes; });
}

// The same, but it breaks the connection off.
Play says_and_resets(std::function<std::string(const Asked&)> bytes) {
  return [bytes = std::move(bytes)](const Asked& asked) {
    if (asked.take_body()) asked.send(bytes(asked));
    asked.proxy.reset();
    return false;
  };
}

// The same, and then nothing more until the proxy loses patience.
Play says_and_stalls(std::function<std::string(const Asked&)> bytes) {
  return [bytes = std::move(bytes)](const Asked& asked) {
    if (asked.take_body()) asked.send(bytes(asked));
    asked.proxy.wait_closed();
    return false;
  };
}

// The same piece again and again, for as long as the proxy takes it.
Play says_for_ever(std::function<std::string(const Asked&)> begin, std::string piece) {
  return [begin = std::move(begin), piece = std::move(piece)](const Asked& asked) {
    if (!asked.take_body() || !asked.send(begin(asked))) return false;
    while (asked.send(piece)) {
    }
    return false;
  };
}

// The same a piece at a time, with pauses.
Play trickles(std::function<std::string(const Asked&)> begin, std::string piece) {
  return [begin = std::move(begin), piece = std::move(piece)](const Asked& asked) {
    if (!asked.take_body() || !asked.send(begin(asked))) return false;
    while (asked.send(piece) && !asked.proxy.wait_closed(50ms)) {
    }
    return false;
  };
}

std::string nothing(const Asked&) { return {}; }
std::string half_head(const Asked&) { return kOk + "Content-Le"; }
std::string half_body(const Asked& asked) {
  return head_for(asked) + body_of(asked.target()).substr(0, body_of(asked.target()).size() / 2);
}
std::string half_chunk(const Asked& asked) {
  const std::string all = chunked({body_of(asked.target())});
  return chunked_head(asked) + all.substr(0, all.size() / 2);
}
std::string half_trailer(const Asked& asked) {
  const std::string all = chunked({body_of(asked.target())});
  return chunked_head(asked) + all.substr(0, all.size() - 2) + "X-Trai";
}

// To a protocol, in which `first` is said at once. The answer to the key of RFC 6455 section 1.3.
std::string switching(const std::string& protocol, const std::string& first = {}) {
  return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + protocol +
         "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n" + first;
}
// Says each line back, after the name of the target, until the other side has ended.
bool echo(const Asked& asked) {
  if (!asked.send(switching("websocket"))) return false;
  while (const auto line = asked.proxy.read_until("\n")) {
    if (!asked.send(asked.target() + " " + *line)) return false;
  }
  return false;
}
// A stream of one event.
std::string whole_stream(const Asked& asked) {
  return kOk + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
         chunked({"data: " + asked.target() + "\n\n"});
}
// The same as far as it goes when it goes on.
std::string event(const Asked& asked) {
  std::string all = whole_stream(asked);
  all.resize(all.size() - std::string_view("0\r\n\r\n").size());
  return all;
}

bool good(const Asked& asked) { return asked.take_body() && asked.send(whole(asked)); }

const std::map<std::string, Play, std::less<>>& plays() {
  static const std::map<std::string, Play, std::less<>> all{
      {"good", good},
      {"failing",
       [](const Asked& asked) {
         return asked.take_body() &&
                asked.send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
       }},
      {"slow",  // with all that comes of it
       [](const Asked& asked) {
         const Event never;
         never.wait(100ms);
         return good(asked);
       }},
      {"works-on",
       [](const Asked& asked) { return asked.proxy.wait(asked.work_ends) && good(asked); }},
      {"resets-at-once",  // unread bytes make a close a reset
       [](const Asked& asked) {
         asked.proxy.reset();
         return false;
       }},
      {"resets-before-head", says_and_resets(nothing)},
      {"resets-first-time",
       [](const Asked& asked) {
         if (asked.times > 1) return good(asked);
         asked.take_body();
         asked.proxy.reset();
         return false;
       }},
      {"resets-in-head", says_and_resets(half_head)},
      {"resets-after-head", says_and_resets(head_for)},
      {"resets-in-body", says_and_resets(half_body)},
      {"closes-before-head", says("")},
      {"closes-in-head", says(half_head)},
      {"truncates-length", says(half_body)},
      {"truncates-chunk", says(half_chunk)},
      {"truncates-trailer", says(half_trailer)},
      {"stalls-before-head", says_and_stalls(nothing)},
      {"stalls-in-head", says_and_stalls(half_head)},
      {"stalls-in-body", says_and_stalls(half_body)},
      {"stalls-in-chunk", says_and_stalls(half_chunk)},
      {"stalls-in-trailer", says_and_stalls(half_trailer)},
      {"stalls-in-request",  // takes the head and for long no more
       [](const Asked&) {
         const Event never;
         never.wait(1500ms);
         return false;
       }},
      {"garbage-no-http", says("\x16\x03\x01\x02\x00\x01\r\n\r\n"s)},
      {"garbage-status", says("HTTP/1.1 99999 Fine\r\nContent-Length: 0\r\n\r\n")},
      {"garbage-length", says(kOk + "Content-Length: 1x\r\n\r\na")},
      {"garbage-two-lengths", says(kOk + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")},
      {"garbage-nul", says(kOk + "X: a\0b\r\nContent-Length: 0\r\n\r\n"s)},
      {"garbage-chunk", says([](const Asked& asked) {
         return chunked_head(asked) + "5\r\nwhole\r\nxyz\r\nmore\r\n0\r\n\r\n";
       })},
      {"answers-twice",  // the second belongs to nobody
       [](const Asked& asked) {
         return asked.take_body() &&
                asked.send(whole(asked) + kOk + "Content-Length: 5\r\n\r\nstray");
       }},
      {"closes-after-answer",  // without a word about it
       [](const Asked& asked) {
         good(asked);
         return false;
       }},
      {"closes-stale",  // as soon as a second request arrives
       [](const Asked& asked) { return asked.served == 0 && good(asked); }},
      {"resets-stale",
       [](const Asked& asked) {
         if (asked.served == 0) return good(asked);
         asked.proxy.reset();
         return false;
       }},
      {"answers-early-goes-on",  // before the body has come, which it takes all the same
       [](const Asked& asked) { return asked.send(whole(asked)) && asked.take_body(); }},
      {"answers-early-closes",
       [](const Asked& asked) {
         asked.send(whole(asked));
         asked.proxy.half_close();
         asked.proxy.wait_closed(2000ms);
         return false;
       }},
      {"answers-early-resets",  // what it has not read makes a reset of its close
       [](const Asked& asked) {
         asked.send(whole(asked));
         return false;
       }},
      {"tunnel", echo},
      {"tunnel-stays-half-switched", says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upg")},
      {"tunnel-of-another-kind", says(switching("mqtt"))},
      {"tunnel-closes", says(switching("websocket", "half a line"))},
      {"tunnel-resets", says_and_resets([](const Asked&) { return switching("websocket"); })},
      {"tunnel-stalls",
       says_and_stalls([](const Asked&) { return switching("websocket", "half a line"); })},
      {"events", says_and_stalls(event)},
      {"events-end", says(whole_stream)},
      {"events-close", says(event)},
      {"events-reset", says_and_resets(event)},
      {"trickles-in-head", trickles([](const Asked&) { return kOk + "X-Slow: "; }, "s")},
      {"trickles-interim", trickles(nothing, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")},
      {"floods-many-fields", says_for_ever([](const Asked&) { return kOk; }, "X-Flood: water\r\n")},
      {"floods-one-field",
       says_for_ever([](const Asked&) { return kOk + "X-Flood: "; }, std::string(16'384, 'w'))},
      {"floods-interim", says_for_ever(nothing, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")},
      {"floods-trailer",
       says_for_ever([](const Asked& asked) { return chunked_head(asked) + "0\r\n"; },
                     "X-Flood: water\r\n")},
      {"floods-chunk-size",
       says_for_ever([](const Asked& asked) { return chunked_head(asked) + "5;"; },
                     std::string(16'384, 'w'))},
  };
  return all;
}

}  // namespace

std::string body_of(std::string_view target) {
  const std::size_t slash = target.rfind('/');
  const unsigned long number =
      std::strtoul(std::string(target.substr(slash + 1)).c_str(), nullptr, 10);
  const std::size_t sizes[] = {200, 20'000, 200'000};
  const bool is_huge = target.starts_with("/huge") || target.starts_with("/cached/huge");
  const std::size_t size = target.starts_with("/cached/vast") ? 12'000'000
                           : is_huge                          ? 4'000'000
                                                              : sizes[number % 3];
  std::string body;
  body.reserve(size + target.size() + 16);
  // Numbered lines, long ones where there would be very many.
  const std::string end(size > 1'000'000 ? 4'000 : 1, '\n');
  for (std::size_t line = 0; body.size() < size; ++line) {
    body.append(target).append(" ").append(std::to_string(line)).append(end);
  }
  return body;
}

FaultyBackend::FaultyBackend() : peer_([this](PeerConnection& proxy) { play(proxy); }) {}

void FaultyBackend::play(PeerConnection& proxy) {
  for (std::size_t served = 0;; ++served) {
    const auto head = proxy.read_head();
    if (!head) return;
    const std::string target = head->target();
    const std::size_t begin = target.starts_with("/sound/slow/") ? 7 : 1;
    std::string name = target.substr(begin, target.find('/', begin) - begin);
    std::size_t times = 0;
    {
      const std::lock_guard lock(mutex_);
      times = ++asked_[target];
      if (!always_.empty()) name = always_;
    }
    changed_.notify_all();
    const auto found = plays().find(name);
    Work work(at_work_.now, at_work_.most);
    const Asked asked{proxy, *head, served, times, work, work_ends_};
    if (!(found == plays().end() ? good(asked) : found->second(asked))) return;
  }
}

std::size_t FaultyBackend::times_asked(const std::string& target) const {
  const std::lock_guard lock(mutex_);
  const auto found = asked_.find(target);
  return found == asked_.end() ? 0 : found->second;
}

void FaultyBackend::always(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  always_ = fault;
}

bool FaultyBackend::wait_asked(const std::string& target, Milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return asked_.contains(target); });
}

std::vector<std::string> FaultyBackend::faults() {
  static const std::set<std::string> kSound{"good",   "failing", "slow",      "works-on",
                                            "tunnel", "events",  "events-end"};
  std::vector<std::string> names;
  for (const auto& [name, play] : plays()) {
    if (!kSound.contains(name)) names.push_back(name);
  }
  return names;
}

// Its backlog is full: the kernel answers no more than that.
SilentPort::SilentPort() {
  const auto open = [this] {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) throw std::system_error(errno, std::generic_category(), "socket");
    sockets_.push_back(socket);
    return socket;
  };
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int listener = open();
  if (::bind(listener, any, size) != 0 || ::getsockname(listener, any, &size) != 0 ||
      ::listen(listener, 0) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  port_ = ntohs(address.sin_port);
  for (int n = 0; n < 4; ++n) ::connect(open(), any, size);
}

SilentPort::~SilentPort() {
  for (const int socket : sockets_) ::close(socket);
}

}  // namespace spillway::support
