// What collectives hand to each rank, beside sums in the order of the tree and elements that tell where they are from.
#include "group.hpp"
#include "parts.hpp"
#include "unequal_parts.hpp"

#include <tx/core/philox.hpp>

#include <cstring>

using namespace tx::dist;

namespace {

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Elements are compared on the test's own thread.
template <class T>
void check_sums(int ranks, std::size_t count, bool in_place) {
  CAPTURE(ranks, count, in_place, sizeof(T));
  std::vector<std::vector<T>> got(static_cast<std::size_t>(ranks)), parts = got;
  net::run(ranks, [&](net::all& all) {
    auto const r = static_cast<std::size_t>(all.rank());
    std::vector<T> const from = part<T>(all.rank(), count);
    for (int again = 0; again < 3; ++again) {
      std::vector<T> to = in_place ? from : std::vector<T>(count);
      all.all_reduce(std::span<T const>(in_place ? to : from), std::span<T>(to));
      got[r] = to;
    }
    std::size_t const each = count / static_cast<std::size_t>(ranks);
    std::vector<T> longer = part<T>(all.rank(), each * static_cast<std::size_t>(ranks));
    std::vector<T> own(each);
    std::span<T> const to = in_place ? std::span(longer).subspan(r * each, each) : std::span(own);
    all.reduce_scatter(std::span<T const>(longer), to);
    parts[r].assign(to.begin(), to.end());
  });
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (auto const& of_rank : got) wrong += !same(of_rank[i], tree<T>(ranks, i));
  CHECK(wrong == 0);
  std::size_t at = 0;
  for (auto const& own : parts)
    for (T const x : own) wrong += !same(x, tree<T>(ranks, at++));
  CHECK(wrong == 0);
  CHECK(at == count / static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
}

}  // namespace

TEST_CASE("sums over connections are those of the tree, bit for bit") {
  int const ranks = GENERATE(1, 2, 3, 4, 5, 7);
  std::size_t const count = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{2'000});
  bool const in_place = GENERATE(false, true);
  check_sums<float>(ranks, count, in_place);
}

TEST_CASE("sums of many pieces, and of every type") {
  int const ranks = GENERATE(2, 3, 4);
  bool const in_place = GENERATE(false, true);
  check_sums<float>(ranks, 700'003, in_place);
  check_sums<double>(ranks, 200'001, in_place);
  check_sums<tx::bf16>(ranks, 300'007, in_place);
  check_sums<tx::f16>(ranks, 300'007, in_place);
}

TEST_CASE("parts of which the last ranks have fewer, or none, over connections") {
  int const ranks = GENERATE(1, 2, 3, 4, 7);
  std::size_t const count = GENERATE(std::size_t{0}, std::size_t{5}, std::size_t{200'003});
  std::size_t const each = (count + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks) + (ranks == 4 ? 2 : 0);
  CAPTURE(ranks, count, each);
  std::vector<std::size_t> wrong(static_cast<std::size_t>(ranks));
  net::run(ranks, [&](net::all& all) { wrong[static_cast<std::size_t>(all.rank())] = wrong_in_unequal_parts<float>(all, count, each) + wrong_in_unequal_parts<tx::bf16>(all, count, each); });
  for (std::size_t const errors : wrong) CHECK(errors == 0);
}

TEST_CASE("what is gathered, spread and exchanged comes from where it was") {
  int const ranks = GENERATE(1, 2, 3, 4, 6);
  std::size_t const each = GENERATE(std::size_t{0}, std::size_t{3}, std::size_t{100'000});
  CAPTURE(ranks, each);
  auto const size = static_cast<std::size_t>(ranks);
  std::vector<int> wrong(size);
  net::run(ranks, [&](net::all& all) {
    auto const r = static_cast<std::size_t>(all.rank());
    auto const mark = [](std::size_t from, std::size_t to, std::size_t i) { return static_cast<float>(from * 1000 + to * 100 + i % 97); };
    int& errors = wrong[r];

    std::vector<float> own(each), gathered(each * size);
    for (std::size_t i = 0; i < each; ++i) own[i] = mark(r, 0, i);
    all.all_gather(std::span<float const>(own), std::span(gathered));
    for (std::size_t k = 0; k < gathered.size(); ++k) errors += gathered[k] != mark(k / each, 0, k % each);
    std::vector<float> in_place(each * size);
    std::copy(own.begin(), own.end(), in_place.begin() + static_cast<std::ptrdiff_t>(r * each));
    all.all_gather(std::span<float const>(in_place).subspan(r * each, each), std::span(in_place));
    errors += in_place != gathered;

    std::vector<float> out(each * size), in(each * size);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = mark(r, k / each, k % each);
    all.all_to_all(std::span<float const>(out), std::span(in));
    for (std::size_t k = 0; k < in.size(); ++k) errors += in[k] != mark(k / each, r, k % each);

    for (int root = 0; root < ranks; ++root) {
      std::vector<float> values(each);
      if (all.rank() == root)
        for (std::size_t i = 0; i < each; ++i) values[i] = mark(static_cast<std::size_t>(root), 7, i);
      all.broadcast(std::span(values), root);
      for (std::size_t i = 0; i < each; ++i) errors += values[i] != mark(static_cast<std::size_t>(root), 7, i);
    }

    // Pairs of neighbours along a line of ranks, first those that begin at an even one, which is further than buffers of connections reach.
    for (int odd = 0; odd < 2; ++odd) {
      int const other = all.rank() % 2 == odd ? all.rank() + 1 : all.rank() - 1;
      if (other < 0 || other >= ranks) continue;
      std::vector<float> here(70'000, static_cast<float>(all.rank())), theirs(here.size());
      all.swap_with(std::span<float const>(here), std::span(theirs), other);
      for (float const v : theirs) errors += v != static_cast<float>(other);
    }

    // Around a ring, and what was sent first comes first.
    if (ranks > 1) {
      int const next = (all.rank() + 1) % ranks, before = (all.rank() + ranks - 1) % ranks;
      for (float k = 0; k < 3; ++k) {
        std::vector<float> token{k, static_cast<float>(all.rank())}, got(2);
        all.send(std::span<float const>(token), next);
        all.receive(std::span(got), before);
        errors += got != std::vector<float>{k, static_cast<float>(before)};
      }
    }
    all.barrier();
  });
  for (int const errors : wrong) CHECK(errors == 0);
}

TEST_CASE("drawn rounds of collectives, one behind the other, on ranks of unlike haste") {
  constexpr int ranks = 4;
  std::vector<int> wrong(ranks);
  net::run(ranks, [&](net::all& all) {
    int& errors = wrong[static_cast<std::size_t>(all.rank())];
    for (std::uint32_t k = 0; k < 200; ++k) {
      auto const drawn = tx::philox(tx::philox_key::from(7), {{k, 0, 0, 0}});  // the same on all ranks
      std::size_t const count = drawn[1] % (drawn[2] % 4 == 0 ? 200'000 : 300);
      if ((drawn[3] >> static_cast<unsigned>(all.rank())) % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (drawn[0] % 3 == 0) {
        all.barrier();
      } else if (drawn[0] % 3 == 1) {
        std::vector<float> x(count, static_cast<float>(k));
        all.broadcast(std::span(x), static_cast<int>(drawn[2] % ranks));
        for (float const v : x) errors += v != static_cast<float>(k);
      } else {
        std::vector<float> x(count, static_cast<float>(all.rank() + 1));
        all.all_reduce(std::span<float const>(x), std::span(x));
        for (float const v : x) errors += v != 10;
      }
    }
  });
  for (int const errors : wrong) CHECK(errors == 0);
}

TEST_CASE("subsets of ranks have collectives of their own over the connections of all") {
  constexpr tx::rank_grid grid{6, 2};
  std::vector<std::vector<float>> got(6);
  net::run(6, [&](net::all& all) {
    auto const row = all.subset(grid.subset(tx::across::products, all.rank())), column = all.subset(grid.subset(tx::across::batches, all.rank()));
    std::vector<float> own(1, static_cast<float>(1 << all.rank())), of_row(2);
    for (int again = 0; again < 3; ++again) {  // each has collectives that the other has not
      row->all_gather(std::span<float const>(own), std::span(of_row));
      column->all_reduce(std::span<float const>(of_row), std::span(of_row));
      all.broadcast(std::span(own), 0);
      own[0] = static_cast<float>(1 << all.rank());
    }
    column->broadcast(std::span(own), 2);
    auto& mine = got[static_cast<std::size_t>(all.rank())];
    mine = of_row;
    mine.push_back(own[0]);
    mine.push_back(static_cast<float>(10 * column->rank() + row->rank()));
  });
  for (int r = 0; r < 6; ++r) CHECK(got[static_cast<std::size_t>(r)] == std::vector<float>{21, 42, r % 2 == 0 ? 16.0f : 32.0f, static_cast<float>(10 * (r / 2) + r % 2)});
}
