// 100 steps of AdamW from the weights of tests/parity/families.py stay with PyTorch's losses: padded texts of a BERT with types of tokens, packed texts
// of a RoBERTa and a DistilBERT.
#include "../from_pytorch.hpp"

#include "../../nn/families.hpp"

using namespace tx;

namespace {

using namespace families;
using text_ids = tensor<i32, batch, longest>;
using per_token = tensor<i32, dyn<batch * longest>>;
using labels = tensor<i32, batch>;

constexpr auto padded_loss = [](auto const& m, text_ids ids, text_ids mask, text_ids types, labels label) { return cross_entropy(m(ids, mask, types), label); };
constexpr auto packed_loss = [](auto const& m, per_token ids, per_token positions, tensor<i32, batch + 1> offsets, labels label) {
  return cross_entropy(m.template packed<longest>(ids, positions, offsets), label);
};

template <class Config>
using classifier = nn::sequence_classifier<typename Config::family, Config, label_count>;

// How far the losses of 100 steps are from the reference's at most.
template <class Config, auto Loss, class... Inputs>
double train(io::safetensors const& file, Inputs const&... inputs) {
  executor<train_step<classifier<Config>, Loss, adamw>, cpu> run{seed(0)};
  for (auto const& p : run.tensors()) std::ranges::copy(numbers<f32>(file, weight_name<Config>("sequence", p.name)), p.data.begin());
  run.settings["learning_rate"] = 1e-3f;
  run.settings["dropout"] = 0;
  double furthest = 0;
  auto const wanted = numbers<f32>(file, "losses");
  REQUIRE(wanted.size() == 100);
  for (float const loss : wanted) keep_furthest(furthest, std::abs(static_cast<double>(static_cast<float>(run(inputs...).loss)) - static_cast<double>(loss)));
  return furthest;
}

template <class Config>
double train_packed() {
  auto const file = reference<Config>();
  auto const ids = numbers<i32>(file, "ids"), mask = numbers<i32>(file, "mask");
  std::vector<i32> packed, positions, offsets;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i % longest == 0) offsets.push_back(static_cast<i32>(packed.size()));
    if (mask[i] == 0) continue;
    packed.push_back(ids[i]);
    positions.push_back(static_cast<i32>(i % longest));
  }
  offsets.push_back(static_cast<i32>(packed.size()));
  return train<Config, packed_loss>(file, packed, positions, offsets, numbers<i32>(file, "labels"));
}

}  // namespace

TEST_CASE("100 steps of a BERT with types of tokens stay with PyTorch's") {
  auto const file = reference<families::bert>();
  auto const of = [&](char const* name) { return numbers<i32>(file, name); };
  CHECK(train<families::bert, padded_loss>(file, of("ids"), of("mask"), of("types"), of("labels")) < 1e-3);
}

TEST_CASE("100 steps of a packed RoBERTa stay with PyTorch's") { CHECK(train_packed<families::roberta>() < 1e-3); }

TEST_CASE("100 steps of a packed DistilBERT stay with PyTorch's") { CHECK(train_packed<families::distilbert>() < 1e-3); }
