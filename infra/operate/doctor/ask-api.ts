import { lostBy } from '../check/finding.ts'

/** API Gateway itself would wait thirty seconds; ours answers within one. */
const TIMEOUT_MS = 10_000

export type ApiAnswer = { readonly status: number; readonly body: unknown } | { readonly lost: string }

/** One request to the API: its status, and its body where that is JSON; or what broke the connection. */
export const askApi = async (url: string, request: RequestInit, timeoutMs = TIMEOUT_MS): Promise<ApiAnswer> => {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    const body: unknown = await response.json().catch(() => undefined)
    return { status: response.status, body }
  } catch (error) {
    return { lost: lostBy(error) }
  }
}
