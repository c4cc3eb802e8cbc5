import { isDeepStrictEqual } from 'node:util'
import type { Duty } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import type { Key } from '../../../shared/table/keys.ts'
import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { deliveryStatus } from '../world/rows.ts'
import { type Rules, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

type Said = Readonly<Record<string, unknown>>

/** Whether an audit record is about a change that was written with it. */
const isAbout = ({ subject, after }: RawItem, { key, after: row = {} }: TableChange): boolean =>
  key.pk.endsWith(`#${String(subject)}`) || key.sk.endsWith(`#${String(subject)}`)
    ? /^(SETTLEMENT|SUSPENSE|CLIENT|ENDPOINT|GONE|DELIVERY)$/.test(key.sk.split('#')[0] ?? '') ||
      key.pk.startsWith('ADJUSTMENT#')
    : row['key_id'] !== undefined && row['key_id'] === Object(after).key_id

/** Attributes whose values differ in form between row and record. */
const OTHER_FORM = ['resolution', 'notes', 'ledger_parts']

/** The row with its bank account named as in a record. */
const inWireNames = (row: RawItem): RawItem => {
  const { bankName, bankAccountNo, bankAccountName } = Object(row['bank'])
  const bank = { bank_name: bankName, bank_account_no: bankAccountNo, bank_account_name: bankAccountName }
  return row['bank'] === undefined ? row : { ...row, bank }
}

/** Attributes with different values in record and row. */
const differing = (said: Said, row: RawItem): readonly string[] =>
  Object.entries(said)
    .filter(
      ([name, value]) => !OTHER_FORM.includes(name) && typeof (row[name] ?? value) === typeof (value ?? row[name]),
    )
    .filter(([name, value]) => (name in row || value === null) && !isDeepStrictEqual(row[name] ?? null, value))
    .map(([name]) => name)

/** The duty of each operator's action. */
const DUTIES: ReadonlyMap<string, Duty> = new Map(
  MANIFEST.flatMap(({ name, trigger }) => (trigger.kind === 'operator' ? [[name, trigger.duty] as const] : [])),
)

const isUnderWay = (delivery: RawItem | undefined): boolean => deliveryStatus(delivery) === 'scheduled'

/** Whether a change needs an audit record: the operator decided it. */
const needsRecord = (action: string, { key, before, after }: TableChange): boolean => {
  // The gateway itself records the time of an alert about an endpoint, and how many endpoints a client has.
  if (before && after && ['last_alert_at', 'endpoint_count'].some((name) => before[name] !== after[name])) return false
  if (/^(CLIENT|APIKEY|(ENDPOINT|GONE)#.*|SETTLEMENT)$/.test(key.sk)) return true
  if (key.pk.startsWith('ADJUSTMENT#')) return true
  if (action === 'resolve-suspense') return key.sk === 'SUSPENSE'
  // The gateway itself announces the end of a payment.
  if (action === 'refresh-payment') return false
  return key.sk === 'DELIVERY' && !isUnderWay(before) && isUnderWay(after)
}

/** The result of an audit replaces the result that the audit has read. */
const ofVerdicts: Rules = {
  'overwrites what another worker found': ({ before, after }) =>
    after['version'] !== undefined && amount(after, 'version') !== amount(before, 'version') + 1,
  'has an audit that is neither due nor done': ({ after }) =>
    after['state'] !== undefined && after['state'] !== 'audited' && after['work'] === undefined,
  'is audited although no audit is due': ({ before, after }) =>
    before['state'] !== undefined && before['work'] === undefined && before['audited_at'] !== after['audited_at'],
}

/** The head of a chain of audit records, and each record of it. */
const ofChain: Rules = {
  'skips a record': ({ before, after }) => amount(after, 'number') !== amount(before, 'number') + 1,
}
const ofRecord: Rules = {
  'is written a second time': ({ isNew }) => !isNew,
  'does not follow the record before it': ({ written, key, after }) => {
    const head = written.find((one) => one.key.pk === `${key.pk}#HEAD`)
    return head?.after?.['number'] !== after['number'] || head?.before?.['digest'] !== after['previous']
  },
}

/** Checked at every write: an operator's change has an audit record with the state before and after. */
export const watchAuditRecords = (world: World): void => {
  watchRules(world, ({ pk, sk }) => {
    if (pk.startsWith('VERDICT#')) return ofVerdicts
    if (!pk.startsWith('AUDIT#')) return undefined
    return sk === 'HEAD' ? ofChain : ofRecord
  })
  world.onWritten.push((written) => {
    const records = written.flatMap(({ key, before, after }) =>
      key.pk.startsWith('AUDIT#') && key.sk !== 'HEAD' && before === undefined && after ? [after] : [],
    )
    const action = world.acting?.name ?? ''
    if (DUTIES.has(action)) {
      const changed = written.filter((one) => needsRecord(action, one))
      const unrecorded = changed.filter((one) => !records.some((record) => isAbout(record, one)))
      world.problems.push(...unrecorded.map(({ key }) => `${action} changes ${key.pk} ${key.sk} without its record`))
    }
    for (const record of records) {
      for (const change of written.filter((one) => isAbout(record, one))) {
        const { before, after } = change
        const wrong = [
          ...(before && record['before'] ? differing(record['before'] as Said, inWireNames(before)) : []),
          ...(after && record['after'] ? differing(record['after'] as Said, inWireNames(after)) : []),
        ]
        if (wrong.length > 0)
          world.problems.push(
            `the record of ${text(record, 'action')} is wrong about ${change.key.pk}: ${wrong.join(', ')}`,
          )
      }
    }
  })
}

/** The kind of an item, by its partition. Items of a ledger are told apart by their sort key. */
const kindOf = ({ pk, sk }: Key): string => {
  const [partition = ''] = pk.split('#')
  if (partition === 'PAYMENT') return sk.startsWith('EVENT#') ? 'EVENT' : 'PAYMENT'
  return partition === 'LEDGER' ? (sk.split('#')[0] ?? '') : partition
}

/**
 * The kinds of items that each duty may change, independent of the manifest. Support moves money only by the provider's
 * answers about a payment. Finance moves settled money and no payment's status. Admin moves no money.
 */
const CHANGES: Readonly<Record<Duty, string>> = {
  look: '',
  support: 'PAYMENT EVENT SHARD JOURNAL DESTINATION REFERENCE SUSPENSE DELIVERY ENDPOINTS AUDIT HOUSE',
  finance: 'SETTLEMENT WINDOW SHARD JOURNAL HOUSE ADJUSTMENT VERDICT REFERENCE PAYMENT SUSPENSE AUDIT',
  admin: 'CLIENT APIKEY ENDPOINTS WINDOW SHARD AUDIT',
}
/** What `audit-ledger` writes: its result. */
const FOUND = 'VERDICT'
const MONEY = ['available_minor', 'in_settlement_minor', 'paid_out_minor', 'written_off_minor', 'settled_until']

const moved = (before: RawItem | undefined, after: RawItem | undefined, fields: readonly string[]) =>
  before !== undefined && fields.some((field) => before[field] !== after?.[field])

/** Whether a change moves attributes that the duty may not move, of a kind that it may change. */
const isTrespass = (duty: Duty, kind: string, before: RawItem | undefined, after: RawItem | undefined): boolean => {
  if (duty === 'finance' && kind === 'PAYMENT')
    return moved(before, after, ['status', 'paid_at', 'notional_minor', 'credited_provider_payment_id'])
  if (duty === 'support' && kind === 'PAYMENT')
    return before?.['status'] === 'succeeded' && moved(before, after, ['net_minor', 'paid_at'])
  // Support may only record the time of an alert.
  if (duty === 'support' && kind === 'ENDPOINTS')
    return !isDeepStrictEqual({ ...before, last_alert_at: undefined }, { ...after, last_alert_at: undefined })
  return duty === 'admin' && moved(before, after, [...MONEY, 'credited_minor'])
}

/** Checked at every write: an operator's action changes nothing outside the duty it belongs to. */
export const watchDuties = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    const name = world.acting?.name
    const duty = name === undefined ? undefined : DUTIES.get(name)
    if (name === undefined || duty === undefined) return
    const kind = kindOf(key)
    const allowed = name === 'audit-ledger' ? FOUND : CHANGES[duty]
    if (allowed.split(' ').includes(kind) && !isTrespass(duty, kind, before, after)) return
    world.problems.push(`${name}, of ${duty}, has changed ${key.pk} ${key.sk} (${text(after ?? {}, 'status')})`)
  })
}
