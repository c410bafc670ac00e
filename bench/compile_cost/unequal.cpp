// Twelve encoder layers of twelve widths of feed-forward, without repeat: the worst a user may write.
#include <tx/backends/cpu.hpp>
#include <tx/nn/bert.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cstdio>

namespace {

template <int Ffn>
struct config {
  static constexpr int layers = 1, hidden = 256, heads = 4, ffn = Ffn, vocabulary = 1000, positions = 64, types = 2;
};
template <int Ffn>
using layer = tx::nn::bert_layer<config<Ffn>>;

struct model {
  tx::nn::bert_embeddings<config<256>> embeddings;
  layer<512> a;
  layer<528> b;
  layer<544> c;
  layer<560> d;
  layer<576> e;
  layer<592> f;
  layer<608> g;
  layer<624> h;
  layer<640> i;
  layer<656> j;
  layer<672> k;
  layer<688> l;
  tx::nn::linear<256, 2> head;

  constexpr auto operator()(auto const& ids) const {
    auto const x = l(k(j(i(h(g(f(e(d(c(b(a(embeddings(ids)))))))))))));
    return head(tx::reshape<4, 256>(tx::slice<1, 0, 1>(x)));
  }
};
constexpr auto loss = [](auto const& m, tx::tensor<tx::i32, 4, 32> ids, tx::tensor<tx::i32, 4> y) { return tx::cross_entropy(m(ids), y); };
using step = tx::train_step<model, loss, tx::adamw>;

}  // namespace

int main(int argc, char**) {
  std::printf("%d kernels\n", step::program<>::kernels.size());
  if (argc < 2) return 0;
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  std::vector<tx::i32> const ids(4 * 32, 1);
  std::vector<tx::i32> const labels(4, 1);
  std::printf("loss %g\n", static_cast<double>(run(ids, labels).loss));
}
