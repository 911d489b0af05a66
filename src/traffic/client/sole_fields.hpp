// The fields that identify the client of a request, which must not be repeated (RFC 9110 section
// 5.3). The backend might use the other one of two copies than this proxy does: the client would
// get the class, budget or place of one and the rights of the other.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/field/field_list.hpp"

namespace spillway::traffic {

class SoleFields {
 public:
  // Authorization (RFC 9110 section 11.6.2), X-Api-Key if keys are configured, the field of a JWT,
  // and from trusted peers the fields of trusted_headers: those of other clients are not forwarded.
  explicit SoleFields(const config::Config& config);

  // Whether one of them is present twice, whatever its values. A list of numbers in the priority
  // field counts as two values that another proxy has joined (RFC 9110 section 5.3).
  bool is_any_repeated(const http::FieldList& fields, bool is_of_trusted_peer) const;

 private:
  struct Name {
    std::string text;
    bool is_of_trusted_peers = false;
    bool is_number = false;
  };

  void add(Name name);

  std::vector<Name> names_;
};

}  // namespace spillway::traffic
