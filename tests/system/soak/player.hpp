// One client of the soak in one session: a few connections, from one seed, each answer judged.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "system/soak/ending.hpp"
#include "system/soak/random.hpp"
#include "system/soak/tally.hpp"
#include "system/soak/wire.hpp"

namespace spillway::soak {

// What all clients share.
struct Scene {
  std::uint16_t port = 0;
  std::uint16_t admin_port = 0;
  bool has_tunnels = false;            // the proxy passes upgrades on
  bool has_min_rate = false;           // it cuts off who is slower
  Ending ending;                       // no more sessions; those that run come to an end
  std::atomic<bool> draining = false;  // the proxy may refuse and close whatever it likes
  Failures failures;
};

// A request, and which ends of it are fine besides the right answer.
struct Asked {
  std::string target;
  std::string_view method = "GET";
  std::string language;  // sent as X-Language
  std::string user;      // sent as Authorization
  std::string body;
  std::string more_lines;  // of the head
  bool may_refuse = false;
  bool may_end = false;        // without a whole answer
  bool has_condition = false;  // 304 will do
};

// How long a client waits for what must come, on a machine that is busy.
inline constexpr Milliseconds kPatience{30'000};

class Player {
 public:
  Player(Scene& scene, Tally& tally, std::string_view kind, std::uint64_t seed);

  Scene& scene;
  Random random;

  Wire connect(int receive_buffer = 0);
  // A target below /`route`/ that nobody else asks for.
  std::string target(std::string_view route, std::string_view parameters = {});
  // The head of a request; the framing of its body is the caller's.
  static std::string head(const Asked& asked, std::string_view version = "HTTP/1.1");
  // The same with its body, counted.
  static std::string request(const Asked& asked);

  // Reads the answer, judges and counts it. True: the connection goes on.
  bool take_answer(Wire& wire, const Asked& asked, Milliseconds within = kPatience);
  // request() and take_answer(); an answer may come before all has been sent.
  bool ask(Wire& wire, const Asked& asked);
  // Reads to the end of the connection, which must come in time.
  void take_end(Wire& wire, Milliseconds within = kPatience);

  void count(End end) { tally_.count(end); }
  void fail(End end, const std::string& what);
  // Waits for so long, or until the soak ends; false when it does.
  bool pause(std::size_t milliseconds) const;
  bool ending() const { return scene.ending.is_set(); }

 private:
  End judge(const Asked& asked, const support::Message& answer, std::string& why) const;

  Tally& tally_;
  std::string_view kind_;
  std::uint64_t seed_;
  std::uint16_t source_;
  std::size_t asked_ = 0;
};

}  // namespace spillway::soak
