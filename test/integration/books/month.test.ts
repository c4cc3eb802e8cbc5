import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runMonth } from '../../../infra/operate/admin/month/run-month.ts'
import { parseCsv } from '../../../infra/operate/admin/parse-csv.ts'
import { clientStatement } from '../../../shared/books/client-statement.ts'
import { closeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, timestampOf } from '../../../shared/time.ts'
import { aFinding } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { isNightly } from '../../support/runs.ts'
import { settlementsOf } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { tempDirectory } from '../../support/temp-directory.ts'
import { interceptTable, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { AFTER_YEAR, aClientOfAYear } from './made-year.ts'

/*
 * Goal: the months of a year join for many clients, and the files of a month add up or say what
 * does not.
 */

async function aYear(count: number) {
  const deps = memoryDeps()
  const clients = []
  for (let seed = 1; seed <= count; seed++) clients.push(await aClientOfAYear(deps, seed))
  deps.clock.set(AFTER_YEAR)
  return { deps, clients }
}

const MONTHS = Array.from({ length: 12 }, (_, month) => {
  const first = new Date(Date.UTC(2026, month, 1)).toISOString().slice(0, 10)
  const last = new Date(Date.UTC(2026, month + 1, 0)).toISOString().slice(0, 10)
  return { from: first, to: last }
})

async function written(deps: TestDeps, month: string, folder = join(tempDirectory(), 'new')) {
  const [out, err, said]: [string[], string[], string[]] = [[], [], []]
  const ask = (action: string, payload: object) => invokeAdmin(action, deps, payload)
  const io = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    say: (text: string) => void said.push(text),
  }
  const isRight = await runMonth({ month, folder, now: deps.now() }, ask, io)
  const file = (name: string) => readFileSync(join(folder, name), 'utf8')
  return { isRight, out, err, said, folder, file }
}

describe('a year of many clients', () => {
  it('has opening + lines of all pages = closing = next opening in each month', async () => {
    const { deps, clients } = await aYear(isNightly ? 1_000 : 8)
    let count = 0
    for (const { clientId } of clients) {
      let owed = 0
      for (const days of MONTHS) {
        const lines: { readonly amountMinor: number }[] = []
        let after: string | undefined
        do {
          const asked = { clientId, ...days, limit: 3, field: 'after', after } as const
          const page = await clientStatement(deps, asked, () =>
            Promise.reject(new Error(days.from)),
          )
          lines.push(...page.lines)
          after = page.next
          if (after !== undefined) continue
          expect(page.openingMinor).toBe(owed)
          owed += lines.reduce((total, { amountMinor }) => total + amountMinor, 0)
          expect(page.closingMinor).toBe(owed)
        } while (after !== undefined)
        count += lines.length
      }
    }
    expect(count).toBeGreaterThan(clients.length * 80)
  })
})

describe('npm run admin -- month', () => {
  it('writes books, statements, payouts, suspense, and a page on which all adds up', async () => {
    const { deps, clients } = await aYear(5)
    const at = timestampOf(Date.UTC(2026, 10, 30, 17, 30))
    await aFinding(deps, { subject: 'old', now: addMs(at, -60 * DAY_MS) })
    await aFinding(deps, { now: at })

    const { isRight, out, err, said, folder, file } = await written(deps, '2026-11')

    expect([isRight, err]).toStrictEqual([true, []])
    expect(out).toStrictEqual([`${join(folder, 'month.md')}: 5 clients, all adds up`])
    expect(said).toContain('month: 4 of 5 statements are written')
    expect(readdirSync(join(folder, 'statements')).toSorted()).toStrictEqual(
      clients.map(({ clientId }) => `${clientId}.csv`).toSorted(),
    )
    const [header, ...rows] = parseCsv(file('books-by-client.csv')) ?? []
    expect([header?.[0], rows.length]).toStrictEqual(['client_id', 6])
    const payouts = parseCsv(file('payouts.csv')) ?? []
    expect(payouts[0]).toStrictEqual(['client_id', 'at', 'settlement_id', 'amount_minor'])
    const paid = payouts.slice(1).reduce((sum, cells) => sum + Number(cells[3]), 0)
    expect(paid).toBeGreaterThan(0)
    expect(file('books-of-all.csv')).toContain(`"paid_out",${paid}\n`)
    expect(file('month.md')).toMatch(/Asia\/Jakarta \(UTC\+7\)[^]+## All adds up/)
    // The second one was made on 1 December in Jakarta; the first one is still open.
    expect(file('findings.csv').trimEnd().split('\n')).toHaveLength(2)
    expect(file('findings.csv')).toContain('"old#fee_changed"')
  })

  it.each(['1970-01-02', '2026-11-02'])(
    'names an open item that moves to a page that was read, with items of %s',
    async (day) => {
      const deps = memoryDeps()
      const items = await Array.fromAsync({ length: 101 }, (_, at) =>
        aFinding(deps, { subject: `${at}`, now: timestampOf(at && Date.parse(day) + at) }),
      )
      const busy = interceptTable(deps, {
        before: async (call) => {
          const isOpen =
            'query' in call && 'index' in call.query && call.query.index === 'by-status'
          if (isOpen && call.query.limit === 200)
            await deps.table.write(closeSuspense(items[100] ?? never(), { status: 'resolved' }))
        },
      })

      const { file } = await written(busy, '2026-11')

      expect(file('findings.csv')).toContain('"0#fee_changed"')
    },
  )

  it('says what does not add up, goes on, and answers false', async () => {
    const { deps, clients } = await aYear(3)
    const [settlement] = await settlementsOf(deps, clients[1] ?? never())
    const key = settlementKey(settlement?.settlementId ?? never())
    const row = await rawItem(deps, key)
    await putRaw(deps, { ...row, net_minor: Number(row['net_minor']) + 1 })

    const { isRight, err, folder, file } = await written(deps, '2026-12')

    expect(isRight).toBe(false)
    expect(err.join('\n')).toContain(
      `Statement of client ${clients[1]?.clientId}: get-statement was refused`,
    )
    expect(err.join('\n')).toContain(`The book of client ${clients[1]?.clientId} is not balanced.`)
    expect(file('month.md')).toContain(`## ${err.length} problems`)
    expect(readdirSync(join(folder, 'statements'))).toHaveLength(2)
  })

  it('refuses a folder with files, a wrong month, and one that has not begun; nothing is written', async () => {
    const deps = memoryDeps()
    const folder = tempDirectory()
    writeFileSync(join(folder, 'mine.txt'), '')

    await expect(written(deps, '2026-11', folder)).rejects.toThrow('is not empty')
    await expect(written(deps, '2026-13')).rejects.toThrow('write it as 2026-11')
    await expect(written(deps, '2026-12')).rejects.toThrow('has not begun')
    expect(readdirSync(folder)).toStrictEqual(['mine.txt'])
  })

  it('ends a month that is not over today, and writes each file also without clients', async () => {
    const deps = memoryDeps()

    const { isRight, file } = await written(deps, '2026-11')

    expect(isRight).toBe(true)
    expect(file('month.md')).toContain('# Month of 2026-11-01 to 2026-11-20')
    expect(file('payouts.csv')).toBe('client_id,at,settlement_id,amount_minor\n')
  })
})

function never(): never {
  throw new Error('there is no such row')
}
