// What an answer of the soak's backend says, so that a client can tell its own from any other: its
// body names the request, over and over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::soak {

// Marks every answer of the backend, so that none of the proxy's own is taken for one.
inline constexpr std::string_view kBackendField = "X-Soak-Backend";
// Marks the prepared answer of the proxy's configuration.
inline constexpr std::string_view kPreparedField = "X-Soak-Prepared";
// In the target of whatever no backend may ever be asked for.
inline constexpr std::string_view kSmuggled = "smuggled";

// The value of a query parameter; empty if the target has none of this name.
std::string_view parameter(std::string_view target, std::string_view name);
// The same as a number; `otherwise` if it is absent.
std::size_t number(std::string_view target, std::string_view name, std::size_t otherwise);

// What tells this request from others: its target, and the fields that it sent.
std::string line_of(std::string_view target, std::string_view language = {},
                    std::string_view user = {});
// `line` repeated and cut to `size` bytes.
std::string body_of(std::string_view line, std::size_t size);
bool is_body_of(std::string_view line, std::size_t size, std::string_view body);

// What the backend says of a body that it has received (FNV-1a, Fowler, Noll and Vo).
std::uint64_t digest(std::string_view bytes);
std::string receipt(std::string_view target, std::string_view body);

std::string entity_tag(std::string_view line);

}  // namespace spillway::soak
