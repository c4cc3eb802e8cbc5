import type { GetItemCommandOutput } from '@aws-sdk/client-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeEach, vi } from 'vitest'

type AnyAnswer = Pick<GetItemCommandOutput, '$metadata'>

/** Each test sets its answers again. */
export function mockOf<Input extends object, Output extends AnyAnswer, Configuration>(
  client: Parameters<typeof mockClient<Input, Output, Configuration>>[0],
) {
  const mock = mockClient(client)
  beforeEach(() => void mock.reset())
  afterAll(() => mock.restore())
  return mock
}

/**
 * An error as the AWS SDK throws it, with a message that quotes a secret, which no tool may show.
 */
export function awsRefusal(name: string, message = 'the-secret-in-a-message') {
  return Object.assign(new Error(message), { name })
}

export async function captureOutput(run: () => Promise<number>) {
  const printed: string[] = []
  for (const stream of ['log', 'error'] as const) {
    vi.spyOn(console, stream).mockImplementation((text) => void printed.push(String(text)))
  }
  const code = await run()
  return { code, text: printed.join('\n') }
}
