#include "system/wire/origin.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include "support/sockets.hpp"
#include "system/wire/reading.hpp"

namespace spillway::wire {

using support::Deadline;
using support::Milliseconds;

namespace {

// A proxy may hold a piece back until there is more: then the next one is due all the same.
constexpr Milliseconds kBetweenPieces{150};
// For what is still on its way when the client has what it wanted.
constexpr Milliseconds kUntilQuiet{500};

bool expects_continue(std::string_view head) {
  for (const std::string_view expectation : {"100-continue", "100-Continue"}) {
    if (head.find(expectation) != std::string_view::npos) return true;
  }
  return false;
}

void say(int socket, std::string_view bytes) {
  support::send_all(socket, bytes, Deadline(Milliseconds{1000}));
}

std::size_t readable_bytes(int socket) {
  int size = 0;
  ::ioctl(socket, FIONREAD, &size);
  return static_cast<std::size_t>(std::max(size, 0));
}

}  // namespace

Origin::Origin()
    : listeners_{support::listen_on_loopback(), support::listen_on_loopback()},
      ports_{support::port_of(listeners_[0]), support::port_of(listeners_[1])},
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

Origin::~Origin() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  client_received();
  thread_.join();
  for (Connection& connection : connections_) {
    if (!connection.gone) drop(connection);
  }
  ::close(wake_);
  for (const int listener : listeners_) ::close(listener);
}

void Origin::begin(const std::vector<Answer>& answers, std::size_t turn) {
  const std::lock_guard lock(mutex_);
  answers_ = answers;
  turn_ = turn;
  has_repeated_ = false;
  asked_ = answered_ = connections_used_ = 0;
  for (Connection& connection : connections_) connection.received.clear();
}

Origin::Recorded Origin::end() {
  std::unique_lock lock(mutex_);
  const Deadline deadline(kUntilQuiet);
  while (!is_quiet() && !deadline.passed()) changed_.wait_for(lock, Milliseconds{5});
  std::map<std::size_t, std::pair<std::string, Door>> received;  // by order of arrival
  for (auto at = connections_.begin(); at != connections_.end();) {
    if (!at->received.empty()) received[at->order] = {at->received, at->door};
    const bool idle = !at->gone && !at->only_reads && !at->answer && at->pending.empty();
    if (!idle && !at->gone) {
      at->over = true;
      ::shutdown(at->socket, SHUT_RDWR);
    }
    at->received.clear();
    at = at->gone ? connections_.erase(at) : std::next(at);
  }
  Recorded recorded{.received = {}, .doors = {}, .turn = turn_ + has_repeated_};
  for (auto& [order, each] : received) {
    recorded.received.push_back(std::move(each.first));
    recorded.doors.push_back(each.second);
  }
  return recorded;
}

bool Origin::is_quiet() const {
  std::array<pollfd, kDoors> coming{{{listeners_[0], POLLIN, 0}, {listeners_[1], POLLIN, 0}}};
  if (::poll(coming.data(), coming.size(), 0) > 0) return false;
  return std::ranges::all_of(connections_, [](const Connection& each) {
    if (each.gone) return true;
    return !each.only_reads && !each.answer && each.pending.empty() &&
           readable_bytes(each.socket) == 0;
  });
}

bool Origin::wait_head(Milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return asked_ > 0; });
}

bool Origin::wait_answered(Milliseconds within) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [&] { return answered_ > 0 && answered_ == asked_; });
}

