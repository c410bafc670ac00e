// One model of bench_step as a page.
#include "step.hpp"

#include <tx/inspect/outline.hpp>
#include <tx/io/page.hpp>

void TX_PAGE(std::string const& path, std::vector<double> const& seconds) {
  auto const by = [](int a, int b) { return std::to_string(a) + " x " + std::to_string(b); };
  std::string const title = "A training step of " + by(TX_LAYERS, TX_HIDDEN) + ", " + by(TX_BATCH, TX_SEQ) + " tokens";
  tx::io::write_page(path, tx::outline_of<step>(seconds), title);
}
