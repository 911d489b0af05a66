#include "repo/house/awaits.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/places.hpp"

namespace spillway::house {
namespace {

using Lines = std::vector<std::size_t>;

Lines in_body(const std::string& statements) {
  return misplaced_awaits("Task<> f() {\n" + statements + "}\n");
}

}  // namespace

TEST_CASE("each co_await stands in a statement of its own or in an initialiser") {
  for (const char* folder : {"/src", "/tests", "/bench"}) {
    std::string listed;
    for (const std::string& each : misplaced_awaits(read_tree(support::in_source() + folder)))
      listed += folder + ('/' + each) + '\n';
    CHECK(listed == "");
  }
}

TEST_CASE("a co_await within a condition is found, on its line") {
  CHECK(in_body("  if (co_await g()) h();\n") == Lines{2});
  CHECK(in_body("  if (!co_await g()) h();\n") == Lines{2});
  CHECK(in_body("  if (a && b) {\n  } else if (a ||\n             co_await g() != 1) {\n  }\n") ==
        Lines{4});
  CHECK(in_body("  while (f(co_await g()) > 1) h();\n") == Lines{2});
  CHECK(in_body("  switch (co_await g()) {\n    default: break;\n  }\n") == Lines{2});
  CHECK(in_body("  if (const bool x = co_await g(); x) h();\n") == Lines{2});
  CHECK(in_body("  for (auto& x : co_await g()) h(x);\n") == Lines{2});
  CHECK(in_body("  for (int n = 0; co_await g(); ++n) h();\n") == Lines{2});
}

TEST_CASE("a co_await that is an operand is found") {
  CHECK(in_body("  const bool x = a && co_await g();\n") == Lines{2});
  CHECK(in_body("  const bool x = co_await g() || a;\n") == Lines{2});
  CHECK(in_body("  const bool x = a || h(b, co_await g());\n") == Lines{2});
  CHECK(in_body("  const bool x = (co_await g()) && a;\n") == Lines{2});
  CHECK(in_body("  const int x = a ? co_await g() : 1;\n") == Lines{2});
  CHECK(in_body("  const int x = co_await g() ? 1 : 2;\n") == Lines{2});
  CHECK(in_body("  co_return !co_await g();\n") == Lines{2});
}

TEST_CASE("a co_await that stands alone is left alone") {
  const std::string alone =
      "  co_await g();\n"
      "  const bool x = co_await g({.due = late ? kNever : until, .gone = a && b});\n"
      "  if (x && y) co_await g();\n"
      "  while (!x || y) co_await g();\n"
      "  auto&& it = co_await g();\n"
      "  timer t(co_await executor);\n"
      "  const auto h = [&](A&& a) { return a && b; };\n"
      "  co_await g([&](A&& a) { return a && b; });\n"
      "  const bool both = a && b;\n"
      "  const bool said = co_await g(\"if (\", '?', 1'000);  // if (co_await g())\n"
      "  const bool last = said && x;\n"
      "  if (a) {\n"
      "    co_await g();\n"
      "  } else if (b || c) {\n"
      "    x = co_await g();\n"
      "  }\n"
      "  spawn(a && [&]() -> Task<> { co_await g(); }());\n"
      "  co_return co_await g();\n";
  CHECK(in_body(alone) == Lines{});
  CHECK(in_body("  const char* t = R\"x(if ( \" ')x\";\n  co_await g();\n") == Lines{});
}

}  // namespace spillway::house