void Origin::client_received() {
  ++client_received_;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void Origin::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    std::vector<pollfd> ready{
        {listeners_[0], POLLIN, 0}, {listeners_[1], POLLIN, 0}, {wake_, POLLIN, 0}};
    std::vector<Connection*> polled;
    int patience = -1;
    for (Connection& connection : connections_) {
      if (connection.gone) continue;
      ready.push_back({connection.socket, POLLIN, 0});
      polled.push_back(&connection);
      if (!connection.answer || !connection.body_read) continue;
      const int left = connection.next_piece.left();
      patience = patience < 0 ? left : std::min(patience, left);
    }
    lock.unlock();
    ::poll(ready.data(), ready.size(), patience);
    lock.lock();
    if (ready[kDoors].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto size = ::read(wake_, &count, sizeof count);
    }
    // Only this thread makes connections gone, and only gone ones are taken out by another.
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (ready[i + kDoors + 1].revents != 0) read_from(*polled[i]);
      advance(*polled[i]);
    }
    for (const Door door : {Door::main, Door::low}) {
      if (ready[static_cast<std::size_t>(door)].revents != 0) accept_one(door);
    }
    changed_.notify_all();
  }
}

void Origin::accept_one(Door door) {
  const int listener = listeners_[static_cast<std::size_t>(door)];
  const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return;
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connections_.push_back(
      {.socket = socket, .door = door, .received = {}, .pending = {}, .answer = {}});
}

void Origin::drop(Connection& connection) {
  ::close(std::exchange(connection.socket, -1));
  connection.gone = true;
}

void Origin::read_from(Connection& connection) {
  if (connection.over) return drop(connection);
  std::array<char, 65536> block;
  const ssize_t size = ::recv(connection.socket, block.data(), block.size(), MSG_DONTWAIT);
  if (size > 0) {
    if (connection.received.empty()) connection.order = ++connections_used_;
    connection.received.append(block.data(), static_cast<std::size_t>(size));
    connection.pending.append(block.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
    drop(connection);
  }
}

void Origin::advance(Connection& connection) {
  while (!connection.gone && !connection.over && !connection.only_reads) {
    if (!connection.answer && !take_request(connection)) return;
    if (!connection.body_read) {
      const auto extent = lenient_extent(connection.pending, {});
      if (!extent->all) return;
      connection.pending.erase(0, *extent->all);
      connection.body_read = true;
    }
    if (!say_pieces(connection)) return;
    const Answer answer = *std::exchange(connection.answer, std::nullopt);
    ++answered_;
    if (answer.end == Answer::End::resets) {
      const linger now{1, 0};
      ::setsockopt(connection.socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      drop(connection);
    } else if (answer.end == Answer::End::closes) {
      ::shutdown(connection.socket, SHUT_WR);
      connection.only_reads = true;
    } else {
      connection.only_reads = !answer.waits_for_body;
    }
  }
  connection.pending.clear();
}

// False while there is none.
bool Origin::take_request(Connection& connection) {
  const auto extent = lenient_extent(connection.pending, {});
  if (!extent) return false;
  const std::string_view head = std::string_view(connection.pending).substr(0, extent->head);
  connection.answer = next_answer(head);
  const bool expected = expects_continue(head);
  connection.pieces_said = 0;
  connection.body_read = !connection.answer->waits_for_body;
  if (connection.body_read) connection.pending.clear();
  if (expected || !connection.answer->only_if_expected) {
    say(connection.socket, connection.answer->at_head);
  }
  return true;
}

Answer Origin::next_answer(std::string_view head) {
  if (head.find(kAnother) != std::string_view::npos) return ok(kAnotherBody);
  ++asked_;
  if (turn_ >= answers_.size()) return ok("ok", "Cache-Control: no-store\r\n");
  Answer answer = answers_[turn_];
  has_repeated_ = answer.repeats;
  if (!answer.repeats) ++turn_;
  if (answer.writes) {
    std::string bytes(head);
    answer.pieces = {answer.writes(support::take_head(bytes).value(), turn_)};
  }
  return answer;
}

// False while a piece has to wait.
bool Origin::say_pieces(Connection& connection) {
  const auto& pieces = connection.answer->pieces;
  while (connection.pieces_said < pieces.size()) {
    if (connection.pieces_said > 0 && connection.client_received == client_received_ &&
        !connection.next_piece.passed()) {
      return false;
    }
    connection.client_received = client_received_;
    connection.next_piece = Deadline(kBetweenPieces);
    say(connection.socket, pieces[connection.pieces_said++]);
  }
  return true;
}

}  // namespace spillway::wire
