// The checked configuration with every default filled in. Plain values.
//
// The initialisers are the defaults; config/describe/describe.hpp has each field's key, unit and
// range. load() sets defaults that depend on the classes (rules, eviction order, default route).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/defer.hpp"
#include "config/fallback.hpp"
#include "config/trusted_tokens.hpp"
#include "config/waiting_room.hpp"

namespace spillway::config {

struct Listen {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
};

struct Admin {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9090;
  std::string token;  // empty: none required (only allowed on a loopback address)
};

struct Limits {
  std::uint64_t header_bytes = 65536;
  std::uint64_t body_bytes = 104857600;
  std::uint32_t connections = 10000;
  Milliseconds header_timeout{10000}, idle_timeout{60000};
  Milliseconds drain_delay{0}, drain_timeout{30000};
  std::optional<std::uint32_t> connections_per_address;  // default: no cap; not for trusted peers
  std::uint64_t min_rate_bytes = 240;                    // per second, of a body; 0: no minimum
  std::uint64_t slot_rate_bytes = 16384;       // likewise, while others wait for the slot it holds
  std::uint64_t buffer_bytes = 67108864;       // memory for bodies from or to slow clients; 0: none
  std::uint64_t temp_file_bytes = 1073741824;  // files for bodies that do not fit there; 0: none
  std::string temp_file_directory = "/var/tmp";
  std::uint32_t tunnels = 1000;  // upgraded connections and event streams, over all workers
  Milliseconds tunnel_idle_timeout{300000};
};

struct TrafficClass {
  std::string name;
  double weight = 1;
  std::optional<double> ingress_weight;  // its band of numeric priorities; default: weight
  std::optional<double> egress_weight;   // how often it is served; default: weight
  std::uint32_t max_queue = 128;
  Milliseconds sla{1000};  // deadline for a slot, for requests whose route has none
  Milliseconds max_wait{100};
  bool stretches = false;      // max_wait and sla, if slots are held for long; load() sets it
  std::uint32_t reserved = 0;  // slots only this class may take
  std::optional<std::uint32_t> max_inflight;  // slots it may hold at most; default: no cap
  // Guaranteed share of the turns while requests wait, [0, 1); unset is 0. load() sets it.
  std::optional<double> min_share;
};

enum class Strategy : std::uint8_t { allow, degrade, deny, drop };

// How a degraded answer is made: from the cache, even if stale; only from the cache; or without the
// expensive part of the work.
enum class DegradeMode : std::uint8_t { stale_ok, cache_only, skip_downstream };
inline constexpr std::size_t kDegradeModeCount = 3;

// What happens if there is no degraded answer.
enum class Miss : std::uint8_t { forward, fallback, deny };

struct Budget {
  double rate = 1;   // requests per second
  double burst = 1;  // requests at once

