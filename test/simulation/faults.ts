import type { Prng } from './prng.ts'

/** How often each thing goes wrong: probabilities per call or message, and longest delays in milliseconds. */
export type Faults = {
  /** A process dies at one of its awaits. */
  readonly crash: number
  /** Lambda starts a new environment although a warm one is there. */
  readonly environmentLost: number
  /** A call takes seconds on its way, so that everything else can happen meanwhile. */
  readonly slowCall: number
  /** The table is throttled beyond the SDK's patience. */
  readonly tableThrottled: number
  /** The table did it, and the answer was lost beyond the SDK's patience. */
  readonly tableAnswerLost: number
  /** A transaction meets another one. */
  readonly tableConflict: number
  readonly indexLagMs: number
  readonly streamLagMs: number
  readonly streamLost: number
  readonly streamTwice: number
  readonly queueTwice: number
  readonly queueReordered: number
  readonly queueSendFails: number
  /** The provider was never reached. */
  readonly providerUnreachable: number
  /** The provider did it, and its answer was lost. */
  readonly providerAnswerLost: number
  readonly providerServerError: number
  readonly providerRateLimit: number
  readonly providerSlow: number
  /** The provider does not show a payment yet that it has taken and announced. */
  readonly providerBehind: number
  readonly callbackLost: number
  readonly callbackTwice: number
  readonly callbackLateMs: number
  readonly merchantFails: number
  readonly merchantHangs: number
  readonly alertFails: number
  readonly scheduleTwice: number
  readonly scheduleMissed: number
  /** What customers do. */
  readonly wrongAmount: number
  readonly paidLate: number
  /** Each machine's clock is off by up to so much, either way. */
  readonly clockSkewMs: number
  /** The platform's time limit answers for a function, which goes on when its environment is thawed. */
  readonly answeredEarly: number
}

export const NO_FAULTS: Faults = {
  crash: 0,
  environmentLost: 0,
  slowCall: 0,
  tableThrottled: 0,
  tableAnswerLost: 0,
  tableConflict: 0,
  indexLagMs: 0,
  streamLagMs: 0,
  streamLost: 0,
  streamTwice: 0,
  queueTwice: 0,
  queueReordered: 0,
  queueSendFails: 0,
  providerUnreachable: 0,
  providerAnswerLost: 0,
  providerServerError: 0,
  providerRateLimit: 0,
  providerSlow: 0,
  providerBehind: 0,
  callbackLost: 0,
  callbackTwice: 0,
  callbackLateMs: 0,
  merchantFails: 0,
  merchantHangs: 0,
  alertFails: 0,
  scheduleTwice: 0,
  scheduleMissed: 0,
  wrongAmount: 0,
  paidLate: 0,
  clockSkewMs: 0,
  answeredEarly: 0,
}

/** The worst each fault may be. */
const WORST: Faults = {
  crash: 0.02,
  environmentLost: 0.5,
  slowCall: 0.15,
  tableThrottled: 0.01,
  tableAnswerLost: 0.01,
  tableConflict: 0.1,
  indexLagMs: 90_000,
  streamLagMs: 30_000,
  streamLost: 0.2,
  streamTwice: 0.2,
  queueTwice: 0.2,
  queueReordered: 0.5,
  queueSendFails: 0.05,
  providerUnreachable: 0.1,
  providerAnswerLost: 0.1,
  providerServerError: 0.1,
  providerRateLimit: 0.05,
  providerSlow: 0.1,
  providerBehind: 0.3,
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
  clockSkewMs: 10_000,
  answeredEarly: 0.1,
}

/**
 * Swarm testing: each history draws which faults it has at all and how bad they are. Many faults at once hide each
 * other; a history with two bad ones finds what a history with all of them never reaches.
 */
export const drawFaults = (prng: Prng): Faults => {
  const share = prng.next()
  const draw = (worst: number) => (prng.chance(share) ? worst * prng.next() : 0)
  return Object.fromEntries(Object.entries(WORST).map(([name, worst]) => [name, draw(worst)])) as Faults
}
