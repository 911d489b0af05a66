// A route's waiting room: how many visitors are let in, and what the others are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hmac.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/page_template.hpp"
#include "config/waiting_resources.hpp"

namespace spillway::config {

// When visitors have to wait: whenever it is full or others wait already; always; or also from when
// the upstream is overloaded.
enum class WaitingWhen : std::uint8_t { full, always, overloaded };

// The order of visitors who came before `opens_at`: by arrival, or by lot. Later ones: by
// arrival.
enum class Queueing : std::uint8_t { fifo, random_start };

// When a visitor that has to wait gets a ticket: at its second contact, or when it accepts.
enum class WaitingJoin : std::uint8_t { automatic, offer };

// While places cannot be stored: no visitor is called, or everything goes on.
enum class OnStoreFailure : std::uint8_t { hold, open };

// The polling interval of the waiting page: it depends on the expected wait, within these bounds.
struct WaitingPoll {
  Milliseconds min{5000};
  Milliseconds max{30000};
};

// Visitors of a higher priority are called first; in any case `share` of the calls goes to this
// tier.
struct WaitingTier {
  std::string name;
  std::uint32_t priority = 0;
  double share = 0;
};

// Requests that never wait and take no session: matching one list is enough.
struct WaitingBypass {
  std::vector<std::string> clients;  // addresses or CIDR blocks
  std::vector<std::string> paths;    // patterns like those of Match::path
  std::vector<std::string> tiers;    // need not be in WaitingRoom::tiers
};

// What happens to a ticket.
enum class WaitingEvent : std::uint8_t {
  joined,
  position,  // half, a quarter, a tenth of the way is left
  called,
  fulfilled,  // it became a session
  expired,    // by time, or after missed calls
  cancelled,  // by the visitor or the operator
  reserved    // its visitor has left, and wants to be called
};
inline constexpr std::size_t kWaitingEventCount = 7;

// Where events are sent: by signed requests that become jobs of a route with `defer`.
struct WaitingWebhook {
  std::string route;
  std::string path = "/";
  std::string key_file;
  std::optional<HmacKey> key;  // set by read_key_files() from that file
  std::vector<WaitingEvent> events{WaitingEvent::joined,  WaitingEvent::position,
                                   WaitingEvent::called,  WaitingEvent::fulfilled,
                                   WaitingEvent::expired, WaitingEvent::cancelled,
                                   WaitingEvent::reserved};
};

// Visitors who have been let in.
struct WaitingSessions {
  std::uint32_t most = 200;                 // at a time
  std::optional<std::uint32_t> per_minute;  // starts within any 60 s; default: no cap
  Milliseconds ttl{3600000};
  Milliseconds idle{300000};
  std::optional<Milliseconds> expected_stay;  // default: measured
  std::optional<ClassId> traffic_class;       // of requests with a pass; default: the first
};

// The proof of work that an unverified visitor must do for a place (waiting/token/challenge.hpp),
// in leading zero bits of the hash. 0: none.
struct WaitingChallenge {
  std::uint32_t work_bits = 0;
};

// Places whose visitors may leave, and are called by the webhook.
struct WaitingReserve {
  Milliseconds keep{14400000};
  Milliseconds claim{900000};
  bool anonymous = false;  // also for visitors without a verified user
};

// Visitors who wait.
struct WaitingTickets {
  std::uint32_t most = 100000;            // at a time
  std::uint32_t joins_per_second = 1000;  // new tickets for one client address
  double network_share = 0.5;             // of the places, for one network
  std::uint32_t per_user = 1;             // tickets and sessions of a verified user; 0: no limit
  Milliseconds max_wait{1800000};
  Milliseconds abandon{300000};
  Milliseconds claim{120000};
  std::uint32_t claim_extensions = 10;
  std::uint32_t attempts = 3;
  WaitingJoin join = WaitingJoin::automatic;
  WaitingChallenge challenge;
  std::optional<WaitingReserve> reserve;
};

// From when visitors have to wait, or no longer have to.
struct WaitingOpening {
  WaitingWhen when = WaitingWhen::full;
  std::string at;  // RFC 3339; until then all visitors wait; empty: open now
  Queueing queueing = Queueing::fifo;
};

// The response to visitors who wait.
struct WaitingPage {
  unsigned status = 503;
  WaitingPoll poll;
  std::string message;
  std::vector<std::string> languages;  // empty: all languages of the page
  std::string file;                    // the operator's template; empty: none
  std::optional<PageTemplate> own;     // set by load(), from that file
};

// How the upstream can verify that a request was let in.
struct PassProof {
  std::string key_file;        // empty: the upstream gets passes without a proof
  std::optional<HmacKey> key;  // set by read_key_files() from that file
};

struct WaitingRoom {
  WaitingSessions sessions;
  WaitingTickets tickets;
  std::vector<WaitingTier> tiers{{"standard", 0}, {"vip", 1}, {"premium", 2}, {"enterprise", 3}};
  WaitingResources resources;
  WaitingBypass bypass;
  WaitingOpening opening;
  OnStoreFailure on_store_failure = OnStoreFailure::open;
  WaitingPage page;
  bool secure_cookie = true;
  PassProof proof;
  std::optional<WaitingWebhook> webhook;
};

}  // namespace spillway::config
