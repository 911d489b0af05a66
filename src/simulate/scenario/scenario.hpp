// A scenario: a modelled backend, its changes over time, and its clients.
//
// Plain values, checked by scenario_file.hpp; scenario_description.hpp has each field's key, unit,
// range and meaning. Times count from the start of the run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "config/named_tenants.hpp"

namespace spillway::simulate {

// One of several servers of the backend.
struct Server {
  std::uint32_t slots = 1;
  double speed = 1;
};

// One server with an unbounded FIFO queue, or several.
struct Backend {
  std::uint32_t slots = 64;       // for several servers: the sum, set by the reader
  std::vector<Server> servers;    // empty: one with all slots
  Milliseconds service{100};      // mean of a request alone, without tail, thrashing and slow-downs
  double sigma = 0.5;             // of the logarithm of the service time
  double tail_probability = 0;    // of a request that takes tail_factor times as long
  double tail_factor = 10;        //
  std::uint32_t thrash_knee = 0;  // requests inside above which service slows down; 0: never
  double thrash_slope = 1;        // service x (1 + slope x excess / knee)
  double degraded_factor = 0.5;   // cost of a request with skip_downstream
};

// The factor by which service begun with `inside` requests, queued ones included, is slower.
double thrashing(const Backend& backend, double inside);
// The most work that this number of slots of a server does in a second despite thrashing, in
// seconds of one slot at normal speed.
double best_of(const Backend& backend, std::uint32_t slots);
// The same for all servers together.
double best_of(const Backend& backend);

// In force from `at` until `until`. If changes overlap, speeds multiply; the fewest slots and the
// highest rates apply.
struct Change {
  double at = 0;                               // seconds
  std::optional<double> until;                 // seconds; none: to the end
  double speed = 1;                            // 0.5: everything takes twice as long
  std::optional<std::uint32_t> server;         // its number, from 1; none: all of them
  std::optional<std::uint32_t> slots;          // of each server
  double error_rate = 0;                       // share of the answers that are errors
  double error_after = 0.1;                    // share of the service time before an error comes
  double refused_rate = 0;                     // share of the connections that are refused
  std::optional<Milliseconds> event_loop_lag;  // of the proxy, as its workers measure it
};

// A two-state Markov-modulated Poisson process: `factor` times the rate for a random time of mean
// `on`, then the plain rate for a random time of mean `off`.
struct Burst {
  Milliseconds on{1000};
  Milliseconds off{1000};
  double factor = 2;
};

// A visitor requests several pages, one after the other; if its route has a waiting room, it waits
// there for its turn.
struct Visit {
  std::uint32_t pages = 5;
  Milliseconds think{10'000};        // mean, exponential: from a page to the next request
  Milliseconds patience{1'800'000};  // in line, or for a page
  std::string tier;                  // in the waiting room; empty, or unknown: the lowest
  double ghosts = 0;                 // share that never returns after getting a ticket
  double no_shows = 0;               // share that keeps polling but never comes when called
};

// Many clients of one kind.
struct Clients {
  std::optional<ClassId> traffic_class;  // none: the route's
  std::optional<RouteId> route;          // none: the default route
  std::string tenant;                    // empty: none
  std::uint32_t tenants = 1;             // more: this number of them, numbered, with equal shares
  std::optional<Visit> visit;            // each is a visitor; none: each is one request
  double rate = 1;                       // new ones per second, all tenants together
  std::optional<double> ramp_to;         // the rate at the end, growing evenly
  double from = 0;                       // seconds
  std::optional<double> until;           // seconds; none: the end of the run
  std::optional<Burst> burst;
  std::uint32_t keys = 0;                // different answers they ask for; 0: never the same twice
  double key_skew = 1;                   // exponent of Zipf's law; 0: all keys alike
  double error_rate = 0;                 // share of their requests that the backend fails
  std::uint32_t addresses = 0;           // they share this number; 0: a new one for each request
  double service_factor = 1;             // their cost relative to the backend's service time
  std::optional<Milliseconds> deadline;  // sent with the request; none: the route's or class's
  std::optional<Milliseconds> timeout;   // when they give up; none: never
  std::uint32_t retries = 0;             // at most, after a refusal, an error or giving up
  Milliseconds retry_backoff{100};       // before the first retry, doubled for each further one
  bool honours_retry_after = true;       // waits at least as long as a refusal says
};

// The time that the proxy itself needs.
struct ProxyCost {
  std::uint32_t request_us = 0;  // of the event loop's time for a request, half for a refusal
};

// A request of an access log.
struct LoggedArrival {
  double at = 0;              // seconds since the first one
  std::uint64_t tenant = 0;   // tenant_hash of its name
  std::uint32_t clients = 0;  // which of the scenario's
};

struct Scenario {
  std::string name;
  std::string sentence;
  std::uint32_t seconds = 60;
  std::uint32_t warm_up_seconds = 5;  // not part of the summary
  std::uint64_t seed = 1;
  Backend backend;
  ProxyCost proxy;
  std::vector<Change> changes;
  std::vector<Clients> clients;
  // A replayed log: when requests come, in order; `clients` only gives their kinds. Null: modelled.
  std::shared_ptr<const std::vector<LoggedArrival>> logged;
  config::Config config;
  UpstreamId upstream{};      // of `config`: the one that is simulated
  bool books_returns = true;  // false: Retry-After is the rule's alone, for comparison; no key
  // Requests refused for event-loop lag are deferred, too, unlike in the proxy; no key either.
  bool defers_for_lag = false;
};

// The classifier's results for these clients.
RouteId route_of(const Scenario& scenario, const Clients& clients);
ClassId class_of(const Scenario& scenario, const Clients& clients);

// The tier of their tenant `number`, from 0, by the configuration's API keys.
config::Tier tier_of(const Scenario& scenario, const Clients& clients, std::uint32_t number);

// The name of their tenant `number`, from 0; empty without tenants.
std::string tenant_name(const Clients& clients, std::uint32_t number);

}  // namespace spillway::simulate
