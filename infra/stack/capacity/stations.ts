import { isHttp, queuesOf, webhookSeconds } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { SECONDS_A_PAYMENT } from '../../../shared/provider/quota-store.ts'
import { WORK_SLOTS } from '../../../shared/table/schema.ts'
import { reservedConcurrency, reservedRuns } from '../functions/reserved-concurrency.ts'
import { type DeployedStage, loadOf } from '../stage.ts'
import { KEY_UNITS, PAYMENT_UNITS, RUN_SECONDS } from './payment-use.ts'

/** A limit of AWS, and how many payments a second it carries without a growing backlog. */
export type Station = {
  readonly name: string
  readonly perSecond: number
  /** The setting to change so that the station carries more. */
  readonly remedy: string
}

/** All limits of AWS that a payment meets. The provider's quota is no station: it sets the load. */
export function stationsOf(stage: DeployedStage): readonly Station[] {
  return [deliveryStation(stage), ...tableStations(stage), hottestKey(stage), ...runStations(stage)]
}

function deliveryStation(stage: DeployedStage): Station {
  const [runs = 0] = MANIFEST.filter(({ name }) => name === 'deliver-webhook').flatMap(
    ({ trigger }) => queuesOf(trigger, loadOf(stage)).map(({ maxConcurrency }) => maxConcurrency),
  )
  return {
    name: 'the runs of deliver-webhook',
    perSecond: runs / webhookSeconds(stage.deliveries),
    remedy:
      'lower deliveries.endpointsAPayment or deliveries.attemptMs to what is measured, or ' +
      'providerCallsPerMinute',
  }
}

/**
 * Units a second that DynamoDB gives a new on-demand table, and each of its indexes. DynamoDB
 * doubles the former peak.
 */
const NEW_TABLE_UNITS = { reads: 12_000, writes: 4_000 } as const

export function tableStations(
  stage: Pick<DeployedStage, 'table' | 'deliveries'>,
): readonly Station[] {
  const carried = carriedUnits(stage)
  const { writes, reads, delivery } = PAYMENT_UNITS
  const moreEndpoints = stage.deliveries.endpointsAPayment - 1
  const deliveryWrites: Readonly<Record<string, number>> = delivery.writes
  const writeStations = Object.entries<number>(writes).map(([place, units]) => ({
    name: `the write units of ${place === 'table' ? 'the table' : place}`,
    perSecond: carried.writes / (units + moreEndpoints * (deliveryWrites[place] ?? 0)),
    remedy: `raise table.maxWriteUnits, above ${NEW_TABLE_UNITS.writes} table.warm too`,
  }))
  const readStation = {
    name: 'the read units of the table',
    perSecond: carried.reads / (reads + moreEndpoints * delivery.reads),
    remedy: `raise table.maxReadUnits, above ${NEW_TABLE_UNITS.reads} table.warm too`,
  }
  return [...writeStations, readStation]
}

/** The units that the table, and each index, carries from its first minute. */
export function carriedUnits({
  table: { maxReadUnits, maxWriteUnits, warm },
}: Pick<DeployedStage, 'table'>) {
  return {
    reads: Math.min(maxReadUnits, Math.max(NEW_TABLE_UNITS.reads, warm?.readUnits ?? 0)),
    writes: Math.min(maxWriteUnits, Math.max(NEW_TABLE_UNITS.writes, warm?.writeUnits ?? 0)),
  }
}

/** Write units a second of one partition key, of the table and of each index. */
const KEY_WRITES = 1_000

/**
 * The hottest of the keys that all clients share, and of the ledger of a client that creates at its
 * default limit.
 */
function hottestKey({ settings, deliveries: { endpointsAPayment } }: DeployedStage): Station {
  const shared = {
    'payments in by-due': KEY_UNITS.duePayments / WORK_SLOTS.payment,
    'deliveries in by-due': (KEY_UNITS.dueDeliveries * endpointsAPayment) / WORK_SLOTS.delivery,
    'the sync in by-due': KEY_UNITS.dueSync / WORK_SLOTS.sync,
  }
  const keys = Object.entries(shared).map(([name, units]) => ({
    name,
    perSecond: KEY_WRITES / units,
    remedy: 'lower providerCallsPerMinute',
  }))
  const ledgerPerSecond = KEY_WRITES / KEY_UNITS.ledgerOfClient
  const { clientCreateLimit = Number.POSITIVE_INFINITY } = settings
  const remedy = `lower clientCreateLimit to ${Math.floor(ledgerPerSecond)}; a larger merchant takes several clients`
  if (clientCreateLimit > ledgerPerSecond)
    keys.push({ name: 'the ledger of a client', perSecond: ledgerPerSecond, remedy })
  const hottest = lowestOf(keys)
  return { ...hottest, name: `the hottest key (${hottest.name})` }
}

export function lowestOf<Bound extends Pick<Station, 'perSecond'>>(
  bounds: readonly Bound[],
): Bound {
  return bounds.reduce((lowest, bound) => (bound.perSecond < lowest.perSecond ? bound : lowest))
}

/** Functions with reserved runs; all other functions share the other runs of the account. */
function runStations(stage: DeployedStage): readonly Station[] {
  const seconds: Readonly<Record<string, number>> = {
    ...RUN_SECONDS,
    'deliver-webhook': webhookSeconds(stage.deliveries),
    'check-due-payments': SECONDS_A_PAYMENT.due,
    'sync-slices': SECONDS_A_PAYMENT.listing,
  }
  const reserved: Station[] = []
  let sharedSeconds = 0
  for (const spec of MANIFEST) {
    const runSeconds = seconds[spec.name] ?? 0
    const { reservedConcurrentExecutions: runs } = reservedConcurrency(spec, stage)
    if (runs === undefined) sharedSeconds += runSeconds
    // The reserved runs of queues grow with the load.
    else if (isHttp(spec) && runSeconds > 0) {
      const remedy = 'raise reservedConcurrency and accountConcurrency'
      reserved.push({
        name: `the runs reserved for ${spec.name}`,
        perSecond: runs / runSeconds,
        remedy,
      })
    }
  }
  const sharedRuns = stage.accountConcurrency - reservedRuns(stage)
  if (sharedSeconds === 0) return reserved
  const remedy = 'raise accountConcurrency, where the account has as many'
  return [
    ...reserved,
    { name: 'the runs of the account', perSecond: sharedRuns / sharedSeconds, remedy },
  ]
}
