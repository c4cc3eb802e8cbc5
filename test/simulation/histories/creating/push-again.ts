import { text } from '../../../support/recount/books.ts'
import { passed, passedUntil } from '../../world/drive.ts'
import type { Operation, Play } from '../operations.ts'
import { type NewCreate, newCreate } from './new-create.ts'
import { customerActs, payOne } from './pay-one.ts'

type Attempt = { readonly startedAt: string; readonly endedAt?: string }

const PUSH_MS = 60_000
/** Of the questions about the last push. */
const SILENCES = [
  { target: 'transactions', fault: 'http_503' },
  { target: 'transactions', fault: 'timeout' },
  { target: 'get', fault: 'http_503' },
  { target: 'get', fault: 'timeout' },
]

/** At once, or as the last push comes to its end: by its claim, by the end of its call, or by its lease. */
const nextMs = ({ world }: Play, { row }: NewCreate): number => {
  const { prng, scheduler } = world
  const last = (row()['provider_attempts'] as readonly Attempt[] | undefined)?.at(-1)
  if (last === undefined || prng.chance(0.15)) return scheduler.nowMs() + prng.int(50, 2_000)
  const ends = [last.startedAt, last.endedAt ?? last.startedAt, last.endedAt ?? text(row(), 'lease_until')]
  return (Date.parse(prng.pick(ends)) || scheduler.nowMs()) + PUSH_MS + prng.int(0, 3_000)
}

/** The provider books it as waiting, beside whatever else there is. */
const bookAsPending = ({ world }: Play, { requests }: NewCreate): void => {
  const last = requests().at(-1)
  if (last === undefined) return
  const row = {
    reference_id: last.reference_id,
    amount: last.request_amount,
    product_id: `py-${world.oddities.uuid()}`,
  }
  world.provider.bookTransaction({ type: 'PAYMENT', status: 'PENDING', ...row })
}

/**
 * A push is on its way for long, its answer is lost, or its sender died; the customer pays it, unheard, late, or
 * declines; and the merchant comes again when it may be over, while the provider answers, or does not.
 */
export const pushAgain: Operation = async (play) => {
  const { world } = play
  const { prng, provider } = world
  const wanted = newCreate(play, { isPush: true })
  const { send, slow } = wanted
  for (let left = prng.int(2, 4); left > 0; left--) {
    const how = prng.pick(['lost', 'on its way', 'dead', 'dead', 'thawed'])
    if (how === 'lost') provider.orderFault({ target: 'create', fault: 'timeout_after_commit' })
    slow(how === 'lost' ? undefined : 2 * prng.int(how === 'on its way' ? 6_000 : 500, 11_000))
    const forMs = how === 'thawed' ? 30_500 : 3_600_000
    // Its claim may stand on its way when it is frozen.
    if (how === 'thawed') world.contested.set(wanted.pk, { untilMs: world.scheduler.nowMs() + 1_000 })
    const isStill = how === 'dead' || how === 'thawed'
    await send(isStill ? { standsStill: { afterMs: prng.int(5, 600), forMs, withClock: true } } : {})
    slow(undefined)
    if (how === 'thawed') {
      await passedUntil(world, wanted.leaseEndMs() + prng.int(600, 2_000))
      await wanted.sendAnother()
    }
    if (prng.chance(0.6)) {
      await passed(world, prng.int(100, 20_000))
      customerActs(play, wanted.requests(), { unheard: 0.9, unseen: 0.3, wrong: 0.25 })
    }
    await passedUntil(world, nextMs(play, wanted))
    if (prng.chance(0.4)) payOne(play, wanted.requests().at(-1), { unheard: 0.9, late: 0.9, unseen: 0.7 })
    if (prng.chance(0.15)) bookAsPending(play, wanted)
    if (prng.chance(0.35)) provider.orderFault(prng.pick(SILENCES))
  }
  await send()
}
