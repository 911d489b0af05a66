#include "support/relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <list>
#include <system_error>
#include <utility>
#include <vector>

#include "support/sockets.hpp"

namespace spillway::support {

namespace {

constexpr int kGlance = 20;  // milliseconds: so late it sees that it was cut

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

// Both ends of a connection; closed with it.
struct Pair {
  Pair(int from, int to) : ends{from, to} {}
  ~Pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  // What one end has goes to the other, as far as there is room. False: it has ended.
  bool pass(std::size_t from, std::size_t& room) const {
    std::array<char, 65536> block;
    const std::size_t most = std::min(block.size(), room);
    if (most == 0) return true;
    const ssize_t size = ::recv(ends[from], block.data(), most, MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    const std::string_view bytes(block.data(), static_cast<std::size_t>(size));
    room -= bytes.size();
    return size > 0 && send_all(ends[1 - from], bytes, Deadline()) == Sent::all;
  }

  std::array<int, 2> ends;
};

// How many bytes may go through now.
class Room {
 public:
  // Since it was asked last: so many a second, 0 for any number.
  std::size_t now(std::size_t most_a_second) {
    const auto time = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = time - std::exchange(at_, time);
    if (most_a_second == 0) return std::numeric_limits<std::size_t>::max();
    const double most = static_cast<double>(most_a_second);
    left_ = std::min(left_ + most * passed.count(), most / 10);
    return left_ < kAtOnce ? 0 : static_cast<std::size_t>(left_);
  }
  void took(std::size_t bytes) { left_ -= static_cast<double>(bytes); }

 private:
  static constexpr double kAtOnce = 4096;  // bytes; fewer are waited for

  std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
  double left_ = 0;
};

}  // namespace

Relay::Relay(const std::filesystem::path& to) : to_(to) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(directory_.path() / to.filename());
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 16) != 0)
    throw std::system_error(errno, std::generic_category(), "relay");
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  ending_.set();
  thread_.join();
  ::close(listener_);
}

void Relay::run() {
  std::list<Pair> pairs;
  Room allowed;
  while (!ending_.is_set()) {
    if (is_cut_) pairs.clear();
    const std::size_t before = allowed.now(most_a_second_);
    std::size_t room = before;
    std::vector<pollfd> watched{{ending_.descriptor(), POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Pair& pair : pairs) {
      for (const int end : pair.ends) watched.push_back({room > 0 ? end : -1, POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), kGlance) <= 0) continue;
    std::size_t at = 2;
    for (auto pair = pairs.begin(); pair != pairs.end();) {
      bool goes_on = true;
      for (const std::size_t end : {0U, 1U}) {
        if (watched[at++].revents != 0) goes_on = goes_on && pair->pass(end, room);
      }
      pair = goes_on ? std::next(pair) : pairs.erase(pair);
    }
    if (most_a_second_ > 0) allowed.took(before - room);
    if (watched[1].revents == 0) continue;
    const int from = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int to = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(to_);
    const bool is_there =
        ::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    Pair& made = pairs.emplace_back(from, to);
    if (is_cut_ || !is_there) pairs.remove_if([&](const Pair& each) { return &each == &made; });
  }
}

}  // namespace spillway::support