  bool operator==(const Budget&) const = default;
};

struct Rule {
  Strategy strategy = Strategy::allow;
  double probability = 1.0;  // of denial or drop, [0, 1]
  Milliseconds retry_after{1000};
  DegradeMode mode = DegradeMode::stale_ok;
  std::optional<Miss> miss;      // default: see miss_of
  std::optional<bool> annotate;  // skip_downstream; default: if the route has no fallback
  std::optional<Budget> budget;  // of requests let through while overloaded
};

// cache_only promises not to ask the upstream.
constexpr Miss miss_of(const Rule& rule) {
  return rule.miss.value_or(rule.mode == DegradeMode::cache_only ? Miss::deny : Miss::forward);
}

// A rule with only some fields set; the rest come from the class's rule.
struct RuleOverride {
  ClassId traffic_class{};
  std::optional<Strategy> strategy;
  std::optional<double> probability;
  std::optional<Milliseconds> retry_after;
  std::optional<DegradeMode> mode;
  std::optional<Miss> miss;
  std::optional<bool> annotate;
  std::optional<Budget> budget;
};

struct Thresholds {  // nullopt: not used
  std::optional<double> inflight_ratio;
  std::optional<double> queue_ratio;
  std::optional<Milliseconds> queue_wait_p95;
  std::optional<Milliseconds> latency_p95;
  std::optional<Milliseconds> event_loop_lag;
  std::optional<double> error_rate;
  std::optional<Milliseconds> latency_p99 = std::nullopt;
  std::optional<double> latency_p95_ratio = std::nullopt;  // relative to the p95 at low load
};

enum class EnterBy : std::uint8_t { any, score };

struct SignalWeights {
  double inflight_ratio = 1;
  double queue_ratio = 1;
  double queue_wait_p95 = 1;
  double latency_p95 = 1;
  double latency_p99 = 1;
  double latency_p95_ratio = 1;
  double event_loop_lag = 1;
  double error_rate = 1;
};

// With EnterBy::score: the sum of weight x signal / enter threshold that enters a state.
struct Score {
  double enter = 1.5;
  double exit = 1.0;
  SignalWeights weights;
};

// One step of a series of overloaded states.
struct Stage {
  State name = State::overloaded;  // never normal
  Thresholds enter;
  Thresholds exit;
  std::optional<Milliseconds> cooldown;  // set by load(); default: that of the section
  std::vector<RuleOverride> rules;
};

enum class Discipline : std::uint8_t { pq, rr, wrr, drr, wfq, aging, edf };
enum class Late : std::uint8_t { drop, process_with_tag };
enum class ExpirePolicy : std::uint8_t { drop, dead_letter, downgrade };
// Which waiting request of a class is next while the upstream is overloaded: the oldest, the
// newest, or the newest once clients leave before they are answered.
enum class OverloadOrder : std::uint8_t { fifo, lifo, adaptive };

// How an adaptive limit is computed with `"concurrency": "auto"`; all but the first for comparison.
enum class LimitLaw : std::uint8_t { paired_dither, gradient2, aimd };

struct AutoConcurrency {
  std::uint32_t min = 1;
  std::uint32_t max = 1000;
  std::optional<std::uint32_t> initial;
  LimitLaw law = LimitLaw::paired_dither;

  std::uint32_t first() const { return std::clamp(initial.value_or(64), min, max); }
};

// How many requests may run in an upstream at a time: a number, or an adaptive limit within bounds.
struct Concurrency {
  Concurrency(std::uint32_t number) : most(number) {}  // NOLINT: a number is one
  Concurrency(const AutoConcurrency& found) : most(found.max), search(found) {}  // NOLINT
  operator std::uint32_t() const { return most; }                                // NOLINT

