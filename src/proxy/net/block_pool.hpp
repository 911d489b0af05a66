// Reusable blocks of bytes, one pool per worker and size. An idle connection holds none; an
// exchange borrows the blocks it needs and returns them. The number of blocks follows the number of
// exchanges in progress, which the connection cap bounds.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "proxy/net/low_water.hpp"

namespace spillway::proxy {

class BlockPool;

// A borrowed block; returned to its pool when destroyed. Empty by default.
class Block {
 public:
  Block() = default;
  Block(BlockPool& pool, std::unique_ptr<char[]> bytes) : pool_(&pool), bytes_(std::move(bytes)) {}
  Block(Block&& other) noexcept = default;
  Block& operator=(Block&& other) noexcept {
    release();
    pool_ = other.pool_;
    bytes_ = std::move(other.bytes_);
    return *this;
  }
  ~Block() { release(); }

  explicit operator bool() const { return static_cast<bool>(bytes_); }
  inline std::span<char> bytes() const;
  inline void release();

 private:
  BlockPool* pool_ = nullptr;
  std::unique_ptr<char[]> bytes_;
};

class BlockPool {
 public:
  explicit BlockPool(std::size_t block_size)
      : block_size_(block_size), most_free_(kKeptBytes / block_size) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  Block take() {
    if (free_.empty()) return Block(*this, std::make_unique_for_overwrite<char[]>(block_size_));
    auto bytes = std::move(free_.back());
    free_.pop_back();
    low_water_.took(free_.size());
    return Block(*this, std::move(bytes));
  }
  // Called now and then: frees blocks not needed since the last call. Returns the bytes freed.
  std::size_t trim() {
    const std::size_t surplus = low_water_.surplus(free_.size());
    free_.resize(free_.size() - surplus);
    return surplus * block_size_;
  }
  std::size_t block_size() const { return block_size_; }

 private:
  friend class Block;
  // Free blocks kept after a burst; the others are freed.
  static constexpr std::size_t kKeptBytes = 16 * 1024 * 1024;
  void give_back(std::unique_ptr<char[]> bytes) {
    if (free_.size() < most_free_) free_.push_back(std::move(bytes));
  }

  std::size_t block_size_;
  std::size_t most_free_;
  std::vector<std::unique_ptr<char[]>> free_;
  LowWater low_water_;
};

std::span<char> Block::bytes() const { return {bytes_.get(), pool_->block_size()}; }

void Block::release() {
  if (bytes_) pool_->give_back(std::move(bytes_));
}

}  // namespace spillway::proxy
