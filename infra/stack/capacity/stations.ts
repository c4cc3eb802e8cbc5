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
  /** The setting to change so that it carries more. */
  readonly remedy: string
}

/** All limits of AWS that a payment meets. The provider's quota is no station: it sets the load. */
export function stationsOf(stage: DeployedStage): readonly Station[] {
  return [deliveries(stage), ...tableStations(stage), hottestKey(stage), ...runStations(stage)]
}

function deliveries(stage: DeployedStage): Station {
  const [runs = 0] = MANIFEST.filter(({ name }) => name === 'deliver-webhook').flatMap(
    ({ trigger }) => queuesOf(trigger, loadOf(stage)).map(({ maxConcurrency }) => maxConcurrency),
  )
  return {
    name: 'the runs of deliver-webhook',
    perSecond: runs / webhookSeconds(stage.deliveries),
    remedy:
      'lower deliveries.endpointsAPayment or deliveries.attemptMs to what is measured, or providerCallsPerMinute',
  }
}

/** Units a second that DynamoDB gives a new on-demand table, and each of its indexes. It doubles what was reached before. */
const FRESH = { reads: 12_000, writes: 4_000 } as const

/** The table and each index. */
export function tableStations(
  stage: Pick<DeployedStage, 'table' | 'deliveries'>,
): readonly Station[] {
  const carried = carriedUnits(stage)
  const { writes, reads, delivery } = PAYMENT_UNITS
  const further = stage.deliveries.endpointsAPayment - 1
  const ofDelivery: Readonly<Record<string, number>> = delivery.writes
  const written = Object.entries<number>(writes).map(([place, units]) => ({
    name: `the write units of ${place === 'table' ? 'the table' : place}`,
    perSecond: carried.writes / (units + further * (ofDelivery[place] ?? 0)),
    remedy: `raise table.maxWriteUnits, above ${FRESH.writes} table.warm too`,
  }))
  const read = {
    name: 'the read units of the table',
    perSecond: carried.reads / (reads + further * delivery.reads),
    remedy: `raise table.maxReadUnits, above ${FRESH.reads} table.warm too`,
  }
  return [...written, read]
}

/** The units that the table, and each index, carries from its first minute. */
export function carriedUnits({
  table: { maxReadUnits, maxWriteUnits, warm },
}: Pick<DeployedStage, 'table'>) {
  return {
    reads: Math.min(maxReadUnits, Math.max(FRESH.reads, warm?.readUnits ?? 0)),
    writes: Math.min(maxWriteUnits, Math.max(FRESH.writes, warm?.writeUnits ?? 0)),
  }
}

/** Write units a second of one partition key, of the table and of each index. */
const KEY_WRITES = 1_000

/**
 * Keys that all clients' payments share, and the ledger of a client that creates as much as its default limit allows.
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
  const ofClient = KEY_WRITES / KEY_UNITS.ledgerOfClient
  const { clientCreateLimit = Number.POSITIVE_INFINITY } = settings
  const remedy = `lower clientCreateLimit to ${Math.floor(ofClient)}; update-client gives a larger client ledger_parts and a limit of its own`
  if (clientCreateLimit > ofClient)
    keys.push({ name: 'the ledger of a client', perSecond: ofClient, remedy })
  const hottest = lowest(keys)
  return { ...hottest, name: `the hottest key (${hottest.name})` }
}

export function lowest<One extends Pick<Station, 'perSecond'>>(stations: readonly One[]): One {
  return stations.reduce((one, other) => (other.perSecond < one.perSecond ? other : one))
}

/** Functions with reserved runs; all others share the rest of the account. */
function runStations(stage: DeployedStage): readonly Station[] {
  const seconds: Readonly<Record<string, number>> = {
    ...RUN_SECONDS,
    'deliver-webhook': webhookSeconds(stage.deliveries),
    'check-due-payments': SECONDS_A_PAYMENT.due,
    'sync-slices': SECONDS_A_PAYMENT.listing,
  }
  const own: Station[] = []
  let shared = 0
  for (const spec of MANIFEST) {
    const needs = seconds[spec.name] ?? 0
    const { reservedConcurrentExecutions: runs } = reservedConcurrency(spec, stage)
    if (runs === undefined) shared += needs
    // The reserved runs of queues follow the load by themselves.
    else if (isHttp(spec) && needs > 0) {
      const remedy = 'raise reservedConcurrency and accountConcurrency'
      own.push({ name: `the runs reserved for ${spec.name}`, perSecond: runs / needs, remedy })
    }
  }
  const left = stage.accountConcurrency - reservedRuns(stage)
  if (shared === 0) return own
  const remedy = 'raise accountConcurrency, where the account has as many'
  return [...own, { name: 'the runs of the account', perSecond: left / shared, remedy }]
}
