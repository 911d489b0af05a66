#include "system/wire/caching/cases.hpp"

namespace spillway::wire::caching {

namespace {

constexpr const char* kAlice = "Authorization: Basic YWxpY2U6eA==";
constexpr const char* kBob = "Authorization: Basic Ym9iOng=";

Case open_to_all(std::string directives) {
  return may("9111 3.5", "an answer to Authorization with " + directives + " is reused",
             {says({"Cache-Control: " + directives})},
             {get({kAlice}).from_origin(1), get().from_store(1), get({kBob}).from_store(1)});
}

}  // namespace

std::vector<Case> person_cases() {
  return {must("9111 3.5", "an answer to Authorization is not given to others",
               {says({"Cache-Control: max-age=60"}), says({}), says({})},
               {get({kAlice}).from_origin(1), get({kBob}).from_origin(2), get().from_origin(3)}),
          must("9111 3.5", "an answer to Authorization is not given to the same person either",
               {says({"Cache-Control: max-age=60"}), says({})},
               {get({kAlice}).from_origin(1), get({kAlice}).from_origin(2)}),
          open_to_all("public, max-age=60"),
          open_to_all("s-maxage=60"),
          may("9111 3.5", "an answer to Authorization with must-revalidate may be reused",
              {says({"Cache-Control: must-revalidate, max-age=60"}), says({})},
              {get({kAlice}).from_origin(1), get({kBob}).from_store(1)})
              .otherwise("must-revalidate is seldom written for what all clients may have"),
          ours("Authorization does not get what a stranger was told",
               {says({"Cache-Control: max-age=60"}), says({})},
               {get().from_origin(1), get({kAlice}).from_origin(2)}),
          ours("an answer to a cookie is not given to others",
               {says({"Cache-Control: max-age=60"}), says({}), says({})},
               {get({"Cookie: session=1"}).from_origin(1),
                get({"Cookie: session=2"}).from_origin(2), get().from_origin(3)}),
          ours("an answer to an API key is not given to others",
               {says({"Cache-Control: max-age=60"}), says({}), says({})},
               {get({"X-Api-Key: alice-alice"}).from_origin(1),
                get({"X-Api-Key: bob-bob-bob"}).from_origin(2), get().from_origin(3)}),
          ours("an answer to a field of cache.personal is not given to others",
               {says({"Cache-Control: max-age=60"}), says({}), says({})},
               {get({"X-Wire-Person: alice"}).from_origin(1),
                get({"X-Wire-Person: bob"}).from_origin(2), get().from_origin(3)}),
          ours("an answer to a field of cache.personal that Connection names is not either",
               {says({"Cache-Control: max-age=60"}), says({})},
               {get({"Connection: X-Wire-Person", "X-Wire-Person: alice"})
                    .from_origin(1)
                    .asked_with("X-Wire-Person", "alice"),
                get().from_origin(2)}),
          may("9111 5.2.2.9", "a public answer to a cookie is given to all",
              {says({"Cache-Control: public, max-age=60"})},
              {get({"Cookie: session=1"}).from_origin(1), get({"Cookie: session=2"}).from_store(1),
               get().from_store(1)}),
          may("9111 4.1", "an answer with Vary: Cookie is given to the same cookie only",
              {says({"Cache-Control: max-age=60", "Vary: Cookie"}), says({})},
              {get({"Cookie: session=1"}).from_origin(1), get({"Cookie: session=1"}).from_store(1),
               get({"Cookie: session=2"}).from_origin(2)})};
}

}  // namespace spillway::wire::caching
