import { expect, it } from 'vitest'
import { ACTIONS, describeAction } from '../../../infra/operate/admin/action.ts'

/** `-u` writes the file after an action has changed. */
it('the operators’ tool knows each action as its handler describes it', async () => {
  const lines = await Promise.all(
    ACTIONS.map(async (spec) => JSON.stringify(await describeAction(spec))),
  )

  // Its help names values, and each rule once.
  expect(lines.filter((line) => /\[object|("[^"]{9,}"),\1/.test(line))).toStrictEqual([])
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
    '../../../infra/operate/admin/actions.jsonl',
  )
})
