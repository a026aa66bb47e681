// Numbers, words, lines and fields in text of unknown origin, for the readers of programs.
#pragma once

#include "../../../base/text.hpp"

namespace skel::program {

using detail::csv_fields;
using detail::from_digits;
using detail::lower;
using detail::one_line;
using detail::printable;
using detail::read_line;
using detail::take_number;
using detail::to_number;
using detail::without_mark;

}  // namespace skel::program
