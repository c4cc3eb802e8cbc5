import { whole } from '../../support/recount/books.ts'
import { changeEndpoints, changeKeys, impairEndpoint } from '../scenes/change-settings.ts'
import { concurrentOperators } from '../scenes/concurrent-operators.ts'
import { bookConflictingRow, payUnasked, resumeLate } from '../scenes/conflicting-rows.ts'
import { http } from '../scenes/http.ts'
import {
  adjust,
  holdPayouts,
  payOut,
  payOutTwice,
  resolveSuspense,
} from '../scenes/money-operations.ts'
import { overlappingReversals } from '../scenes/odd-rows.ts'
import { requestOtherTenantsData } from '../scenes/other-tenants.ts'
import { payInBatches } from '../scenes/pay-in-batches.ts'
import { redeliverRepeatedly } from '../scenes/redeliveries.ts'
import { reverseTogether, sellMany } from '../scenes/sell-many.ts'
import { differences } from '../watching/read-back.ts'
import { operate } from '../world/lambda.ts'
import { paymentRow } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { type World } from '../world/world.ts'
import { create, createStubbornly, replayCreate, retryCreate } from './creates.ts'
import { decline, pay } from './customers.ts'
import { actNearExpiry, overtakeCreate, pushAgain } from './overlapping-creates.ts'
import type { Play } from './play.ts'

type Operation = (play: Play) => Promise<void>

export async function settle({ world, tenants }: Play) {
  await operate(world, 'trigger-settlement', { client_id: world.prng.pick(tenants).clientId })
}

const OPERATIONS: readonly (readonly [number, Operation])[] = [
  [24, create],
  [10, retryCreate],
  [4, replayCreate],
  [26, pay],
  [3, decline],
  [8, cancel],
  [6, read],
  [4, settle],
  [4, payOut],
  [3, refresh],
  [11, changeEndpoints],
  [5, changeKeys],
  [3, resolveSuspense],
  [2, payOutTwice],
  [2, payInBatches],
  [3, adjust],
  [1, holdPayouts],
  [5, bookConflictingRow],
  [4, reverseTogether],
  [4, requestOtherTenantsData],
  [13, createStubbornly],
  [5, overtakeCreate],
  [4, pushAgain],
  [8, actNearExpiry],
  [6, impairEndpoint],
  [9, redeliverRepeatedly],
  [5, (play) => sellMany(play, play.world.prng.pick(play.tenants))],
  [3, concurrentOperators],
  [2, resumeLate],
  [2, payUnasked],
  [2, overlappingReversals],
]

const WEIGHTED = OPERATIONS.flatMap(([weight, operation]) =>
  Array.from({ length: weight }, () => operation),
)

export function drawOperation({ prng }: World) {
  return prng.pick(WEIGHTED)
}

async function cancel(play: Play) {
  const target = openPayment(play)
  if (target) await http(play, target.tenant, 'api-cancel-payment', { id: target.id })
}

/** Mostly a pending payment, because a terminal payment no longer changes. */
function openPayment(play: Play) {
  const target = knownPayment(play)
  const isOpen = (id: string) => paymentRow(play.world, id)?.['status'] === 'pending'
  const open = target && [...(play.seen.known.get(target.tenant.clientId) ?? [])].filter(isOpen)
  return open && open.length > 0 && play.world.prng.chance(0.7)
    ? { ...target, id: play.world.prng.pick(open) }
    : target
}

function knownPayment(play: Play) {
  const tenant = play.world.prng.pick(play.tenants)
  const ids = [...(play.seen.known.get(tenant.clientId) ?? [])]
  return ids.length === 0 ? undefined : { tenant, id: play.world.prng.pick(ids) }
}

async function read(play: Play) {
  const target = knownPayment(play)
  if (!target) return
  const stored = () => paymentRow(play.world, target.id)
  const before = stored()
  const reply = await http(play, target.tenant, 'api-get-payment', { id: target.id })
  // If the payment changed during the read, either state may be shown.
  if (reply?.status === 200 && before && before === stored())
    play.world.problems.push(...differences('payment', reply.body, whole(before)))
  await http(play, target.tenant, 'api-list-payments', { query: { per_page: '5' } })
  await askByReference(play, target.tenant, target.id, before?.['external_reference'])
  await http(play, target.tenant, 'api-get-balance')
}

async function askByReference(play: Play, tenant: Tenant, id: string, reference: unknown) {
  if (typeof reference !== 'string') return
  const query = { external_reference: reference, per_page: '100' }
  const reply = await http(play, tenant, 'api-list-payments', { query })
  if (reply?.status !== 200) return
  const shown = reply.body['data'] as readonly Readonly<Record<string, unknown>>[]
  count(play.world.tally, 'asked by reference')
  if (!shown.some((payment) => payment['id'] === id))
    play.world.problems.push(`${id} is not found by its reference`)
  if (
    shown.some(
      (payment) =>
        payment['client_id'] !== tenant.clientId || payment['external_reference'] !== reference,
    )
  )
    play.world.problems.push(`${tenant.clientId} asked for ${reference} and got another payment`)
}

async function refresh(play: Play) {
  const target = knownPayment(play)
  if (target) await operate(play.world, 'refresh-payment', { payment_id: target.id })
}
