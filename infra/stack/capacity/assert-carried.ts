import { type DeployedStage, loadOf } from '../stage.ts'
import { CREATE_ROUTE, throttleOf } from '../triggers/route-settings.ts'
import { PAYMENT_UNITS } from './payment-use.ts'
import { carriedUnits, type Station, stationsOf, tableStations } from './stations.ts'

/**
 * The table must carry this multiple of what the API lets in: payments with more fields, and failing deliveries, use
 * more.
 */
const RESERVE = 2

const shown = (perSecond: number): number => Math.floor(perSecond * 10) / 10

/** The station that carries too little, with its number and the remedy; undefined when all carry enough. */
const tooSmall = (wanted: string, perSecond: number, stations: readonly Station[]): string | undefined => {
  const small = stations
    .filter((station) => station.perSecond < perSecond)
    .map(({ name, perSecond: carries, remedy }) => `${name}: ${shown(carries)} (${remedy})`)
  return small.length > 0
    ? `${wanted} ${shown(perSecond)} payments a second. Less is carried by ${small.join(', ')}`
    : undefined
}

/**
 * Throws on a stage whose API lets in more payments than its table carries, or whose provider quota exceeds what AWS
 * carries. API Gateway must refuse the excess (429, nothing begun), not DynamoDB or Lambda (500, half done). The pace
 * of creates limits all later work of a payment.
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
