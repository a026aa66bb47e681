#include "skel/report.hpp"

namespace skel {

report::report() = default;
report::report(report const&) = default;
report::report(report&&) noexcept = default;
report& report::operator=(report const&) = default;
report& report::operator=(report&&) noexcept = default;
report::~report() = default;

}  // namespace skel
