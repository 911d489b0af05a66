// The only description of every key: name, default (the member's initialiser), unit (the suffix of
// the name), range, one sentence. Reader, checks, JSON Schema, reference table and effective dump
// are visitors of it.
//
// A visitor offers
//   visit(Key, member&, constraint, sentence)   a key of this version
//   visit.annotation(Key, sentence)             a text for editors, ignored here
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "config/config.hpp"
#include "config/describe/constraint.hpp"
#include "config/describe/describe_answers.hpp"
#include "config/describe/describe_defer.hpp"
#include "config/describe/describe_limits.hpp"
#include "config/describe/describe_trusted.hpp"
#include "config/describe/describe_upstreams.hpp"
#include "config/describe/describe_waiting_room.hpp"

namespace spillway::config {

inline constexpr std::string_view kLogLevels[] = {"debug", "info", "warn", "error"};
inline constexpr Range kConcurrency{1, 1'000'000};

// config.routes as the file has it: the user's routes, and separately the default route.
struct UserRoutes {
  std::vector<Route>& all;
};
struct DefaultRoute {
  Route& route;
};

template <class Visitor>
void describe(Visitor& visit, Listen& x) {
  visit("address", x.address, kAddress, "Address to accept clients on; 0.0.0.0 or :: for all.");
  visit("port", x.port, Range{0, 65535}, "Port to accept clients on; 0 takes any free one.");
}

template <class Visitor>
void describe(Visitor& visit, Admin& x) {
  visit("address", x.address, kAddress,
        "Address of the admin listener; anything but loopback needs a token.");
  visit("port", x.port, Range{0, 65535}, "Port of the admin listener; 0 takes any free one.");
  visit("token", x.token, kToken, "Bearer token that admin requests must carry; empty: none.");
}

template <class Visitor>
void describe(Visitor& visit, TrafficClass& x) {
  constexpr Real weight{0.001, 10'000};
  visit("name", x.name, kNewClass,
        "Name of the class, as rules, routes and metrics say it; default: its index, \"0\" for the "
        "highest.");
  visit("weight", x.weight, weight,
        "Share of capacity relative to the other classes' weights; the default is the lowest "
        "class's.");
  visit("ingress_weight", x.ingress_weight, weight,
        "Share of the priorities 0 to priority_max that land in this class; default: weight.");
  visit("egress_weight", x.egress_weight, weight,
        "How often the class is served relative to the others; default: weight.");
  visit("max_queue", x.max_queue, Range{1, 1'000'000},
        "Requests that may wait per upstream; a full queue refuses. The default is the lowest "
        "class's.");
  visit("sla_ms", x.sla, Range{1, kHour},
        "Deadline for the slot of a request whose route has none.");
  visit(
      "max_wait_ms", x.max_wait, Range{0, kHour},
      "Longest wait for a slot; the default is the lowest class's. If neither it nor sla_ms is "
      "given, both are longer, in proportion, where a slot is held for more than 250 ms in quiet, "
      "or of more than 20 slots for more than 12.5 ms times their number.");
  visit("reserved", x.reserved, Range{0, 1'000'000},
        "Slots of each upstream that only this class may take.");
  visit("max_inflight", x.max_inflight, Range{1, 1'000'000},
        "Slots of each upstream that this class may hold at most; default: no cap.");
  visit("min_share", x.min_share, Real{0, 1},
        "Share of the turns that the class gets at least while it has a waiter, under every "
        "discipline; all together below 1. Default: 0 for the highest class, 0.05 for the others "
        "(with more than eleven classes 0.5 divided among these).");
}

template <class Visitor>
void describe(Visitor& visit, Budget& x) {
  visit(required("rate"), x.rate, Real{0, 1e9}, "Requests per second that it lets through.");
  visit("burst", x.burst, Real{1, 1e9}, "Requests that it lets through at once after a pause.");
}

// Rule and RuleOverride have the same fields, the latter optional.
template <class Visitor, class AnyRule>
requires std::is_same_v<AnyRule, Rule> || std::is_same_v<AnyRule, RuleOverride>
void describe(Visitor& visit, AnyRule& x) {
  visit("strategy", x.strategy, ByType{}, "What happens to the class while overloaded.");
  visit("probability", x.probability, Real{0, 1},
        "Largest share of requests that is denied or dropped, where the strategy says so.");
  visit("retry_after_ms", x.retry_after, Range{0, kDay},
        "When a denied client is asked to come back at the earliest, before jitter.");
  visit("mode", x.mode, ByType{}, "How a degraded answer is made.");
  visit("miss", x.miss, ByType{},
        "What happens when there is no degraded answer; default: deny with cache_only, else "
        "forward. A fallback that the route does not have is a denial. A route with a fallback "
        "sends it instead of a denial, unless the rule says \"deny\".");
  visit("annotate", x.annotate, ByType{},
        "With skip_downstream: forward it with Spillway-Degrade: skip-downstream rather than give "
        "the route's fallback; default: where there is none.");
  visit("budget", x.budget, ByType{},
        "Token bucket for the requests that the rule lets through while overloaded; an empty one "
        "refuses with 429.");
}

template <class Visitor>
void describe(Visitor& visit, Thresholds& x) {
  constexpr OrOff<Real> ratio{{0, 1}};
  constexpr OrOff<Range> wait{{1, kHour}};
  visit("inflight_ratio", x.inflight_ratio, ratio,
        "Slots in use / concurrency over about 2 s; without reserved slots if that is more.");
  visit("queue_ratio", x.queue_ratio, ratio, "Fullest class queue, waiting / max_queue.");
  visit("queue_wait_p95_ms", x.queue_wait_p95, wait, "95th percentile of the wait for a slot.");
  visit("latency_p95_ms", x.latency_p95, wait,
        "95th percentile from dispatch to the upstream's response head.");
  visit("latency_p99_ms", x.latency_p99, wait, "99th percentile of the same.");
  visit("latency_p95_ratio", x.latency_p95_ratio, OrOff<Real>{{1.1, 1000}},
        "The p95 by the upstream's own p95 at low load, which is learned: each request's time is "
        "taken relative to what its route usually takes.");
  visit("event_loop_lag_ms", x.event_loop_lag, wait,
        "The worst worker's: how long new requests wait until it begins them, the least of 200 ms, "
        "or "
        "how late its timer is, p90 over a second.");
  visit("error_rate", x.error_rate, ratio,
        "Share of 5xx answers, resets and timeouts from the upstream.");
}

template <class Visitor>
void describe(Visitor& visit, SignalWeights& x) {
  const auto weight = [&](Key key, double& value) {
    visit(key, value, Real{0, 1000}, "Weight of this signal in the score.");
  };
  weight("inflight_ratio", x.inflight_ratio);
  weight("queue_ratio", x.queue_ratio);
  weight("queue_wait_p95", x.queue_wait_p95);
  weight("latency_p95", x.latency_p95);
  weight("latency_p99", x.latency_p99);
  visit("latency_p95_ratio", x.latency_p95_ratio, Real{0, 1000},
        "Weight of this signal in the score, where (signal - 1) / (threshold - 1) counts.");
  weight("event_loop_lag", x.event_loop_lag);
  weight("error_rate", x.error_rate);
}

template <class Visitor>
void describe(Visitor& visit, Score& x) {
  visit("enter", x.enter, Real{0.01, 1000},
        "Overloaded when the sum of weight x signal / enter threshold reaches this.");
  visit("exit", x.exit, Real{0, 1000}, "Normal again when, besides, the sum is at most this.");
  visit("weights", x.weights, ByType{}, "What each signal counts.");
}

template <class Visitor>
void describe(Visitor& visit, Stage& x) {
  visit(required("name"), x.name, ByType{}, "The state that this stage makes, lowest first.");
  visit(required("enter"), x.enter, ByType{}, "Entered when any of these is reached.");
  visit("exit", x.exit, ByType{},
        "Left for the stage below when all of these are met, each below its enter threshold.");
  visit("cooldown_ms", x.cooldown, Range{0, kHour},
        "Least time in this stage; default: the cooldown_ms of the whole section.");
  visit("rules", x.rules, ByClass{},
        "What differs from overload.rules in this stage; CRITICAL also keeps what OVERLOADED says, "
        "and ELEVATED allows whatever it does not name.");
}

template <class Visitor>
void describe(Visitor& visit, AutoConcurrency& x) {
  visit("min", x.min, kConcurrency, "No lower limit is tried.");
  visit("max", x.max, kConcurrency, "No higher limit is tried.");
  visit("initial", x.initial, kConcurrency, "The first limit; default: 64, or the nearer bound.");
  visit("law", x.law, ByType{},
        "How the limit is found; gradient2 and aimd are there to be compared with.");
}

template <class Visitor>
void describe(Visitor& visit, Dispatch& x) {
  visit("concurrency", x.concurrency, NumberOrAuto{kConcurrency},
        "Requests that may run in the upstream at a time: its slots. \"auto\": the number is found "
        "while requests wait, as the lowest that keeps the upstream's throughput.");
  visit("discipline", x.discipline, ByType{}, "Whose turn it is when a slot gets free.");
  visit("dynamic_weights", x.dynamic_weights, ByType{},
        "Raise the first class's weight while its predicted wait passes target_wait_ms.");
  visit("target_wait_ms", x.target_wait, Range{1, kHour},
        "Wait up to which a class that overload rules would deny may still queue: to begin with, "
        "then adapted so that slots do not idle meanwhile, from 5 ms to half of the class's "
        "max_wait_ms; with \"regulate\": false fixed.");
  visit("late", x.late, ByType{},
        "A waiter past its deadline or longest wait: answered, or served and tagged late.");
  visit(
      "overload_order", x.overload_order, ByType{},
      "Which waiter of a class is next while overloaded: the oldest (fifo), the newest (lifo; the "
      "highest of several classes in order of arrival), or the oldest until clients leave before "
      "they are answered, then the newest of every class (adaptive).");
  visit("deadline_aware", x.deadline_aware, ByType{},
        "Refuse a request whose predicted wait and its route's usual time together pass the "
        "deadline of its answer (deadline_ms, or the client's own); false: the wait alone counts.");
  visit("expire_policy", x.expire_policy, ByType{},
        "What happens to expired requests: answered, also kept for /state, or moved once per class "
        "to the next lower class's queue while their deadline has not passed.");
  visit("dead_letters", x.dead_letters, Range{1, 10'000},
        "Expired requests that are kept for /state with expire_policy dead_letter. Those of routes "
        "with defer are also written to the store, as dead jobs.");
  visit("aging_half_life_ms", x.aging_half_life, Range{1, kHour},
        "Wait that doubles a request's urgency under discipline aging.");
  visit("evict", x.evict, ListOf<ClassName>{{}, 0, kMaxClasses},
        "Classes that give up queue places to higher ones, first to last; default: the lowest "
        "first, never the highest.");
}

template <class Visitor>
void describe(Visitor& visit, Overload& x) {
  visit("mode", x.mode, ByType{},
        "Whether decisions are carried out, or only counted and logged while all is forwarded.");
  visit(
      "regulate", x.regulate, ByType{},
      "How much is refused follows the load: the lowest class first, and no more than helps; tail "
      "latency lowers the number of requests sent at once. false: rules refuse their whole share.");
  visit("tick_ms", x.tick, Range{10, 10'000}, "Time between two looks at the signals.");
  visit("window_ms", x.window, Range{100, 600'000}, "Time over which signals are measured.");
  visit("cooldown_ms", x.cooldown, Range{0, kHour}, "Least time in the overloaded state.");
  visit("enter", x.enter, ByType{},
        "Overloaded when any of these is reached; null: takes no part.");
  visit("exit", x.exit, ByType{},
        "Normal again when all of these are met, each below its enter threshold.");
  visit("enter_by", x.enter_by, ByType{},
        "Whether any one signal makes a state, or the score of all of them.");
  visit("score", x.score, ByType{}, "The score, with enter_by \"score\".");
  visit("stages", x.stages, ListOf<ByType>{{}, 0, 3},
        "Up to three states with thresholds and rules of their own, in place of enter and exit.");
  visit("rules", x.rules, ByClass{},
        "What happens to each class while overloaded; default: the first allow, the last deny 1.0 "
        "(5000 ms), others deny 0.5 (1000 ms); a single one deny 1.0 (1000 ms).");
}

template <class Visitor>
void describe(Visitor& visit, Match& x) {
  visit("methods", x.methods, ListOf<Format>{kMethod, 0, 32},
        "Methods that match; empty: any. "
        "A HEAD counts as a GET too, unless its route names HEAD.");
  visit("host", x.host, kHost, "Host that matches; empty: any.");
  visit("path", x.path, kPathPattern,
        "Path that matches: * is one segment, a final /** the path itself and all below it.");
}

// Shared by routes and the default route.
template <class Visitor>
void describe_treatment(Visitor& visit, Route& x) {
  visit("class", x.traffic_class, ClassName{}, "Traffic class; default: the middle one.");
  visit("priority", x.priority, Range{0, kMostPriorities},
        "In place of class: priority_max is the highest, mapped onto classes by ingress weight.");
  visit("priority_by_cost", x.priority_by_cost, ByType{},
        "Cheap requests before dear ones: priority_max less the route's learned cost, in "
        "milliseconds of the upstream's time; until that is learned, its class or priority.");
  visit("upstream", x.upstream, UpstreamName{}, "Where requests go; default: the first upstream.");
  visit("deadline_ms", x.deadline, Range{1, kHour},
        "Time after which an answer is of no use: ends the wait for a slot and for the response "
        "head, and the upstream is told; default: for a slot, the sla_ms of the class.");
  visit("upgrades", x.upgrades, ListOf<Format>{kProtocol, 0, 8},
        "Protocols that a connection may be upgraded to; another Upgrade is not passed on.");
  visit("request_buffering", x.request_buffering, ByType{},
        "auto: the body of a client that is slow to send it is read before a slot is taken; off, "
        "as gRPC needs it: once its first 64 KiB have come, the upstream gets it as it comes.");
  visit("rules", x.rules, ByClass{}, "What differs from the class's overload rules on this route.");
  visit("cache", x.cache, ByType{},
        "Stores what a shared cache may store (RFC 9111); default: nothing is stored.");
  visit("fallback", x.fallback, ByType{}, "A prepared answer; default: none.");
  visit("defer", x.defer, Overrides{"jobs"},
        "Requests that are answered 202, stored and forwarded later, by these keys and those of "
        "jobs; default: none is.");
  visit("waiting_room", x.waiting_room, ByType{},
        "Visitors beyond what the site can take wait for their turn; default: none has to.");
  visit("own_path", x.own_path, ByType{},
        "Spillway answers what is below own_path itself; false: it is forwarded.");
}

template <class Visitor>
void describe(Visitor& visit, Route& x) {
  visit(required("name"), x.name, kName, "Name of the route, as metrics and logs say it.");
  visit(required("match"), x.match, ByType{}, "Requests it takes; the most specific match wins.");
  visit("internal", x.internal, ByType{}, "Takes only Spillway's own requests; match is {}.");
  describe_treatment(visit, x);
}

template <class Visitor>
void describe(Visitor& visit, DefaultRoute& x) {
  describe_treatment(visit, x.route);
}

template <class Visitor>
void describe(Visitor& visit, ApiKey& x) {
  visit("name", x.name, kName, "Whose key it is; required. A tenant may have several keys.");
  visit("tenant", x.tenant, kName, "The same as name, its former word.");
  visit("sha256", x.sha256, kSha256,
        "SHA-256 of the value of X-Api-Key that proves it (printf %s KEY | sha256sum).");
  visit("key", x.key, kSecret, "The value itself, in place of sha256: one of them is required.");
  visit("class", x.traffic_class, ClassName{},
        "Class of the tenant's requests, in place of the route's; default: the route's.");
  visit("weight", x.weight, Real{0.01, 100},
        "The tenant's fair share relative to other tenants of the class; default: 1.");
  visit(
      "tier", x.tier, kName,
      "Tier of the tenant's visitors in waiting rooms (waiting_room.tiers); default: the lowest.");
  visit("budget", x.budget, ByType{},
        "Rate limit of the tenant, overloaded or not, over all routes; beyond it 429. Default: "
        "none.");
}

template <class Visitor>
void describe(Visitor& visit, Tenants& x) {
  visit("key", x.key, ListOf<ByType>{{}, 1, 3},
        "Where a request's tenant is read: the first of these that it has and that is believed.");
  visit("api_keys", x.api_keys, ListOf<ByType>{{}, 0, 100'000},
        "The keys that are believed; another one is as good as none.");
  visit("fairness", x.fairness, ByType{},
        "Tenants of a class take turns in its queue; while overloaded those above their fair share "
        "are refused first.");
  visit("tracked", x.tracked, Range{8, 4096},
        "Heaviest tenants that are told apart, per upstream, class and worker.");
}

template <class Visitor>
void describe(Visitor& visit, Log& x) {
  visit("level", x.level, OneOf{kLogLevels}, "Least severe lines that are logged.");
  visit("access_sample", x.access_sample, Real{0, 1}, "Share of requests that get an access line.");
}

template <class Visitor>
void describe(Visitor& visit, Config& x) {
  visit.annotation("$schema", "For editors: where the JSON Schema of this file is.");
  visit("listen", x.listen, ByType{}, "Where clients come in.");
  visit("admin", x.admin, ByType{}, "Where the operator looks in.");
  visit("workers", x.workers, Range{0, 1024}, "Threads that serve; 0: one per core.");
  visit("limits", x.limits, ByType{}, "What one client may take.");
  visit("trusted_peers", x.trusted_peers, ListOf<Format>{kPeer, 0, 1024},
        "Proxies in front of this one, whose word about the client is believed.");
  visit(required("upstreams"), x.upstreams, ListOf<ByType>{{}, 1, kMaxUpstreams}, "The backends.");
  visit("classes", x.classes, ListOf<ByType>{{}, 1, kMaxClasses},
        "Traffic classes, the highest priority first. The defaults of weight, max_queue and "
        "max_wait_ms go by the place in the list: 8, 512 and 500 for the highest, 1, 128 and 100 "
        "for the lowest, 3, 256 and 200 in the middle, values between these for the others.");
  visit("priority_max", x.priority_max, Range{1, kMostPriorities},
        "The highest numeric priority; 0 is the lowest.");
  UserRoutes routes{x.routes};
  visit("routes", routes, ListOf<ByType>{{}, 0, 10'000}, "Which requests are which class.");
  DefaultRoute default_route{x.routes.back()};
  visit("default_route", default_route, ByType{}, "What requests get that match no route.");
  visit("ambiguous_paths", x.ambiguous_paths, ByType{},
        "A path that a backend may take for one of another route: it gets the lowest class of all "
        "its readings, or 400.");
  visit("tenants", x.tenants, ByType{}, "Whom a request comes from, and what is fair.");
  visit("trusted_headers", x.trusted_headers, ByType{},
        "Fields that are believed when they come from one of trusted_peers; those of others are "
        "not passed on.");
  visit("trusted_tokens", x.trusted_tokens, ByType{},
        "Signed tokens that say who a visitor of a waiting room is, from any client.");
  visit("dispatch", x.dispatch, ByType{}, "The queue and the concurrency limit, per upstream.");
  visit("overload", x.overload, ByType{}, "When an upstream is overloaded, and what then.");
  visit("store", x.store, ByType{}, "Where deferred requests are kept.");
  visit("jobs", x.jobs, ByType{}, "Defaults for the defer of every route.");
  visit("own_path", x.own_path, kOwnPath,
        "Path below which Spillway answers itself (defer, waiting_room); empty: nowhere.");
  visit("log", x.log, ByType{}, "What is written to standard error.");
}

}  // namespace spillway::config
