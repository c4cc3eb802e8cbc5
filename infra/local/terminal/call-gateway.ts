const TIMEOUT_MS = 30_000

/** A running gateway said no, or there is none: the message is for a person. */
export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal'
}

/** The answer of the local gateway that already runs. Throws `GatewayRefusal` where nobody listens. */
export const reachGateway = async (url: string, init: RequestInit = {}): Promise<Response> => {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new GatewayRefusal(
      `nothing answers at ${new URL(url).origin}; npm start starts a gateway, and PORT says where it is`,
      { cause: error },
    )
  }
}

/** The JSON it answers. Throws `GatewayRefusal` with its message when that is no success. */
export const callGateway = async (url: string, init: RequestInit = {}): Promise<unknown> => {
  const answer = await reachGateway(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  const body: unknown = await answer.json()
  if (answer.ok) return body
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  throw new GatewayRefusal(typeof message === 'string' ? message : `it answered ${answer.status}`)
}

/** Runs a tool for a running gateway: 0, or 1 with what the gateway had against it. */
export const whenRefused = async (run: () => Promise<void>, tell: (text: string) => void): Promise<number> => {
  try {
    await run()
    return 0
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) throw error
    tell(error.message)
    return 1
  }
}
