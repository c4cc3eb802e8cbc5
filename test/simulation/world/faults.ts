import type { Prng } from './prng.ts'

/**
 * The worst rate of each fault: probabilities per call or message, and longest delays in
 * milliseconds.
 */
const WORST = {
  /** A process dies at one of its awaits. */
  crash: 0.02,
  /**
   * For seconds or minutes the account has hardly any concurrency left for functions without a
   * reserved one.
   */
  concurrencyTaken: 0.2,
  /** Lambda starts a new environment although a warm one is there. */
  environmentLost: 0.5,
  /** A call takes seconds, so that anything else can happen before its effect. */
  slowCall: 0.15,
  /** A write is delayed, and meanwhile another worker does the same work. */
  overtaken: 0.2,
  /** The table is throttled for all retries of the SDK. */
  tableThrottled: 0.01,
  /** A write is applied, and its answers are lost for all retries of the SDK. */
  tableAnswerLost: 0.01,
  tableConflict: 0.1,
  /** A write is applied, its answer is lost, and the SDK sends the request again. */
  tableRetried: 0.1,
  /** A page ends before its limit, as DynamoDB ends pages at 1 MB. */
  pageCut: 0.3,
  batchCut: 0.2,
  /**
   * An index is throttled for some minutes, and the table is not: reads of it, and writes that
   * change it.
   */
  indexThrottled: 0.3,
  indexLagMs: 90_000,
  queueTwice: 0.2,
  queueReordered: 0.5,
  queueSendFails: 0.05,
  /** For minutes, up to an hour, no queue takes or gives a message. */
  queuesDown: 0.1,
  providerUnreachable: 0.1,
  /** The provider processes a request, and its answer is lost. */
  providerAnswerLost: 0.1,
  providerServerError: 0.1,
  providerRateLimit: 0.05,
  providerSlow: 0.1,
  /** The provider does not show a payment yet that it has captured and announced. */
  providerBehind: 0.3,
  /** The provider shows a request as it was before it changed a moment ago. */
  providerStale: 0.3,
  /**
   * How late the provider lists its transactions: less than the two minutes that the sync leaves
   * out.
   */
  rowsBehindMs: 100_000,
  /** If not zero, the provider has a quota for each operation, and refuses calls above it. */
  providerQuota: 1,
  /** A payment's row is never shown, is shown twice, or its fee comes days late or is zero. */
  rowMissing: 0.1,
  rowTwice: 0.1,
  feeLate: 0.2,
  feeZero: 0.2,
  callbackLost: 0.7,
  callbackTwice: 0.3,
  callbackLateMs: 3_600_000,
  merchantFails: 0.6,
  merchantHangs: 0.2,
  alertFails: 0.2,
  scheduleTwice: 0.1,
  scheduleMissed: 0.2,
  wrongAmount: 0.1,
  paidLate: 0.2,
  /** The most by which a machine's clock is early or late. */
  clockSkewMs: 10_000,
  monotonicStops: 1,
  /**
   * The platform answers for a function at its time limit; the function continues when it is
   * thawed.
   */
  answeredEarly: 0.1,
  endpointChanges: 1,
  clientChanges: 1,
  /** An endpoint hangs for minutes or hours, for all requests. */
  endpointHangs: 0.5,
  unsealFails: 0.2,
  /** The lists show a row only after minutes, up to a day. */
  rowLate: 0.3,
}

export type Faults = Readonly<Record<keyof typeof WORST, number>>

export const NO_FAULTS = each(() => 0)

/**
 * Swarm testing: each history draws its faults and their rates, because many faults at once hide
 * each other.
 */
export function drawFaults(prng: Prng) {
  const share = prng.next()
  return each((worst) => (prng.chance(share) ? worst * prng.next() : 0))
}

function each(draw: (worst: number) => number) {
  return Object.fromEntries(
    Object.entries(WORST).map(([name, worst]) => [name, draw(worst)]),
  ) as Faults
}
