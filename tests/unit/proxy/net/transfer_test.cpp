#include "proxy/net/transfer.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/intrusive_ptr.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/net/task.hpp"
#include "support/event.hpp"
#include "support/sockets.hpp"

namespace spillway::proxy {
namespace {

using Status = Transfer::Status;

class PlainStream final : public Stream {
 public:
  using Stream::Stream;

 private:
  void on_idle_readable() override {}
};

struct Pair {
  int near, far;
};

Pair unix_pair() {
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
  return {pair[0], pair[1]};
}

Pair tcp_pair() {
  const int listener = support::listen_on_loopback();
  const int far = support::connect_to_loopback(support::port_of(listener));
  int near = -1;
  while (near < 0) near = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
  ::close(listener);
  return {near, far};
}

// A stream on an event loop, and the plain socket at its other end.
struct Connection {
  explicit Connection(Pair pair) : far(pair.far), stream(new PlainStream(loop, pair.near, true)) {
    REQUIRE(stream->open());
    loop.poll();
  }
  ~Connection() {
    stream->close();
    loop.poll();  // lets go of itself
    close_far();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void write_far(std::string_view bytes) {
    REQUIRE(::send(far, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  // What is there for the other end now.
  std::string read_far() {
    std::string all;
    std::array<char, 4096> block;
    for (;;) {
      const ssize_t got = ::recv(far, block.data(), block.size(), MSG_DONTWAIT);
      if (got <= 0) return all;
      all.append(block.data(), static_cast<std::size_t>(got));
    }
  }
  void close_far() {
    if (far >= 0) ::close(std::exchange(far, -1));
  }
  // Bytes of the proxy that the other end never reads: then its end is a reset.
  void reset_by_far() {
    REQUIRE(stream->send("unread").status == IoResult::Status::done);
    close_far();
  }

  EventLoop loop;
  int far;
  boost::intrusive_ptr<PlainStream> stream;
  Parking parking;
};

// What became of an operation; none while it is suspended.
using Result = std::optional<Transfer>;

Detached start_receive(Connection& on, std::span<char> into, Until until, Result& result) {
  const Transfer got = co_await receive(on.parking, *on.stream, into, until);
  result = got;
}

Detached start_send(Connection& on, std::string_view head, std::string_view body, Until until,
                    Result& result) {
  const Transfer sent = co_await send_all(on.parking, *on.stream, head, body, until);
  result = sent;
}

Detached start_park(Connection& on, std::optional<Wake>& woken) {
  const Wake wake = co_await on.parking.park({}, &on.stream->readable());
  woken = wake;
}

// Runs the loop until the operation is done. False when it never is.
bool is_done(Connection& connection, const Result& result) {
  const support::Deadline deadline;
  while (!result && !deadline.passed()) connection.loop.poll();
  return result.has_value();
}

struct Waking {
  Wake wake;
  Status status;
};
const std::vector<Waking> kWakings{{Wake::ready, Status::woken},
                                   {Wake::timeout, Status::timeout},
                                   {Wake::client_gone, Status::client_gone},
                                   {Wake::cancelled, Status::cancelled}};

constexpr TimePoint kDue{Milliseconds{5}};

}  // namespace

TEST_CASE("bytes that are there are received without suspending") {
  for (const auto pair : {unix_pair, tcp_pair}) {
    Connection connection(pair());
    connection.write_far("hello");
    std::array<char, 3> block{};
    Result result;
    REQUIRE(support::wait_ready(connection.stream->descriptor(), POLLIN, support::Deadline{}));
    start_receive(connection, block, {}, result);
    REQUIRE(result);
    CHECK_FALSE(connection.parking.parked());
    CHECK(result->done());
    CHECK(std::string_view(block.data(), result->bytes) == "hel");
    result.reset();
    start_receive(connection, block, {}, result);
    REQUIRE(result);
    CHECK(std::string_view(block.data(), result->bytes) == "lo");
  }
}

TEST_CASE("a receive suspends until bytes come") {
  for (const auto pair : {unix_pair, tcp_pair}) {
    Connection connection(pair());
    std::array<char, 16> block{};
    Result result;
    start_receive(connection, block, {.deadline = kDue, .client_gone = true}, result);
    CHECK_FALSE(result);
    CHECK(connection.parking.parked());
    CHECK(connection.parking.deadline() == kDue);
    CHECK(connection.parking.watches_client());
    connection.loop.poll();
    CHECK_FALSE(result);  // nothing has come
    connection.write_far("hello");
    REQUIRE(is_done(connection, result));
    CHECK(result->done());
    CHECK(std::string_view(block.data(), result->bytes) == "hello");
    CHECK_FALSE(connection.parking.parked());
    CHECK(connection.parking.deadline() == kNever);
  }
}

TEST_CASE("spurious readiness does not resume an operation and resumes a bare wait") {
  Connection connection(unix_pair());
  std::array<char, 16> block{};
  Result result;
  start_receive(connection, block, {}, result);
  Source& source = connection.stream->readable();
  for (int i = 0; i < 3; ++i) {
    connection.parking.on_ready(source);
    CHECK_FALSE(result);
    CHECK(connection.parking.parked());
    CHECK(source.parked == &connection.parking);
  }
  connection.write_far("hello");  // and it is still told of what is real
  REQUIRE(is_done(connection, result));
  CHECK(result->bytes == 5);

  // The control.
  std::optional<Wake> woken;
  start_park(connection, woken);
  CHECK_FALSE(woken);
  connection.parking.on_ready(source);
  CHECK(woken == Wake::ready);
}

TEST_CASE("what ends a receive is told apart and no byte is lost by it") {
  for (const Waking& waking : kWakings) {
    CAPTURE(static_cast<int>(waking.wake));
    Connection connection(unix_pair());
    std::array<char, 16> block{};
    Result result;
    start_receive(connection, block, {.deadline = kDue}, result);
    connection.parking.wake(waking.wake);
    REQUIRE(result);
    CHECK(result->status == waking.status);
    CHECK(result->bytes == 0);
    connection.write_far("later");
    connection.loop.poll();  // resumes nothing any more
    result.reset();
    start_receive(connection, block, {}, result);
    REQUIRE(result);
    CHECK(std::string_view(block.data(), result->bytes) == "later");
  }
}

TEST_CASE("the end of a connection is told from a broken one and at either time") {
  struct Case {
    std::string_view name;
    bool is_reset;
    Status status;
  };
  for (const Case& c : {Case{"closed", false, Status::end}, Case{"reset", true, Status::failed}}) {
    CAPTURE(c.name);
    for (const auto pair : {unix_pair, tcp_pair}) {
      for (const bool while_suspended : {false, true}) {
        CAPTURE(while_suspended);
        Connection connection(pair());
        std::array<char, 16> block{};
        Result result;
        if (while_suspended) start_receive(connection, block, {}, result);
        CHECK_FALSE(result);
        if (c.is_reset) {
          connection.reset_by_far();
        } else {
          connection.close_far();
        }
        if (!while_suspended) start_receive(connection, block, {}, result);
        REQUIRE(is_done(connection, result));
        CHECK(result->status == c.status);
        CHECK(result->bytes == 0);
      }
    }
  }
}

TEST_CASE("what fits is sent without suspending head and body in one") {
  struct Case {
    std::string_view head, body;
  };
  const std::string large(5000, 'b');  // more than is copied together
  for (const Case& c : {Case{"head", "body"}, Case{"head", ""}, Case{"", "body"}, Case{"", ""},
                        Case{"head", large}}) {
    Connection connection(unix_pair());
    Result result;
    start_send(connection, c.head, c.body, {}, result);
    REQUIRE(result);
    CHECK(result->done());
    CHECK(result->bytes == c.head.size() + c.body.size());
    CHECK(connection.read_far() == std::string(c.head) + std::string(c.body));
  }
}

TEST_CASE("a send goes on by itself as the other end reads") {
  std::string bytes(8 << 20, '\0');  // more than any socket takes at once
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
  for (const auto pair : {unix_pair, tcp_pair}) {
    for (const std::size_t head : {std::size_t{20}, bytes.size() - 20}) {
      CAPTURE(head);
      Connection connection(pair());
      const std::string_view all = bytes;
      Result result;
      start_send(connection, all.substr(0, head), all.substr(head), {}, result);
      CHECK_FALSE(result);
      connection.loop.poll();
      CHECK_FALSE(result);
      std::string received;
      int reads = 0;
      const support::Deadline deadline;
      while (received.size() < all.size() && !deadline.passed()) {
        const std::string got = connection.read_far();
        reads += !got.empty();
        received += got;
        connection.loop.poll();
      }
      REQUIRE(result);
      CHECK(result->done());
      CHECK(result->bytes == all.size());
      CHECK(reads > 1);
      CHECK((received == all));  // in its order, nothing twice
    }
  }
}

TEST_CASE("what ends a send is told apart with the bytes that went out") {
  const std::string body(8 << 20, 'b');
  for (const Waking& waking : kWakings) {
    CAPTURE(static_cast<int>(waking.wake));
    Connection connection(unix_pair());
    Result result;
    start_send(connection, "head", body, {.deadline = kDue}, result);
    REQUIRE_FALSE(result);
    CHECK(connection.parking.deadline() == kDue);
    connection.parking.wake(waking.wake);
    REQUIRE(result);
    CHECK(result->status == waking.status);
    CHECK(result->bytes > 4);
    CHECK(result->bytes < body.size());
    CHECK(connection.read_far().size() == result->bytes);
    connection.loop.poll();
    CHECK(connection.read_far().empty());  // it does not go on
  }
}

TEST_CASE("a send that its peer takes nothing of for too long fails, if that was asked for") {
  const std::string body(8 << 20, 'b');
  Connection patient(tcp_pair());
  Result goes_on;
  start_send(patient, {}, body, {}, goes_on);
  REQUIRE_FALSE(goes_on);
  Connection gives_up(tcp_pair());
  gives_up.stream->give_up_after(Milliseconds{100});
  Result result;
  start_send(gives_up, {}, body, {}, result);
  REQUIRE_FALSE(result);
  REQUIRE(is_done(gives_up, result));
  CHECK(result->status == Status::failed);
  patient.loop.poll();
  CHECK_FALSE(goes_on);  // the control: its peer has taken as little, for longer
  patient.parking.wake(Wake::cancelled);
}

TEST_CASE("a send to a peer that is gone fails at once or while it waits") {
  const std::string body(8 << 20, 'b');
  for (const auto pair : {unix_pair, tcp_pair}) {
    for (const bool while_suspended : {false, true}) {
      CAPTURE(while_suspended);
      Connection connection(pair());
      Result result;
      if (while_suspended) {
        start_send(connection, {}, body, {}, result);
        REQUIRE_FALSE(result);
        connection.close_far();
      } else {
        connection.reset_by_far();
        start_send(connection, {}, body, {}, result);
      }
      REQUIRE(is_done(connection, result));
      CHECK(result->status == Status::failed);
      CHECK(result->bytes < body.size());
    }
  }
}

}  // namespace spillway::proxy
