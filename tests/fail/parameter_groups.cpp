// A model of more groups of parameters than a step has settings for.
// expect: tx: the model has more parameter groups than tx::max_groups. FIX: fewer group types
#include <tx/expr/parameter_layout.hpp>

template <int N>
struct group {
  static constexpr float rate = 1;
  static constexpr float decay = 0;
};
template <int N>
using w = tx::param<tx::tensor<float, 1>, tx::init::zeros, group<N>>;
struct model {
  w<1> a;
  w<2> b;
  w<3> c;
  w<4> d;
  w<5> e;
  w<6> f;
  w<7> g;
  w<8> h;
  w<9> i;
  w<10> j;
  w<11> k;
  w<12> l;
  w<13> m;
  w<14> n;
  w<15> o;
  w<16> p;
  w<17> q;
};
static_assert(tx::layout<model>::size > 0);
