// Names that Kubernetes allows (RFC 1123): what may become part of a path; and values of labels.
#pragma once

#include <string_view>

namespace slackline {

// Lower-case letters, digits and '-', a letter or digit at both ends, at most 63: a namespace.
bool is_dns_label(std::string_view text);

// Labels joined by '.', at most 253 characters in all: pods, Jobs, nodes and most other objects.
// As in Kubernetes each label may be as long as the whole.
bool is_dns_subdomain(std::string_view text);

// What a label may say, other than nothing: letters, digits, '-', '_' and '.', a letter or digit at
// both ends, at most 63. Every namespace is one.
bool is_label_value(std::string_view text);

}  // namespace slackline
