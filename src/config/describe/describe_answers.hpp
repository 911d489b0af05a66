// The keys of `cache` and `fallback`, described as in config/describe/describe.hpp.
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

template <class Visitor>
void describe(Visitor& visit, Cache& x) {
  constexpr std::int64_t kibibyte = 1024;
  constexpr std::int64_t tebibyte = std::int64_t{1} << 40;
  constexpr ListOf<Format> fields{kRequestField, 0, 32};
  visit("ttl_ms", x.ttl, Range{0, kYear},
        "How long an answer is fresh that does not say so itself (RFC 9111, 4.2.2).");
  visit(
      "error_ttl_ms", x.error_ttl, Range{0, kYear},
      "The same for a status of 400 or more; 0: such an answer is stored only if it says how long. "
      "An error may be due to fields that are not part of the key.");
  visit(
      "heuristic_ratio", x.heuristic_ratio, Real{0, 1},
      "Share of the time between Last-Modified and Date for which an answer without a lifetime is "
      "fresh, a day at most, if that is more than ttl_ms (RFC 9111, 4.2.2). 0.1 is usual.");
  visit("stale_ms", x.stale, Range{0, kYear},
        "How long after that it may still be given, to degrade or in place of an error; an answer "
        "that says so itself, or forbids it, is obeyed.");
  visit(required("max_bytes"), x.max_bytes, Range{64 * kibibyte, tebibyte},
        "Memory that this route's cached responses may take, over all workers.");
  visit("max_entry_bytes", x.max_entry_bytes, Range{kibibyte, tebibyte},
        "Longest answer that is stored, fields included; default: 1 MiB, but at most an eighth of "
        "max_bytes.");
  visit("vary", x.vary, fields,
        "Request fields that tell answers apart, besides those that an answer's Vary names. "
        "Authorization here does not let an answer be stored that lacks `public` or `s-maxage`.");
  visit("methods", x.methods, ListOf<Format>{kStoredMethod, 1, 2},
        "Methods that are answered from the store; only answers to GET are kept.");
  visit("serve", x.serve, ByType{},
        "When a cached response is given: to degrade only, or at any time while it is fresh.");
  visit("stale_if_error", x.stale_if_error, ByType{},
        "Give a cached response in place of an upstream's failure.");
  visit("personal", x.personal, fields,
        "Request fields that, as Authorization always does, make an answer one person's: it is "
        "stored only if it says `public` or `s-maxage`, or if the field is part of the key.");
  visit("across_tenants", x.across_tenants, ByType{},
        "Tenants with an API key or a trusted name share cached responses.");
  visit(
      "targeted", x.targeted, ListOf<Format>{kRequestField, 0, 4},
      "Fields such as CDN-Cache-Control (RFC 9213), the one with precedence first. The first that "
      "an answer has takes the place of its Cache-Control and Expires in this cache.");
}

template <class Visitor>
void describe(Visitor& visit, Content& x) {
  visit("body", x.body, kContent, "The text itself; this or file.");
  visit("file", x.file, kFileName,
        "File of up to 1 MiB that holds it, read at start-up; relative to the directory of the "
        "configuration file.");
}

template <class Visitor>
void describe(Visitor& visit, Fallback& x) {
  visit("status", x.status, Range{200, 599}, "Its status; one that has a body.");
  visit("headers", x.headers, FieldValues{kAnswerField, kFieldValue, 32},
        "Its fields. Unless they are given here: Cache-Control: no-store, and the Content-Type of "
        "the "
        "text.");
  visit("json", x.json, ByType{}, "The text for clients that prefer application/json.");
  visit("html", x.html, ByType{}, "The text for clients that prefer text/html.");
}

}  // namespace spillway::config
