#include <tx/tx.hpp>
