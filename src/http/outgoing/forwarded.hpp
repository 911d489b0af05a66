// Converts between the two forms of forwarding fields, X-Forwarded-For with -Proto and -Host, and
// Forwarded (RFC 7239 section 7.4).
//
// Otherwise a backend that reads only one form would take a trusted proxy that sends only the other
// form for the client.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/text_writer.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// How many elements of a chain are converted: the last ones, which are nearest to Spillway.
inline constexpr std::size_t kMaxConverted = 16;
// Longer hosts are not converted, so that the size added to a head is bounded.
inline constexpr std::size_t kMaxConvertedHost = 255;

// The address in an entry of X-Forwarded-For or a node of Forwarded: "192.0.2.7", "192.0.2.7:80",
// "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:80", without brackets and port; empty for
// anything else ("unknown", obfuscated).
std::string_view address_in(std::string_view node);

// The Forwarded fields of a request, all together.
class ForwardedElements {
 public:
  struct Element {
    std::string_view node;  // of "for"; views without quotes, empty when absent
    std::string_view host;
    std::string_view proto;
  };

  explicit ForwardedElements(const FieldList& fields);

  // False if there is none, or it is malformed (RFC 7239 section 4). Nothing may be appended to a
  // malformed one: an open quotation mark would swallow the new element.
  bool well_formed() const { return well_formed_ && count_ > 0; }
  // The element that the peer itself added.
  const Element& last() const { return ring_[(count_ - 1) % kMaxConverted]; }
  // Writes each of the last kMaxConverted elements as "192.0.2.7, " or "unknown, ".
  void write_as_x_forwarded_for(TextWriter& out) const;

 private:
  bool read(std::string_view list);

  std::array<Element, kMaxConverted> ring_;
  std::size_t count_ = 0;
  bool well_formed_ = true;
};

// Writes the last kMaxConverted entries of all X-Forwarded-For fields as elements of Forwarded,
// each followed by ", ". X-Forwarded-Proto and -Host go to the last one, which the sending peer
// added.
void write_as_forwarded(TextWriter& out, const FieldList& fields);

// Whether a value of Forwarded may be used for X-Forwarded-Proto or -Host.
bool is_convertible_proto(std::string_view proto);
bool is_convertible_host(std::string_view host);

}  // namespace spillway::http
