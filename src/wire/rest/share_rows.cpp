// What queues use of their shares.
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {

template <>
const Columns<ShareLine>& columns<ShareLine>() {
  using C = Column<ShareLine>;
  using Line = const ShareLine&;
  static const Columns<ShareLine> kColumns = {
      "ShareLine",
      {
          C(
              "queue", [](Line line) { return if_any(line.queue); },
              "Absent: pods that Slackline did not plan")
              .cell("QUEUE"),
          C(
              "parent", [](Line line) { return if_any(line.parent); },
              "Of a queue with a parent; of a parent itself"),
          C("gpuType", &ShareLine::gpu_type).cell("GPU TYPE"),
          C(
              "own", [](Line line) { return line.share.own; }, "GPUs of the queue")
              .cell(">OWN"),
          C("ownInUse", &ShareLine::own).cell(">IN USE"),
          C(
              "borrow", [](Line line) { return line.share.borrow; },
              "GPUs of other queues that it may use while they are idle")
              .cell(">MAY BORROW"),
          C("borrowed", &ShareLine::borrowed, "In use").cell(">BORROWED"),
          C("poolInUse", &ShareLine::of_pool, "GPUs that nobody owns").cell(">POOL"),
      }};
  return kColumns;
}

template <>
const Columns<SharedType>& columns<SharedType>() {
  using C = Column<SharedType>;
  static const Columns<SharedType> kColumns = {
      "SharedType",
      {
          C("gpuType", &SharedType::gpu_type),
          C("gpus", &SharedType::gpus, "That planned tasks may use now"),
          C("owned", &SharedType::owned, "By all queues; may be more than there are"),
          C("pool", &SharedType::pool, "GPUs that nobody owns"),
          C("poolInUse", &SharedType::pool_in_use),
      }};
  return kColumns;
}

template <>
const Columns<ShareLedger>& columns<ShareLedger>() {
  using C = Column<ShareLedger>;
  static const Columns<ShareLedger> kColumns = {
      "Shares", {C("types", &ShareLedger::types, "GPU types of which a queue has a share")}};
  return kColumns;
}

std::string preface_of(const ShareLedger& ledger) {
  if (ledger.types.empty())
    return "no queue has a share of the GPUs (queues[].shares of the configuration)\n";
  std::string preface;
  for (const SharedType& type : ledger.types)
    preface +=
        format("{}: {} GPUs, {} owned by queues{}; {} of {} in the pool are in use\n",
               printable(type.gpu_type, 64), type.gpus, type.owned,
               type.owned > type.gpus ? " (more than there are)" : "", type.pool_in_use, type.pool);
  return preface;
}

}  // namespace slackline::wire
