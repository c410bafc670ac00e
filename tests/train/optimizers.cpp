// Every optimizer's graph, interpreted in f64, against plain loops and against PyTorch's steps
// (tests/parity/optimizers.py).
#include "../furthest.hpp"
#include "../parity/numbers.hpp"
#include "interpreted.hpp"
#include "plain_optimizers.hpp"

#include <tx/train/adagrad.hpp>
#include <tx/train/adam.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/lion.hpp>
#include <tx/train/novograd.hpp>
#include <tx/train/rmsprop.hpp>
#include <tx/train/sgd.hpp>

namespace {

using namespace tx;

// 20 steps of some tensors that lie one after the other, all together and each by the plain loop.
template <class Optimizer, class Plain>
void check(char const* name, Plain const& plain, int tensors = 1, int elements = 17) {
  INFO(name << ", " << tensors << " of " << elements);
  int const own_rank = elements == 0 ? 0 : 1;  // a scalar
  auto const each = static_cast<std::size_t>(std::max(1, elements));
  shape dims{};
  if (tensors > 1) dims.dim[dims.rank++] = tensors;
  if (own_rank > 0) dims.dim[dims.rank++] = elements;
  interpreted<Optimizer> optimizer(dims, own_rank);
  values p(each * static_cast<std::size_t>(tensors));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::sin(static_cast<double>(3 * i + 1));
  if (tensors > 2) std::fill_n(p.begin() + static_cast<std::ptrdiff_t>(each), each, 0.0);  // one that starts at zero
  values wanted = p;
  std::vector<std::vector<values>> states(static_cast<std::size_t>(tensors), std::vector<values>(3, values(each)));
  for (int t = 1; t <= 20; ++t) {
    double const rate = 0.1 * t * std::exp(-0.2 * t);
    double const decay = t % 3 == 0 ? 0 : t % 2 == 0 ? 0.05 : 0.25;
    values gradient(p.size());
    for (std::size_t i = 0; i < p.size(); ++i)
      gradient[i] = i % each == 1 ? 0 : std::cos(static_cast<double>(i * i) + t) * (i % each == 2 ? 1e3 : 1);
    optimizer.step(p, gradient, rate, decay);
    for (std::size_t k = 0; k < states.size(); ++k) {
      auto const first = static_cast<std::ptrdiff_t>(k * each);
      auto const last = first + static_cast<std::ptrdiff_t>(each);
      values one(wanted.begin() + first, wanted.begin() + last);
      values const g(gradient.begin() + first, gradient.begin() + last);
      plain(plain_step{one, g, states[k], rate, decay, t});
      std::copy(one.begin(), one.end(), wanted.begin() + first);
    }
    CHECK(distance(p, wanted) < 1e-11);
  }
}

template <class Optimizer>
void check_pytorch(std::string const& name) {
  auto const file = parity_file("optimizers");
  auto const wanted = parity_numbers(file, name);
  auto const gradients = parity_numbers(file, "gradients");
  auto const rates = parity_numbers(file, "rates");
  values p = parity_numbers(file, "initial");
  std::size_t const n = p.size();
  REQUIRE(wanted.size() == n * rates.size());
  interpreted<Optimizer> optimizer(shape{1, {}, {static_cast<int>(n)}}, 1);
  for (std::size_t t = 0; t < rates.size(); ++t) {
    auto const row = [&](values const& all) {
      return values(all.begin() + static_cast<std::ptrdiff_t>(t * n),
                    all.begin() + static_cast<std::ptrdiff_t>((t + 1) * n));
    };
    optimizer.step(p, row(gradients), rates[t], 0.0625);
    INFO(name << ", step " << t);
    CHECK(distance(p, row(wanted)) < 1e-11);
  }
}

using adam_other = adam_with<adam_options{.beta1 = 0.5, .beta2 = 0.95, .epsilon = 1e-4}>;
using momentum = sgd_with<sgd_options{.momentum = 0.9}>;
using nesterov = sgd_with<sgd_options{.momentum = 0.75, .nesterov = true}>;
using adagrad_start = adagrad_with<adagrad_options{.rate_decay = 0.125, .start = 0.5}>;
using rmsprop_momentum = rmsprop_with<rmsprop_options{.alpha = 0.9, .momentum = 0.5}>;
using rmsprop_centered = rmsprop_with<rmsprop_options{.momentum = 0.5, .centered = true}>;
static_assert(sgd::states == 0 && nesterov::states == 1 && rmsprop::states == 1 && rmsprop_centered::states == 3);

}  // namespace

