import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect } from 'vitest'
import { blocksOf, matchesIn } from '../support/document-blocks.ts'
import { eventually } from '../support/eventually.ts'
import { ownPorts } from '../support/own-ports.ts'
import { outputOf } from '../support/run-tool.ts'
import { PROJECT_ROOT, projectText } from '../support/source-file.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { BANK, worldIt as it, VA, type World } from './gateway-world.ts'

/*
 * Goal: the commands of merchants' pages give what the pages say. Method: one shell runs each page,
 * block after block, against the local gateway. A JSON block is the answer of the command above it,
 * a text block is the output until then. Ids, times and other long texts are compared by their
 * form, everything else to the letter.
 */

const QUICKSTART = 'docs/merchants.md'

function withPlacesOf(
  { urls }: World,
  { shop, shopPort }: { readonly shop: string; readonly shopPort: number },
) {
  const places: Readonly<Record<string, string>> = {
    'http://127.0.0.1:3000': urls.api,
    'http://127.0.0.1:3001': urls.lambda,
    'http://127.0.0.1:3002': urls.provider,
    'http://127.0.0.1:3003': urls.inbox,
    '4000': String(shopPort),
    '/tmp/shop': shop,
    // `npm run pay` looks for the provider two ports after the API.
    'npm run -s pay': `PORT=${Number(new URL(urls.provider).port) - 2} npm run -s pay`,
  }
  return (text: string) =>
    Object.entries(places).reduce(
      (result, [written, actual]) => result.replaceAll(written, actual),
      text,
    )
}

function lastJsonIn(output: string) {
  for (let start = output.length; start >= 0; start = output.lastIndexOf('{', start - 1)) {
    try {
      return JSON.parse(output.slice(start))
    } catch {
      if (start === 0) break
    }
  }
  throw new Error(`there is no JSON in ${output}`)
}

function maskIds(text: string) {
  return text
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/\bv1,\S+|[A-Za-z0-9_-]{40,}/g, '<text>')
    .replaceAll(/https?:\/\/[^\s"]+/g, '<url>')
    .replaceAll(/\d{9,}/g, '<digits>')
}

function shapeOf(value: unknown) {
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
    if (name === 'duration_ms') return '<duration>'
    return typeof inner === 'string' ? maskIds(inner) : inner
  })
}

async function afterQuickstart({ urls, merchant, admin }: World) {
  // The merchant's shop does not run any more.
  const { key, clientId } = await merchant([`http://127.0.0.1:${await ownPorts()}/hooks`])
  await admin('update-client', { operator: 'test', client_id: clientId, bank: BANK })
  const [, merchantBlock] = blocksOf(QUICKSTART)
  const field = merchantBlock?.text.split('\n').find((line) => line.startsWith('field()'))
  const variables = `API=${urls.api} CLIENT=${clientId} KEY=${key} AUTH='Authorization: Bearer ${key}'`
  return [variables, field, 'export GATEWAY_OPERATOR=me'].join('\n')
}

function shellSession(env: Readonly<Record<string, string>>) {
  // A separate process group: background processes of the blocks end with the shell.
  const shell = spawn('sh', ['-eu'], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, ...env },
    detached: true,
  })
  const [exit, close] = [once(shell, 'exit'), once(shell, 'close')]
  const printed = outputOf([shell.stdout, shell.stderr])
  const output = () => printed().replaceAll('\r', '')
  return {
    output,
    /** Throws if a command of the block fails. */
    run: async (text: string) => {
      const mark = '\u0001the block is done\u0001'
      const start = output().length
      shell.stdin.write(`${text}\nprintf '%s' '${mark}'\n`)
      while (!output().includes(mark, start)) {
        if (shell.exitCode !== null)
          throw new Error(`failed:\n${text}\nand printed:\n${output().slice(start)}`)
        await Promise.race([once(shell.stdout, 'data'), exit])
      }
      return output().slice(start).replace(mark, '')
    },
    close: async () => {
      try {
        process.kill(-(shell.pid ?? 0), 'SIGKILL')
      } catch {
        // The process group has already ended.
      }
      await close
    },
  }
}

