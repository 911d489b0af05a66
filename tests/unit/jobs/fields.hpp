// Field lists for tests.
#pragma once

#include <boost/beast/http/field.hpp>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "http/field/field_list.hpp"

namespace spillway::jobs {

inline http::FieldList fields_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
  http::FieldList fields;
  for (const auto& [name, value] : all) {
    fields.push({name, value, boost::beast::http::string_to_field(name)});
  }
  return fields;
}

}  // namespace spillway::jobs
