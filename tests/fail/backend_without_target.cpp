// A backend that does not say what programs are planned for.
// expect: tx::executor: the backend says nothing of the machine that programs are planned for. FIX:
#include <tx/backends/reference.hpp>
#include <tx/tx.hpp>

struct backend {
  template <class Signature>
  using kernel = tx::backends::plain::kernel<Signature>;
  static std::byte* allocate(std::int64_t count) { return tx::reference::allocate(count); }
  static void release(std::byte* p, std::int64_t count) { tx::reference::release(p, count); }
  static int default_threads() { return 1; }
  static void check_machine() {}
};

constexpr auto f = [](tx::tensor<float, 4> x) { return x + 1.0; };
tx::executor<tx::function<f>, backend> run;
