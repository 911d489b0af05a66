// The keys of `limits`.
#pragma once

#include "config/config.hpp"
#include "config/describe/constraint.hpp"

namespace spillway::config {

template <class Visitor>
void describe(Visitor& visit, Limits& x) {
  visit("header_bytes", x.header_bytes, Range{1024, 1 << 20},
        "Longest request head; more, or over 128 fields, is 431; a request line over 8 KiB 414.");
  visit("body_bytes", x.body_bytes, Range{0, std::int64_t{1} << 50},
        "Longest request body; longer is answered 413.");
  visit("connections", x.connections, Range{1, 1'000'000},
        "Client connections at a time; more wait unaccepted.");
  visit("header_timeout_ms", x.header_timeout, Range{1, kHour},
        "Time for a request head to arrive once begun.");
  visit("idle_timeout_ms", x.idle_timeout, Range{1, kDay},
        "Time a connection may be silent, between requests or within a body.");
  visit("drain_delay_ms", x.drain_delay, Range{0, kHour},
        "Time after SIGTERM in which /readyz is 503 and all else goes on, so that a load balancer "
        "sends nothing more before connections are refused.");
  visit("drain_timeout_ms", x.drain_timeout, Range{0, kHour},
        "Time that running requests get to finish after SIGTERM and drain_delay_ms.");
  visit("connections_per_address", x.connections_per_address, Range{1, 1'000'000},
        "Connections at a time from one address (IPv6: one /64), trusted_peers excepted; more are "
        "closed at once; default: no cap.");
  visit("min_rate_bytes", x.min_rate_bytes, Range{0, 1 << 30},
        "Bytes per second that a client must send of a body or take of an answer, after 5 s of "
        "grace; 0: any.");
  visit("slot_rate_bytes", x.slot_rate_bytes, Range{0, 1 << 30},
        "The same while its request holds a slot for which others wait, or at an upstream where "
        "most requests are late, after 1 s of grace; up to 16 times as much, and sooner, the more "
        "slots wait for clients; 0: as min_rate_bytes.");
  visit("buffer_bytes", x.buffer_bytes, Range{0, std::int64_t{1} << 40},
        "Memory, over all workers, for bodies that clients send or take slowly, so that they hold "
        "no slot; a 32nd of it at most for one body, a quarter for one client address; half as "
        "much again for answers of deferred requests; 0: none.");
  visit("temp_file_bytes", x.temp_file_bytes, Range{0, std::int64_t{1} << 50},
        "Disk space, over all workers, for what does not fit there: a temporary file for each such "
        "body, an eighth of the space at most, a quarter for one client address; 0: none.");
  visit("temp_file_directory", x.temp_file_directory, kDirectory,
        "Where temporary files are made; they have no name there.");
  visit("tunnels", x.tunnels, Range{0, 1'000'000},
        "Upgraded connections and event streams at a time, over all workers; they hold no slot. At "
        "most half of the connections in force, and for one client address as many as it leaves "
        "free.");
  visit("tunnel_idle_timeout_ms", x.tunnel_idle_timeout, Range{1, kDay},
        "Time that both ends of one of these may be silent.");
}

}  // namespace spillway::config
