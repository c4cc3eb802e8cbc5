import { describe, expect, it } from 'vitest'
import { type Asked, aCreateInput, created, scriptedProvider, VA_NUMBER } from '../../support/xendit-provider.ts'

const WEB_URL = { type: 'REDIRECT_CUSTOMER', descriptor: 'WEB_URL', value: 'https://wallet.example/checkout/1?a=b' }
const DEEPLINK = { type: 'REDIRECT_CUSTOMER', descriptor: 'DEEPLINK_URL', value: 'gojek://pay/1' }
const QR_STRING = { type: 'PRESENT_TO_CUSTOMER', descriptor: 'QR_STRING', value: '00020101021226' }

const create = async (actions: unknown, input: Asked = {}) =>
  (await scriptedProvider(created({ actions }))).provider.createRequest(aCreateInput(input), 5_000)

const wallet = (channelCode: string) => ({ method: 'ewallet', channelCode, phone: '+628123456789' }) as const

describe('xendit create: what the customer is shown (spec 2.1.2)', () => {
  it.each<[string, Asked, readonly object[], string | undefined]>([
    ['the virtual account number', {}, [WEB_URL, VA_NUMBER], '381652390000001'],
    ['the QR string', { method: 'qris', channelCode: undefined }, [WEB_URL, QR_STRING], '00020101021226'],
    ['the page rather than the app link', wallet('DANA'), [DEEPLINK, WEB_URL], WEB_URL.value],
    ['the app link where there is no page', wallet('GOPAY'), [DEEPLINK], 'gojek://pay/1'],
    ['the page of a wallet we do not know', wallet('NEWPAY'), [WEB_URL], WEB_URL.value],
    ['no destination: a push wallet', wallet('OVO'), [], undefined],
    ['no destination: a virtual account without a number', {}, [], undefined],
    ['no destination: a number that is none', {}, [{ ...VA_NUMBER, value: '12ab' }], undefined],
    ['no destination: an empty number', {}, [{ ...VA_NUMBER, value: '' }], undefined],
    ['no destination: QRIS without a string', { method: 'qris', channelCode: undefined }, [WEB_URL], undefined],
    ['no destination: a wallet without a link', wallet('DANA'), [QR_STRING], undefined],
    [
      'no destination: a link that runs code',
      wallet('DANA'),
      [{ ...WEB_URL, value: 'javascript:alert(1)' }],
      undefined,
    ],
    ['no destination: a link that is none', wallet('DANA'), [{ ...WEB_URL, value: 'checkout' }], undefined],
    ['the number beside actions we cannot read', {}, [{}, { descriptor: 7, value: {} }, VA_NUMBER], '381652390000001'],
  ])('is %s', async (_, input, actions, destination) => {
    const answer = await create(actions, input)

    expect(answer).toMatchObject({ kind: 'created', request: { paymentRequestId: 'pr-1', status: 'open' } })
    expect(answer.kind === 'created' && answer.request.destination).toBe(destination)
  })

  it('takes an answer without actions at all', async () => {
    for (const actions of [undefined, null]) {
      expect(await create(actions, wallet('OVO'))).toMatchObject({
        kind: 'created',
        request: { destination: undefined },
      })
    }
  })
})
