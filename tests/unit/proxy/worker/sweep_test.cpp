#include "proxy/worker/sweep.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "support/open_load.hpp"
#include "unit/proxy/request/lone_process.hpp"

namespace spillway::proxy {
namespace {

using std::chrono::seconds;

// A worker's idle connections; a request that comes on one is counted, and ends it.
class IdleClients final : public Owner {
 public:
  explicit IdleClients(Process& process) : process_(process) {}
  ~IdleClients() {
    while (!lists.idle_clients.empty())
      close(static_cast<ClientConnection&>(lists.idle_clients.front()));
    process_.loop.poll();
    for (const int peer : peers_) ::close(peer);
  }

  // Returns the client's end, which is closed with this. `idle_for`: so far.
  int connect(Duration idle_for) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    const ClientPtr client(new ClientConnection(services_, ends[0], {}, {}));
    REQUIRE(client->open());
    client->become_idle(Clock::now() - idle_for);
    return peers_.emplace_back(ends[1]);
  }

  LocalGeneration& newest_generation() override { return *process_.generation; }
  void connection_opened() override {}
  void connection_idle(ClientConnection& client) override { lists.idle_clients.push_back(client); }
  void connection_active(ClientConnection& client) override {
    if (++requests == 1) process_.loop.post([this] { at_end_of_turn(); });
    on_request();
    client.close();
  }
  void connection_closed(bool gave_way) override { gave_way_ += gave_way ? 1 : 0; }
  bool needs_room() override { return promised < newcomers; }
  bool give_way(ClientConnection& client) override {
    if (!needs_room()) return false;
    ++promised;
    client.gives_way_since(Clock::now());
    return true;
  }
  void give_way_no_more(ClientConnection&) override { FAIL("not asked for"); }
  bool ends_with_response(ClientConnection&, bool) override { return false; }
  void give_back_memory() override {}
  void begin(Owned&) override { FAIL("not asked for"); }
  void end(Owned&) override { FAIL("not asked for"); }
  void close_idle_elsewhere(const Generation&, UpstreamId, Parking&) override {}

  SweptLists lists;
  std::size_t requests = 0;
  std::size_t newcomers = 0;                     // that wait to be accepted
  std::size_t promised = 0;                      // connections that end for them
  std::function<void()> at_end_of_turn = [] {};  // of that with the first request
  std::function<void()> on_request = [] {};

  Services& services() { return services_; }
  std::size_t gave_way() const { return gave_way_; }

 private:
  static void close(ClientConnection& client) {
    client.IdleHook::unlink();
    client.close();
  }

  Process& process_;
  std::vector<int> peers_;
  std::size_t gave_way_ = 0;
  Services services_{.owner = *this,
                     .loop = process_.loop,
                     .log = process_.log,
                     .gauges = *process_.gauges,
                     .tunnel_permits = process_.permits,
                     .temp_space = process_.temp_space,
                     .jobs = nullptr,
                     .random = Random(1),
                     .small_blocks = BlockPool(4096),
                     .large_blocks = BlockPool(128 * 1024),
                     .memory_of_clients = traffic::ClientShares({1, 2})};
};

bool is_open(int peer) {
  char byte = 0;
  return ::recv(peer, &byte, 1, MSG_DONTWAIT) < 0;
}

}  // namespace

TEST_CASE("as many idle connections give way as clients wait, the longest idle ones") {
  Process process;
  IdleClients clients(process);
  Sweep sweep(clients.services(), clients.lists);
  std::vector<int> peers;
  for (int n = 0; n < 10; ++n) peers.push_back(clients.connect(seconds(20 - n)));
  const int lately_used = clients.connect(Duration{0});
  clients.services().gauges.client_connections.add(640);  // so ten in a pass may give way
  const auto pass = [&] {
    sweep.sweep(Clock::now());
    process.loop.poll();
    std::size_t open = 0;
    while (open < peers.size() && is_open(peers[peers.size() - 1 - open])) ++open;
    return open;
  };
  CHECK(pass() == 10);  // nobody waits
  clients.newcomers = 3;
  CHECK(pass() == 7);
  CHECK(pass() == 7);  // they are as good as let in
  CHECK(clients.gave_way() == 3);
  clients.newcomers = 300;
  CHECK(pass() == 0);
  CHECK(clients.gave_way() == 10);
  CHECK(is_open(lately_used));
}

TEST_CASE("a client whose request waits for its turn is not closed as idle") {
  constexpr std::size_t kAsking = 3 * ReadinessSet::kOthers;
  Process process;
  const Duration timeout = process.generation->config().limits.idle_timeout;
  IdleClients clients(process);
  Sweep sweep(clients.services(), clients.lists);
  // They are swept in this order: a connection that is kept must not keep those behind it.
  const int silent_before = clients.connect(timeout + seconds(2));
  for (std::size_t n = 0; n < kAsking; ++n)
    REQUIRE(::send(clients.connect(timeout + seconds(1)), "GET", 3, MSG_NOSIGNAL) == 3);
  const int silent_behind = clients.connect(timeout);
  const int lately_used = clients.connect(Duration{0});

  std::size_t waiting = 0;
  clients.at_end_of_turn = [&] {
    waiting = kAsking - clients.requests;
    sweep.sweep(Clock::now());
  };
  process.loop.poll();
  CHECK(waiting >= ReadinessSet::kOthers);  // else this tests nothing
  CHECK(clients.requests == kAsking);
  CHECK_FALSE(is_open(silent_before));
  CHECK_FALSE(is_open(silent_behind));
  CHECK(is_open(lately_used));
}

// Each takes two milliseconds, so two turns of 32 delay the timer by 128; the last of 450 waits for
// nearly a second.
TEST_CASE("the event-loop lag of a worker is the wait of the requests that it has not begun") {
  constexpr std::size_t kAsking = 450;
  support::raise_descriptor_limit();
  Process process;
  IdleClients clients(process);
  Sweep sweep(clients.services(), clients.lists);
  for (std::size_t n = 0; n < kAsking; ++n)
    REQUIRE(::send(clients.connect(Duration{0}), "GET", 3, MSG_NOSIGNAL) == 3);
  Duration longest{0};
  clients.on_request = [&] {
    const TimePoint end = Clock::now() + Milliseconds{2};
    while (Clock::now() < end) {
    }
    longest = std::max(longest, process.gauges->event_loop_lag());
  };
  sweep.start();
  process.loop.poll();
  CHECK(clients.requests == kAsking);
  CHECK(longest > Milliseconds{250});
}

}  // namespace spillway::proxy
