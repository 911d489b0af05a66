#include "http/caching/targeted_control.hpp"

#include <doctest/doctest.h>

#include <boost/beast/http/field.hpp>
#include <string>
#include <vector>

using namespace spillway::http;

namespace {

FieldList lines_of(const std::vector<std::string_view>& values) {
  FieldList fields;
  for (const std::string_view value : values) {
    fields.push({"cdn-cache-control", value, FieldId::unknown});
  }
  return fields;
}

// What it says, in a fixed order; "ignored".
std::string said(const std::vector<std::string_view>& values) {
  const FieldList fields = lines_of(values);
  const auto control = targeted_cache_control(fields, "CDN-Cache-Control");
  if (!control) return "ignored";
  std::string text;
  if (control->no_store) text += "no-store ";
  if (control->no_cache) text += "no-cache ";
  if (control->is_private) text += "private ";
  if (control->is_public) text += "public ";
  if (control->must_revalidate) text += "must-revalidate ";
  if (control->max_age) text += "max-age=" + std::to_string(control->max_age->count()) + " ";
  if (control->s_maxage) text += "s-maxage=" + std::to_string(control->s_maxage->count()) + " ";
  return text.empty() ? "nothing" : text.substr(0, text.size() - 1);
}

}  // namespace

TEST_CASE("a targeted field is a structured dictionary of directives") {
  // RFC 9213 section 2.1, RFC 8941 section 3.2
  struct Case {
    std::string_view value;
    std::string said;
  };
  const Case cases[] = {
      {"max-age=60", "max-age=60"},
      {"  max-age=60", "max-age=60"},
      {"max-age=60, must-revalidate", "must-revalidate max-age=60"},
      {"max-age=60 \t,\t public", "public max-age=60"},
      {"max-age=1, max-age=2", "max-age=2"},
      {"max-age=99999999999", "max-age=2147483648"},
      {"max-age=-5", "max-age=0"},
      {"max-age=60;a;b=\"c\"", "max-age=60"},
      {"no-store=?0, max-age=1", "max-age=1"},
      {"no-store=?1", "no-store"},
      {"private=\"X-One\"", "private"},
      {"no-cache=(\"a\" \"b\";c)", "no-cache"},
      {"x=1, y=\"a, \\\"b\", *z=t/o:ken, w=:YWI=:, v=1.5", "nothing"},
      {"", "ignored"},
      {"MaX-aGe=60", "ignored"},
      {"max-age= 60", "ignored"},
      {"max-age =60", "ignored"},
      {"max-age=60,", "ignored"},
      {"max-age=60 public", "ignored"},
      {"max-age=60, &&&&&", "ignored"},
      {"max-age=\"60\"", "ignored"},
      {"max-age=60.5", "ignored"},
      {"max-age", "ignored"},
      {"max-age=1234567890123456", "ignored"},
      {"no-store=1", "ignored"},
      {"no-store=?2", "ignored"},
      {"x=\"a", "ignored"},
      {"x=\"\x7f\"", "ignored"},
      {"x=(a", "ignored"},
      {"x=:a", "ignored"},
      {"x=1.", "ignored"},
      {"x=", "ignored"},
      {"x;=1", "ignored"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.value);
    CHECK(said({one.value}) == one.said);
  }
}

TEST_CASE("lines of a targeted field count together and one that is invalid spoils all") {
  CHECK(said({}) == "ignored");
  CHECK(said({"max-age=1", "public"}) == "public max-age=1");
  CHECK(said({"", "public"}) == "public");
  CHECK(said({"max-age=1", "max-age=\"2\""}) == "ignored");
}
