import type { InvokeCommandInput, InvokeCommandOutput } from '@aws-sdk/client-lambda'

/** What Lambda answers an invocation whose function answered this. */
export const lambdaAnswer = (answer: unknown): InvokeCommandOutput =>
  ({ Payload: Buffer.from(JSON.stringify(answer)) }) as unknown as InvokeCommandOutput

/** What an invocation hands to its function. */
export const lambdaEvent = ({ Payload }: InvokeCommandInput): Record<string, unknown> =>
  JSON.parse(Payload instanceof Uint8Array ? Buffer.from(Payload).toString() : '')
