import { type RawItem, text } from '../../../support/recount/books.ts'
import { meet } from '../../sometimes/meet.ts'
import type { SituationName } from '../../sometimes/situations.ts'
import { passed } from '../../world/drive.ts'
import { operate } from '../../world/lambda.ts'
import type { World } from '../../world/world.ts'
import type { Scene } from '../scene.ts'

const STOPS: Readonly<Record<string, SituationName>> = {
  unproven: 'a payout is stopped by money that no row proves',
  new_bank: 'a payout is stopped by new bank details',
  owed: 'a payout is stopped by a debt of its client',
  findings: 'a payout is stopped by open findings',
}

type Refused = Readonly<Record<string, unknown>>

const noteRefusal = (world: World, { message, confirm, retry_at: retryAt }: Refused): void => {
  for (const name of Object.keys(Object(confirm))) {
    const stop = STOPS[name]
    if (stop) meet(world, stop)
  }
  if (retryAt !== undefined) meet(world, 'a payout waits for its audit')
  if (String(message).startsWith('payouts of this client are on hold')) meet(world, 'a payout is stopped by a hold')
}

/**
 * An operator pays a settlement out: waits where the gate says so, and confirms exactly what it shows. What has moved
 * meanwhile is shown again.
 */
export const payOutNow = async ({ world, seen }: Scene, settlement: RawItem): Promise<void> => {
  const id = text(settlement, 'settlement_id')
  const asked = { settlement_id: id, bank_reference: `transfer of ${id}` }
  let confirm: object | undefined
  for (let tried = 0; tried < 4; tried++) {
    const reply = await operate(world, 'mark-settlement-paid', { ...asked, ...(confirm && { confirm }) })
    if (reply?.status !== 422) return
    const { body } = reply
    noteRefusal(world, body)
    const { confirm: wanted, retry_at: retryAt } = body
    if (wanted === undefined && retryAt === undefined) return
    if (wanted !== undefined && JSON.stringify(wanted) === JSON.stringify(confirm))
      seen.problems.push(`settlement ${id} was refused with the figures that it wants: ${JSON.stringify(wanted)}`)
    confirm = wanted === undefined ? confirm : Object(wanted)
    if (retryAt !== undefined)
      await passed(world, Math.max(0, Date.parse(text(body, 'retry_at')) - world.scheduler.nowMs()) + 2_000)
  }
}

/** Recorded settlements, as the table has them. */
export const recordedOf = ({ table }: World, clientId?: string): readonly RawItem[] =>
  table
    .items('SETTLEMENT#')
    .filter((item) => item['status'] === 'recorded' && (clientId === undefined || item['client_id'] === clientId))

/** An operator pays out what is there to be paid out, or hears that the bank refused it. */
export const payOut = async (scene: Scene): Promise<void> => {
  const { world } = scene
  const recorded = recordedOf(world)
  if (recorded.length === 0) return
  const settlement = world.prng.pick(recorded)
  if (world.prng.chance(0.6)) return payOutNow(scene, settlement)
  const named = { settlement_id: text(settlement, 'settlement_id') }
  await operate(world, 'mark-settlement-failed', { ...named, notes: 'the bank refused it' })
  if (world.prng.chance(0.7)) await operate(world, 'recredit-settlement', { ...named, notes: 'again' })
}

/** The same transfer never pays out two settlements. */
export const payOutTwice = async (scene: Scene): Promise<void> => {
  const { world, seen } = scene
  const [one, other] = recordedOf(world)
  if (one === undefined || other === undefined) return payOut(scene)
  const replies = await Promise.all(
    [one, other].map((settlement) =>
      operate(world, 'mark-settlement-paid', {
        settlement_id: text(settlement, 'settlement_id'),
        bank_reference: `one transfer of ${text(one, 'settlement_id')}`,
      }),
    ),
  )
  if (replies.some((reply) => reply?.status === 409)) meet(world, 'a bank reference is used a second time')
  if (replies.every((reply) => reply?.status === 200)) seen.problems.push('one transfer has paid out two settlements')
}
