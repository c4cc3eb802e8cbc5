import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'

export type AlertDeps = Pick<Deps, 'alerts' | 'log' | 'invocation'>

type Change = {
  readonly kind: 'client.bank_changed' | 'client.access_changed'
  readonly clientId: ClientId
  readonly does: string
  /** The same with what people typed, quoted. */
  readonly typed: string
  readonly operator: string
}

/**
 * Tells operators of a change that lets someone act for a client, hear of its payments, meet its
 * customers, or get its money. Sent before the change: a crash may repeat the alert, but never
 * loses it.
 */
export async function alertChange(
  deps: AlertDeps,
  { kind, clientId, does, typed, operator }: Change,
): Promise<void> {
  await deps.alerts.publish({
    kind,
    subject: clientId,
    message:
      `Request ${deps.invocation?.requestId ?? 'unknown'} ${does} of client ${clientId}. ` +
      'Ask the merchant through a contact that you already had. list-audit shows whether the ' +
      'change was made. ' +
      `Typed by the operator: ${typed}, as operator ${quote(operator)}.`,
  })
  deps.log.info(kind, { client_id: clientId })
}

/** Readers must not take a person's text for the gateway's. */
export function quote(text: string): string {
  return JSON.stringify(text)
}
