#include "system/caching/cases.hpp"

namespace spillway::caching {

namespace {

constexpr const char* kAlice = "Authorization: Basic YWxpY2U6eA==";
constexpr const char* kBob = "Authorization: Basic Ym9iOng=";

Case open_to_all(std::string directives) {
  return {.sentence = "an answer to Authorization with " + directives + " is reused",
          .section = "3.5",
          .level = Level::may,
          .origin = {says({"Cache-Control: " + directives})},
          .client = {get({kAlice}).from_origin(1), get().from_store(1), get({kBob}).from_store(1)}};
}

}  // namespace

std::vector<Case> person_cases() {
  return {
      {.sentence = "an answer to Authorization is not given to others",
       .section = "3.5",
       .level = Level::must,
       .origin = {says({"Cache-Control: max-age=60"}), says({}), says({})},
       .client = {get({kAlice}).from_origin(1), get({kBob}).from_origin(2), get().from_origin(3)}},
      {.sentence = "an answer to Authorization is not given to the same person either",
       .section = "3.5",
       .level = Level::must,
       .origin = {says({"Cache-Control: max-age=60"}), says({})},
       .client = {get({kAlice}).from_origin(1), get({kAlice}).from_origin(2)}},
      open_to_all("public, max-age=60"),
      open_to_all("s-maxage=60"),
      {.sentence = "an answer to Authorization with must-revalidate may be reused",
       .section = "3.5",
       .level = Level::may,
       .origin = {says({"Cache-Control: must-revalidate, max-age=60"}), says({})},
       .client = {get({kAlice}).from_origin(1), get({kBob}).from_store(1)},
       .otherwise = "whoever writes must-revalidate seldom means that everybody may have it"},
      {.sentence = "Authorization does not get what a stranger was told",
       .section = "",
       .level = Level::ours,
       .origin = {says({"Cache-Control: max-age=60"}), says({})},
       .client = {get().from_origin(1), get({kAlice}).from_origin(2)}},
      {.sentence = "an answer to a cookie is not given to others",
       .section = "",
       .level = Level::ours,
       .origin = {says({"Cache-Control: max-age=60"}), says({}), says({})},
       .client = {get({"Cookie: session=1"}).from_origin(1),
                  get({"Cookie: session=2"}).from_origin(2), get().from_origin(3)}},
      {.sentence = "an answer to an API key is not given to others",
       .section = "",
       .level = Level::ours,
       .origin = {says({"Cache-Control: max-age=60"}), says({}), says({})},
       .client = {get({"X-Api-Key: alice-alice"}).from_origin(1),
                  get({"X-Api-Key: bob-bob-bob"}).from_origin(2), get().from_origin(3)}},
      {.sentence = "a public answer to a cookie is given to all",
       .section = "5.2.2.9",
       .level = Level::may,
       .origin = {says({"Cache-Control: public, max-age=60"})},
       .client = {get({"Cookie: session=1"}).from_origin(1),
                  get({"Cookie: session=2"}).from_store(1), get().from_store(1)}},
      {.sentence = "an answer with Vary: Cookie is given to the same cookie only",
       .section = "4.1",
       .level = Level::may,
       .origin = {says({"Cache-Control: max-age=60", "Vary: Cookie"}), says({})},
       .client = {get({"Cookie: session=1"}).from_origin(1),
                  get({"Cookie: session=1"}).from_store(1),
                  get({"Cookie: session=2"}).from_origin(2)}}};
}

}  // namespace spillway::caching
