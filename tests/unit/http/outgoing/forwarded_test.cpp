#include "http/outgoing/forwarded.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace spillway;
using namespace spillway::http;

namespace {

FieldList fields_of(const std::vector<std::pair<std::string_view, std::string_view>>& fields) {
  FieldList list;
  for (const auto& [name, value] : fields)
    list.push({name, value, name == "Forwarded" ? FieldId::forwarded : FieldId::unknown});
  return list;
}

// What X-Forwarded-For becomes of these Forwarded fields, or "malformed".
std::string as_x_forwarded_for(const std::vector<std::string>& values) {
  FieldList list;
  for (const std::string& value : values) list.push({"Forwarded", value, FieldId::forwarded});
  const ForwardedElements elements(list);
  if (!elements.well_formed()) return "malformed";
  std::string block(2048, '\0');
  TextWriter out(block);
  elements.write_as_x_forwarded_for(out);
  return std::string(out.text());
}

std::string as_forwarded(const std::vector<std::pair<std::string_view, std::string_view>>& fields) {
  std::string block(2048, '\0');
  TextWriter out(block);
  write_as_forwarded(out, fields_of(fields));
  REQUIRE(!out.overflowed());
  return std::string(out.text());
}

}  // namespace

TEST_CASE("an entry is an address with or without brackets and port or none") {
  CHECK(address_in("192.0.2.7") == "192.0.2.7");
  CHECK(address_in("192.0.2.7:8080") == "192.0.2.7");
  CHECK(address_in("2001:db8::1") == "2001:db8::1");
  CHECK(address_in("[2001:db8::1]") == "2001:db8::1");
  CHECK(address_in("[2001:db8::1]:80") == "2001:db8::1");
  for (const char* none :
       {"", "unknown", "_gazonk", "1.2.3", "1.2.3.4:", "1.2.3.4:123456", "1.2.3.4:8o", "[1.2.3.4]",
        "[2001:db8::1", "[2001:db8::1]x", "[2001:db8::1]80", "shop.example", "1.2.3.4 "}) {
    CAPTURE(none);
    CHECK(address_in(none) == "");
  }
}

TEST_CASE("the chain of Forwarded is said in the words of X-Forwarded-For") {
  CHECK(as_x_forwarded_for({"for=192.0.2.60;proto=http;by=203.0.113.43"}) == "192.0.2.60, ");
  CHECK(as_x_forwarded_for({"For=\"[2001:db8:cafe::17]:4711\""}) == "2001:db8:cafe::17, ");
  CHECK(as_x_forwarded_for({"for=192.0.2.43, for=198.51.100.17:80"}) ==
        "192.0.2.43, 198.51.100.17, ");
  CHECK(as_x_forwarded_for({"for=192.0.2.43", "for=\"_gazonk\", by=a ; proto=https"}) ==
        "192.0.2.43, unknown, unknown, ");
  CHECK(as_x_forwarded_for({" , for=1.1.1.1,,\tfor=2.2.2.2,"}) == "1.1.1.1, 2.2.2.2, ");
  // A comma or a semicolon within quotes is neither an end nor the beginning of an address.
  CHECK(as_x_forwarded_for({"for=\"a,for=6.6.6.6\";secret=\";for=6.6.6.6\", for=1.1.1.1"}) ==
        "unknown, 1.1.1.1, ");
  CHECK(as_x_forwarded_for({R"(for="1.1.\1.1", for=2.2.2.2)"}) == "unknown, 2.2.2.2, ");
}

TEST_CASE("a Forwarded that is not well formed says nothing") {
  for (const char* value :
       {"for=\"1.1.1.1, for=2.2.2.2", "for", "for=", "for=1.1.1.1 for=2.2.2.2", "=1.1.1.1",
        "for=\"1.1.1.1\"x", "for=\"1.1.1.1\\", "f r=1.1.1.1", "for=1.1.1.1\"", "for =1.1.1.1"}) {
    CAPTURE(value);
    CHECK(as_x_forwarded_for({value}) == "malformed");
    CHECK(as_x_forwarded_for({"for=9.9.9.9", value}) == "malformed");
  }
  CHECK(as_x_forwarded_for({}) == "malformed");
  CHECK(as_x_forwarded_for({" , "}) == "malformed");
}

TEST_CASE("what the peer itself said is in the last element") {
  const FieldList fields =
      fields_of({{"Forwarded", "for=6.6.6.6;proto=http;host=evil"},
                 {"Forwarded", "for=1.1.1.1;host=\"shop.example:8443\";proto=https"}});
  const ForwardedElements elements(fields);
  REQUIRE(elements.well_formed());
  CHECK(elements.last().node == "1.1.1.1");
  CHECK(elements.last().host == "shop.example:8443");
  CHECK(elements.last().proto == "https");
}

TEST_CASE("X-Forwarded-For is said in the words of Forwarded with proto and host of the peer") {
  CHECK(as_forwarded({{"X-Forwarded-For", "192.0.2.43, 2001:db8:cafe::17"}}) ==
        "for=192.0.2.43, for=\"[2001:db8:cafe::17]\", ");
  CHECK(as_forwarded({{"x-forwarded-for", "unknown, 1.1.1.1:80"},
                      {"X-Forwarded-Proto", "https"},
                      {"X-Forwarded-For", ", [2001:db8::1]:9"},
                      {"X-Forwarded-Host", "shop.example:8443"}}) ==
        "for=unknown, for=1.1.1.1, "
        "for=\"[2001:db8::1]\";host=\"shop.example:8443\";proto=https, ");
  // Nothing that is not plain gets into the field.
  CHECK(as_forwarded({{"X-Forwarded-For", "\";proto=x, a;b"},
                      {"X-Forwarded-Proto", "https;for=6.6.6.6"},
                      {"X-Forwarded-Host", "a\"b"}}) == "for=unknown, for=unknown, ");
  CHECK(as_forwarded({{"X-Forwarded-For", "1.1.1.1"},
                      {"X-Forwarded-Proto", "http"},
                      {"X-Forwarded-Proto", "https"}}) == "for=1.1.1.1, ");
  CHECK(as_forwarded({{"X-Forwarded-For", " ,, "}}) == "");
}

TEST_CASE("of a long chain the last elements are converted") {
  std::string list, wanted;
  for (std::size_t i = 0; i < 100; ++i) {
    const std::string address = "10.0.0." + std::to_string(i);
    list += (i == 0 ? "" : ",") + address;
    if (i >= 100 - kMaxConverted) wanted += address + ", ";
  }
  std::string forwarded;
  for (std::size_t i = 0; i < 100; ++i)
    forwarded += (i == 0 ? "for=10.0.0." : ",for=10.0.0.") + std::to_string(i);
  CHECK(as_x_forwarded_for({forwarded}) == wanted);
  const std::string converted = as_forwarded({{"X-Forwarded-For", list}});
  CHECK(converted.starts_with("for=10.0.0.84, "));
  CHECK(converted.ends_with("for=10.0.0.99, "));
}
