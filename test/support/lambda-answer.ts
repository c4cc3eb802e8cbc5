import type { InvokeCommandInput, InvokeCommandOutput } from '@aws-sdk/client-lambda'

/** Lambda's output for a function that returned this answer. */
export function lambdaAnswer(answer: unknown): InvokeCommandOutput {
  return { Payload: Buffer.from(JSON.stringify(answer)) } as unknown as InvokeCommandOutput
}

/** The event that a function gets from an invocation. */
export function lambdaEvent({ Payload }: InvokeCommandInput): Record<string, unknown> {
  return JSON.parse(Payload instanceof Uint8Array ? Buffer.from(Payload).toString() : '')
}
