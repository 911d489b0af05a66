// Numbers as text for people, identical on every machine (no locale, fixed digits).
//
// A value that is not finite or was not measured is "-".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::simulate {

// With this number of digits after the decimal point; no "-0".
std::string fixed(double value, int digits);

// A latency in seconds as "0.42 ms", "4.2 ms", "123 ms", "1.23 s", "12.3 s" or "123 s"; "-" for 0
// and below.
std::string latency_text(double seconds);

// A share between 0 and 1 as "99.97 %". Only 1 is "100.00 %", only 0 is "0.00 %".
std::string share_text(double share);

// part / whole; "-" if `whole` is 0.
std::string share_text(std::uint64_t part, std::uint64_t whole);

// In at most `width` characters (4 or more) for counts below 10^15: "1234", "12k", "345M".
std::string count_text(std::uint64_t count, std::size_t width);

// Padded with spaces to `width` characters; longer texts are kept whole.
std::string right(std::string_view text, std::size_t width);
std::string left(std::string_view text, std::size_t width);

// The first `width` characters (not bytes) of UTF-8 text.
std::string cut(std::string_view text, std::size_t width);

}  // namespace spillway::simulate
