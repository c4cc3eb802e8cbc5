import {
  aged,
  alone,
  announced,
  callback,
  create,
  created,
  failed,
  HOUR_MS,
  OPERATOR,
  paid,
  pass,
  QRIS,
  scheduled,
  settled,
  tenantOf,
  VA,
} from './flow-steps.ts'
import { drive } from './history.ts'
import { type InvokeOptions, invoke, operate, request } from './lambda.ts'
import type { Play } from './operations.ts'
import { streamRecord } from './sim-table/stream-record.ts'
import type { TableChange } from './sim-table/table-view.ts'

/**
 * A flow whose every await is a crash point. `prepare` brings the world to just before it, without faults but with
 * nothing that would run the flow by itself; `run` is the one invocation that is killed; `retry` is what its caller
 * does afterwards, where there is a caller.
 */
export type Flow = {
  readonly name: string
  readonly prepare: (play: Play) => Promise<unknown>
  readonly run: (play: Play, prepared: unknown, options: InvokeOptions) => Promise<unknown>
  readonly retry?: (play: Play, prepared: unknown) => Promise<unknown>
}

const action =
  (name: string, payload: (play: Play, prepared: unknown) => object): Flow['run'] =>
  (play, prepared, options) =>
    invoke(play.world, name, payload(play, prepared), options)

const retryCreate = async (play: Play) => {
  await pass(play, 31_000)
  await drive(play.world, create(play, VA))
}

const cancel = (play: Play, id: unknown, options: InvokeOptions) => {
  const headers = { authorization: `Bearer ${tenantOf(play).apiKey}` }
  return request(
    play.world,
    'api-cancel-payment',
    { route: 'POST /v1/payments/{id}/cancel', headers, id: String(id) },
    options,
  )
}

const forClient = (play: Play) => ({ operator: 'sim', client_id: tenantOf(play).clientId })

export const FLOWS: readonly Flow[] = [
  {
    name: 'create',
    prepare: async () => undefined,
    run: (play, _, options) => create(play, VA, options),
    retry: retryCreate,
  },
  {
    name: 'create, taking over',
    prepare: async (play) => {
      alone(play, { providerAnswerLost: 1 })
      await drive(play.world, create(play, VA))
      alone(play)
    },
    run: (play, _, options) => create(play, VA, options),
    retry: retryCreate,
  },
  { name: 'callback', prepare: (play) => paid(play), run: callback },
  { name: 'callback, wrong amount', prepare: (play) => paid(play, 299_999), run: callback },
  {
    name: 'cancel',
    prepare: async (play) => {
      alone(play)
      return created(play)
    },
    run: cancel,
    retry: (play, id) => drive(play.world, cancel(play, id, {})),
  },
  {
    name: 'expiry',
    prepare: async (play) => {
      alone(play)
      await created(play, QRIS)
      await pass(play, 601_000)
    },
    run: action('check-due-work', () => ({})),
  },
  {
    name: 'cancel, past its time',
    prepare: async (play) => {
      alone(play)
      const id = await created(play, QRIS)
      await pass(play, 601_000)
      return id
    },
    run: cancel,
    retry: (play, id) => drive(play.world, cancel(play, id, {})),
  },
  {
    name: 'expiry, behind a cancel that failed',
    prepare: async (play) => {
      alone(play)
      const id = await created(play, QRIS)
      alone(play, { providerUnreachable: 1 })
      await drive(play.world, cancel(play, id, {}))
      alone(play)
      await pass(play, 601_000)
    },
    run: action('check-due-work', () => ({})),
  },
  {
    name: 'lost callback',
    prepare: async (play) => (await paid(play), pass(play, 301_000)),
    run: action('check-due-work', () => ({})),
  },
  {
    name: 'fan-out',
    prepare: announced,
    run: (play, change, options) =>
      invoke(play.world, 'fan-out-events', { Records: [streamRecord(change as TableChange)] }, options),
  },
  {
    name: 'lost event',
    prepare: async (play) => (await announced(play), pass(play, 121_000)),
    run: action('check-due-work', () => ({})),
  },
  {
    name: 'deliver',
    prepare: scheduled,
    run: (play, event, options) => invoke(play.world, 'deliver-webhook', event, options),
  },
  {
    name: 'deliver, refused by the merchant',
    prepare: async (play) => {
      const event = await scheduled(play)
      alone(play, { merchantFails: 1 })
      return event
    },
    run: (play, event, options) => invoke(play.world, 'deliver-webhook', event, options),
  },
  { name: 'sweep', prepare: aged, run: action('sweep-settlements', () => ({})) },
  {
    name: 'settle',
    prepare: aged,
    run: (play, _, options) =>
      invoke(
        play.world,
        'settle-client',
        { Records: [{ messageId: 'm', body: JSON.stringify({ client_id: tenantOf(play).clientId }) }] },
        options,
      ),
  },
  { name: 'trigger', prepare: aged, run: action('trigger-settlement', forClient) },
  {
    name: 'mark paid',
    prepare: settled,
    run: action('mark-settlement-paid', (_, id) => ({ ...OPERATOR, settlement_id: id, confirm_unfunded: true })),
  },
  {
    name: 'mark failed',
    prepare: settled,
    run: action('mark-settlement-failed', (_, id) => ({ ...OPERATOR, settlement_id: id })),
  },
  {
    name: 'recredit',
    prepare: failed,
    run: action('recredit-settlement', (_, id) => ({ ...OPERATOR, settlement_id: id })),
  },
  {
    name: 'record again',
    prepare: async (play) => {
      const settlement_id = await failed(play)
      await drive(play.world, operate(play.world, 'recredit-settlement', { ...OPERATOR, settlement_id }))
    },
    run: action('trigger-settlement', forClient),
  },
  {
    name: 'sync',
    prepare: async (play) => {
      const id = await paid(play)
      await drive(play.world, callback(play, id, {}))
      await pass(play, HOUR_MS)
    },
    run: action('sync-provider-transactions', () => ({})),
  },
  {
    name: 'sync, finding a lost capture',
    prepare: (play) => paid(play),
    run: action('sync-provider-transactions', () => ({})),
  },
  {
    name: 'refresh',
    prepare: (play) => paid(play),
    run: action('refresh-payment', (_, id) => ({ operator: 'sim', payment_id: id })),
  },
]
