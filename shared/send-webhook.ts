import type { ATTEMPT_ERRORS } from './webhook/delivery/delivery.ts'

export type WebhookRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent byte for byte. */
  readonly body: Buffer
}

export type WebhookResult = {
  /** True for a 2xx status within the time allowed (spec 6.4), even if the answer's body stalls. */
  readonly delivered: boolean
  readonly httpStatus: number | undefined
  readonly error: (typeof ATTEMPT_ERRORS)[number] | undefined
  /** First 1 KB of the answer as text. */
  readonly responseBody: string | undefined
  readonly durationMs: number
}

/** Makes one attempt. Never throws: whatever goes wrong is a result. */
export type SendWebhook = (request: WebhookRequest) => Promise<WebhookResult>
