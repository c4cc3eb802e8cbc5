import * as v from 'valibot'
import { type RawItem, text } from '../../support/books.ts'
import { count } from '../world/tally.ts'
import type { World } from '../world/world.ts'

/** What has become of a payment's settlement when its money goes back or comes again. */
const STAGES = ['unswept', 'recorded', 'failed', 're-credited', 'paid out'] as const
type Stage = (typeof STAGES)[number]

const PARTS = ['refund', 'chargeback'] as const
const WHOLE = ['voided', 'reversed', ...PARTS] as const

const cells = (prefix: string, stages: readonly string[]) => stages.map((stage) => `${prefix}, ${stage}`)

/** Every way in which money may go back and come again: in many histories each must have happened. */
export const REVERSAL_CELLS: readonly string[] = [
  ...WHOLE.flatMap((kind) => cells(`reversal: ${kind} whole`, STAGES)),
  ...PARTS.flatMap((kind) => cells(`reversal: ${kind} in part`, STAGES)),
  ...cells('reversal: undone', [...STAGES, 'settled without it']),
  'reversal: undone, unclear',
]

const ReversalSchema = v.object({
  kind: v.string(),
  wholeAt: v.optional(v.string()),
  whole: v.optional(v.object({ transactionId: v.string(), kind: v.string(), settlementId: v.optional(v.string()) })),
  undoneAt: v.optional(v.string()),
  reinstatedAt: v.optional(v.string()),
})
const PaymentSchema = v.object({
  client_id: v.string(),
  paid_at: v.string(),
  reversal: v.optional(ReversalSchema),
  reversal_ids: v.optional(v.set(v.string()), new Set<string>()),
})
type SeenPayment = v.InferOutput<typeof PaymentSchema>

const paymentIn = (item: RawItem | undefined): SeenPayment | undefined => {
  const parsed = v.safeParse(PaymentSchema, item)
  return parsed.success ? parsed.output : undefined
}

/** Where it stands in the order of what is settled. */
const placeOf = ({ paid_at: paidAt, reversal }: SeenPayment): string => reversal?.reinstatedAt ?? paidAt

/** The settlement that pays it out, or has: the last of those that stand for one another. */
export const settlementOf = ({ table }: World, item: RawItem): RawItem | undefined => {
  const payment = paymentIn(item)
  if (payment === undefined) return undefined
  const [clientId, place] = [payment.client_id, placeOf(payment)]
  const own = table
    .items('SETTLEMENT#')
    .filter(
      (settlement) =>
        settlement['client_id'] === clientId &&
        text(settlement, 'period_start') <= place &&
        place < text(settlement, 'period_end'),
    )
  const replaced = new Set(own.map(({ replaces }) => replaces))
  return own.find(({ settlement_id: id }) => !replaced.has(id))
}

/** By the table's raw items, as they are at this moment. */
export const stageOf = (world: World, item: RawItem): Stage | undefined => {
  const payment = paymentIn(item)
  if (payment === undefined) return undefined
  const window = world.table.item({ pk: `LEDGER#${payment.client_id}`, sk: 'WINDOW' })
  if (window === undefined || placeOf(payment) >= text(window, 'settled_until')) return 'unswept'
  const latest = settlementOf(world, item)
  if (latest === undefined) return undefined
  if (latest['status'] === 'recorded') return 'recorded'
  if (latest['status'] === 'manual_paid') return 'paid out'
  return latest['recredited_at'] === undefined ? 'failed' : 're-credited'
}

const undoneStage = (world: World, item: RawItem, before: SeenPayment, after: SeenPayment): string | undefined => {
  if (after.reversal?.reinstatedAt === before.reversal?.reinstatedAt) return stageOf(world, item)
  return before.reversal?.whole?.settlementId === undefined ? 'settled without it' : 're-credited'
}

const cellOf = (world: World, before: RawItem, item: RawItem): string | undefined => {
  const [was, is] = [paymentIn(before), paymentIn(item)]
  const id = [...(is?.reversal_ids ?? [])].find((one) => was?.reversal_ids.has(one) !== true)
  if (was === undefined || is?.reversal === undefined || id === undefined) return undefined
  if (was.reversal?.wholeAt !== undefined)
    return is.reversal.wholeAt === undefined ? `undone, ${undoneStage(world, item, was, is)}` : undefined
  const size = is.reversal.whole?.transactionId === id ? 'whole' : 'in part'
  return `${is.reversal.kind} ${size}, ${stageOf(world, before)}`
}

/** Counts each reversal by how, how much and at which stage, at the moment our books have it. */
export const watchReversals = (world: World): void => {
  world.onChange.push(({ key, before, after }) => {
    if (key.sk === 'SUSPENSE' && before === undefined && after?.['cause'] === 'undone_unclear')
      count(world.tally, 'reversal: undone, unclear')
    if (key.sk !== 'PAYMENT' || before === undefined || after === undefined) return
    const cell = cellOf(world, before, after)
    if (cell !== undefined) count(world.tally, `reversal: ${cell}`)
  })
}
