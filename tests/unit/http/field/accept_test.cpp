#include "http/field/accept.hpp"

#include <doctest/doctest.h>

using namespace spillway::http;

TEST_CASE("a page is preferred only when text/html weighs more than JSON") {
  // RFC 9110 section 12.5.1
  struct Case {
    std::string_view accept;
    bool html;
  };
  const Case cases[] = {
      {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
      {"text/html", true},
      {"TEXT/HTML ; q=0.5", true},
      {"text/*", true},
      {"*/*", false},
      {"", false},
      {"application/json", false},
      {"application/json, text/html", false},
      {"application/json;q=0.5, text/html", true},
      {"application/problem+json, text/html;q=0.9", false},
      {"application/*;q=0.4, text/html;q=0.5", true},
      {"text/html;q=0", false},
      {"text/html;q=0, */*", false},
      {"text/*;q=0.1, text/html;q=0.9, */*;q=0.5", true},
      {"text/html;level=1;q=0.3, */*;q=0.5", false},
      {"text/html;q=2", false},
      {"text/html;q=0.1234", false},
      {"text/html;q=", false},
      {"text/html;q=1.000", true},
      {"image/png", false},
      {",,;,", false},
  };
  for (const Case& one : cases) {
    CAPTURE(one.accept);
    FieldList fields;
    fields.push({"Accept", one.accept, FieldId::accept});
    CHECK(prefers_html(fields) == one.html);
  }
}

TEST_CASE("several Accept fields are one list and none means JSON") {
  FieldList fields;
  CHECK_FALSE(prefers_html(fields));
  fields.push({"Accept", "application/json;q=0.5", FieldId::accept});
  fields.push({"Accept", "text/html", FieldId::accept});
  CHECK(prefers_html(fields));
}