TEST_CASE("optimizers are what plain loops compute", "[optimizer]") {
  check<adamw>("adamw", plain_adamw);
  check<adam>("adam", [](plain_step const& u) { plain_adam(u); });
  check<adam_other>("adam_with", [](plain_step const& u) { plain_adam(u, 0.5, 0.95, 1e-4); });
  check<sgd>("sgd", [](plain_step const& u) { plain_sgd(u, 0, false); });
  check<momentum>("momentum", [](plain_step const& u) { plain_sgd(u, 0.9, false); });
  check<nesterov>(
      "nesterov", [](plain_step const& u) { plain_sgd(u, 0.75, true); }, 3, 7);
  check<adagrad>("adagrad", [](plain_step const& u) { plain_adagrad(u, 0, 0); });
  check<adagrad_start>("adagrad_with", [](plain_step const& u) { plain_adagrad(u, 0.125, 0.5); });
  check<rmsprop>("rmsprop", [](plain_step const& u) { plain_rmsprop(u, 0.99, 0, false); });
  check<rmsprop_momentum>("rmsprop_with momentum", [](plain_step const& u) { plain_rmsprop(u, 0.9, 0.5, false); });
  check<rmsprop_centered>("rmsprop_with centered", [](plain_step const& u) { plain_rmsprop(u, 0.99, 0.5, true); });
}

TEST_CASE("Lion takes the sign of a mean", "[optimizer]") {
  check<lion>("lion", [](plain_step const& u) { plain_lion(u, 0.9, 0.99); });
  check<lion_with<lion_options{.beta1 = 0.5, .beta2 = 0.75}>>("lion_with", [](plain_step const& u) { plain_lion(u, 0.5, 0.75); }, 3, 7);
}

TEST_CASE("NovoGrad divides each tensor's gradient by its own norm", "[optimizer]") {
  check<novograd>("novograd", plain_novograd);
  check<novograd>("novograd on a scalar", plain_novograd, 1, 0);
  check<novograd>("novograd on blocks", plain_novograd, 3, 7);
}

TEST_CASE("LAMB scales each tensor by its own norms", "[optimizer]") {
  check<lamb>("lamb", plain_lamb);
  check<lamb>("lamb", plain_lamb, 1, 1);
  check<lamb>("lamb on a scalar", plain_lamb, 1, 0);
  check<lamb>("lamb on scalars", plain_lamb, 4, 0);
  check<lamb>("lamb on blocks", plain_lamb, 3, 7);
  check<lamb_with<lamb_options{.beta1 = 0.5, .always_adapt = false}>>("lamb, Adam where nothing decays", [](plain_step const& u) { plain_lamb_with(u, false, 0.5); }, 3, 7);
}

TEST_CASE("optimizers are PyTorch's", "[optimizer]") {
  check_pytorch<adamw>("adamw");
  check_pytorch<adam>("adam");
  check_pytorch<adam_other>("adam_betas");
  check_pytorch<sgd>("sgd");
  check_pytorch<momentum>("sgd_momentum");
  check_pytorch<nesterov>("sgd_nesterov");
  check_pytorch<adagrad>("adagrad");
  check_pytorch<adagrad_start>("adagrad_start");
  check_pytorch<rmsprop>("rmsprop");
  check_pytorch<rmsprop_momentum>("rmsprop_momentum");
  check_pytorch<rmsprop_centered>("rmsprop_centered");
}

TEST_CASE("gradients that are no numbers, and infinite ones, show", "[optimizer]") {
  for (double bad : {std::nan(""), HUGE_VAL}) {
    auto const after = [&]<class Optimizer>(Optimizer) {
      interpreted<Optimizer> optimizer(shape{1, {}, {2}}, 1);
      values p{1, 1};
      optimizer.step(p, {bad, 0.5}, 0.1, 0);
      return p;
    };
    for (values const& p :
         {after(adam{}), after(sgd{}), after(adagrad{}), after(rmsprop{}), after(rmsprop_centered{}), after(lamb{})})
      CHECK(!std::isfinite(p[0]));
    for (values const& p : {after(adam{}), after(sgd{}), after(adagrad{}), after(rmsprop{})})
      CHECK(p[1] < 1);  // the others go on
  }
}
