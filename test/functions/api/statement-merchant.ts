import * as v from 'valibot'
import { expect } from 'vitest'
import { StatementDtoSchema } from '../../../shared/books/statement-dto-schema.ts'
import { raiseFence } from '../../../shared/ledger/fence-store.ts'
import { ZERO } from '../../../shared/money.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { API, type ApiClient, anApi, call, type Query } from '../../support/api-event.ts'
import { jakartaMidnightAfter } from '../../support/jakarta.ts'
import { BANK } from '../../support/settlement-builders.ts'
import { type MemoryDeps, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

/** A merchant alone in its table. */
export function aMerchantWithoutFloor() {
  return anApi({ settlementFloorMinor: ZERO, bank: BANK }, memoryDeps())
}

/** Such a merchant, and what reads its statement. */
export async function aStatementMerchant() {
  const { deps, caller: client } = await aMerchantWithoutFloor()
  const ask = (query: Query = {}, headers: Query = {}, by: ApiClient = client) =>
    call(deps, API.getStatement, { caller: by, query, headers })
  const statement = async (query: Query = {}) => {
    const { status, body } = await ask(query)
    expect([status, body]).toStrictEqual([200, body])
    return v.parse(StatementDtoSchema, body)
  }
  const pages = async (query: Query) => {
    const all = [await statement(query)]
    for (let next = all[0]?.next; next; next = all.at(-1)?.next)
      all.push(await statement({ ...query, after: next }))
    return all
  }
  return { deps, client, ask, statement, pages }
}

export const statementTest = testWith(
  aStatementMerchant,
  'deps',
  'client',
  'ask',
  'statement',
  'pages',
)

/** The net of the payments that are not posted yet. */
export function openNetOf({ stored }: MemoryDeps) {
  return stored
    .items()
    .filter((item) => item['open_at'] !== undefined)
    .map((item) => Number(item['net_minor']) - Number(item['taken_back_minor'] ?? 0))
    .reduce((a, b) => a + b, 0)
}

export function totalOfLines(lines: readonly { readonly amount_minor: number }[]) {
  return lines.reduce((sum, { amount_minor }) => sum + amount_minor, 0)
}

/** The daily sweep closes the days that are over. */
export async function closeDays(deps: TestDeps, { clientId }: ApiClient) {
  const midnight = jakartaMidnightAfter(addMs(deps.now(), -DAY_MS))
  await raiseFence(deps, clientId, midnight)
  return midnight
}
