import { connectionError } from '../check/finding.ts'

/** The gateway answers within a second. API Gateway would wait thirty. */
const TIMEOUT_MS = 10_000

export type ApiAnswer =
  | { readonly status: number; readonly body: unknown }
  | { readonly lost: string }

/** Answers the status and the JSON body, or the error that broke the connection. */
export async function askApi(
  url: string,
  request: RequestInit,
  timeoutMs = TIMEOUT_MS,
): Promise<ApiAnswer> {
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const body = await response.json().catch(() => undefined)
    return { status: response.status, body }
  } catch (error) {
    return { lost: connectionError(error) }
  }
}
