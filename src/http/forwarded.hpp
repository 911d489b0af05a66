// The two ways to say through which proxies a request came, read so that each can be written as the
// other (RFC 7239 section 7.4): X-Forwarded-For with -Proto and -Host, and Forwarded.
//
// A trusted proxy that uses only one of them would otherwise be taken for the client by a backend
// that reads the other.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/text_writer.hpp"
#include "http/field_list.hpp"

namespace spillway::http {

// So much of a chain is written in the other form: its last elements, which are nearest to us.
inline constexpr std::size_t kMostConverted = 16;
// A longer host is not, so that what is added to a head is bounded.
inline constexpr std::size_t kMostConvertedHost = 255;

// The address in an entry of X-Forwarded-For or a node of Forwarded: "192.0.2.7", "192.0.2.7:80",
// "2001:db8::1", "[2001:db8::1]" or "[2001:db8::1]:80" without brackets and port; empty when it is
// anything else ("unknown", obfuscated).
std::string_view address_in(std::string_view node);

// The Forwarded fields of a request, all together.
class ForwardedElements {
 public:
  struct Element {
    std::string_view node;  // of "for"; views without quotes, empty where nothing is said
    std::string_view host;
    std::string_view proto;
  };

  explicit ForwardedElements(const FieldList& fields);

  // False: there is none, or what there is is not well-formed (RFC 7239 section 4). Nothing may be
  // appended to that: an open quotation mark would take it in.
  bool well_formed() const { return well_formed_ && count_ > 0; }
  // The one that the peer itself wrote.
  const Element& last() const { return ring_[(count_ - 1) % kMostConverted]; }
  // Each of the last kMostConverted as "192.0.2.7, " or "unknown, ".
  void write_as_x_forwarded_for(TextWriter& out) const;

 private:
  bool read(std::string_view list);

  std::array<Element, kMostConverted> ring_;
  std::size_t count_ = 0;
  bool well_formed_ = true;
};

// The entries of all X-Forwarded-For fields as elements of Forwarded, the last kMostConverted, each
// followed by ", ". X-Forwarded-Proto and -Host go to the last, which the peer that sent them
// added.
void write_as_forwarded(TextWriter& out, const FieldList& fields);

// What may stand in X-Forwarded-Proto and -Host, out of a Forwarded that says it.
bool is_convertible_proto(std::string_view proto);
bool is_convertible_host(std::string_view host);

}  // namespace spillway::http