describe('the pages for merchants', () => {
  it.for(
    ['', '/payments', '/webhooks', '/errors', '/settlements'].map(
      (page) => `docs/merchants${page}.md`,
    ),
  )('%s shows what its commands print', async (page, { world, onTestFinished }) => {
    const places = withPlacesOf(world, {
      shop: `${tempDirectory()}/shop`,
      shopPort: await ownPorts(),
    })
    const session = shellSession({ PORT: String(Number(new URL(world.urls.lambda).port) - 1) })
    onTestFinished(session.close)
    if (page !== QUICKSTART) await session.run(await afterQuickstart(world))

    let printed = ''
    // Other tests run the blocks with a note: starts of the gateway, and programs.
    for (const { language, text, line } of blocksOf(page).filter(({ note }) => note === '')) {
      const at = `${page}, line ${line}`
      if (language === 'sh') {
        printed = await session
          .run(places(text))
          .catch((cause: unknown) => Promise.reject(new Error(at, { cause })))
      } else if (language === 'json') {
        expect({ at, json: shapeOf(lastJsonIn(printed)) }).toStrictEqual({
          at,
          json: shapeOf(JSON.parse(text)),
        })
      } else if (language === 'text') {
        await eventually(() => expect(maskIds(session.output())).toContain(maskIds(text.trimEnd())))
      }
    }
  })
})

it('the pages show the figures of a payment at each stage, in a table and in a picture, and its webhook', async ({
  world,
}) => {
  const merchant = await world.merchant()
  const { body: payment } = await merchant.create({
    ...VA,
    amount: 150_000,
    external_reference: 'order-17',
  })
  const id = String(payment['id'])
  const figures = async () => {
    const balance = (await merchant.get('/v1/balance?include=settlements')).body
    return { ...(await merchant.payment(id)), ...balance } as Record<string, unknown>
  }
  const byOperator = { operator: 'test', client_id: merchant.clientId }
  const setFloor = (settlement_floor_minor: number) =>
    world.admin('update-client', { ...byOperator, settlement_floor_minor, bank: BANK })
  // The days have started a sweep. The operator is refused while it runs.
  const settle = async () => {
    await world.admin('trigger-settlement', byOperator)
    const { body } = await merchant.get('/v1/settlements')
    const [first] = body['data'] as { readonly id: string }[]
    if (!first) throw new Error('there is no settlement yet')
    return first.id
  }

  // Above the balance, so that the sweep settles nothing before the test has read the figures.
  await setFloor(1_000_000)
  const stages = [await figures()]
  await world.pay(id)
  await eventually(async () => expect(await figures()).toMatchObject({ status: 'succeeded' }))
  stages.push(await figures())
  const [bodyBlock] = blocksOf('docs/merchants/webhooks.md').filter(({ note }) => note === 'body')
  const [webhook] = await eventually(async () => {
    const webhooks = await world.webhooksOf(id)
    expect(webhooks).toHaveLength(1)
    return webhooks
  })
  expect(shapeOf(JSON.parse(webhook?.body ?? ''))).toStrictEqual(
    shapeOf(JSON.parse(bodyBlock?.text ?? '')),
  )
  await world.settleAtProvider(figures)
  stages.push(await figures())
  await setFloor(10_000)
  const settlementId = await eventually(settle)
  stages.push(await figures())
  // The audit of a settlement is due a minute after its record.
  await world.advance(120)
  await world.invoke('check-due-work')
  const payOut = { operator: 'test', settlement_id: settlementId, bank_reference: 'transfer 18' }
  await eventually(async () =>
    expect(await world.admin('mark-settlement-paid', payOut)).toMatchObject({ status: 200 }),
  )
  stages.push(await figures())

  const row = /^\| `([a-z_]+)` \| (\w+) \| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$/gm
  const tableRows = [...projectText('docs/merchants/payments.md').matchAll(row)].map(
    ([, ...cells]) => cells,
  )
  expect(tableRows).toHaveLength(7)
  expect(tableRows).toStrictEqual(
    tableRows.map(([name = '']) => [name, ...stages.map((stage) => String(stage[name]))]),
  )
  const picture = projectText('docs/merchants/figures.svg')
  const drawnFigures = matchesIn(picture, />([\d,]+)[^<]*<\/text>/g).map((figure) =>
    Number(figure.replace(',', '')),
  )
  const names = ['notional_minor', 'hexolus_markup_minor', ...tableRows.flat()]
  const tableFigures = stages
    .flatMap((stage) => names.map((name) => Number(stage[name])))
    .filter((figure) => figure > 0)
  expect(new Set(drawnFigures)).toStrictEqual(new Set(tableFigures))
})
