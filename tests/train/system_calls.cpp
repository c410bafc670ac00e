#include "../io/system_calls.cpp"
