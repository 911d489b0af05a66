// Writes a head into a small block, or into a large one if it does not fit.
#pragma once

#include <string_view>

#include "base/text_writer.hpp"
#include "proxy/net/block_pool.hpp"

namespace spillway::proxy {

// `write(TextWriter&)` returns false if the block is too small. Returns the text; empty: the large
// block is too small as well. `block` holds the text; if it already has a block, that one is tried
// first.
template <class Write>
std::string_view write_into_block(BlockPool& small, BlockPool& large, Block& block,
                                  const Write& write) {
  if (!block) block = small.take();
  TextWriter out(block.bytes());
  if (write(out)) return out.text();
  block = large.take();
  TextWriter more(block.bytes());
  return write(more) ? more.text() : std::string_view{};
}

}  // namespace spillway::proxy
