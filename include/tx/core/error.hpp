// What goes wrong at run time. Every exception leaves the object it came from usable.
#pragma once

#include <stdexcept>
#include <string>

namespace tx {

// Base of everything tx throws. The message says what, where and how to fix it.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Stops a constant evaluation. Compilers print the line that throws it, so the text is the error message. It is an exception like
// others where what belongs into a model is called when the program runs.
struct invalid : error {
  using error::error;
};

// A run-time extent or length differs from the compiled one.
struct shape_error : error {
  using error::error;
};

// A file that does not say what its format promises.
struct format_error : error {
  using error::error;
};

// A path that cannot be read or written; names the path and the system's reason.
struct io_error : error {
  using error::error;
};

// A value outside its domain, such as a token id beyond the vocabulary.
struct value_error : error {
  using error::error;
};

}  // namespace tx
