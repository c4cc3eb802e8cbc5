import type { Channel } from '../../../../shared/channel/channels.ts'
import { minor } from '../../../../shared/money.ts'
import { chosenProvider } from '../../../../shared/runtime/chosen-provider.ts'
import type { Json } from './interview.ts'

const RETURN_URL = 'https://example.com/'

/** Above each channel's least amount, and none that the legacy test mode treats in its own way. */
export const AMOUNT = 50_000

/** The body of a create as the gateway's own adapter writes it. Nothing is sent. */
export async function createFor(
  { method, code, needs: { displayName, phone, returnUrls = [] } }: Channel,
  reference: string,
  amount = AMOUNT,
): Promise<Json> {
  let body: object = {}
  const adapter = chosenProvider({
    stage: 'local',
    secrets: { get: async () => JSON.stringify({ secret_key: 'unused' }) },
    nowMs: () => 0,
    call: async (call) => {
      body = call.body ?? {}
      return { kind: 'not_sent', reason: 'only its body is wanted' }
    },
  })
  await adapter.createRequest(
    {
      reference,
      method,
      channelCode: code || undefined,
      amountMinor: minor(amount),
      description: undefined,
      expiresAt: undefined,
      displayName: displayName && 'Prove Provider',
      phone: phone && '+6281234567890',
      returnUrls: Object.fromEntries(returnUrls.map((outcome) => [outcome, RETURN_URL])),
    },
    1_000,
  )
  // The adapter leaves out undefined fields by writing JSON.
  return JSON.parse(JSON.stringify(body))
}
