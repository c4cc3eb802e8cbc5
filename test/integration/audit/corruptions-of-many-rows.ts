import { auditClient } from '../../../shared/audit/audit-client.ts'
import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { negated } from '../../../shared/money.ts'
import {
  adjustmentsPk,
  auditRecordPk,
  journalPk,
  paymentKey,
  verdictKey,
} from '../../../shared/table/keys.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { add, type Case, change, lose, set, together } from './corruptions.ts'
import {
  clientRow,
  firstIn,
  history,
  historyClientId,
  notedRow,
  type Place,
  type Row,
  settlementRow,
  shardRow,
  suspenseRow,
  windowRow,
} from './history-places.ts'

const MILLION = 1_000_000

const snapshot = settlementRow('recorded')

const raisedAdjustment = together(
  raise(adjustmentRow, { amount_minor: MILLION }),
  raise(adjustedEntry, { gross_minor: MILLION, net_minor: MILLION, other_minor: -MILLION }),
  raise(shardRow('settledActual'), { credited_minor: MILLION }),
)

const forgedVerdict = change(verdictRow, ({ version }) => ({
  version: Number(version) + 1,
  standing: [],
  figures_at: history.deps.now(),
}))

/** Each fits the rows around it. After one audit day nothing of the client is paid out. */
export const MANY_ROWS: readonly Case[] = [
  [
    'an adjustment is raised, with its entry and a shard',
    raisedAdjustment,
    /adjustment\.amount_minor/,
    'daily, day',
  ],
  [
    'an adjustment is raised in its record too, and the head of the chain stays',
    together(
      raisedAdjustment,
      change(adjustmentRecord, ({ after }) => ({
        after: { ...Object(after), amount_minor: MILLION + 5_000 },
      })),
    ),
    /audit_record/,
    'daily, day',
  ],
  [
    'the payment of another client is moved to this one, with counts',
    movedHere({}),
    /payment\.client_id/,
    'daily, day',
  ],
  [
    'the payment of another client is moved to this one, with another digest',
    movedHere({ key_digest: 'AAAAAAAAAAAAAAAAAAAAAA' }),
    /payment\.key_digest/,
    'daily, day',
  ],
  [
    'a client leaves the index',
    set(clientRow, { owner: undefined, entity: undefined, listed_at: undefined, id: undefined }),
    /^client\.owner$/,
    'daily, day',
  ],
  ['a client is deleted', lose(clientRow), /^client$/, 'daily, day'],
  [
    'money in suspense is deleted, with its row in the register',
    together(lose(suspenseRow('held')), lose(notedRow('held'))),
    /^suspense$/,
    'daily, day',
  ],
  [
    'a verdict is forged over an altered window',
    async () => {
      await auditClient(history.deps, historyClientId())
      return together(add(windowRow, 'available_minor'), forgedVerdict)()
    },
    /window\.available_minor/,
    'daily, day',
  ],
  [
    'a word of the bank’s name is moved to the account’s name',
    change(snapshot, ({ bank }) => {
      const { bankName, bankAccountName, ...others } = Object(bank)
      return {
        bank: { ...others, bankName: '', bankAccountName: `${bankName} ${bankAccountName}` },
      }
    }),
    /settlement\.bank/,
    'day',
  ],
]

function raise(place: Place, amounts: Readonly<Record<string, number>>) {
  return change(place, (before) =>
    Object.fromEntries(
      Object.entries(amounts).map(([name, amount]) => [name, Number(before[name] ?? 0) + amount]),
    ),
  )
}

/** An open payment, and what the shards of both clients have of it. */
function movedHere(changes: Row) {
  return async () => {
    const { deps } = history
    const stranger = await aStoredClient(deps)
    const { paymentId, netMinor: net } = await anOpenPayment(deps, stranger)
    const [from, to] = [stranger.clientId, historyClientId()]
    return together(
      set(() => paymentKey(paymentId), { owner: to, ...changes }),
      raise(() => shardOf({ clientId: from, paymentId }), {
        credited_minor: negated(net),
        count_succeeded: -1,
      }),
      raise(() => shardOf({ clientId: to, paymentId }), {
        credited_minor: net,
        count_succeeded: 1,
      }),
    )()
  }
}

function adjustmentRow() {
  return firstIn(adjustmentsPk(historyClientId()))
}

function adjustedEntry() {
  const isAdjustment = ({ adjustment_reference: named }: Row) => named !== undefined
  return firstIn(journalPk(historyClientId()), isAdjustment)
}

function adjustmentRecord() {
  return firstIn(auditRecordPk(historyClientId()), ({ action }) => action === 'adjust-ledger')
}

function verdictRow() {
  return verdictKey(historyClientId())
}
