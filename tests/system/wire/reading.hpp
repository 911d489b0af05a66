// What an origin makes of the bytes that reached it on one connection: read by the letter of RFC
// 9112, and read as origins do that are too kind. A proxy that lets through what these two take
// for different requests has been used for smuggling.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/message.hpp"

namespace spillway::wire {

using support::Message;

struct Reading {
  std::vector<Message> requests;  // complete ones
  std::size_t begun = 0;          // with the one that is cut off, if there is one
  std::string trouble;            // what is not valid or not clear, as a clause; empty: nothing
};

// Line ends are CRLF, names are tokens right before their colon, values are free of controls, Host
// is there once, one framing field at most, chunks and trailers to the letter.
Reading read_strictly(std::string_view received);

// What a lenient origin goes by. All of them end lines at LF, know "chunked" anywhere in a
// Transfer-Encoding field and read the digits that a Content-Length begins with.
struct Leniency {
  bool chunked_wins = true;  // over Content-Length
  bool last_length = true;   // counts, of several; else the first
};

struct Extent {
  std::size_t head = 0;
  std::optional<std::size_t> all;  // head and body; nullopt: there is more to come
};

// The request that `received` begins with; nullopt while its head is not complete.
std::optional<Extent> lenient_extent(std::string_view received, const Leniency& leniency);

// How many requests the most generous of lenient origins finds, begun ones too.
std::size_t lenient_count(std::string_view received);

// What is wrong with a head that has been taken apart already, by the same rules as
// read_strictly() has for framing and values; empty: nothing.
std::string fault_of_fields(const support::Fields& fields);

}  // namespace spillway::wire
