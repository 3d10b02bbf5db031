#include "slackline/base/result.h"

namespace slackline {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kGone:
      return "Gone";
    case ErrorCode::kForbidden:
      return "Forbidden";
    case ErrorCode::kResourceExhausted:
      return "ResourceExhausted";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kTimeout:
      return "Timeout";
    case ErrorCode::kDataLoss:
      return "DataLoss";
    case ErrorCode::kInternal:
      break;
  }
  return "Internal";
}

ErrorCode error_of_http_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 410:
      return ErrorCode::kGone;
    case 429:
      return ErrorCode::kResourceExhausted;
    case 504:
      return ErrorCode::kTimeout;
    default:
      return status >= 400 && status < 500 ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable;
  }
}

}  // namespace slackline
