// Which of the two webhooks is asked.
#pragma once

namespace slackline::control {

enum class AdmissionStage { kMutate, kValidate };

}  // namespace slackline::control
