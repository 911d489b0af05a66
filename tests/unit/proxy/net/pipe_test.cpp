#include "proxy/net/pipe.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/net/stream.hpp"

namespace spillway::proxy {
namespace {

// One end of a pair of sockets; the test has the other.
class OneEnd final : public Stream {
 public:
  static boost::intrusive_ptr<OneEnd> open(EventLoop& loop, int& far_end) {
    int pair[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    far_end = pair[1];
    return new OneEnd(loop, pair[0]);
  }

 private:
  OneEnd(EventLoop& loop, int descriptor) : Stream(loop, descriptor, true) {}
  void on_idle_readable() override {}
};

struct Passage {
  ~Passage() {
    from->close();
    to->close();
    ::close(sender);
    if (receiver >= 0) ::close(receiver);
  }
  std::string received() {
    std::array<char, 4096> bytes;
    const ssize_t got = ::recv(receiver, bytes.data(), bytes.size(), 0);
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
  }
  void send(std::string_view text) {
    REQUIRE(::send(sender, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }

  EventLoop loop;
  PipePool pool;
  int sender = -1;
  int receiver = -1;
  boost::intrusive_ptr<OneEnd> from = OneEnd::open(loop, sender);
  boost::intrusive_ptr<OneEnd> to = OneEnd::open(loop, receiver);
};

using Status = IoResult::Status;

}  // namespace

TEST_CASE("bytes received into a pipe are sent from it and no more than was asked for") {
  Passage passage;
  Pipe pipe = passage.pool.take();
  REQUIRE(pipe);
  CHECK(passage.from->receive_into(pipe, 100).status == Status::would_block);
  CHECK_FALSE(pipe.is_full());  // there was nothing to receive

  passage.send("all of this is not for him");
  IoResult moved = passage.from->receive_into(pipe, 11);
  CHECK(moved.status == Status::done);
  CHECK(moved.bytes == 11);
  CHECK(pipe.size() == 11);
  moved = passage.to->send_from(pipe);
  CHECK(moved.status == Status::done);
  CHECK(moved.bytes == 11);
  CHECK(pipe.size() == 0);
  CHECK(passage.received() == "all of this");
  CHECK(passage.from->has_input());
}

TEST_CASE("a pipe without room says so until bytes are drained from it") {
  Passage passage;
  Pipe pipe = passage.pool.take();
  const std::string block(32 * 1024, 'x');
  while (!pipe.is_full()) {
    ::send(passage.sender, block.data(), block.size(), 0);
    passage.from->receive_into(pipe, UINT64_MAX);
  }
  CHECK(pipe.size() > 0);
  REQUIRE(passage.to->send_from(pipe).status == Status::done);
  CHECK_FALSE(pipe.is_full());
}

TEST_CASE("a pipe reports the end of the source and a receiver that has gone") {
  Passage passage;
  Pipe pipe = passage.pool.take();
  passage.send("more");
  ::shutdown(passage.sender, SHUT_WR);
  CHECK(passage.from->receive_into(pipe, 100).status == Status::done);
  CHECK(passage.from->receive_into(pipe, 100).status == Status::end);
  ::close(std::exchange(passage.receiver, -1));
  std::signal(SIGPIPE, SIG_IGN);  // as in the server: splice(2) knows no MSG_NOSIGNAL
  CHECK(passage.to->send_from(pipe).status == Status::failed);
}

TEST_CASE("bytes left in a pipe are never sent to another connection") {
  Passage passage;
  Pipe pipe = passage.pool.take();
  CHECK(passage.pool.open() == 1);
  pipe.release();
  pipe = passage.pool.take();
  CHECK(passage.pool.open() == 1);  // an empty one is used again
  passage.send("secret");
  CHECK(passage.from->receive_into(pipe, 100).status == Status::done);
  pipe = passage.pool.take();
  CHECK(passage.pool.open() == 1);  // the other was closed
  CHECK(pipe.size() == 0);
  CHECK(passage.to->send_from(pipe).status != Status::done);
  CHECK(passage.received().empty());
}

TEST_CASE("unused pipes are closed after a few sweeps") {
  PipePool pool;
  {
    const Pipe first = pool.take(), second = pool.take();
    for (std::uint32_t i = 0; i < 2 * PipePool::kIdleSweeps; ++i) pool.close_unused();
    CHECK(pool.open() == 2);  // in use
  }
  for (std::uint32_t i = 1; i < PipePool::kIdleSweeps; ++i) pool.close_unused();
  pool.take().release();  // one of them is used again
  CHECK(pool.open() == 2);
  pool.close_unused();
  CHECK(pool.open() == 1);
  for (std::uint32_t i = 0; i < PipePool::kIdleSweeps; ++i) pool.close_unused();
  CHECK(pool.open() == 0);
}

TEST_CASE("the number of open pipes is bounded") {
  PipePool pool;
  std::vector<Pipe> pipes;
  for (std::size_t i = 0; i < PipePool::kMost; ++i) {
    pipes.push_back(pool.take());
    REQUIRE(pipes.back());
  }
  CHECK_FALSE(pool.take());
  pipes.pop_back();
  CHECK(pool.take());
  pipes.clear();
}

}  // namespace spillway::proxy
