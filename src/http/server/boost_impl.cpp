// The function bodies of Boost.Asio and Boost.Beast, compiled once (separate compilation).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
