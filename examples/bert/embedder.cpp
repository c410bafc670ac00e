// The program of an encoder alone: a vector for each text.
#include TX_BERT_MODEL_HEADER

#include "encoder_alone.hpp"
#include "tuned.hpp"

#include <tx/core/error.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

namespace bert {
namespace TX_ON_CHOSEN(detail) {

inline constexpr bool typed = model::config::types > 1;
inline constexpr int texts = 64;  // at a time; little enough for their activations to stay in the cache of a processor
inline constexpr int tokens = model::longest > 2048 ? model::longest : 2048;
using per_token = tx::tensor<tx::i32, tx::dyn<tokens>>;
using offsets = tx::tensor<tx::i32, texts + 1>;

// [texts, hidden] each
struct pooled {
  tx::tensor<tx::f32, texts, model::config::hidden> mean, first;
};
constexpr pooled pooled_of(auto const& hidden, offsets const& o) {
  auto const mean = mean_of(hidden, o);
  return {mean, first_of(hidden, o)};
}
inline constexpr auto embed = [] {
  if constexpr (typed)
    return [](auto const& m, per_token ids, per_token positions, offsets o, per_token types) {
      return pooled_of(m.encoder.body.template packed<model::longest>(ids, positions, o, types), o);
    };
  else
    return [](auto const& m, per_token ids, per_token positions, offsets o) { return pooled_of(m.encoder.body.template packed<model::longest>(ids, positions, o), o); };
}();
using batch_of = tx::text::packed_batch<texts, model::longest, tokens>;

// What the parameters are before those of a folder are written over them. On processors zeros, as to draw them takes a second for a model of 23 million.
template <class Backend>
class undrawn {
  using weights = tx::parameter_block<encoder_alone, Backend>;

 public:
  weights& source() { return weights_; }

 private:
  static constexpr auto count = static_cast<std::size_t>(weights::bytes_for(0));
  struct give_back {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{tx::memory_alignment}); }
  };
  std::unique_ptr<std::byte[], give_back> at_{new (std::align_val_t{tx::memory_alignment}) std::byte[count]()};
  weights weights_{std::span(at_.get(), count), 0};
};
template <tx::exec::remote Backend>
class undrawn<Backend> {
 public:
  static tx::seed source() { return tx::seed(0); }
};

// Options: of tx::function.
template <class... Options>
class compiled_embedder final : command_line::own_device, public command_line::parameters_of<embedder, compiled_embedder<Options...>> {
 public:
  explicit compiled_embedder(engine_options const& o) : run_(weights_.source(), {.threads = o.threads}) {}

  std::vector<float> embed(std::span<coded_text const> all, embedder::pooling how) override {
    std::vector<float> out;
    out.reserve(all.size() * model::config::hidden);
    for_each_batch<batch_of>(all, [&](batch_of const& b) {
      auto const result = run_packed<typed>(run_, b);
      auto const& v = how == embedder::pooling::mean ? result.mean : result.first;
      out.insert(out.end(), v.begin(), v.begin() + b.texts() * model::config::hidden);
    });
    return out;
  }
  decltype(auto) with_parameters(auto&& use) const { return use(run_); }

 private:
  undrawn<tx::chosen_backend> weights_{};
  mutable tx::executor<tx::function<TX_ON_CHOSEN(detail)::embed, encoder_alone, Options...>, tx::chosen_backend> run_;
};

command_line::maker<embedder, bool> const here_embedder{command_line::engine_names, [](engine_options const& o, bool wanted) -> std::unique_ptr<embedder> {
  if constexpr (halves) {
    if (wanted) return std::make_unique<compiled_embedder<tx::mixed<tx::bf16>>>(o);
  } else {
    if (wanted) throw tx::value_error("this program multiplies in f32 alone. FIX: no --bf16, or tx_add_bert(... BF16), which with WHERE_FAST is of devices and of processors that have instructions for it");
  }
  return std::make_unique<compiled_embedder<>>(o);
}};

}  // namespace detail
}  // namespace bert