  std::uint32_t most;
  std::optional<AutoConcurrency> search;  // `most` is then its max
};

struct Dispatch {
  Concurrency concurrency = AutoConcurrency{};
  Discipline discipline = Discipline::wfq;
  bool dynamic_weights = true;
  Milliseconds target_wait{20};
  Late late = Late::drop;
  OverloadOrder overload_order = OverloadOrder::adaptive;
  bool deadline_aware = true;  // the route's usual time counts towards a response's deadline
  std::vector<ClassId> evict;  // classes that give up queue places, first to last
  ExpirePolicy expire_policy = ExpirePolicy::drop;
  std::uint32_t dead_letters = 256;  // kept with ExpirePolicy::dead_letter
  Milliseconds aging_half_life{200};
};

enum class Mode : std::uint8_t { enforce, shadow };

struct Overload {
  Milliseconds tick{100};
  Milliseconds window{2000};
  Milliseconds cooldown{2000};
  Thresholds enter{.inflight_ratio = 0.95,
                   .queue_ratio = 0.8,
                   .queue_wait_p95 = Milliseconds{200},
                   .latency_p95 = std::nullopt,
                   .event_loop_lag = Milliseconds{200},
                   .error_rate = 0.2,
                   .latency_p95_ratio = 3};
  Thresholds exit{.inflight_ratio = 0.9,
                  .queue_ratio = 0.5,
                  .queue_wait_p95 = Milliseconds{120},
                  .latency_p95 = std::nullopt,
                  .event_loop_lag = Milliseconds{120},
                  .error_rate = 0.1,
                  .latency_p95_ratio = 2};
  EnterBy enter_by = EnterBy::any;
  Score score;
  std::vector<Stage> stages;  // ascending; empty: one state, OVERLOADED, with enter and exit
  std::vector<Rule> rules;    // by class
  Mode mode = Mode::enforce;
  bool regulate = true;  // tail latency lowers the effective limit; false: rules refuse
};

// Stops requests to a failing server for a while. Each worker has its own circuits.
struct CircuitBreaker {
  std::uint32_t consecutive_failures = 5;  // 0: not used
  double failure_rate = 0.5;               // in `window`, (0, 1]; 0: not used
  std::uint32_t min_samples = 20;          // calls in `window` before the rate counts
  Milliseconds window{10000};
  Milliseconds open{1000};  // the first time; doubled each time a probe fails
  Milliseconds max_open{30000};
};

// Which of an upstream's servers gets a request. `power_of_two` is the less busy of two random ones
// (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 2001).
enum class Balance : std::uint8_t { least_inflight, power_of_two, round_robin };

// Active health checks of each server.
struct HealthCheck {
  std::string path;  // target of a GET; empty: connecting is enough
  std::string host;  // Host of that request; empty: the server's own name
  Milliseconds interval{2000};
  Milliseconds timeout{1000};
  std::uint32_t healthy_after = 2;    // successes in a row
  std::uint32_t unhealthy_after = 3;  // failures in a row
  std::uint32_t min_status = 200;
  std::uint32_t max_status = 399;
};

// Outlier ejection, judged over all workers.
struct Ejection {
  std::uint32_t consecutive_failures = 5;  // 0: no server is ejected
  Milliseconds base{10000};                // the first time; doubled each further time
  Milliseconds max{300000};
  double max_ejected_ratio = 0.5;  // share of the servers, rounded down
};

// Retries on another server or another connection, for requests that may be sent again.
struct Retries {
  std::uint32_t attempts = 1;    // after the first; 0: none
  double budget_ratio = 0.2;     // share of the requests of the last ten seconds
  double budget_per_second = 1;  // in addition, so that a quiet upstream has retries too
  Milliseconds backoff{25};      // before the same server is tried again; doubled each time
  Milliseconds max_backoff{250};
};

struct Upstream {
  std::string name;
  std::vector<std::string> servers;  // "host:port"
  Milliseconds connect_timeout{1000};
  Milliseconds response_timeout{30000};  // until the response head, then between reads
  std::uint32_t idle_connections = 256;  // over all workers
  std::optional<Milliseconds> total_timeout{3600000};  // from dispatch to the end of the response
  Balance balance = Balance::least_inflight;
  std::optional<HealthCheck> health_check;
  Ejection ejection;
  Retries retries;
  std::optional<CircuitBreaker> circuit_breaker;
  Dispatch dispatch;  // the global one, with this upstream's overrides
  Overload overload;  // likewise
};

struct Match {
  std::vector<std::string> methods;  // empty: any
  std::string host;                  // empty: any; lower case, without port
  std::string path = "/**";

  bool operator==(const Match&) const = default;
};

// When cached answers are served: only to degrade, or whenever they are fresh.
enum class Serve : std::uint8_t { overload, fresh };

// A route's response cache.
struct Cache {
  Milliseconds ttl{1000};      // how long a response is fresh if it does not say so itself
  Milliseconds error_ttl{0};   // the same for statuses of 400 and above
  double heuristic_ratio = 0;  // or this share of the time since its Last-Modified, if that is more
  Milliseconds stale{60000};   // how long after that it may still be served
  std::uint64_t max_bytes = 0;              // of memory, over all workers; always given
  std::uint64_t max_entry_bytes = 1 << 20;  // load() limits it to an eighth of max_bytes
  std::vector<std::string> vary;  // request fields that select a response, besides its Vary
  std::vector<std::string> methods{"GET", "HEAD"};
  Serve serve = Serve::overload;
  bool stale_if_error = true;  // instead of an upstream's failure
  // Request fields (like Authorization) that make a response private, unless it is `public`.
  std::vector<std::string> personal{"Cookie", "X-Api-Key"};
  bool across_tenants = false;        // tenants with a key or a trusted name share responses
  std::vector<std::string> targeted;  // fields that replace Cache-Control here, by precedence

