// Nothing: CMake wants a source beside the headers that it compiles for the tests.
