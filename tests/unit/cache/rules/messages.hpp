// Heads of requests and responses for the rules of caching, made of literals.
#pragma once

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/head.hpp"

namespace spillway::cache {

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

inline http::FieldList fields_of(const Lines& lines) {
  http::FieldList fields;
  for (const auto& [name, value] : lines) {
    fields.push({name, value, boost::beast::http::string_to_field(name)});
  }
  return fields;
}

inline http::RequestHead request_of(std::string_view method, const Lines& lines = {}) {
  http::RequestHead head;
  head.method = boost::beast::http::string_to_verb(method);
  head.method_name = method;
  head.fields = fields_of(lines);
  return head;
}

inline http::ResponseHead response_of(unsigned status, const Lines& lines = {}) {
  http::ResponseHead head;
  head.status = status;
  head.fields = fields_of(lines);
  return head;
}

}  // namespace spillway::cache
