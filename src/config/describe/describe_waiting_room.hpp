// The keys of `waiting_room`, described as in config/describe/describe.hpp.
#pragma once

#include "config/config.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

template <class Visitor>
void describe(Visitor& visit, WaitingPoll& x) {
  visit("min_ms", x.min, Range{1000, kHour}, "Shortest interval, at the front of the line.");
  visit("max_ms", x.max, Range{1000, kHour}, "Longest interval, at its end.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingTier& x) {
  visit(required("name"), x.name, kName,
        "What api_keys[].tier, trusted_headers.tier and trusted_tokens call it.");
  visit(required("priority"), x.priority, Range{0, 255}, "The higher one goes first.");
  visit("share", x.share, Real{0, 0.99},
        "Part of the calls that it gets in any case while somebody of it is there.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingResource& x) {
  visit(required("type"), x.type, kName,
        "What kind of thing it is. Visitors who ask for one type form a line of their own.");
  visit("name", x.name, kOptionalName,
        "Name of the device, which tickets, events and Spillway-Pass say; with count what comes "
        "before the number, by default the type.");
  visit("count", x.count, Range{1, kMostDevices},
        "So many devices that are alike, named NAME-1, NAME-2 and so on; default: one, by its "
        "name.");
  visit("sizes", x.sizes, NumbersByName{kSizeName, {1, 4'294'967'295}, kMostSizes},
        "How much it has of what a ticket may ask for as a minimum, in whole numbers, for "
        "instance {\"memory_gb\": 64}.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingDuration& x) {
  visit("min_ms", x.min, Range{1000, kDay}, "Shortest.");
  visit("max_ms", x.max, Range{1000, kDay}, "Longest; default: session_ttl_ms.");
  visit("default_ms", x.usual, Range{1000, kDay},
        "That of a ticket that asks for none; default: max_ms.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingOwnWait& x) {
  visit("min_ms", x.min, Range{1000, kDay}, "Shortest.");
  visit("max_ms", x.max, Range{1000, kDay}, "Longest; default: max_wait_ms.");
}

// The resources that it hands out, and which of them a ticket may request.
template <class Visitor>
void describe_resources(Visitor& visit, WaitingRoom& x) {
  visit("resources", x.resources.groups, ListOf<ByType>{{}, 0, kMostResourceGroups},
        "Devices that are handed out, each to one session at a time, up to 1000 of up to 16 types. "
        "With resources each visitor gets a ticket, as with when: always. Not with defer. Empty: "
        "none.");
  visit("default_type", x.resources.default_type, kOptionalName,
        "Type of a visitor that asks for none; empty: the only type, or such visitors are refused "
        "with 422.");
  visit("duration", x.resources.duration, ByType{},
        "How long a ticket may ask for a resource; its session ends then.");
  visit("own_max_wait", x.resources.own_wait, ByType{},
        "How long a ticket may say that it waits at most; it then expires.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingBypass& x) {
  visit("clients", x.clients, ListOf<Format>{kPeer, 0, 1024},
        "Addresses or CIDR blocks of clients: those that trusted_peers name, else of the "
        "connection.");
  visit("paths", x.paths, ListOf<Format>{kPathPattern, 0, 64},
        "Path patterns as of a route's match. A path that may be read as another one does not "
        "count.");
  visit(
      "tiers", x.tiers, ListOf<Format>{kName, 0, 64},
      "Tiers of API keys, of trusted tokens, or as a trusted peer says; not only those of tiers.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingChallenge& x) {
  visit("work_bits", x.work_bits, Range{0, 24},
        "Zero bits with which the SHA-256 of the prefix and the nonce has to begin: one "
        "more doubles the work. 0: none.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingReserve& x) {
  visit("keep_ms", x.keep, Range{150'000, kDay / 2},
        "How long the place is kept from when its visitor was last heard of.");
  visit("claim_ms", x.claim, Range{1000, kHour},
        "How long it has to come in once it is called; at least the waiting room's claim_ms.");
  visit("anonymous", x.anonymous, ByType{},
        "Visitors without a verified user may go, too; of them the webhook is told the ticket's id "
        "alone.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingWebhook& x) {
  visit(
      required("route"), x.route, kName,
      "Route with defer whose upstream is told, as its jobs are; internal, unless clients may ask "
      "that upstream, too.");
  visit("path", x.path, kTarget, "Where the requests go there.");
  visit(
      required("key_file"), x.key_file, kFileName,
      "File with the key of their signatures: 32 bytes or 64 hexadecimal digits, readable for its "
      "owner only; relative to the configuration file.");
  visit("events", x.events, ListOf<ByType>{{}, 1, kWaitingEventCount}, "What is told.");
}

// How many visitors may be inside and in line, and for how long.
template <class Visitor>
void describe_limits(Visitor& visit, WaitingRoom& x) {
  visit("active_sessions", x.sessions.most, Range{1, 1'000'000},
        "Visitors who may be inside at a time.");
  visit("per_minute", x.sessions.per_minute, Range{1, 1'000'000},
        "Visitors who may come in within any 60 s; default: no cap.");
  visit("session_ttl_ms", x.sessions.ttl, Range{1000, kDay},
        "Longest session, whether it is used or not.");
  visit("idle_ms", x.sessions.idle, Range{1000, kDay},
        "A session ends after so long without a request, or up to 20 s later.");
  visit("expected_stay_ms", x.sessions.expected_stay, Range{1000, kDay},
        "How long a session lasts, as far as you know: max_wait_ms goes by it until the rate of "
        "entry has been measured. Default: 30 s (idle_ms if that is shorter), until the sessions "
        "that are inside show how long they last.");
  visit("claim_ms", x.tickets.claim, Range{1000, kHour},
        "A called visitor that does not come in within this goes back to its own place.");
  visit("claim_extensions", x.tickets.claim_extensions, Range{0, 100},
        "How often a called visitor may ask for claim_ms more (WCAG 2.2.1 asks for ten times).");
  visit("abandon_ms", x.tickets.abandon, Range{150'000, kDay},
        "A visitor that has sent nothing for so long loses its place.");
  visit("max_wait_ms", x.tickets.max_wait, Range{1000, kDay},
        "A visitor whose place would take longer than this at the measured rate of entry (until it "
        "is known, by expected_stay_ms) gets no place, and is told so. No ticket expires by it.");
  visit("max_tickets", x.tickets.most, Range{1, 10'000'000}, "Most who may wait.");
  visit("joins_per_second", x.tickets.joins_per_second, Range{1, 1'000'000},
        "Tickets made for one client address (an IPv6 /64), ten times as many at once; beyond it "
        "429; a visitor that comes again within the minute keeps its place.");
  visit(
      "network_share", x.tickets.network_share, Real{0.01, 1},
      "Of the line's places, what one network of anonymous visitors (an IPv4 /24, an IPv6 /48) may "
      "have while it is the only one with many; several such share what is taken, and leave some; "
      "beyond it 429, as with joins_per_second. 1: all.");
  visit("per_user", x.tickets.per_user, Range{0, 1'000'000},
        "Tickets and sessions that one verified user may have: whom trusted_headers.user or one of "
        "trusted_tokens names, or the tenant of an API key. Others cannot be told apart. 0: no "
        "limit.");
  visit(
      "attempts", x.tickets.attempts, Range{1, 100},
      "How many calls a visitor may miss before its ticket ends, and how often its entry may fail: "
      "each time but the last it goes back to its place.");
}

template <class Visitor>
void describe(Visitor& visit, WaitingRoom& x) {
  describe_limits(visit, x);
  visit("tiers", x.tiers, ListOf<ByType>{{}, 1, 8},
        "Which visitors are called first. A visitor's tier is what a trusted peer or one of "
        "trusted_tokens says, or that of its API key; of all others, and of a tier that is not "
        "here, the lowest.");
  describe_resources(visit, x);
  visit("bypass", x.bypass, ByType{},
        "Requests that go on without a wait, a pass and a session, in the class of their route: "
        "any one of these is enough.");
  visit("when", x.opening.when, ByType{},
        "When visitors have to wait: full, while there is no room or somebody waits; always; "
        "overloaded, as full and from when the upstream is overloaded.");
  visit("opens_at", x.opening.at, kTimeOfDay,
        "Until then every visitor waits, and none is called; empty: it is open.");
  visit("queueing", x.opening.queueing, ByType{},
        "The order of those who have come before opens_at: fifo, by arrival; random_start, by lot. "
        "Visitors who come after opens_at stand in order of arrival.");
  visit("join", x.tickets.join, ByType{},
        "auto: a visitor that has to wait gets a ticket at its second contact; offer: only when it "
        "takes the place that the page offers. Programs take one by POST in any case.");
  visit("challenge", x.tickets.challenge, ByType{},
        "Proof of work without which a visitor gets no place, unless its user or a tier above the "
        "lowest is verified. Browsers without scripts cannot do it.");
  visit("reserve", x.tickets.reserve, ByType{},
        "A visitor that waits may go, and keeps its place: it is called while it is away, and told "
        "so by the webhook, which is needed. Default: who goes is not called.");
  visit("on_store_failure", x.on_store_failure, ByType{},
        "While places cannot be written down: hold, nobody is called, and newcomers get neither in "
        "nor "
        "a ticket; open, all goes on, and a place of that time is lost if the process ends.");
  visit("status", x.page.status, Range{200, 503},
        "Status of the waiting page: 200, 202, 429 or 503.");
  visit("poll", x.page.poll, ByType{}, "How often the waiting page asks.");
  visit("message", x.page.message, kMessage,
        "A sentence of yours on the waiting page; empty: none.");
  visit("languages", x.page.languages, ListOf<Format>{kPageLanguage, 0, 5},
        "Languages of the waiting page, of which the visitor's browser chooses; empty: all.");
  visit(
      "page", x.page.file, kOptionalFileName,
      "HTML file of yours in place of the waiting page: a template with {{head}} and {{content}}; "
      "relative to the directory of the configuration file. Empty: the built-in page.");
  visit("secure_cookie", x.secure_cookie, ByType{},
        "Cookies for HTTPS alone (__Host-, Secure); false: for a site on plain HTTP.");
  visit("class", x.sessions.traffic_class, ClassName{},
        "Class of the requests of those who were let in; default: the first.");
  visit("proof_key_file", x.proof.key_file, kOptionalFileName,
        "File with 32 bytes, raw or as 64 hexadecimal digits, with which Spillway-Pass is signed "
        "(HMAC-SHA256), so that the upstream can verify it; relative to the directory of the "
        "configuration file. Empty: it is not signed.");
  visit("webhook", x.webhook, ByType{}, "Who is told what becomes of tickets; default: nobody.");
}

}  // namespace spillway::config
