// The corpus once through its targets: what fuzzing has found stays found.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "fuzz/claim.hpp"
#include "fuzz/targets.hpp"
#include "support/places.hpp"

namespace spillway::fuzz {

void broken(const std::string& claim) { throw std::logic_error(claim); }

namespace {

using Target = void (*)(std::string_view);

void run(Target target, const std::string& text) {
  // In memory of exactly its size, so that reading beyond it is seen by the address sanitizer.
  const auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  target({copy.get(), text.size()});
}

void replay(const std::string& name, Target target) {
  const std::filesystem::path folder =
      std::filesystem::path(support::in_source("tests/fuzz/corpus")) / name;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    CAPTURE(entry.path());
    CHECK_NOTHROW(run(target, text));
    ++files;
  }
  CHECK(files > 5);
}

}  // namespace

TEST_CASE("every request head of the corpus keeps the claims") {
  replay("request_head", request_head);
}

TEST_CASE("every body of the corpus is read as by the reference decoder") {
  replay("chunked_body", chunked_body);
}

TEST_CASE("every path of the corpus is classified as by the reference") { replay("path", path); }

TEST_CASE("every configuration of the corpus is refused with a path or loads again") {
  replay("configuration", configuration);
}

TEST_CASE("every upstream response of the corpus keeps the claims") {
  replay("upstream_response", upstream_response);
}

TEST_CASE("every message of the corpus reads the same at every split") { replay("splits", splits); }

TEST_CASE("every field value of the corpus keeps the claims") {
  replay("field_values", field_values);
}

TEST_CASE("every head of the corpus means the same to Beast's parser") {
  replay("head_reference", head_reference);
  replay("request_head", head_reference);
  replay("upstream_response", head_reference);
}

TEST_CASE("every page of the corpus is refused with a sentence, or is the same with its values") {
  replay("page_template", page_template);
}

TEST_CASE("every token of the corpus counts for what it says, and for nothing without a key") {
  replay("visitor_token", visitor_token);
}

TEST_CASE("every head of the corpus reads as before without the cookies that are taken") {
  replay("cookies", cookies);
  replay("request_head", cookies);
}

TEST_CASE("every script of the corpus leaves each byte where it may be") {
  replay("connection", connection);
}

}  // namespace spillway::fuzz
