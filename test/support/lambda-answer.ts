import type { InvokeCommandInput, InvokeCommandOutput } from '@aws-sdk/client-lambda'

/** What Lambda answers an invocation whose function answered this. */
export function lambdaAnswer(answer: unknown): InvokeCommandOutput {
  return { Payload: Buffer.from(JSON.stringify(answer)) } as unknown as InvokeCommandOutput
}

/** What an invocation hands to its function. */
export function lambdaEvent({ Payload }: InvokeCommandInput): Record<string, unknown> {
  return JSON.parse(Payload instanceof Uint8Array ? Buffer.from(Payload).toString() : '')
}
