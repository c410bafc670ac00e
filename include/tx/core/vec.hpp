// A growable array for constant evaluation: what std::vector would be if clang 14 could evaluate it, and cheaper on GCC.
#pragma once

#include <tx/config.hpp>

#include <initializer_list>

namespace tx {

class graph;

// GCC takes a microsecond for each call in a constant evaluation, and most elements that are read are those of a graph, so that it reads them
// without one.
template <class T>
class vec {
  friend class graph;

 public:
  constexpr vec() = default;
  constexpr explicit vec(int count, T const& fill = T{}) { resize(count, fill); }
  constexpr vec(std::initializer_list<T> items) {
    reserve(static_cast<int>(items.size()));
    for (T const& item : items) push_back(item);
  }
  constexpr vec(vec const& other) { assign(other); }
  constexpr vec(vec&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr vec& operator=(vec const& other) {
    if (this != &other) assign(other);
    return *this;
  }
  constexpr vec& operator=(vec&& other) noexcept {
    if (this != &other) {
      delete[] data_;
      data_ = other.data_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.data_ = nullptr;
      other.size_ = other.capacity_ = 0;
    }
    return *this;
  }
  constexpr ~vec() { delete[] data_; }

  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr T const* begin() const { return data_; }
  constexpr T const* end() const { return data_ + size_; }
  constexpr T* data() { return data_; }
  constexpr T const* data() const { return data_; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr T const& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr T const& back() const { return data_[size_ - 1]; }

  constexpr void clear() { size_ = 0; }
  constexpr void pop_back() { --size_; }
  constexpr void push_back(T const& item) {
    if (size_ == capacity_) {
      T copy = item;  // item may live in the storage about to go
      reserve(capacity_ == 0 ? 16 : 2 * capacity_);
      data_[size_++] = copy;
      return;
    }
    data_[size_++] = item;
  }
  constexpr void resize(int count, T const& fill = T{}) {
    reserve(count);
    for (int i = size_; i < count; ++i) data_[i] = fill;
    size_ = count;
  }
  constexpr void reserve(int count) {
    if (count <= capacity_) return;
    T* grown = new T[static_cast<std::size_t>(count)];
    for (int i = 0; i < size_; ++i) grown[i] = data_[i];
    delete[] data_;
    data_ = grown;
    capacity_ = count;
  }

 private:
  constexpr void assign(vec const& other) {
    size_ = 0;
    if (other.size_ == 0) return;  // most copies of tables of tables; GCC also warns of what would follow
    reserve(other.size_);
    for (int i = 0; i < other.size_; ++i) data_[i] = other.data_[i];
    size_ = other.size_;
  }

  T* data_ = nullptr;
  int size_ = 0;
  int capacity_ = 0;
};

// Stable merge sort: O(n log n), usable in constant evaluation.
template <class T, class Less>
constexpr void stable_sort(vec<T>& items, Less less) {
  vec<T> other = items;
  int const count = items.size();
  T *const from = items.data(), *const to = other.data();
  for (int width = 1; width < count; width *= 2) {
    for (int lo = 0; lo < count; lo += 2 * width) {
      int const mid = lo + width < count ? lo + width : count;
      int const hi = lo + 2 * width < count ? lo + 2 * width : count;
      int a = lo;
      int b = mid;
      for (int k = lo; k < hi; ++k) to[k] = (b >= hi || (a < mid && !less(from[b], from[a]))) ? from[a++] : from[b++];
    }
    for (int i = 0; i < count; ++i) from[i] = to[i];
  }
}

}  // namespace tx
