import { describe } from 'vitest'
import { conditionsConformance } from './conformance/conditions-conformance.ts'
import { indexesConformance } from './conformance/indexes-conformance.ts'
import { queriesConformance } from './conformance/queries-conformance.ts'
import { localBackend, modelBackend } from './conformance/table-backend.ts'
import { type TableCommands, tableCommands } from './conformance/table-commands.ts'
import { transactionsConformance } from './conformance/transactions-conformance.ts'
import { updatesConformance } from './conformance/updates-conformance.ts'
import { valuesConformance } from './conformance/values-conformance.ts'

/**
 * Goal: the simulation's table answers as DynamoDB does. Method: each sentence here is held by the model and by DynamoDB
 * Local, with the same expected answer written by hand.
 */
describe.each([
  ['the model', modelBackend],
  ['DynamoDB Local', localBackend],
] as const)('%s as a table', (_, openBackend) => {
  let opened: TableCommands | undefined
  const open = () => (opened ??= tableCommands(openBackend()))

  conditionsConformance(open)
  updatesConformance(open)
  transactionsConformance(open)
  valuesConformance(open)
  queriesConformance(open)
  indexesConformance(open)
})
