import * as v from 'valibot'
import { about, store, useSession } from './session.ts'

/** An action that a second person must approve, with its exact figures. */
export type Approvable = {
  readonly action: string
  readonly payload: Readonly<Record<string, unknown>>
}

type Waiting = Approvable & {
  /** The demo merchant of the gateway that refused it. Another gateway knows nothing of it. */
  readonly gateway: string
}

const waiting = store<readonly Waiting[]>([])

/** Those of the gateway that currently answers. */
export function useWaitingApprovals(): readonly Approvable[] {
  const { client_id: gateway } = useSession().about.client
  return waiting
    .use()
    .filter((one) => one.gateway === gateway)
    .map(({ action, payload }) => ({ action, payload }))
}

const Refused = v.object({ action_hint: v.string() })
const COMMAND = /approve --action ([a-z-]+) --payload '([^']*)'/
const Figures = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()))

export function rememberRefusal(body: unknown) {
  const refused = v.safeParse(Refused, body)
  if (refused.success) rememberCommand(refused.output.action_hint)
}

export function rememberCommand(text: string) {
  const found = commandIn(text)
  if (found) waiting.set([{ ...found, gateway: about().client.client_id }, ...without(found)])
}

export function forgetApproval(done: Approvable) {
  waiting.set(without(done))
}

function without({ action, payload }: Approvable) {
  const text = JSON.stringify(payload)
  return waiting
    .get()
    .filter((other) => other.action !== action || JSON.stringify(other.payload) !== text)
}

export function commandIn(text: string): Approvable | undefined {
  const [, action, json] = COMMAND.exec(text) ?? []
  const payload = v.safeParse(Figures, json)
  return action !== undefined && payload.success ? { action, payload: payload.output } : undefined
}
