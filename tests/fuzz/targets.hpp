// The fuzz targets: each reads any bytes at all and is broken() when a claim does not hold.
#pragma once

#include <string_view>

namespace spillway::fuzz {

void request_head(std::string_view input);
void chunked_body(std::string_view input);
void path(std::string_view input);
void configuration(std::string_view input);
void upstream_response(std::string_view input);
void splits(std::string_view input);
void field_values(std::string_view input);
void head_reference(std::string_view input);
void connection(std::string_view input);
void page_template(std::string_view input);
void visitor_token(std::string_view input);
void cookies(std::string_view input);

}  // namespace spillway::fuzz
