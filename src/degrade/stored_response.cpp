#include "degrade/stored_response.hpp"

#include <boost/beast/http/field.hpp>

namespace spillway::degrade {

void StoredResponse::read_fields(http::FieldList& fields) const {
  fields.clear();
  std::string_view rest = lines();
  while (!rest.empty()) {
    const std::size_t end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    fields.push({.name = name,
                 .value = line.substr(colon + 2),
                 .id = boost::beast::http::string_to_field({name.data(), name.size()})});
    rest.remove_prefix(end + 2);
  }
}

}  // namespace spillway::degrade
