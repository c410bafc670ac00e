// Products by a library of cuBLASLt's kind: how one is described, what is kept of each shape, and the start. Nothing here asks for a library: cublaslt.hpp and hip/blas.hpp
// say what one calls its types, constants and functions, and what it takes.
#pragma once

#include <tx/backends/device/library.hpp>
#include <tx/backends/device/measured_products.hpp>
#include <tx/core/error.hpp>

#include <array>
#include <map>
#include <span>
#include <string>

namespace tx::backends::device {

// How a library computes products of one shape, asked for once.
template <class Lt>
struct library_plan {
  typename Lt::product product{};
  typename Lt::matrix right{}, left{}, added{}, to{};
  typename Lt::algorithm algorithm{};
  bool found = false;
};

// Of a library's algorithms for a shape that which it expects most of.
struct expected_algorithm {
  static int candidates() { return 1; }  // that the library is asked for
  template <class Products, class Plan, class Result>
  static void choose(Plan&, library_key const&, library_product const&, std::span<Result const>) {}
};

// On Device::stream(), by the library Lt, with the algorithm that Choice takes of those that it knows.
template <class Device, class Lt, class Choice = expected_algorithm>
struct library_products {
  using plan = library_plan<Lt>;

  // Matrices lie by columns there: what is asked for is the product's transpose, the right side first.
  static bool multiply(library_product const& p, bool tf32 = false) {
    bool const right_turned = p.right_col != 1, left_turned = p.left_col != 1;
    if ((right_turned && p.right_row != 1) || (left_turned && p.left_row != 1)) return false;
    bool const adds = p.added != nullptr;
    library_key const key{.type = p.type, .to_type = p.to_type, .tf32 = tf32 && p.type == dtype::f32, .rows = p.rows, .cols = p.cols, .depth = p.depth,
                            .right = {right_turned, right_turned ? p.right_col : p.right_row, p.next_right}, .left = {left_turned, left_turned ? p.left_col : p.left_row, p.next_left},
                            .added = {false, adds ? p.added_apart : p.apart, adds ? p.next_added : p.next_to}, .to = {false, p.apart, p.next_to}, .adds = adds,
                            .adds_row = p.row != nullptr, .next_row = p.next_row, .batch = p.batch, .alignment = aligned(p), .scales = p.row_scales != nullptr};
    if (!Lt::takes(key)) return false;
    plan const* const way = plan_of(key, p);
    if (way == nullptr) return false;
    must(start(*way, way->algorithm, p), "a product could not be started");
    return true;
  }

  static typename Lt::status start(plan const& way, typename Lt::algorithm const& by, library_product const& p) {
    float const one = 1, zero = 0;
    bool const adds = p.added != nullptr;
    if constexpr (Lt::multiplies_e4m3)
      if (p.row_scales != nullptr) point_at_scales(way, p);
    if (p.row != nullptr) must(Lt::set(way.product, Lt::row_at, &p.row, sizeof p.row), "a product's description");
    return Lt::multiply(library(), way.product, &one, p.right, way.right, p.left, way.left, adds ? &one : &zero, adds ? p.added : p.to, adds ? way.added : way.to, p.to, way.to, &by,
                        p.workspace, static_cast<std::size_t>(library_workspace), Device::stream());
  }
  static typename Lt::handle library() {
    static typename Lt::handle const handle = [] {
      typename Lt::handle h = nullptr;
      must(Lt::begin(&h), "it does not begin");
      return h;
    }();
    return handle;
  }

 private:
  static void must(typename Lt::status status, char const* what) {
    if (status != Lt::success) throw error(std::string(Lt::name) + ": " + what + ": " + Lt::text(status));
  }
  // The multiple of bytes, up to 16, that all matrices begin at.
  static int aligned(library_product const& p) {
    std::int64_t const next = ((p.next_left | p.next_right | p.next_row) * size_of(p.type)) | ((p.next_to | p.next_added) * size_of(p.to_type));
    auto const all = static_cast<std::uintptr_t>(next) | reinterpret_cast<std::uintptr_t>(p.left) | reinterpret_cast<std::uintptr_t>(p.right) | reinterpret_cast<std::uintptr_t>(p.to) | reinterpret_cast<std::uintptr_t>(p.added) | reinterpret_cast<std::uintptr_t>(p.row) | 16u;
    return static_cast<int>(all & (~all + 1));
  }

