import { printableLines } from '../terminal/printable.ts'

const TIMEOUT_MS = 30_000

/** The message is for a person, also if no gateway runs. */
export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal'
}

/** Throws `GatewayRefusal` with the answer's message on an error. */
export async function callGateway(url: string, init: RequestInit = {}) {
  const answer = await reachGateway(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const body = await answer.json()
  if (answer.ok) return body
  const message =
    typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  throw new GatewayRefusal(
    typeof message === 'string' ? message : `the gateway answered ${answer.status}`,
  )
}

/** Throws `GatewayRefusal` if no gateway listens. */
export async function reachGateway(url: string, init: RequestInit = {}) {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new GatewayRefusal(
      `no gateway answers at ${new URL(url).origin}; start one with npm start, or set PORT to its port`,
      { cause: error },
    )
  }
}

/** 1 after the refusal was printed. */
export async function exitCodeOf(run: () => Promise<void>): Promise<number> {
  try {
    await run()
    return 0
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) throw error
    console.error(printableLines(error.message))
    return 1
  }
}
