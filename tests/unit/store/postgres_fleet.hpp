// Two proxies on one database.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {

// A second proxy on the database of the first.
class Fleet {
 public:
  Fleet() : first(contract_), second_(contract_.reopen()) {}

  template <class Verb>
  Verb ask_second(Verb verb) {
    Command command = std::move(verb);
    Command* const batch[] = {&command};
    const auto failure = second_->execute(batch, first.now());
    if (failure) FAIL(failure->text);
    return std::get<Verb>(std::move(command));
  }
  const std::string& url() const { return contract_.url(); }
  JobStore& second() { return *second_; }

 private:
  PostgresContract contract_;

 public:
  UnderTest first;

 private:
  std::unique_ptr<JobStore> second_;
};

}  // namespace spillway::store
