import type { Play } from '../histories/operations.ts'
import { type InvokeOptions, requestAs } from '../world/lambda.ts'
import { drive } from '../world/world.ts'
import {
  alone,
  callback,
  cancel,
  create,
  created,
  type Flow,
  flow,
  handedOut,
  later,
  paid,
  pass,
  QRIS,
  run,
  scheduledRun,
  tenantOf,
} from './flow-steps.ts'
import { MONEY_FLOWS } from './money-flows.ts'
import { WEBHOOK_FLOWS } from './webhook-flows.ts'

/** A page that counts as more requests than the client may send in a second. */
const listLong = (play: Play, options: InvokeOptions = {}) =>
  requestAs(play.world, tenantOf(play), 'api-list-payments', { query: { per_page: '100' } }, options)

const EXPIRED_MS = 601_000

/** A payment whose time is over, which was not noticed. In time, `before` happens to it. */
const expired = async (play: Play, before = async (_id: string): Promise<unknown> => undefined) => {
  const id = await created(play, QRIS)
  await before(id)
  await pass(play, EXPIRED_MS)
  return id
}

const sendCreate: Flow['run'] = (play, _, options) => create(play, undefined, options)

const retryCreate: Flow['retry'] = async (play) => {
  await pass(play, 31_000)
  await drive(play.world, create(play))
}

const retryCancel: Flow['retry'] = (play, id) => drive(play.world, cancel(play, id))

const longPage: Flow['run'] = (play, _, options) => listLong(play, options)

/** A long page takes more than the client may have in a second; the next one finds nothing left. */
const usedUp: Flow['prepare'] = async (play) => {
  await created(play)
  await drive(play.world, listLong(play))
}

/** A create that the provider took and whose answer was lost. */
const unanswered: Flow['prepare'] = async (play) => {
  alone(play, { providerAnswerLost: 1 })
  await drive(play.world, create(play))
  alone(play)
}

const cancelFailed: Flow['prepare'] = (play) =>
  expired(play, async (id) => {
    alone(play, { providerUnreachable: 1 })
    await drive(play.world, cancel(play, id))
    alone(play)
  })

const dueWork = scheduledRun('check-due-work')
const duePayments = run('check-due-payments')
const wrongAmount: Flow['prepare'] = (play) => paid(play, 299_999)

/** A flow of each kind: a new one has its place here. */
export const FLOWS: readonly Flow[] = [
  flow('create', 5, async () => undefined, sendCreate, retryCreate),
  flow('create, taking over', 6, unanswered, sendCreate, retryCreate),
  flow('long page, counted', 5, created, longPage),
  flow('long page, refused', 2, usedUp, longPage),
  flow('callback', 8, paid, callback),
  flow('callback, wrong amount', 10, wrongAmount, callback),
  flow('cancel', 5, created, cancel, retryCancel),
  flow('due work, handed out', 35, expired, dueWork),
  flow('expiry', 10, handedOut('due-payments', expired), duePayments),
  flow('cancel, past its time', 9, expired, cancel, retryCancel),
  flow('expiry, after a cancel that failed', 14, handedOut('due-payments', cancelFailed), duePayments),
  flow('lost callback', 14, handedOut('due-payments', later(paid, 86_401_000)), duePayments),
  ...WEBHOOK_FLOWS,
  ...MONEY_FLOWS,
]