  // Null: the library has no way.
  static plan const* plan_of(library_key const& key, library_product const& p) {
    static std::map<library_key, plan> known;
    auto place = known.find(key);
    if (place == known.end()) place = known.emplace(key, find(key, p)).first;
    return place->second.found ? &place->second : nullptr;
  }
  static void point_at_scales(plan const& way, library_product const& p) {
    must(Lt::set(way.product, Lt::right_scales_at, &p.column_scales, sizeof p.column_scales), "a product's description");
    must(Lt::set(way.product, Lt::left_scales_at, &p.row_scales, sizeof p.row_scales), "a product's description");
  }
  // p: the first product of the shape, whose row and scales stand for those of all later ones, as the library looks for a way to do with some.
  static plan find(library_key const& key, library_product const& p) {
    plan way;
    auto const describe = [&](typename Lt::product_attribute what, auto const& as) { must(Lt::set(way.product, what, &as, sizeof as), "a product's description"); };
    must(Lt::make(&way.product, key.tf32), "a product's description");
    describe(Lt::turns_right, key.right.turned ? Lt::turned : Lt::straight);
    describe(Lt::turns_left, key.left.turned ? Lt::turned : Lt::straight);
    if constexpr (Lt::multiplies_e4m3) {
      if (key.type == dtype::e4m3) Lt::describe_e4m3(describe);
      if (key.scales) {
        if (!Lt::has_scales(way.product)) return way;
        point_at_scales(way, p);
      }
    }
    // Its results are columns there, so a row of them is what every column is added: the library's bias, of the type of the results.
    if (key.adds_row) describe(Lt::ends_with, Lt::added_row);
    if (key.adds_row) Lt::describe_row(describe, key, p);
    auto const layout = [&](typename Lt::matrix& to, dtype t, std::int64_t lines, std::int64_t columns, matrix_shape const& m) {
      must(Lt::make(&to, t, static_cast<std::uint64_t>(m.turned ? columns : lines), static_cast<std::uint64_t>(m.turned ? lines : columns), m.apart), "a matrix");
      if (key.batch == 1) return;
      must(Lt::set(to, Lt::batch_of, &key.batch, sizeof key.batch), "matrices of a batch");
      must(Lt::set(to, Lt::next_at, &m.next, sizeof m.next), "matrices of a batch");
    };
    layout(way.right, key.type, key.cols, key.depth, key.right);
    layout(way.left, key.type, key.depth, key.rows, key.left);
    layout(way.added, key.to_type, key.cols, key.rows, key.added);
    layout(way.to, key.to_type, key.cols, key.rows, key.to);

    typename Lt::preference preference = nullptr;
    must(Lt::make(&preference), "a preference");
    auto const bytes = static_cast<std::uint64_t>(library_workspace);
    auto const least = static_cast<std::uint32_t>(key.alignment);
    must(Lt::set(preference, Lt::most_workspace, &bytes, sizeof bytes), "a preference");
    for (auto const attribute : Lt::alignments) must(Lt::set(preference, attribute, &least, sizeof least), "a preference");
    std::array<typename Lt::result, most_candidates> some{};
    int count = 0;
    typename Lt::status const status = Lt::find(library(), way.product, way.right, way.left, way.added, way.to, preference, Choice::candidates(), some.data(), &count);
    Lt::destroy(preference);
    way.found = status == Lt::success && count > 0;
    if (!way.found) return way;
    way.algorithm = some[0].algo;
    Choice::template choose<library_products>(way, key, p, std::span<typename Lt::result const>(some).first(static_cast<std::size_t>(count)));
    return way;
  }
};

}  // namespace tx::backends::device
