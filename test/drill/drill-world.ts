import type { Socket } from 'node:net'
import { answerProviderCall } from '../../infra/local/provider-simulator/answer-provider-call.ts'
import { createSimulatorCore } from '../../infra/local/provider-simulator/simulator-core.ts'
import { PROVIDER_KEY } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { callJson } from '../../shared/provider/call-json.ts'
import { xenditProvider } from '../../shared/provider/xendit/xendit-provider.ts'
import { timestampOf } from '../../shared/time.ts'
import { createScheduler } from '../simulation/world/scheduler.ts'
import {
  anApiClient,
  CALLBACK,
  CALLBACK_TOKEN,
  call,
  knowCallbackToken,
} from '../support/api-event.ts'
import { json, type ReceivedRequest, startScriptedServer } from '../support/scripted-server.ts'
import { memoryDeps } from '../support/test-deps.ts'
import { ANSWER_FORMS, type UsualAnswer } from './answer-forms.ts'

const START_MS = Date.UTC(2026, 10, 20, 4, 10)
/** How long a call waits for an answer that never comes. */
const SILENT_MS = 300

/** The next call of `operation` is spoilt: before the provider sees it, or after its effect. */
type Spoiling = {
  readonly operation: string
  readonly form: string
  readonly when: 'before' | 'after'
  /** What the proxy keeps from an earlier call: its answer if the provider sees nothing. */
  readonly kept?: UsualAnswer
}

export type DrillWorld = Awaited<ReturnType<typeof createDrillWorld>>

/**
 * The gateway with its real adapter, a proxy on a socket, and the provider's simulator behind it.
 * `isHeard`: the gateway gets the provider's callbacks.
 */
export async function createDrillWorld({ baseUrl }: { readonly baseUrl?: string } = {}) {
  const clock = createScheduler(START_MS)
  const now = () => timestampOf(clock.nowMs())
  const outside = memoryDeps({
    now,
    realNowMs: clock.nowMs,
    monotonicMs: () => clock.nowMs() - START_MS + 0.25,
    sleep: (ms) => clock.runFor(ms),
  })
  knowCallbackToken(outside)
  const state = {
    spoiling: undefined as Spoiling | undefined,
    baseUrl,
    isHeard: true,
    callbacks: [] as string[],
    sent: [] as Promise<number>[],
  }
  const core = createSimulatorCore({
    clock,
    newUuid: () => crypto.randomUUID(),
    baseUrl: () => 'https://provider.example',
    callbackToken: CALLBACK_TOKEN,
    sendCallback: ({ body, headers }) => {
      state.callbacks.push(body)
      const status = state.isHeard
        ? call(deps, CALLBACK, { body, headers }).then((answer) => answer.status)
        : Promise.resolve(200)
      state.sent.push(status)
      return status
    },
  })
  const { url } = await startScriptedServer((response, request) => {
    const spoiling = takeSpoiling(state, request)
    const ask = () => usualAnswer(core, request)
    if (spoiling && response.socket) return spoil(response.socket, spoiling, ask)
    const { status, body } = ask()
    json(status, body)(response, request)
  })
  const adapterAt = (address: string) =>
    xenditProvider({
      baseUrl: address,
      stage: 'test',
      secrets: { get: async () => JSON.stringify({ secret_key: PROVIDER_KEY }) },
      nowMs: clock.nowMs,
      call: (request) => {
        const isSilent = state.baseUrl !== undefined || state.spoiling?.form.includes('silence')
        return callJson(isSilent ? { ...request, timeoutMs: SILENT_MS } : request)
      },
    })
  const provider = new Proxy(adapterAt(url), {
    get: (direct, name, receiver) =>
      Reflect.get(state.baseUrl ? adapterAt(state.baseUrl) : direct, name, receiver),
  })
  const deps = { ...outside, provider }
  const caller = await anApiClient(outside)
  return { clock, core, deps, state, caller, outside }
}

type State = { spoiling: Spoiling | undefined }

function takeSpoiling(state: State, { method, url }: ReceivedRequest) {
  const { spoiling } = state
  if (!spoiling || !`${method} ${url}`.includes(spoiling.operation)) return undefined
  state.spoiling = undefined
  return spoiling
}

type Core = ReturnType<typeof createSimulatorCore>

function usualAnswer(core: Core, request: ReceivedRequest) {
  const { method, url } = request
  const { pathname: path, searchParams: query } = new URL(url, 'http://127.0.0.1')
  const answer = answerProviderCall(core, PROVIDER_KEY, { ...request, path, query })
  if (answer?.kind !== 'answer') throw new Error(`the simulator does not answer ${method} ${url}`)
  return answer
}

function spoil(socket: Socket, { form, when, kept }: Spoiling, ask: () => UsualAnswer) {
  const usual = when === 'after' ? ask() : (kept ?? { status: 200, body: {} })
  ANSWER_FORMS[form]?.(socket, usual)
}
