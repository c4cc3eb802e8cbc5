import type { InvokeCommandInput, InvokeCommandOutput } from '@aws-sdk/client-lambda'

export function lambdaAnswer(answer: unknown) {
  // The SDK exports no class of its bytes.
  return { Payload: Buffer.from(JSON.stringify(answer)) } as unknown as InvokeCommandOutput
}

export function lambdaEvent({ Payload }: InvokeCommandInput) {
  return JSON.parse(Payload instanceof Uint8Array ? Buffer.from(Payload).toString() : '')
}
