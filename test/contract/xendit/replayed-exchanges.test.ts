import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { HttpOutcome } from '../../../shared/provider/call-json.ts'
import type { CreateRequestInput, Provider } from '../../../shared/provider/provider.ts'
import { chosenProvider } from '../../../shared/runtime/chosen-provider.ts'
import { PAID_REQUEST } from '../../support/scripted-provider.ts'
import { PROJECT_ROOT, projectText } from '../../support/source-file.ts'

/*
 * Goal: the adapter understands what a provider really answered. Method: `npm run prove-provider
 * -- --out` kept its exchanges in these files, and each answer is given to the adapter again. The
 * file of the simulator shows that the way works; the provider's own files come beside it.
 */

const FOLDER = 'test/contract/xendit/exchanges'

const Exchange = v.object({
  name: v.string(),
  method: v.picklist(['GET', 'POST']),
  path: v.string(),
  body: v.optional(v.record(v.string(), v.unknown())),
  outcome: v.custom<HttpOutcome>((value) => typeof value === 'object'),
})
type Exchange = v.InferOutput<typeof Exchange>

const FILES = readdirSync(join(PROJECT_ROOT, FOLDER)).filter((name) => name.endsWith('.jsonl'))

function exchangesIn(file: string) {
  const [, ...lines] = projectText(`${FOLDER}/${file}`).trim().split('\n')
  return lines.map((line) => v.parse(Exchange, JSON.parse(line)))
}

/** After a refused cancel the adapter asks for its request. */
function adapterThatHears(method: string, outcome: HttpOutcome, id: string) {
  const json = { ...PAID_REQUEST, payment_request_id: id }
  return chosenProvider({
    baseUrl: 'https://provider.example',
    stage: 'local',
    secrets: { get: async () => '{"secret_key":"xnd_development_x"}' },
    nowMs: () => 0,
    call: async (asked) =>
      asked.method === method ? outcome : { kind: 'answered', status: 200, json },
  })
}

/** What the adapter makes of an exchange of one of its calls; undefined for other calls. */
async function reading({ method, path, body, outcome }: Exchange) {
  const [, , resource = '', id = '', action] = path.replace(/\?.*/, '').split('/')
  const provider = adapterThatHears(method, outcome, id)
  switch (`${method} ${resource} ${action ?? ''}`.trim()) {
    case 'POST payment_requests':
      return (await provider.createRequest(inputOf(body ?? {}), 1_000)).kind
    case 'GET payment_requests': {
      if (id === '') return undefined
      const answer = await provider.getRequest(id)
      return answer.kind === 'found' ? answer.value.status : answer.kind
    }
    case 'GET payments': {
      const answer = await provider.getPayment(id)
      return answer.kind === 'found' ? answer.value.status : answer.kind
    }
    case 'POST payment_requests cancel':
      return (await provider.cancelRequest(id)).kind
    case 'GET':
      return path.startsWith('/transactions') ? readingOfRows(provider) : undefined
    default:
      return undefined
  }
}

async function readingOfRows(provider: Provider) {
  const answer = await provider.listTransactions({ limit: 10, rows: 'all' })
  if (answer.kind !== 'found') return answer.kind
  const { transactions, unreadableIds = [] } = answer.value
  const isStrange = transactions.some(
    (row) => row.type === 'unknown' || row.status === 'unknown' || row.hasUnknownMember,
  )
  return unreadableIds.length > 0 || isStrange ? 'unknown row' : 'rows'
}

/** The adapter compares an answer with these fields of its question. */
function inputOf(body: Readonly<Record<string, unknown>>): CreateRequestInput {
  const code = String(body['channel_code'])
  const bank = code.endsWith('_VIRTUAL_ACCOUNT')
  return {
    reference: String(body['reference_id']),
    method: code === 'QRIS' ? 'qris' : bank ? 'virtual_account' : 'ewallet',
    channelCode: bank ? code.replace('_VIRTUAL_ACCOUNT', '') : code,
    amountMinor: Number(body['request_amount']) as CreateRequestInput['amountMinor'],
    description: undefined,
    expiresAt: undefined,
    displayName: undefined,
    phone: undefined,
    returnUrls: {},
  }
}

describe.for(FILES)('the exchanges in %s', (file) => {
  it('are all understood by the adapter', async () => {
    const exchanges = exchangesIn(file)
    const readings = await Promise.all(
      exchanges.map(async (exchange) => [exchange.name, await reading(exchange)]),
    )

    const strange = readings.filter(
      ([, found]) => found !== undefined && /un(known|answered)/.test(found),
    )
    expect(strange).toStrictEqual([])
    const kinds = new Set(readings.map(([, found]) => found))
    // At least what each channel's walk reads.
    expect([...kinds]).toEqual(
      expect.arrayContaining(['created', 'succeeded', 'captured', 'cancelled', 'rows']),
    )
  })

  it('have no key and no number of an account', () => {
    const text = projectText(`${FOLDER}/${file}`)

    expect(text).not.toMatch(/xnd_|authorization|\bBasic /i)
    expect(
      [...text.matchAll(/"(\d{6,})"/g)].filter(([, digits]) => !digits?.startsWith('0')),
    ).toStrictEqual([])
  })
})
