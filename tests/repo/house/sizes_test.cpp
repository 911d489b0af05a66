#include "repo/house/sizes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/places.hpp"

namespace spillway::house {
namespace {

std::string listed(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + '\n';
  return text;
}

std::string repeated(const std::string& line, std::size_t times) {
  std::string text;
  for (std::size_t n = 0; n < times; ++n) text += line;
  return text;
}

std::string class_with(std::size_t members) {
  return "struct Crowd {\n" + repeated("  int member = 0;\n", members) + "};\n";
}

std::string function_of(std::size_t lines) {
  return "void f(int x) {\n" + repeated("  g(x);\n", lines - 2) + "}\n";
}

// Of a class with this as its body.
std::size_t members_in(const std::string& body) {
  const auto classes = classes_in("class Some final : public Other {\n" + body + "};\n");
  REQUIRE_FALSE(classes.empty());
  CHECK(classes.front().name == "Some");
  return classes.front().data_members;
}

std::size_t longest_in(const std::string& text) {
  std::size_t longest = 0;
  for (const FunctionSize& each : functions_in(text)) longest = std::max(longest, each.lines);
  return longest;
}

std::string oversized_in(const std::string& text) {
  return listed(oversized({{"some.hpp", text}}));
}

}  // namespace

TEST_CASE("no class in src/ has more than 20 data members and no function more than 60 lines") {
  const auto files = read_tree(support::in_source() + "/src");
  std::size_t classes = 0, functions = 0;
  for (const SourceFile& file : files) {
    if (!is_code(file.path)) continue;
    classes += classes_in(file.text).size();
    functions += functions_in(file.text).size();
  }
  CHECK(classes > 500);
  CHECK(functions > 2000);
  CHECK(listed(oversized(files)) == "");
}

TEST_CASE("a class with 21 data members is found and one with 20 is not") {
  CHECK(oversized_in(class_with(20)) == "");
  CHECK(oversized_in(class_with(21)) == "some.hpp:1 Crowd has 21 data members, more than 20\n");
  CHECK(
      oversized_in("namespace a {\nnamespace {\n\n" + class_with(21) + "\n}  // namespace\n}\n") ==
      "some.hpp:4 Crowd has 21 data members, more than 20\n");
}

TEST_CASE("a function of 61 lines is found and one of 60 is not") {
  CHECK(oversized_in(function_of(60)) == "");
  CHECK(oversized_in("\n" + function_of(61)) ==
        "some.hpp:2 has a function of 61 lines, more than 60: void f(int x) {\n");
}

TEST_CASE("data members are told from everything else in a class") {
  CHECK(members_in("  int a;\n") == 1);
  CHECK(members_in("  int a = 0, b = f(1, 2), c{3};\n") == 3);
  CHECK(members_in("  std::map<int, std::pair<A, B>> a;\n  bool b = x < y, c = z > y;\n") == 3);
  CHECK(members_in("  std::function<void(int)> a;\n  void (*b)(int) = nullptr;\n") == 2);
  CHECK(members_in("  alignas(64) std::atomic<int> a{0};\n  [[no_unique_address]] B b;\n") == 2);
  CHECK(members_in("  decltype(f(1)) a;\n  const std::array<char, sizeof(int)> b;\n") == 2);
  CHECK(members_in("  struct tm* a = nullptr;\n  enum { b, c } d = b;\n") == 2);
  CHECK(members_in("  mutable std::mutex mutex_;  // of these:\n  A* const a_ = nullptr;\n") == 2);
  CHECK(members_in("  std::unique_ptr<A>\n      a;\n  B b =\n      f(\n          1);\n") == 2);
  CHECK(members_in("  std::function<int(int)> a = [](int x) {\n    int y = x;\n    return y;\n"
                   "  };\n") == 1);
  CHECK(members_in("  std::string a = \"http://b;\";\n  char c = '\"';  // a quote\n") == 2);
  CHECK(members_in("  // int a;\n#ifdef B\n  int b;\n#endif\n") == 1);

  CHECK(members_in(" public:\n  Some();\n  ~Some() = default;\n  Some(const Some&) = delete;\n") ==
        0);
  CHECK(members_in("  int f(int x = 0) const;\n  [[nodiscard]] A g() { return {}; }\n") == 0);
  CHECK(members_in("  std::map<int, A>\n  f(int x);\n") == 0);
  CHECK(members_in("  Some(int x)\n      : x_(x) {\n    int y = x;\n    f(y);\n  }\n") == 0);
  CHECK(members_in("  template <class T>\n  T f(T x);\n  bool operator<(const A&) const;\n") == 0);
  CHECK(members_in("  auto operator<=>(const A&) const = default;\n") == 0);
  CHECK(members_in("  using A = B;\n  typedef int C;\n  friend class D;\n  class E;\n") == 0);
  CHECK(members_in("  static int a;\n  static constexpr int b = 1;\n  inline static int c;\n") ==
        0);
  CHECK(members_in("  enum class A : int { b, c };\n  enum D {\n    e,\n    f,\n  };\n") == 0);
  CHECK(members_in("  static_assert(sizeof(int) == 4);\n") == 0);
}

TEST_CASE("nested classes are counted apart") {
  const std::string nested =
      "  int a;\n  struct Inner {\n    int b;\n    int c;\n  };\n  Inner d;\n";
  CHECK(members_in(nested) == 2);
  const auto classes = classes_in("struct Outer {\n" + nested + "};\n");
  REQUIRE(classes.size() == 2);
  CHECK(classes[1].name == "Inner");
  CHECK(classes[1].line == 3);
  CHECK(classes[1].data_members == 2);
}

TEST_CASE("of a nested class without a name the object counts or its members") {
  CHECK(members_in("  struct {\n    int a;\n    int b;\n  } c_;\n") == 1);
  CHECK(members_in("  union {\n    int a;\n    char b;\n  };\n") == 2);
}

TEST_CASE("headings of classes are told from those of functions and from declarations") {
  CHECK(classes_in("struct tm f(int x) {\n  return {};\n}\n").empty());
  CHECK(classes_in("class A;\nstruct B* b;\nenum class C {\n  d,\n};\n").empty());
  CHECK(classes_in("struct Empty {};\n").empty());
  const auto classes = classes_in(
      "template <class T>\nclass A : public B<int(int)>,\n          C {\n  int d;\n};\n"
      "struct Outer::Inner {\n  int e;\n};\ntemplate <>\nstruct F<int> {\n  int g;\n};\n");
  REQUIRE(classes.size() == 3);
  CHECK(classes[0].name == "A");
  CHECK(classes[1].name == "Outer::Inner");
  for (const ClassSize& each : classes) CHECK(each.data_members == 1);
}

TEST_CASE("the lines of a function are those from its heading to its closing brace") {
  CHECK(longest_in(function_of(7)) == 7);
  CHECK(longest_in(
            "template <class T>\nstd::map<int, T>\nf(T a,\n  T b)\n    : c(d) {\n  e();\n}\n") ==
        7);
  CHECK(longest_in("int a;\nvoid f() {\n  if (x) {\n    y();\n  } else {\n    z();\n  }\n}\n") ==
        7);
  CHECK(longest_in("struct A {\n  void f() {\n    g();\n  }\n  int b;\n};\n") == 3);
  CHECK(longest_in("void f() {\n\n#ifdef A\n  g();\n#endif\n}\n") == 6);
}

TEST_CASE("lambdas are lines of their function and outside of functions count as one") {
  CHECK(functions_in("void f() {\n  g([](int x) {\n    h(x);\n  });\n}\n").size() == 1);
  CHECK(longest_in("void f() {\n  const auto g = [] {\n    h();\n  };\n}\n") == 5);
  CHECK(longest_in("const auto f = [](int x) {\n  return x;\n};\n") == 3);
}

TEST_CASE("what is no function is not taken for one") {
  CHECK(functions_in("namespace a {\nnamespace {\n\nint b;\n\n}  // namespace\n\n"
                     "int c() { return 1; }\n\n}  // namespace a\n")
            .empty());
  CHECK(functions_in("struct A {\n  int b;\n};\nenum C {\n  d,\n};\nconst E e{\n    1,\n};\n")
            .empty());
}

TEST_CASE("braces in raw strings open and close nothing") {
  CHECK(members_in("  std::string a = \"FOR\", b = \"R\";\n  int c = f(1);\n") == 3);
  CHECK(longest_in("void f() {\n  g(R\"({\n}\n{\n}\n)\");\n}\n") == 7);
  CHECK(members_in(
            "  struct Inner {\n    std::string a = R\"({\n})\";\n    int b;\n  };\n  int c;\n") ==
        1);
  CHECK(members_in("  std::string a = R\"x(\n};\nint b;\n)x\";\n  int c;\n") == 2);
}

}  // namespace spillway::house
