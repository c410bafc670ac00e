// Passes as tests run them, compiled once for all of them; as constant expressions they are compiled wherever a program is.
#pragma once

#include <tx/graph/graph.hpp>

namespace at_run_time {

tx::vec<int> gradients(tx::graph& g, int loss, tx::vec<int> const& leaves);
tx::graph simplified(tx::graph const& g);
tx::graph written_out(tx::graph const& g);  // attention as products, then simplified
tx::graph const& verified(tx::graph const& g);

}  // namespace at_run_time
