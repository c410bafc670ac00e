// Collectives over MPI hand to each rank what those over connections do: sums in the order of the tree, and elements from where they were.
#include "../net/parts.hpp"
#include "wrong.hpp"

#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>

#include <cstring>

using namespace tx::dist;

namespace {

template <class T>
void check_sums(ranks<mpi>& all, wrong& w, std::size_t count) {
  std::vector<T> from(count), to(count);
  for (std::size_t i = 0; i < count; ++i) from[i] = element<T>(all.rank(), i);
  auto const same = [](T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  all.all_reduce(std::span<T const>(from), std::span(to));
  bool right = true;
  for (std::size_t i = 0; i < count; ++i) right = right && same(to[i], tree<T>(all.size(), i));
  w.unless(right, "all_reduce");

  std::size_t const each = count / static_cast<std::size_t>(all.size()), first = each * static_cast<std::size_t>(all.rank());
  std::vector<T> part(each);
  all.reduce_scatter(std::span<T const>(from).first(each * static_cast<std::size_t>(all.size())), std::span(part));
  for (std::size_t i = 0; i < each; ++i) right = right && same(part[i], tree<T>(all.size(), first + i));
  w.unless(right, "reduce_scatter");

  std::vector<T> gathered(each * static_cast<std::size_t>(all.size()));
  all.all_gather(std::span<T const>(part), std::span(gathered));
  for (std::size_t i = 0; i < gathered.size(); ++i) right = right && same(gathered[i], tree<T>(all.size(), i));
  w.unless(right, "all_gather");

  all.all_reduce(std::span<T const>(from), std::span(from));
  w.unless(count == 0 || std::memcmp(from.data(), to.data(), count * sizeof(T)) == 0, "all_reduce in place");
}

}  // namespace

int main() {
  mpi connections;
  ranks<mpi> all(connections);
  wrong w{all.rank()};
  for (std::size_t const count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{3'000}, std::size_t{400'003}}) {
    check_sums<float>(all, w, count);
    check_sums<double>(all, w, count);
    check_sums<tx::bf16>(all, w, count);
    check_sums<tx::f16>(all, w, count);
  }
  auto const size = static_cast<std::size_t>(all.size()), own = static_cast<std::size_t>(all.rank());
  std::vector<float> out(size * 1000), in(size * 1000);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(own * 100 + k / 1000);
  all.all_to_all(std::span<float const>(out), std::span(in));
  bool right = true;
  for (std::size_t k = 0; k < in.size(); ++k) right = right && in[k] == static_cast<float>(k / 1000 * 100 + own);
  w.unless(right, "all_to_all");
  for (int root = 0; root < all.size(); ++root) {
    std::vector<float> values(5000, static_cast<float>(all.rank()));
    all.broadcast(std::span(values), root);
    for (float const v : values) right = right && v == static_cast<float>(root);
  }
  w.unless(right, "broadcast");
  if (int const other = all.rank() ^ 1; other < all.size()) {
    std::vector<float> here(300'000, static_cast<float>(all.rank())), there(here.size());
    all.swap_with(std::span<float const>(here), std::span(there), other);
    for (float const v : there) right = right && v == static_cast<float>(other);
  }
  w.unless(right, "swap_with");
  if (all.size() > 1) {
    std::vector<float> token(2, static_cast<float>(all.rank())), got(2);
    all.send(std::span<float const>(token), (all.rank() + 1) % all.size());
    all.receive(std::span(got), (all.rank() + all.size() - 1) % all.size());
    w.unless(got[1] == static_cast<float>((all.rank() + all.size() - 1) % all.size()), "send and receive");
  }
  all.barrier();
  return w.count == 0 ? 0 : 1;
}
