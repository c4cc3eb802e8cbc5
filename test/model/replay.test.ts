/**
 * Goal: every entry, and the books' opening and closing of every account, are as the table of legs
 * says. Method: random histories on the gateway and on a model that shares no code with it. `npm
 * run model` plays more.
 */
import { expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { closedBooks, replayHistory } from './replay.ts'

const HISTORIES = runs(8)

it(`${HISTORIES} histories give the model's entries and books`, async () => {
  const problems: string[] = []
  for (let seed = 1; seed <= HISTORIES && problems.length === 0; seed++)
    problems.push(...(await replayHistory(seed)).map((problem) => `${seed}: ${problem}`))

  expect(problems).toStrictEqual([])
})

it('nothing that happens later changes the books of closed days', async () => {
  for (let seed = 1; seed <= runs(2); seed++) {
    const { closed, later } = await closedBooks(seed)

    expect(later, `seed ${seed}`).toStrictEqual(closed)
  }
})
