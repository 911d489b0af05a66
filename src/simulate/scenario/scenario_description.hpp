// Every key of a scenario file, described once, as config/describe/describe.hpp describes the
// configuration: reading, checking and the reference table are visitors of these descriptions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "config/describe/constraint.hpp"
#include "config/problem.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// Printable ASCII, since it is shown in terminals and pictures.
inline bool is_sentence(std::string_view text) {
  return text.size() <= 200 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}
inline constexpr config::Format kSentence{"up to 200 printable ASCII characters", is_sentence};

// A Spillway configuration within a scenario.
struct Configuration {
  bool read(const nlohmann::json& node, const std::string& path, config::Config& value,
            config::Problems& problems) const;
};

inline std::string words(const Configuration&) {
  return "an object, all keys of the configuration";
}

inline constexpr config::Real kSeconds{0, 86'400};

template <class Visitor>
void describe(Visitor& visit, Server& x) {
  using config::Range, config::Real;
  visit(config::required("slots"), x.slots, Range{1, 1'000'000},
        "Requests it works on at a time; the others queue at it.");
  visit("speed", x.speed, Real{0.001, 1000}, "0.5: everything takes twice as long.");
}

template <class Visitor>
void describe(Visitor& visit, Backend& x) {
  using config::ByType, config::ListOf, config::Range, config::Real;
  visit("slots", x.slots, Range{1, 1'000'000}, "Requests it works on at a time; the others queue.");
  visit("servers", x.servers, ListOf<ByType>{{}, 0, 64},
        "Several servers, in place of one with all slots. Without them the slots are shared evenly "
        "by as many servers as the upstream of the configuration has.");
  visit("service_ms", x.service, Range{1, config::kHour},
        "Mean time it works on a request (log-normal).");
  visit("sigma", x.sigma, Real{0, 3}, "Standard deviation of the logarithm of that time.");
  visit("tail_probability", x.tail_probability, Real{0, 1},
        "Chance of a request that takes tail_factor times as long.");
  visit("tail_factor", x.tail_factor, Real{1, 1000}, "How much longer those take.");
  visit("thrash_knee", x.thrash_knee, Range{0, 1'000'000},
        "Requests inside a server, queued ones included, above which all it begins takes longer; "
        "0: never.");
  visit("thrash_slope", x.thrash_slope, Real{0, 1000},
        "How much longer: times 1 + slope x (requests inside - knee) / knee.");
  visit("degraded_factor", x.degraded_factor, Real{0.001, 1},
        "What a request that is to skip the expensive part (skip_downstream) still costs.");
}

template <class Visitor>
void describe(Visitor& visit, Change& x) {
  using config::Range, config::Real;
  visit(config::required("at_seconds"), x.at, kSeconds, "When it begins.");
  visit("until_seconds", x.until, kSeconds, "When it is over; default: never.");
  visit("speed", x.speed, Real{0.001, 1000},
        "Speed of what the backend begins meanwhile; 0.5: everything takes twice as long.");
  visit("server", x.server, Range{1, 64}, "Number of the server that it is about; default: all.");
  visit("slots", x.slots, Range{0, 1'000'000}, "Slots of each server meanwhile.");
  visit("error_rate", x.error_rate, Real{0, 1},
        "Part of the requests begun meanwhile that are answered with an error (5xx).");
  visit("error_after", x.error_after, Real{0.001, 10},
        "When: this part of the time that the answer would have taken.");
  visit("refused_rate", x.refused_rate, Real{0, 1}, "Part of the connections refused meanwhile.");
  visit("event_loop_lag_ms", x.event_loop_lag, Range{0, config::kHour},
        "Event-loop lag of the proxy meanwhile; without one the signal is absent.");
}

template <class Visitor>
void describe(Visitor& visit, Burst& x) {
  using config::Range, config::Real;
  visit(config::required("on_ms"), x.on, Range{1, config::kHour}, "Mean length of a burst.");
  visit(config::required("off_ms"), x.off, Range{1, config::kHour},
        "Mean time between two bursts.");
  visit(config::required("factor"), x.factor, Real{0, 1000}, "The rate in a burst, times `rate`.");
}

template <class Visitor>
void describe(Visitor& visit, Visit& x) {
  using config::Range, config::Real;
  visit("pages", x.pages, Range{1, 1000}, "How many pages each wants to see.");
  visit("think_ms", x.think, Range{0, config::kHour},
        "Mean time from a page to the request for the next (exponential).");
  visit("patience_ms", x.patience, Range{1, config::kDay},
        "Who has waited for so long, in line or for a page, gives up.");
  visit("tier", x.tier, config::kName,
        "Their tier in the waiting room; default, or if it has none of this name: the lowest.");
  visit("ghosts", x.ghosts, Real{0, 1}, "Part that is not heard of again once it has a ticket.");
  visit("no_shows", x.no_shows, Real{0, 1},
        "Part that goes on asking and never comes when it is called.");
}

template <class Visitor>
void describe(Visitor& visit, Clients& x) {
  using config::ByType, config::Range, config::Real;
  visit("class", x.traffic_class, config::ClassName{}, "Their class; default: their route's.");
  visit("route", x.route, config::RouteName{}, "Their route; default: the default route.");
  visit("tenant", x.tenant, config::kName, "Their tenant; default: none.");
  visit("tenants", x.tenants, Range{1, 1000},
        "How many tenants with equal shares they are: `tenant`-1, `tenant`-2 and so on.");
  visit(config::required("rate"), x.rate, Real{0, 1e6},
        "New requests, or visitors, per second of all of them together (Poisson).");
  visit("visit", x.visit, ByType{},
        "Each is a visitor who asks for one page after the other, and waits in its route's waiting "
        "room if there is one; default: each is one request.");
  visit("ramp_to", x.ramp_to, Real{0, 1e6}, "Rate at the end, growing evenly; default: `rate`.");
  visit("from_seconds", x.from, kSeconds, "When they begin to come.");
  visit("until_seconds", x.until, kSeconds, "When they cease; default: the end of the run.");
  visit("burst", x.burst, ByType{}, "A rate that jumps.");
  visit("keys", x.keys, Range{0, 1'000'000},
        "Different answers that they ask for, which their route's cache may keep; 0: never the "
        "same twice.");
  visit("key_skew", x.key_skew, Real{0, 10},
        "How much the popular ones are ahead: Zipf's exponent, the chance of the n-th is "
        "proportional to n^-key_skew.");
  visit("error_rate", x.error_rate, Real{0, 1},
        "Part of their requests that the backend answers with an error, whatever its health.");
  visit("addresses", x.addresses, Range{0, 1'000'000},
        "From how many addresses they come, in turns; 0: each request from another.");
  visit("service_factor", x.service_factor, Real{0.001, 1000},
        "Cost of their requests, times service_ms.");
  visit("deadline_ms", x.deadline, Range{1, config::kHour},
        "Time after which an answer is of no use, as their requests say; default: their route's "
        "deadline_ms or their class's sla_ms.");
  visit("timeout_ms", x.timeout, Range{1, config::kHour},
        "Time after which they give up and leave; default: never.");
  visit("retries", x.retries, Range{0, 1000},
        "How often a request is tried again after a refusal, an error or giving up.");
  visit("retry_backoff_ms", x.retry_backoff, Range{1, config::kHour},
        "Pause before the first retry, doubled for each further one, +- 50 % at random.");
  visit("honours_retry_after", x.honours_retry_after, ByType{},
        "Whether that pause is at least what a refusal asked for.");
}

template <class Visitor>
void describe(Visitor& visit, ProxyCost& x) {
  using config::Range;
  visit("request_us", x.request_us, Range{0, 1'000'000},
        "Microseconds that a request takes of Spillway's event loop, half for a refusal; 0: no "
        "time, and no event-loop lag.");
}

template <class Visitor>
void describe(Visitor& visit, Scenario& x) {
  using config::ByType, config::ListOf, config::Range;
  visit(config::required("name"), x.name, config::kName, "What the scenario is called.");
  visit(config::required("sentence"), x.sentence, kSentence, "What it is about.");
  visit("seconds", x.seconds, Range{1, 86'400}, "How long it lasts.");
  visit("warm_up_seconds", x.warm_up_seconds, Range{0, 86'400},
        "Time at the beginning that the summary leaves out.");
  visit("seed", x.seed, Range{0, INT64_MAX}, "Of all randomness: the same seed, the same run.");
  visit("backend", x.backend, ByType{}, "What is behind Spillway.");
  visit("proxy", x.proxy, ByType{}, "What Spillway itself needs.");
  visit("changes", x.changes, ListOf<ByType>{{}, 0, 100}, "What happens to it.");
  visit(config::required("clients"), x.clients, ListOf<ByType>{{}, 1, 100},
        "The load: one entry a class, route or tenant.");
  visit(config::required("config"), x.config, Configuration{},
        "A Spillway configuration, for when the command names none.");
}

}  // namespace spillway::simulate
