// tests/parity's numbers of structural ops: values and gradients are PyTorch's, also at ties, NaN, zeros and the edges
// of pictures.
#include "check_op.hpp"
#include "structural_rules.hpp"

#include <tx/io/safetensors.hpp>
#include <tx/ops/conv2d.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/einsum.hpp>
#include <tx/ops/embedding_bag.hpp>
#include <tx/ops/pool2d.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/top_k.hpp>

#include <cstring>

namespace {

using vars = std::vector<tx::var>;

class vectors {
 public:
  // The case's value and gradients against what `build` makes of its operands.
  void check(std::string const& name, op_builder const& build) const {
    INFO(name);
    std::vector<array> operands;
    for (int k = 0; file_.find(name + ".in" + std::to_string(k)) != nullptr; ++k)
      operands.push_back(load(name + ".in" + std::to_string(k)));
    REQUIRE(!operands.empty());
    array const wanted = load(name + ".y");
    built_op op(operands, build);
    REQUIRE(op.result.dims() == wanted.dims);
    op.g.outputs.push_back({op.result.id});
    if (file_.find(name + ".weights") != nullptr) {
      operands.push_back(load(name + ".weights"));
      for (int id : op.differentiate(operands.back())) {
        REQUIRE(id >= 0);
        op.g.outputs.push_back({id});
      }
    }
    auto const told = run_graph(op.g, operands, true);
    CHECK(distance(told[0], wanted.v) < 1e-12);
    for (std::size_t k = 1; k < told.size(); ++k)
      CHECK(distance(told[k], load(name + ".d" + std::to_string(k - 1)).v) < 1e-12);
  }

 private:
  array load(std::string const& name) const {
    INFO(name);
    tx::io::tensor_info const* const t = file_.find(name);
    REQUIRE(t != nullptr);
    array a = filled(make_dims({t->shape.begin(), t->shape.end()}));
    a.type = t->type;
    for (std::size_t e = 0; e < a.v.size(); ++e)
      a.v[e] = t->type == tx::dtype::f64 ? at<double>(*t, e) : at<std::int32_t>(*t, e);
    return a;
  }
  template <class T>
  static double at(tx::io::tensor_info const& t, std::size_t e) {
    T x;
    std::memcpy(&x, t.bytes.data() + e * sizeof(T), sizeof(T));
    return static_cast<double>(x);
  }

  tx::io::safetensors file_ = tx::io::safetensors::read(TX_TEST_DIR "/../parity/data/structural.safetensors");
};

}  // namespace

TEST_CASE("structural ops give PyTorch's numbers") {
  using conv = tx::conv2d_options;
  using pool = tx::pool2d_options;
  vectors const torch;
  torch.check("conv_plain", [](vars const& v) { return tx::conv2d(v[0], v[1]); });
  torch.check("conv_all", [](vars const& v) {
    return tx::conv2d<conv{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}>(v[0], v[1], v[2]);
  });
  torch.check("conv_depthwise",
              [](vars const& v) { return tx::conv2d<conv{.stride = 3, .padding = 2, .groups = 4}>(v[0], v[1]); });
  torch.check("max_pool_ties",
              [](vars const& v) { return tx::max_pool2d<pool{.size = 3, .stride = 2, .padding = 1}>(v[0]); });
  torch.check("max_pool_dilated", [](vars const& v) {
    return tx::max_pool2d<pool{.size = 2, .stride = 1, .padding = 1, .dilation = 2}>(v[0]);
  });
  torch.check("avg_pool", [](vars const& v) {
    return tx::avg_pool2d<pool{.size = {3, 2}, .stride = {2, 1}, .padding = 1}>(v[0]);
  });
  torch.check("gather", [](vars const& v) { return tx::gather<1>(v[0], v[1]); });
  torch.check("scatter_add", [](vars const& v) { return tx::scatter_add<1>(v[0], v[1], v[2]); });
  torch.check("cumsum", [](vars const& v) { return tx::cumsum<1>(v[0]); });
  torch.check("prod_zeros", [](vars const& v) { return tx::prod<1>(v[0]); });
  torch.check("argmax_nan", [](vars const& v) { return tx::argmax<1>(v[0]); });
  torch.check("argmin_nan", [](vars const& v) { return tx::argmin<1>(v[0]); });
  torch.check("top_k", [](vars const& v) { return tx::top_k<3>(v[0]).values; });
  torch.check("top_k_at", [](vars const& v) { return tx::top_k<3>(v[0]).indices; });
  torch.check("top_k_odd", [](vars const& v) { return tx::top_k<2>(v[0]).values; });
  torch.check("einsum", [](vars const& v) { return tx::einsum<"bij,bjk,lk->blik">(v[0], v[1], v[2]); });
  torch.check("einsum_outer", [](vars const& v) { return tx::einsum<"ci,cj->cij">(v[0], v[1]); });
  torch.check("bag_sum", [](vars const& v) { return tx::embedding_bag(v[0], v[1]); });
  torch.check("bag_mean", [](vars const& v) { return tx::embedding_bag<tx::bag_mode::mean>(v[0], v[1]); });
  torch.check("bag_max", [](vars const& v) { return tx::embedding_bag<tx::bag_mode::max>(v[0], v[1]); });
  torch.check("bag_weighted", [](vars const& v) { return tx::embedding_bag(v[0], v[1], v[2]); });
}
