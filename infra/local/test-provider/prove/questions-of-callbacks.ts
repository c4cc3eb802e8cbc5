import { CHANNELS } from '../../../../shared/channel/channels.ts'
import { createFor } from './create-for.ts'
import { isSuccess, notAsked, type OpenQuestion, shown, verdict } from './open-question.ts'
import { REQUESTS } from './walk-channel.ts'

const NO_ADDRESS = notAsked('callbacks need XENDIT_CALLBACK_URL')

const EXPIRES_AFTER_MS = 90_000
const POLL_MS = 10_000
const POLLS = 30

export const QUESTIONS_OF_CALLBACKS: readonly OpenQuestion[] = [
  {
    id: 'webhook-id',
    question: 'Does every callback have the header webhook-id?',
    ask: ({ callbacks }) => {
      if (!callbacks) return NO_ADDRESS
      if (callbacks.length === 0)
        return notAsked('no callback came: check its URL in the dashboard')
      const missing = callbacks.filter(({ hasWebhookId }) => !hasWebhookId)
      const events = [...new Set(callbacks.map(({ event }) => event))].join(', ')
      return verdict(
        missing.length === 0,
        `${missing.length} of ${callbacks.length} lack it: ${events}`,
      )
    },
  },
  {
    id: 'expiry-event',
    question: 'Is the expiry of a virtual account announced as payment_request.expiry?',
    ask: async ({ interview, callbacks, nowMs }) => {
      if (!callbacks) return NO_ADDRESS
      const bank = CHANNELS.find(({ code }) => code === 'BNI')
      if (!bank) return notAsked('there is no such bank')
      const body = await createFor(bank, interview.newReference())
      const expiresAt = new Date(nowMs() + EXPIRES_AFTER_MS).toISOString()
      const properties = { ...Object(body['channel_properties']), expires_at: expiresAt }
      const created = await interview.ask('create one that expires', {
        method: 'POST',
        path: REQUESTS,
        body: { ...body, channel_properties: properties },
      })
      if (!isSuccess(created)) return notAsked(`the create was refused: ${shown(created)}`)
      const isExpiry = ({ event }: { event: string }) => event.startsWith('payment_request.expir')
      for (let poll = 0; poll < POLLS && !callbacks.some(isExpiry); poll++)
        await interview.wait(POLL_MS)
      const found = callbacks.find(isExpiry)
      if (!found)
        return notAsked(`no such callback came within ${(POLLS * POLL_MS) / 60_000} minutes`)
      return verdict(found.event === 'payment_request.expiry', found.event)
    },
  },
]
