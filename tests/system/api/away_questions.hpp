// What is asked of waiting rooms whose proxy cannot reach the database that it shares them by.
#pragma once

#include <string>

#include "support/postgres.hpp"
#include "system/api/questions.hpp"
#include "system/integration/jobs_operator.hpp"
#include "system/integration/webhook_receiver.hpp"

namespace spillway::api {

// A real PostgreSQL, which is stopped once the proxy has started and a visitor has a ticket:
// without it no proxy with a waiting room starts.
class AwayQuestions {
 public:
  AwayQuestions();

  // They must not outlive this.
  Questions all() const;
  // A join, whose 503 may also be that there is no place.
  support::Message join() const;

 private:
  support::Message program(const std::string& start, const std::string& lines = {},
                           const char* from = nullptr) const;
  // From an address of its own, until it is too much.
  support::Message flood(const std::string& start, const std::string& lines = {}) const;

  const support::TemporaryDirectory directory_;
  support::Postgres postgres_;
  support::Shop shop_;
  support::ProxyUnderTest proxy_;
  support::Operator desk_{proxy_.admin_port()};
  std::string id_;
  std::string token_;  // as a field
  std::string stamp_;  // likewise, of a visitor that has not joined
};

}  // namespace spillway::api
