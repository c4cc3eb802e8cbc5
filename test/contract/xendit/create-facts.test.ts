/** The create bodies of every channel keep to the provider's documents (`facts.json`). */
import { expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { createBody } from '../../../shared/provider/xendit/xendit-create.ts'
import { timestampOf } from '../../../shared/time.ts'
import { CHANNEL_FACTS } from '../../support/provider-facts.ts'
import { aCreateInput, createdAnswer, scriptedProvider } from '../../support/scripted-provider.ts'
import FACTS from './facts.json' with { type: 'json' }

it.each(CHANNEL_FACTS)(
  'a create of $providerCode has every required field, and none beyond the documents',
  ({ method, channelCode }) => {
    const { required, optional } = FACTS.operations.create
    const expiresAt = method === 'virtual_account' ? timestampOf(0) : undefined
    const description = 'Kopi'
    const input = aCreateInput({
      method,
      channelCode,
      phone: '+6281234567890',
      expiresAt,
      description,
      amountMinor: minor(150_000),
    })

    const body = JSON.parse(JSON.stringify(createBody(input))) as { channel_properties: object }

    expect(Object.keys(body)).toStrictEqual(expect.arrayContaining(required))
    expect([...required, ...optional]).toStrictEqual(expect.arrayContaining(Object.keys(body)))
    const kind = channelCode === 'OVO' ? channelCode : method
    expect(FACTS.channelProperties[kind].names).toStrictEqual(
      expect.arrayContaining(Object.keys(body.channel_properties)),
    )
  },
)

/** Push channels answer so (front-end SDK of March 2026, behaviour tree). */
it('a push answers REQUIRES_ACTION without actions, and a deep link may stand beside a page', async () => {
  const input = aCreateInput({ method: 'ewallet', channelCode: 'OVO', phone: '+6281234567890' })
  const { provider } = await scriptedProvider(createdAnswer({ actions: [] }))

  expect(await provider.createRequest(input, 5_000)).toMatchObject({
    kind: 'created',
    request: { status: 'open', destination: undefined },
  })
})
