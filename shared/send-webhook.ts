export type WebhookRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent unchanged. */
  readonly body: Buffer
}

export const WEBHOOK_ERRORS = [
  'http_status',
  'timeout',
  'connection',
  'tls',
  'dns',
  'address_refused',
  'secret_missing',
  'event_gone',
  'unknown',
] as const

export type WebhookResult = {
  readonly durationMs: number
  readonly httpStatus?: number
  /** Absent for a 2xx status before the timeout (spec 6.4), even if the answer's body stalls. */
  readonly error?: (typeof WEBHOOK_ERRORS)[number]
  /** First 1 KB of the answer as text. */
  readonly responseBody?: string
}

/** Makes one attempt. Never throws; a failure is a result. */
export type SendWebhook = (request: WebhookRequest) => Promise<WebhookResult>

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }

export type ResolveHost = (hostname: string) => Promise<readonly ResolvedAddress[]>
