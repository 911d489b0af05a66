// Whether visitors were let in in the order of their arrival. Pure.
//
// A visitor knows neither the instant of its arrival nor that of its call, but two instants between
// which each lies. Two visitors are compared only where these do not overlap.
#pragma once

#include <cstddef>
#include <span>

#include "bench/crowd/record.hpp"

namespace spillway::crowd {

struct Order {
  std::size_t compared =
      0;  // pairs: the first came before the second, and stood in line at its call
  std::size_t overtakes = 0;  // of these, the second was called before the first
};

// Only visitors that stayed and always polled in time count as the first: an absent one may be
// passed.
Order order_of(std::span<const Record> records);

// The call of one who asked within `asked` and was told that `remaining` of `claim` is left.
Span called_at(const Span& asked, Milliseconds claim, Milliseconds remaining);

}  // namespace spillway::crowd
