import { describe, expect, it } from 'vitest'
import { answersClients, functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type Properties, synthesised } from '../../support/stack-template.ts'
import { OTHER_FIGURES } from '../../support/stage-options.ts'

const template = synthesised('dev')
const functions = template.all('AWS::Lambda::Function')
const LAMBDA_NAME_LIMIT = 64

describe('functions of the stack', () => {
  it('have names that Lambda accepts even in the longest stage', () => {
    const longest = MANIFEST.map((spec) => functionName('a'.repeat(20), spec).length)

    expect(Math.max(...longest)).toBeLessThanOrEqual(LAMBDA_NAME_LIMIT)
  })
})

describe('environment of the functions', () => {
  it('tells every function how the provider bills and how often it may be called, where a stage says so', () => {
    const special = synthesised(OTHER_FIGURES).ofType('AWS::Lambda::Function')

    for (const variable of ['"GATEWAY_PROVIDER_FEES":"invoiced"', '"GATEWAY_PROVIDER_CALLS_PER_MINUTE":"6000"']) {
      const told = (properties: Properties) => JSON.stringify(properties['Environment']).includes(variable)
      expect(special.filter(({ properties }) => told(properties))).toHaveLength(MANIFEST.length)
      expect(functions.filter(told)).toStrictEqual([])
    }
  })

  it('tells what answers clients over how many environments their requests may be spread', () => {
    const prod = synthesised('prod').all('AWS::Lambda::Function')
    const answering = new Set(MANIFEST.filter(answersClients).map((spec) => functionName('prod', spec)))
    const reserved = prod
      .filter(({ FunctionName }) => answering.has(String(FunctionName)))
      .map(({ ReservedConcurrentExecutions: runs }) => Number(runs))
    const told = JSON.stringify(prod).match(/"GATEWAY_ENVIRONMENTS":"\d+"/g)

    const sum = reserved.reduce((runs, more) => runs + more)
    expect(told).toStrictEqual(reserved.map(() => `"GATEWAY_ENVIRONMENTS":"${sum}"`))
    expect(sum).toBeGreaterThan(100)
  })
})
