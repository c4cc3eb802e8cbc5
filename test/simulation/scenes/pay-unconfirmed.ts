import { amount, booksOf, type RawItem, text } from '../../support/books.ts'
import { settledIn } from '../../support/settlement-books.ts'
import { meet } from '../sometimes/meet.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { World } from '../world/world.ts'
import type { Scene } from './scene.ts'

const NEW_BANK_MS = 3 * 86_400_000
const APART_MS = 20_000
const UNFUNDED = /^the provider has not paid us (-?\d+) IDR/

const received = (payment: RawItem) => amount(payment, 'notional_minor') - amount(payment, 'provider_fee_minor')

/** What the provider has still to pay us of a settlement, by the payments themselves. */
export const unfundedMinor = ({ table }: World, settlement: RawItem): number =>
  settledIn(settlement, booksOf(table.items()))
    .filter((payment) => payment['provider_settled_at'] === undefined)
    .reduce((total, payment) => total + received(payment), 0)

/** Whether the account that it goes to took another one's place lately; undefined where clocks decide. */
const isNewBank = ({ scheduler }: World, settlement: RawItem): boolean | undefined => {
  const { since, replaces } = Object(settlement['bank'])
  const untilMs = replaces === true ? Date.parse(since) + NEW_BANK_MS : 0
  return Math.abs(untilMs - scheduler.nowMs()) < APART_MS ? undefined : untilMs > scheduler.nowMs()
}

const isAsked = (body: Readonly<Record<string, unknown>>, field: string): boolean =>
  Object(body['field_errors'])[field] !== undefined

/**
 * An operator pays out what is there to be paid out, and confirms nothing that it was not asked to. Money leaves before it
 * has arrived with its word alone; and whatever it is told of a settlement is so.
 */
export const payUnconfirmed = async ({ world, seen }: Scene): Promise<void> => {
  const listed = await operate(world, 'list-settlements', { status: 'recorded' })
  const recorded = (listed?.body['data'] ?? []) as { readonly id: string }[]
  if (recorded.length === 0) return
  const { id } = world.prng.pick(recorded)
  const stored = () => world.table.item({ pk: `SETTLEMENT#${id}`, sk: 'SETTLEMENT' }) ?? {}
  const bankIsNew = isNewBank(world, stored())
  let confirmed: object = {}
  for (let tried = 0; tried < 3; tried++) {
    const before = stored()
    const asked = { operator: 'sim', settlement_id: id, ...confirmed }
    const reply = await operate(world, 'mark-settlement-paid', asked)
    if (reply?.status === 200) {
      count(world.tally, 'paid out without a word about the provider')
      const missing = unfundedMinor(world, before)
      if (missing > 0) seen.problems.push(`settlement ${id} was paid out, and ${missing} of it had not arrived`)
    }
    if (reply?.status !== 422 || stored() !== before) return
    const { body } = reply
    const [, missing] = UNFUNDED.exec(text(body, 'message')) ?? []
    if (missing !== undefined && Number(missing) < unfundedMinor(world, before))
      seen.problems.push(`settlement ${id} is said to want ${missing}, and wants ${unfundedMinor(world, before)}`)
    if (isAsked(body, 'confirm_new_bank')) {
      meet(world, 'a payout is stopped by new bank details')
      if (bankIsNew === false) seen.problems.push(`settlement ${id} is said to go to a new account`)
    }
    const [count_] = /\d+/.exec(String(Object(body['field_errors']).confirm_reversed)) ?? []
    confirmed = {
      ...confirmed,
      ...(isAsked(body, 'confirm_new_bank') && { confirm_new_bank: true }),
      ...(count_ !== undefined && { confirm_reversed: Number(count_) }),
    }
  }
}

type Ask = <T>(promise: Promise<T>) => Promise<T>

/** Once everything rests: of each settlement an operator is told what has arrived and what has not, to the rupiah. */
export const statementProblems = async ({ world }: Pick<Scene, 'world'>, ask: Ask): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const settlement of world.table.items('SETTLEMENT#')) {
    const id = text(settlement, 'settlement_id')
    let body: Readonly<Record<string, unknown>> | undefined
    // A look takes a few pages, and the next one goes on behind it.
    for (let look = 0; look < 100 && (body === undefined || body['provider_settled_is_partial'] === true); look++)
      body = (await ask(operate(world, 'get-settlement-statement', { settlement_id: id })))?.body ?? {}
    const missing = unfundedMinor(world, settlement)
    if (body?.['provider_unsettled_minor'] !== missing)
      problems.push(`settlement ${id} wants ${missing}, and its statement says ${JSON.stringify(body).slice(0, 300)}`)
  }
  return problems
}
