import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Action, randomActions } from './conformance/random-actions.ts'
import { actionRunner, EVERY_PARTITION } from './conformance/run-actions.ts'
import { INVALID, localBackend, modelBackend } from './conformance/table-backend.ts'
import { tableCommands } from './conformance/table-commands.ts'

/**
 * Goal: nothing the stores can say is answered differently by the model and by DynamoDB Local. Method: random sequences
 * of requests on four items, run on both; every answer, the items left behind and all pages of every index must agree.
 */
const SEQUENCES = 200
/** DynamoDB Local answers several at once faster than one after the other. */
const SIDE_BY_SIDE = 8
const SEED = 20_261_102

/** Faults of the request itself. Nothing is written, and the stores treat all of them as errors of ours. */
const isInvalid = (answer: unknown): boolean => Object(answer).error === INVALID

const isRefused = (answer: unknown): boolean => Object(answer).applied === false

/**
 * The writes of a transaction without their conditions. An update that does not fit its item is a reason among others on
 * AWS, behind which a refused condition still shows; DynamoDB Local refuses the request for it. Then it must be one that
 * the model finds impossible too.
 */
const unconditional = (action: Action): Action =>
  action.kind === 'transact'
    ? {
        ...action,
        steps: action.steps.flatMap((step) =>
          step.kind === 'put' || step.kind === 'update' ? [{ ...step, condition: undefined }] : [],
        ),
      }
    : action

const compare = async (
  model: ReturnType<typeof tableCommands>,
  local: ReturnType<typeof tableCommands>,
  actions: readonly Action[],
) => {
  const corner = randomUUID().slice(0, 20)
  const [onModel, onLocal] = [actionRunner(model, corner), actionRunner(local, corner)]
  for (const action of actions) {
    const [expected, answer] = [await onLocal.runAction(action), await onModel.runAction(action)]
    if (isRefused(answer) && isInvalid(expected) && isInvalid(await onModel.runAction(unconditional(action)))) continue
    expect({ action, answer }).toStrictEqual({ action, answer: expected })
  }
  expect(await onModel.items()).toStrictEqual(await onLocal.items())
  const pages = (runner: typeof onModel) => Promise.all(EVERY_PARTITION.map(runner.queryAll))
  expect(await pages(onModel)).toStrictEqual(await pages(onLocal))
}

describe('the model and DynamoDB Local', () => {
  it('agree on random sequences of requests', async () => {
    const [model, local] = [tableCommands(modelBackend()), tableCommands(localBackend())]
    const several = fc.array(randomActions, { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE })
    const property = fc.asyncProperty(several, async (sequences) => {
      await Promise.all(sequences.map((actions) => compare(model, local, actions)))
    })

    await fc.assert(property, { numRuns: SEQUENCES / SIDE_BY_SIDE, seed: SEED, endOnFailure: true })
  }, 120_000)
})
