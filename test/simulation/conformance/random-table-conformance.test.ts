import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeOnDynamoDb } from '../../support/dynamodb.ts'
import { runs } from '../../support/runs.ts'
import { type Answer, type Asked, ask, bothTables, get, inAWord, onBoth, queryOnBoth, tallyOf } from './on-both.ts'
import { EVERY_PARTITION, inCorner, KEYS, randomRequests } from './random-requests.ts'

/**
 * Goal: nothing the stores can say one after the other is answered differently by the model and by DynamoDB Local.
 * Method: random sequences of requests for four items, sent to both; every answer, the items left behind and all pages
 * of every index must agree.
 */
const SEQUENCES = runs(40)
/** DynamoDB Local answers several at once faster than one after the other. */
const SIDE_BY_SIDE = 8
const SEED = 20_261_102

/** The writes of a transaction without their conditions. */
const unconditional = (asked: Asked): Asked =>
  asked.kind !== 'transact'
    ? asked
    : {
        ...asked,
        steps: asked.steps.flatMap((step) =>
          step.kind === 'put' || step.kind === 'update' ? [{ ...step, condition: undefined }] : [],
        ),
      }

const compare = async (asked: Asked): Promise<Answer> => {
  const { model, local } = bothTables()
  const [expected, answer] = [await ask(local, asked), await ask(model, asked)]
  // An update that does not fit its item is a reason among others on AWS, after which a refused condition still shows;
  // DynamoDB Local refuses the request for it. Then it must be one that the model finds impossible too.
  const isImpossible = inAWord(expected) === 'invalid' && inAWord(answer) === 'refused'
  if (isImpossible && inAWord(await ask(model, unconditional(asked))) === 'invalid') return answer
  expect({ asked, answer }).toStrictEqual({ asked, answer: expected })
  return answer
}

const describe = await describeOnDynamoDb()

describe('the model and DynamoDB Local', () => {
  it('agree on random sequences of requests', async () => {
    const answers: Answer[] = []
    const play = async (requests: readonly Asked[]) => {
      const corner = `${randomUUID()}-`
      for (const asked of inCorner(corner, requests)) answers.push(await compare(asked))
      await onBoth(inCorner(corner, KEYS).map(get))
      await Promise.all(inCorner(corner, EVERY_PARTITION).map(queryOnBoth))
    }
    const several = fc.array(randomRequests, { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE })
    const property = fc.asyncProperty(several, async (sequences) => {
      await Promise.all(sequences.map(play))
    })

    await fc.assert(property, { numRuns: SEQUENCES / SIDE_BY_SIDE, seed: SEED, endOnFailure: true })

    // Enough of everything that an answer can be.
    const { applied = 0, refused = 0, invalid = 0, found = 0 } = tallyOf(answers)
    expect(Math.min(applied, refused, invalid, found)).toBeGreaterThan(0.75 * SEQUENCES)
  }, 300_000)
})
