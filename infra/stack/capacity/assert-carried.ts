import type { DeployedStage } from '../stage.ts'
import { CREATE_ROUTE, throttleOf } from '../triggers/route-settings.ts'
import { loadOf } from './load-of.ts'
import { PAYMENT_UNITS } from './payment-use.ts'
import { carriedUnits, type Station, stationsOf, tableStations } from './stations.ts'

/** The table carries so many times what the API lets in: payments with more fields, and deliveries that fail, use more. */
const RESERVE = 2

const shown = (perSecond: number): number => Math.floor(perSecond * 10) / 10

/** What carries less, with its number and what to do; undefined where everything carries enough. */
const tooSmall = (wanted: string, perSecond: number, stations: readonly Station[]): string | undefined => {
  const small = stations
    .filter((station) => station.perSecond < perSecond)
    .map(({ name, perSecond: carries, remedy }) => `${name}: ${shown(carries)} (${remedy})`)
  return small.length > 0
    ? `${wanted} ${shown(perSecond)} payments a second. Less is carried by ${small.join(', ')}`
    : undefined
}

/**
 * Throws on a stage whose API lets in more payments than its table carries, or whose quota of the provider exceeds what
 * AWS carries for it. What is too much must be refused by API Gateway (429, nothing begun) and not by DynamoDB or Lambda
 * (500, half done). What comes after a payment is paced by its creation.
 */
export const assertCarried = (stage: DeployedStage): void => {
  const { requestsPerSecond, burst } = throttleOf(stage, CREATE_ROUTE)
  const { callsPerMinute } = loadOf(stage)
  const carried = carriedUnits(stage)
  const burstOf = (kind: 'reads' | 'writes'): string | undefined => {
    const units = burst * PAYMENT_UNITS.created[kind] * RESERVE
    const fits = units <= carried[kind]
    return fits
      ? undefined
      : `a burst of ${burst} takes ${units} units of ${kind}, and the table carries ${carried[kind]}`
  }
  const throttled = `lower the throttle of ${CREATE_ROUTE}, which with a reserve takes`
  const refused = [
    tooSmall(throttled, requestsPerSecond * RESERVE, tableStations(stage)),
    burstOf('writes'),
    burstOf('reads'),
    tooSmall(`${callsPerMinute} calls of the provider a minute are`, callsPerMinute / 60, stationsOf(stage)),
  ].filter((problem) => problem !== undefined)
  if (refused.length > 0) throw new Error(`stage ${stage.settings.name}: ${refused.join('; ')}`)
}