  bool operator==(const Cache&) const = default;
};

// Whether the body of a slow client is read before its upstream is asked.
enum class RequestBuffering : std::uint8_t { automatic, off };

struct Route {
  std::string name;
  Match match;
  ClassId traffic_class{};
  std::optional<std::uint32_t> priority;  // 0 to Config::priority_max, instead of a class
  bool priority_by_cost = false;          // cheap requests first, once their cost is learned
  UpstreamId upstream{};
  std::optional<Milliseconds> deadline;            // default: the class's sla, only for a slot
  std::vector<std::string> upgrades{"websocket"};  // protocols that clients may switch to
  RequestBuffering request_buffering = RequestBuffering::automatic;
  std::vector<RuleOverride> rules;
  std::optional<Cache> cache;
  std::optional<Fallback> fallback;
  std::optional<Defer> defer;
  std::optional<WaitingRoom> waiting_room;
  bool own_path = true;   // Spillway answers paths below Config::own_path
  bool internal = false;  // requests of clients never match this route
};

enum class TenantKey : std::uint8_t { api_key, trusted_header, client_address };

// An API key. Any key of a tenant may state the tenant's tier (named_tenants.hpp).
struct ApiKey {
  std::optional<std::string> name;       // exactly one of these two
  std::optional<std::string> tenant;     // the same; the key's former name
  std::optional<std::string> key;        // exactly one of these two
  std::optional<std::string> sha256;     // of the key, hexadecimal
  std::optional<ClassId> traffic_class;  // none: the class of the route
  std::optional<double> weight;          // of its fair share; none: 1
  std::optional<std::string> tier;       // in waiting rooms; none: the lowest
  std::optional<Budget> budget;          // none: no rate limit

  bool operator==(const ApiKey&) const = default;
};

struct Tenants {
  std::vector<TenantKey> key{TenantKey::api_key, TenantKey::trusted_header,
                             TenantKey::client_address};
  std::vector<ApiKey> api_keys;  // other keys identify no tenant
  bool fairness = true;          // while overloaded, first refuse tenants above their share
  std::uint32_t tracked = 128;   // heaviest tenants counted individually, per class
};

// Fields believed from trusted peers; empty: none.
struct TrustedHeaders {
  std::string tenant;
  std::string priority;  // like a route's priority
  std::string tier;      // in waiting rooms
  std::string user;      // likewise

  bool operator==(const TrustedHeaders&) const = default;
};

// What happens to a request whose path a backend may take for another route's.
enum class AmbiguousPaths : std::uint8_t { lowest_class, reject };

struct Log {
  std::string level = "info";  // debug info warn error
  double access_sample = 0;    // share of requests that get an access line, [0, 1]
};

struct Config {
  Listen listen;
  Admin admin;
  std::uint32_t workers = 1;  // 0: one per core
  Limits limits;
  std::vector<std::string> trusted_peers;  // addresses or CIDR blocks
  std::vector<Upstream> upstreams;
  std::vector<TrafficClass> classes;  // highest priority first
  std::uint32_t priority_max = 100;   // the highest numeric priority
  std::vector<Route> routes;          // the default route is appended last, named "default"
  AmbiguousPaths ambiguous_paths = AmbiguousPaths::lowest_class;
  Tenants tenants;
  TrustedHeaders trusted_headers;
  TrustedTokens trusted_tokens;
  Dispatch dispatch;
  Overload overload;
  Store store;
  Defer jobs;                           // defaults for routes
  std::string own_path = "/_spillway";  // Spillway answers paths below it itself; empty: none
  Log log;

  const Route& default_route() const { return routes.back(); }
  ClassId lowest_class() const { return static_cast<ClassId>(classes.size() - 1); }
};

}  // namespace spillway::config
