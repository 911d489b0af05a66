#include "simulate/report/svg.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "unit/simulate/xml.hpp"

namespace spillway::simulate {

TEST_CASE("markup and quotes are escaped and control characters left out") {
  CHECK(escape("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  CHECK(escape(std::string("a\0b\x1b[1m\n", 8)) == "ab[1m");
  CHECK(escape("größer") == "größer");
}

TEST_CASE("a coordinate has at most one digit after the point and is always a number") {
  CHECK(coordinate(12) == "12");
  CHECK(coordinate(12.54) == "12.5");
  CHECK(coordinate(-0.01) == "0");
  CHECK(coordinate(std::numeric_limits<double>::quiet_NaN()) == "0");
  CHECK(coordinate(-std::numeric_limits<double>::infinity()) == "0");
}

TEST_CASE("a picture is well formed whatever its texts hold") {
  const std::string hostile = "</text><script>alert(1)</script> & \" ' \x01 ]]>";
  Svg svg;
  svg.rect(1, 2, 3, 4, hostile);
  svg.line("M0 0H10", hostile, 1, true);
  svg.text(1, 2, hostile, {.anchor = Anchor::end, .bold = true});
  const std::string picture = svg.finish(100, 50, hostile);
  CHECK(malformed(picture) == "");
  CHECK(picture.find("<script") == std::string::npos);
  CHECK(picture.find("text-anchor=\"end\" font-weight=\"600\"") != std::string::npos);
}

TEST_CASE("the check for well-formed pictures sees what is broken") {
  CHECK(malformed("<a b=\"c &amp; d\">e<f/></a>\n") == "");
  for (const char* broken :
       {"", "a", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a/>text", "<a b=c/>", "<a b=\"c/>",
        "<a b=\"<\"/>", "<a b=\"1\" b=\"2\"/>", "<a>&</a>", "<a>&nbsp;</a>", "<a>\x01</a>",
        "<a><b></a></b>", "<!-- --><a/>", "<a", "< a/>"}) {
    CAPTURE(broken);
    CHECK(malformed(broken) != "");
  }
}

}  // namespace spillway::simulate
