import { isHttp, queuesOf, webhookSeconds } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { reservedConcurrency } from '../../../infra/stack/settings/reserved-concurrency.ts'
import { type DeployedStage, loadOf } from '../../../infra/stack/stage.ts'
import { SECONDS_A_PAYMENT } from '../../../shared/provider/quota-store.ts'
import { LEDGER_SHARDS, WORK_SLOTS } from '../../../shared/table/schema.ts'
import { AUDIT_READS_A_MONTH, KEY_UNITS, PAYMENT_UNITS, RUN_SECONDS } from './payment-use.ts'

type Station = { readonly name: string; readonly perSecond: number }

export function stationsOf(stage: DeployedStage): readonly Station[] {
  const [runs = 0] = MANIFEST.filter(({ name }) => name === 'deliver-webhook').flatMap(
    ({ trigger }) => queuesOf(trigger, loadOf(stage)).map(({ maxConcurrency }) => maxConcurrency),
  )
  return [
    { name: 'the runs of deliver-webhook', perSecond: runs / webhookSeconds(stage.deliveries) },
    ...tableStations(stage),
    hottestKey(stage),
    ...runStations(stage),
  ]
}

/**
 * Units a second that DynamoDB gives a new on-demand table, and each of its indexes. DynamoDB
 * doubles the former peak.
 */
const NEW_TABLE_UNITS = { reads: 12_000, writes: 4_000 }

export function tableStations(stage: Pick<DeployedStage, 'table' | 'deliveries'>) {
  const carried = carriedUnits(stage)
  const { writes, reads, delivery } = PAYMENT_UNITS
  const moreEndpoints = stage.deliveries.endpointsAPayment - 1
  const deliveryWrites: Readonly<Record<string, number>> = delivery.writes
  const writeStations = Object.entries<number>(writes).map(([place, units]) => ({
    name: `the write units of ${place === 'table' ? 'the table' : place}`,
    perSecond: carried.writes / (units + moreEndpoints * (deliveryWrites[place] ?? 0)),
  }))
  const readUnits = reads + moreEndpoints * delivery.reads
  return [
    ...writeStations,
    { name: 'the read units of the table', perSecond: carried.reads / readUnits },
  ]
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

/** The hottest of the keys that all clients share. */
function hottestKey({ deliveries: { endpointsAPayment } }: DeployedStage) {
  const units = {
    'payments in by-due': KEY_UNITS.duePayments / WORK_SLOTS.payment,
    'deliveries in by-due': (KEY_UNITS.dueDeliveries * endpointsAPayment) / WORK_SLOTS.delivery,
    'the sync in by-due': KEY_UNITS.dueSync / WORK_SLOTS.sync,
  }
  const keys = Object.entries(units).toSorted(([, a], [, b]) => b - a)
  const [name, most] = keys[0] ?? ['none', 0]
  return { name: `the hottest key (${name})`, perSecond: KEY_WRITES / most }
}

/** The runs of the account, and those reserved for callers. Those of queues grow with the load. */
function runStations(stage: DeployedStage) {
  const seconds: Readonly<Record<string, number>> = {
    ...RUN_SECONDS,
    'deliver-webhook': webhookSeconds(stage.deliveries),
    'check-due-payments': SECONDS_A_PAYMENT.due,
    'sync-slices': SECONDS_A_PAYMENT.listing,
  }
  const reserved = MANIFEST.filter(isHttp).flatMap((spec) => {
    const { reservedConcurrentExecutions: runs } = reservedConcurrency(spec, stage)
    const runSeconds = seconds[spec.name]
    return runs === undefined || runSeconds === undefined
      ? []
      : [{ name: `the runs reserved for ${spec.name}`, perSecond: runs / runSeconds }]
  })
  const allSeconds = Object.values(seconds).reduce((sum, some) => sum + some, 0)
  return [
    ...reserved,
    { name: 'the runs of the account', perSecond: stage.accountConcurrency / allSeconds },
  ]
}

/** Audits read all payments of a client each month, also those of past months. */
export function auditStation(stage: DeployedStage): Station {
  const units = PAYMENT_UNITS.reads + 12 * AUDIT_READS_A_MONTH
  return {
    name: 'the read units of the table, with the audits of a year’s payments',
    perSecond: carriedUnits(stage).reads / units,
  }
}

/** Above this part of the time, most tries of a transaction meet another one on their shard. */
const MOST_HELD = 0.5

/** What one client carries, or one endpoint, in any stage. Rounded down, as documents state it. */
export function clientStations(): readonly Station[] {
  const { ledgerOfClient } = KEY_UNITS
  // Each transaction writes its shard at two units.
  const conflicts = (heldMs: number) =>
    (LEDGER_SHARDS * MOST_HELD) / ((ledgerOfClient / 2) * (heldMs / 1_000))
  const stations = {
    'one client: the key of its ledger': KEY_WRITES / ledgerOfClient,
    'one client: conflicts of transactions that hold their items for 30 ms': conflicts(30),
    'one client: conflicts of transactions that hold their items for 15 ms': conflicts(15),
    'one endpoint: the key of its deliveries in by-owner':
      KEY_WRITES / PAYMENT_UNITS.delivery.writes['by-owner'],
  }
  return Object.entries(stations).map(([name, perSecond]) => ({
    name,
    perSecond: Math.floor(perSecond),
  }))
}
